/* Products of whole numbers on AMX. One instruction multiplies a tile of sixteen rows with 64 inputs and a tile of as many inputs
   with sixteen outputs, and adds the 256 sums to a third tile. A panel (product.h) is a column of such tiles as it is.

   Two by two tiles of sums are in work together: 0 and 1 are those of the upper sixteen rows with two panels, 2 and 3 those of the
   lower rows; 4 and 5 hold the rows' codes, 6 and 7 the panels' weights. Inputs behind the last 64 are added by `dot`. */
#define TILE_INPUTS 64
#define TILE_SIDE 16
#define TILE_NUMBERS (TILE_SIDE * LANES)

/* As the processor reads it: rows and bytes of a row, of each tile. */
typedef struct {
    uint8_t palette, start, unused[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} TileShapes;

#include TILES

static void shape_tiles(int upper, int lower) {
    const int rows[8] = {upper, upper, lower, lower, upper, lower, TILE_SIDE, TILE_SIDE};
    TileShapes shapes = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        shapes.rows[i] = (uint8_t)rows[i];
        shapes.bytes[i] = rows[i] ? 64 : 0;
    }
    tile_shapes(&shapes);
}

/* `rows` rows, up to 32, against one panel or two; `lower`: whether they are more than sixteen. */
INLINE void four_tiles(const int lower, const int two, const Matrix *by, int panel, Rows from, size_t row, int rows, const Outputs *to) {
    const int inputs = padded(by->inputs), whole = inputs / TILE_INPUTS * TILE_INPUTS;
    const int8_t *weights = (const int8_t *)by->panels + (size_t)panel * LANES * inputs, *others = weights + (size_t)LANES * inputs;
    const uint8_t *codes = from.codes + row * (size_t)inputs, *below = codes + (size_t)TILE_SIDE * inputs;
    int32_t sums[4][TILE_NUMBERS] __attribute__((aligned(64)));
    tile_zero(0);
    tile_zero(1);
    if (lower) {
        tile_zero(2);
        tile_zero(3);
    }
    for (int k = 0; k < whole; k += TILE_INPUTS) {
        tile_load(4, codes + k, inputs);
        tile_load(6, weights + (size_t)k * LANES, 64);
        tile_dot(0, 4, 6);
        if (two) {
            tile_load(7, others + (size_t)k * LANES, 64);
            tile_dot(1, 4, 7);
        }
        if (lower) {
            tile_load(5, below + k, inputs);
            tile_dot(2, 5, 6);
            if (two) tile_dot(3, 5, 7);
        }
    }
    tile_store(0, sums[0], 64);
    tile_store(1, sums[1], 64);
    if (lower) {
        tile_store(2, sums[2], 64);
        tile_store(3, sums[3], 64);
    }
    for (int p = 0; p <= two; p++) {
        const Column column = column_of(by, panel + p);
        const int8_t *own = weights + (size_t)p * LANES * inputs;
        for (int r = 0; r < rows; r++) {
            Wholes sum = load_wholes(sums[r / TILE_SIDE * 2 + p] + r % TILE_SIDE * LANES);
            for (int k = whole; k < inputs; k += 4) sum = dot(sum, four_inputs(codes + (size_t)r * inputs + k), load_weights(own + (size_t)k * LANES));
            put(value_of(sum, &from, row + r, &column), to, row + r, (panel + p) * LANES);
        }
    }
}

/* Full tiles first, then what is left over in tiles of as many rows: shaping them takes longer than a product of a few. */
static void multiply_by_tiles(const Matrix *by, Rows from, int count, const Outputs *to) {
    const int panels = padded(by->outputs) / LANES, pairs = panels / 2 * 2, full = count / (2 * TILE_SIDE) * (2 * TILE_SIDE), rest = count - full;
    if (full) {
        shape_tiles(TILE_SIDE, TILE_SIDE);
        for (int panel = 0; panel < pairs; panel += 2)
            for (int row = 0; row < full; row += 2 * TILE_SIDE) four_tiles(1, 1, by, panel, from, row, 2 * TILE_SIDE, to);
        if (pairs < panels)
            for (int row = 0; row < full; row += 2 * TILE_SIDE) four_tiles(1, 0, by, pairs, from, row, 2 * TILE_SIDE, to);
    }
    if (rest > TILE_SIDE) {
        shape_tiles(TILE_SIDE, rest - TILE_SIDE);
        for (int panel = 0; panel < pairs; panel += 2) four_tiles(1, 1, by, panel, from, full, rest, to);
        if (pairs < panels) four_tiles(1, 0, by, pairs, from, full, rest, to);
    } else if (rest) {
        shape_tiles(rest, 0);
        for (int panel = 0; panel < pairs; panel += 2) four_tiles(0, 1, by, panel, from, full, rest, to);
        if (pairs < panels) four_tiles(0, 0, by, pairs, from, full, rest, to);
    }
}
