/* What Python hands to the engine, and what it may call. All structures are mirrored in library.py.

   Words: a row is what belongs to one token (or, behind the last layer, to one text). Rows of all texts of a batch lie
   one behind the other: there is no padding between texts. Widths of rows in memory are rounded up to PAD numbers, and
   the numbers beyond the true width are 0, so that no kernel needs a special case at the end of a row. Whoever writes a row writes
   these zeros too: scratch memory is undefined when a call begins. */
#ifndef NIWAKI_NATIVE_H
#define NIWAKI_NATIVE_H

#include <stddef.h>
#include <stdint.h>

/* Compilers whose assembler has AMX and AVX-VNNI. clang has them too, but checks inline assembly against the target; it goes without. */
#if defined(__x86_64__) && !defined(__clang__) && __has_include(<amxint8intrin.h>) && __has_include(<avxvnniintrin.h>)
#define NEWER 1
#endif

#define LAYOUT 4     /* of the structures; Python refuses a library with another */
#define PAD 16       /* numbers that widths are rounded up to: what the widest vectors hold */
#define MOST_PARTS 4 /* matrices that one linear map may be the product of */

static inline int padded(int width) { return (width + PAD - 1) / PAD * PAD; }

enum Activation { NONE, GELU, GELU_TANH, RELU, TANH, SILU };

/* One matrix, outputs x inputs, in panels (product.h). Of 8-bit integers (`whole`), each output has a scale, and `sums` are the
   sums of its weights times that scale; else the panels hold floats and there are no scales. */
typedef struct {
    int32_t inputs, outputs, whole;
    const void *panels;
    const float *scale, *sums, *bias;
} Matrix;

/* A linear map: its matrices one after the other. No parts: the map is not there. */
typedef struct {
    int32_t parts;
    Matrix part[MOST_PARTS];
} Linear;

typedef struct {
    const float *gain, *shift;
    float epsilon;
    int32_t width;
} Norm;

/* Rows to look up: floats, or 8-bit integers where each row has a scale. */
typedef struct {
    int32_t rows, width;
    const float *floats;
    const int8_t *codes;
    const float *scale;
} Table;

/* An encoder layer, norms behind the blocks. `relative`, where a family has it, is what is added to the scores by the distance
   from query to key: (heads, 2 reach + 1, and PAD zeros), with no distance in the middle. A block whose last map has no parts was
   taken out, and leaves its bias, or NULL. */
typedef struct {
    Linear query, key, value, out, up, down;
    Norm attended, widened;
    int32_t heads, head_width, activation, reach;
    const float *relative, *attention_bias, *ffn_bias;
} Layer;

enum { POOL_FIRST, POOL_MEAN, POOL_MAX, POOL_MEAN_SQRT }; /* the first token's row, or one computed from all rows of the text */

typedef struct {
    Table tokens, positions, types;
    Linear widen; /* from a narrow table of tokens to the width of the embeddings */
    Norm embedded;
    Linear project; /* from the width of the embeddings to that of the layers */
    int32_t first_position, width, depth, per_token, head_parts, head_activation;
    int32_t pooling, unit_length; /* what the head reads of a text: POOL_…; whether it is scaled to length 1 */
    const Layer *layers;
    const int32_t *order; /* which layer runs at each depth */
    const Linear *head;   /* the activation is between its parts */
} Model;

/* Texts, and the depths between which they are run, with the head behind. They begin with ids, or with the rows that an earlier call
   `left`: those before its last layer, since behind it only first tokens are answered for. Rows are of padded width. */
typedef struct {
    int32_t texts, tokens, first, last;
    const int32_t *ids, *kinds; /* of all tokens, text behind text; kinds may be NULL */
    const int32_t *lengths;
    const float *found;
    float *left;
} Batch;

/* One set of kernels, for one kind of processor. Python's tests call each of them. */
typedef struct {
    const char *name;
    int32_t lanes, last_code; /* numbers in a vector; what inputs are rounded to runs from 0 to this */
    /* weights (outputs, inputs), row by row, to panels; bytes of these */
    size_t (*panel_bytes)(int outputs, int inputs, int whole);
    void (*pack)(const void *weights, int outputs, int inputs, int whole, void *panels);
    size_t (*scratch_bytes)(const Model *, const Batch *, int threads);
    void (*forward)(const Model *, const Batch *, int threads, void *scratch, float *logits);
    /* parts, for tests */
    void (*activate)(float *values, int count, int activation);
    void (*normalize)(float *rows, int count, const Norm *);
    void (*round_rows)(const float *rows, int count, int width, uint8_t *codes, float *step, float *zero);
    void (*softmax)(float *rows, int count, int width, int stride);
    void (*product)(const float *rows, int count, const Matrix *, const float *plus, int activation, float *to, void *scratch);
} Kernels;

#endif
