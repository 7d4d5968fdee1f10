/* Everything, for the lanes that were included before this; one table at the end tells what is there. */
#include <float.h>

#include "numbers.h"
#include "rows.h"
#include "product.h"
#include "attention.h"
#include "windows.h"
#include "rotary.h"
#include "team.h"
#include "encoder.h"
#include "vocabulary.h"
#include "decoder.h"
#include "finder.h"
#include "search.h"
#include "reading.h"

/* One product as `apply` makes it, of rows with padded widths, for tests. */
static void product(const float *rows, int count, const Matrix *by, const float *plus, int activation, float *to, void *scratch) {
    const size_t width = padded(by->inputs);
    Arena arena = {scratch, 0};
    uint8_t *codes = take(&arena, (size_t)count * width, 1);
    float *step = take(&arena, count, sizeof(float)), *zero = take(&arena, count, sizeof(float));
    if (by->whole) round_rows(rows, count, by->inputs, codes, step, zero);
    multiply(by, (Rows){rows, (int)width, codes, step, zero}, count, (Outputs){to, padded(by->outputs), plus});
    activate(to, count * padded(by->outputs), activation);
#ifdef TILES
    tile_release();
#endif
}

#define TABLE_(name) niwaki_##name
#define TABLE(name) TABLE_(name)
#define STRING_(name) #name
#define STRING(name) STRING_(name)

const Kernels TABLE(KERNELS) = {
    STRING(KERNELS), LANES, LAST_CODE, LESS, panel_bytes, pack, scratch_bytes, forward, generation_bytes, block_floats, generate, reading_bytes, reading_floats, read_rows, activate, normalize, round_rows, softmax, product,
};
