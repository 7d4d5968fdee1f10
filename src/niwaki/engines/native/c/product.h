/* Products of rows with a matrix: nearly all of the time is spent in the two tiles below.

   A matrix lies in panels of LANES outputs. In a panel of floats, the weights of one input to all LANES outputs lie side by
   side; in a panel of 8-bit integers those of four inputs, four bytes to an output, which is what one `dot` takes.
   A tile makes WHOLE_ROWS or FLOAT_ROWS x TILE_PANELS vectors of outputs at once, in registers, reading each weight once for all its rows. */

static size_t panel_bytes(int outputs, int inputs, int whole) {
    return (size_t)padded(outputs) * (whole ? (size_t)padded(inputs) : (size_t)inputs * sizeof(float));
}

static void pack(const void *weights, int outputs, int inputs, int whole, void *panels) {
    memset(panels, 0, panel_bytes(outputs, inputs, whole));
    for (int n = 0; n < outputs; n++)
        for (int k = 0; k < inputs; k++) {
            const size_t from = (size_t)n * inputs + k, panel = n / LANES, lane = n % LANES;
            if (whole)
                ((int8_t *)panels)[panel * LANES * padded(inputs) + (size_t)(k / 4) * LANES * 4 + lane * 4 + k % 4] = ((const int8_t *)weights)[from];
            else
                ((float *)panels)[(panel * inputs + k) * LANES + lane] = ((const float *)weights)[from];
        }
}

/* Rows as a product reads them: floats, or where the matrix is of whole numbers their codes. */
typedef struct {
    const float *values;
    int stride;
    const uint8_t *codes; /* stride: the padded width */
    const float *step, *zero;
} Rows;

/* Where outputs go, and what is added to them: `plus` has the same stride, and may be NULL as the bias may. */
typedef struct {
    float *values;
    int stride;
    const float *plus;
} Outputs;

#define INLINE static inline __attribute__((always_inline))

INLINE void put(Floats x, const Outputs *to, size_t row, int column) {
    const size_t place = row * (size_t)to->stride + (size_t)column;
    store(to->values + place, to->plus ? add(x, load(to->plus + place)) : x);
}

/* What sums of whole numbers are made values with, for the outputs of a panel. */
typedef struct {
    Floats scale, of_zero, bias;
} Column;

INLINE Column column_of(const Matrix *by, int panel) {
    const int first = panel * LANES;
    return (Column){load(by->scale + first), load(by->sums + first), by->bias ? load(by->bias + first) : all(0.0f)};
}

INLINE Floats value_of(Wholes sums, const Rows *from, size_t row, const Column *column) {
    const float step = from->step[row];
    const Floats shift = mul_add(all(-step * from->zero[row]), column->of_zero, column->bias);
    return mul_add(mul(to_floats(sums), all(step)), column->scale, shift);
}

/* Sums of a tile: of the products of `rows` rows of codes with the weights of `panels` panels. */
#ifdef WHOLE_TILE
#include WHOLE_TILE
#else
INLINE void whole_sums(const int rows, const int panels, const uint8_t *codes, const int8_t *weights, int inputs, Wholes sums[WHOLE_ROWS][TILE_PANELS]) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) sums[r][p] = no_wholes();
    for (int k = 0; k < inputs; k += 4, weights += 4 * LANES) {
        Weights here[TILE_PANELS];
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) here[p] = load_weights(weights + (size_t)p * LANES * inputs);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            Four inputs4 = four_inputs(codes + (size_t)r * inputs + k);
#pragma GCC unroll 8
            for (int p = 0; p < panels; p++) sums[r][p] = dot(sums[r][p], inputs4, here[p]);
        }
    }
}
#endif

/* Where codes are stored less a number: what sums lack for that, of each output. */
#ifndef LESS
#define LESS 0
#endif
#if LESS
INLINE void whole_lack(const int panels, const Matrix *by, int panel, Wholes lack[TILE_PANELS]) {
    const int inputs = padded(by->inputs);
    const int8_t *weights = (const int8_t *)by->panels + (size_t)panel * LANES * inputs;
#pragma GCC unroll 8
    for (int p = 0; p < panels; p++, weights += (size_t)LANES * inputs) lack[p] = less_times_sums(weights, inputs);
}
#else
INLINE void whole_lack(const int panels, const Matrix *by, int panel, Wholes lack[TILE_PANELS]) { (void)panels, (void)by, (void)panel, (void)lack; }
#endif
INLINE void float_lack(const int panels, const Matrix *by, int panel, Wholes lack[TILE_PANELS]) { (void)panels, (void)by, (void)panel, (void)lack; }

INLINE void whole_tile(const int rows, const int panels, const Matrix *by, int panel, Rows from, size_t row, const Outputs *to, const Wholes *lack) {
    const int inputs = padded(by->inputs);
    Wholes sums[WHOLE_ROWS][TILE_PANELS];
    whole_sums(rows, panels, from.codes + row * (size_t)inputs, (const int8_t *)by->panels + (size_t)panel * LANES * inputs, inputs, sums);
#pragma GCC unroll 8
    for (int p = 0; p < panels; p++) {
        const Column column = column_of(by, panel + p);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) put(value_of(LESS ? add_wholes(sums[r][p], lack[p]) : sums[r][p], &from, row + r, &column), to, row + r, (panel + p) * LANES);
    }
}

INLINE void float_tile(const int rows, const int panels, const Matrix *by, int panel, Rows from, size_t row, const Outputs *to, const Wholes *lack) {
    (void)lack;
    const float *weights = (const float *)by->panels + (size_t)panel * LANES * by->inputs;
    const float *values = from.values + row * (size_t)from.stride;
    Floats sums[FLOAT_ROWS][TILE_PANELS];
#pragma GCC unroll 8
    for (int p = 0; p < panels; p++)
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) sums[r][p] = by->bias ? load(by->bias + (panel + p) * LANES) : all(0.0f);
    for (int k = 0; k < by->inputs; k++, weights += LANES) {
        Floats here[TILE_PANELS];
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) here[p] = load(weights + (size_t)p * LANES * by->inputs);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            Floats value = all(values[(size_t)r * from.stride + k]);
#pragma GCC unroll 8
            for (int p = 0; p < panels; p++) sums[r][p] = mul_add(value, here[p], sums[r][p]);
        }
    }
#pragma GCC unroll 8
    for (int p = 0; p < panels; p++)
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) put(sums[r][p], to, row + r, (panel + p) * LANES);
}

/* All rows against `panels` panels, `most` at a time; what is left over at the end in a tile of as many rows. */
#define STRIPE(kind, most, panels) \
    static void kind##_stripe_##panels(const Matrix *by, int panel, Rows from, int count, const Outputs *to) { \
        int row = 0; \
        Wholes lack[TILE_PANELS]; \
        kind##_lack(panels, by, panel, lack); \
        for (; row + most <= count; row += most) kind##_tile(most, panels, by, panel, from, row, to, lack); \
        switch (count - row) { \
        case 1: kind##_tile(1, panels, by, panel, from, row, to, lack); break; \
        case 2: kind##_tile(2, panels, by, panel, from, row, to, lack); break; \
        case 3: kind##_tile(3 % most, panels, by, panel, from, row, to, lack); break; \
        case 4: kind##_tile(4 % most, panels, by, panel, from, row, to, lack); break; \
        case 5: kind##_tile(5 % most, panels, by, panel, from, row, to, lack); break; \
        case 6: kind##_tile(6 % most, panels, by, panel, from, row, to, lack); break; \
        case 7: kind##_tile(7 % most, panels, by, panel, from, row, to, lack); break; \
        } \
    }
#define STRIPES(kind, most) STRIPE(kind, most, 1) STRIPE(kind, most, 2) STRIPE(kind, most, TILE_PANELS)
STRIPES(whole, WHOLE_ROWS)
STRIPES(float, FLOAT_ROWS)

#ifdef TILES
#include "tiles.h"
#endif

static void multiply(const Matrix *by, Rows from, int count, Outputs to) {
#ifdef TILES
    if (by->whole && padded(by->inputs) >= TILE_INPUTS) {
        multiply_by_tiles(by, from, count, &to);
        return;
    }
#endif
    const int panels = padded(by->outputs) / LANES;
    int panel = 0;
    for (; panel + TILE_PANELS <= panels; panel += TILE_PANELS)
        (by->whole ? whole_stripe_TILE_PANELS : float_stripe_TILE_PANELS)(by, panel, from, count, &to);
    for (; panel + 2 <= panels; panel += 2) (by->whole ? whole_stripe_2 : float_stripe_2)(by, panel, from, count, &to);
    for (; panel < panels; panel++) (by->whole ? whole_stripe_1 : float_stripe_1)(by, panel, from, count, &to);
}
