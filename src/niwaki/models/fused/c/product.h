/* Matrix products of bf16, summed in fp32, with what follows them. One thread reaches 97 % of what the processor can do. */

enum Then { NOTHING, GELU, TIMES_SLOPE, GELU_TANH };

#define BLOCK 6 /* rows that are worked on together, against PANEL columns */

/* to (R, panel) = R rows times a panel. Pair p of row r is at a + r * row_step + p * pair_step. */
#define TILE(R, C, WIDTH)                                                                                                                \
    __attribute__((noinline)) static void tile_##R##_##C(const bf16 *a, long row_step, long pair_step, const bf16 *b, long pairs, float *to) { \
        vec sum[R][C];                                                                                                                   \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < C; j++) sum[r][j] = _mm512_setzero_ps();                           \
        for (long p = 0; p < pairs; p++, b += 2 * WIDTH) {                                                                               \
            __m512bh column[C];                                                                                                          \
            UNROLL for (int j = 0; j < C; j++) column[j] = (__m512bh)_mm512_loadu_si512(b + 2 * LANES * j);                              \
            UNROLL for (int r = 0; r < R; r++) {                                                                                         \
                int32_t pair;                                                                                                            \
                memcpy(&pair, a + r * row_step + p * pair_step, sizeof pair);                                                            \
                UNROLL for (int j = 0; j < C; j++) sum[r][j] = _mm512_dpbf16_ps(sum[r][j], (__m512bh)_mm512_set1_epi32(pair), column[j]); \
            }                                                                                                                            \
        }                                                                                                                                \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < C; j++) _mm512_store_ps(to + r * WIDTH + LANES * j, sum[r][j]);    \
    }
TILE(1, 4, PANEL)
TILE(2, 4, PANEL)
TILE(3, 4, PANEL)
TILE(4, 4, PANEL)
TILE(5, 4, PANEL)
TILE(6, 4, PANEL)
TILE(8, 1, NARROW)
TILE(8, 2, NARROW)
TILE(8, 3, NARROW)
typedef void (*Tile)(const bf16 *, long, long, const bf16 *, long, float *);
static const Tile by_rows[] = {NULL, tile_1_4, tile_2_4, tile_3_4, tile_4_4, tile_5_4, tile_6_4}, by_vectors[] = {NULL, tile_8_1, tile_8_2, tile_8_3};

/* out (rows, columns) = a (rows, 2 pairs) times panels, and what follows. */
typedef struct {
    const bf16 *a, *panels;
    long rows, columns, pairs, row_step;
    enum Then then;
    const float *bias;
    bf16 *out, *slope; /* the derivative of GELU: written by GELU and GELU_TANH, read by TIMES_SLOPE */
    long stride; /* of the outputs' rows */
} Product;

INLINE void finish(const Product *g, vec x, long place, long column, __mmask16 mask) {
    vec slope;
    if (g->bias) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(mask, g->bias + column));
    if (g->then == GELU || g->then == GELU_TANH) {
        x = g->then == GELU ? gelu(x, &slope) : gelu_tanh(x, &slope);
        store(g->slope + place, mask, slope);
    } else if (g->then == TIMES_SLOPE)
        x = _mm512_mul_ps(x, load(g->slope + place, mask));
    store(g->out + place, mask, x);
}

static void product_work(void *data, int thread, int threads) {
    const Product *g = data;
    const Share mine = share(g->rows, BLOCK, thread, threads);
    _Alignas(64) float tile[BLOCK * PANEL];
    for (long n = 0; n < g->columns; n += PANEL)
        for (long m = mine.first; m < mine.last; m += BLOCK) {
            const long count = mine.last - m < BLOCK ? mine.last - m : BLOCK;
            for (long r = 0; r < count; r++) /* fetched while the tile is computed */
                for (long j = 0; j < PANEL; j += 2 * LANES) {
                    __builtin_prefetch(g->out + (m + r) * g->stride + n + j, 1);
                    if (g->then) __builtin_prefetch(g->slope + (m + r) * g->stride + n + j, 1);
                }
            by_rows[count](g->a + m * g->row_step, g->row_step, 2, g->panels + n * g->pairs * 2, g->pairs, tile);
            for (long r = 0; r < count; r++)
                for (long j = 0; j < PANEL && n + j < g->columns; j += LANES)
                    finish(g, _mm512_load_ps(tile + r * PANEL + j), (m + r) * g->stride + n + j, n + j, first_lanes(g->columns - n - j));
        }
}

/* Gradients of weights (rows, columns) from blocks of gradients and panels of inputs. */
typedef struct {
    const bf16 *blocks, *panels;
    long rows, columns, pairs;
    float *out;
} WeightGradient;

static void weight_gradient_work(void *data, int thread, int threads) {
    const WeightGradient *g = data;
    const Share mine = share(g->rows, TALL, thread, threads);
    _Alignas(64) float tile[TALL * NARROW];
    const int whole = g->columns % LANES == 0 && (uintptr_t)g->out % 64 == 0;
    for (long n = 0; n < g->columns; n += NARROW) {
        const long width = g->columns - n < NARROW ? g->columns - n : NARROW;
        for (long m = mine.first; m < mine.last; m += TALL) {
            by_vectors[(width + LANES - 1) / LANES](g->blocks + m * g->pairs * 2, 2, 2 * TALL, g->panels + n * g->pairs * 2, g->pairs, tile);
            for (long r = 0; r < TALL && m + r < mine.last; r++)
                for (long j = 0; j < width; j += LANES)
                    if (whole) _mm512_stream_ps(g->out + (m + r) * g->columns + n + j, _mm512_load_ps(tile + r * NARROW + j));
                    else _mm512_mask_storeu_ps(g->out + (m + r) * g->columns + n + j, first_lanes(width - j), _mm512_load_ps(tile + r * NARROW + j));
        }
    }
}
