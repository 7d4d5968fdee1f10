/* Attention of packed sequences, forward and backward, one head of one sequence at a time, in fp32. */

/* c (rows, columns) = a (rows, depth) times b (depth, columns); columns are a multiple of LANES, and rows of b lie `columns` apart.
   Element (r, k) of a is at a[r * row_step + k * depth_step]. */
#define STRIP(R, V)                                                                                                                       \
    static void strip_##R##_##V(const float *a, long row_step, long depth_step, const float *b, long columns, long depth, float *c) {     \
        vec sum[R][V];                                                                                                                    \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < V; j++) sum[r][j] = _mm512_setzero_ps();                            \
        for (long k = 0; k < depth; k++) {                                                                                                \
            vec row[V];                                                                                                                   \
            UNROLL for (int j = 0; j < V; j++) row[j] = _mm512_loadu_ps(b + k * columns + LANES * j);                                     \
            UNROLL for (int r = 0; r < R; r++) {                                                                                          \
                const vec x = all(a[r * row_step + k * depth_step]);                                                                      \
                UNROLL for (int j = 0; j < V; j++) sum[r][j] = _mm512_fmadd_ps(x, row[j], sum[r][j]);                                     \
            }                                                                                                                             \
        }                                                                                                                                 \
        UNROLL for (int r = 0; r < R; r++) UNROLL for (int j = 0; j < V; j++) _mm512_storeu_ps(c + r * columns + LANES * j, sum[r][j]);   \
    }
STRIP(1, 1)
STRIP(2, 1)
STRIP(3, 1)
STRIP(4, 1)
STRIP(5, 1)
STRIP(6, 1)
STRIP(1, 2)
STRIP(2, 2)
STRIP(3, 2)
STRIP(4, 2)
STRIP(5, 2)
STRIP(6, 2)
#define MOST_ROWS 6
typedef void (*Strip)(const float *, long, long, const float *, long, long, float *);
static const Strip strips[2][MOST_ROWS] = {{strip_1_1, strip_2_1, strip_3_1, strip_4_1, strip_5_1, strip_6_1},
                                           {strip_1_2, strip_2_2, strip_3_2, strip_4_2, strip_5_2, strip_6_2}};

static void multiply(const float *a, long row_step, long depth_step, const float *b, long rows, long columns, long depth, float *c) {
    for (long n = 0; n < columns;) {
        const int two = columns - n >= 2 * LANES;
        for (long m = 0; m < rows; m += MOST_ROWS) {
            const long count = rows - m < MOST_ROWS ? rows - m : MOST_ROWS;
            strips[two][count - 1](a + m * row_step, row_step, depth_step, b + n, columns, depth, c + m * columns + n);
        }
        n += two ? 2 * LANES : LANES;
    }
}

typedef struct {
    long sequences, heads, head_size;
    const int64_t *query_start, *queries, *start, *tokens; /* of each sequence: rows of queries, rows of keys and values */
    const int64_t *places;                                 /* of its weights, (heads, queries, tokens rounded up to LANES) */
    float scale;
    Dropout dropout;
    const bf16 *query, *key, *value;
    long query_stride, key_stride, value_stride;
    bf16 *weights, *out; /* softmax before dropout; mixed values (rows, heads x head_size) */
    const bf16 *gradient;
    bf16 *query_gradient, *key_gradient, *value_gradient;
    long query_gradient_stride, key_gradient_stride, value_gradient_stride;
    float *scratch; /* of each thread */
    long scratch_floats;
    long causal; /* whether a token reads none behind it */
    const int64_t *score_places; /* of each sequence's scores before softmax, (heads, queries, tokens); and they or their gradients, where wanted */
    float *scores;
    const float *scores_gradient;
} Attention;

/* Memory of a thread for one head. */
typedef struct {
    float *query, *key, *value, *turned, *weights, *other, *result;
} Room;

static Room room_of(const Attention *g, int thread, long queries, long tokens) {
    const long whole = (tokens + LANES - 1) / LANES * LANES, most = queries > tokens ? queries : tokens;
    float *at = g->scratch + thread * g->scratch_floats;
    Room r;
    r.query = at, at += queries * g->head_size;
    r.key = at, at += tokens * g->head_size;
    r.value = at, at += tokens * g->head_size;
    r.turned = at, at += whole * g->head_size;
    r.weights = at, at += queries * whole;
    r.other = at, at += queries * whole;
    r.result = at, at += most * g->head_size;
    return r;
}

static void widen(const bf16 *from, long stride, long rows, long width, float by, float *to) {
    for (long m = 0; m < rows; m++)
        for (long k = 0; k < width; k += LANES) _mm512_storeu_ps(to + m * width + k, _mm512_mul_ps(load(from + m * stride + k, 0xffff), all(by)));
}

static void narrow(const float *from, long rows, long width, float by, bf16 *to, long stride) {
    for (long m = 0; m < rows; m++)
        for (long k = 0; k < width; k += LANES) store(to + m * stride + k, 0xffff, _mm512_mul_ps(_mm512_loadu_ps(from + m * width + k), all(by)));
}

/* (rows, width) to (width, rows rounded up), with zeros beyond. The width is a multiple of LANES. */
static void turn(const float *from, long rows, long width, float *to) {
    const long whole = (rows + LANES - 1) / LANES * LANES;
    for (long m = 0; m < whole; m += LANES)
        for (long k = 0; k < width; k += LANES) {
            __m512i block[LANES];
            UNROLL for (int i = 0; i < LANES; i++)
                block[i] = (__m512i)_mm512_maskz_loadu_ps(m + i < rows ? 0xffff : 0, from + (m + i) * width + k);
            transpose16(block);
            UNROLL for (int i = 0; i < LANES; i++) _mm512_storeu_si512(to + (k + i) * whole + m, block[i]);
        }
}

/* Scores of one query to weights, in place and, before dropout, as bf16. Those behind the first `tokens` are 0. */
static void softmax_row(const Attention *g, float *row, long tokens, long whole, long place) {
    vec top = all(-3e38f), total = all(0.0f);
    for (long k = 0; k < tokens; k += LANES) {
        const __mmask16 mask = first_lanes(tokens - k);
        top = _mm512_mask_max_ps(top, mask, top, _mm512_loadu_ps(row + k));
    }
    const vec most = all(_mm512_reduce_max_ps(top));
    for (long k = 0; k < tokens; k += LANES) {
        const vec e = _mm512_maskz_mov_ps(first_lanes(tokens - k), power_of_two(_mm512_mul_ps(_mm512_sub_ps(_mm512_loadu_ps(row + k), most), all(LOG2_E))));
        total = _mm512_add_ps(total, e);
        _mm512_storeu_ps(row + k, e);
    }
    const vec share = all(1.0f / _mm512_reduce_add_ps(total));
    for (long k = 0; k < tokens; k += LANES) {
        const vec w = rounded(_mm512_mul_ps(_mm512_loadu_ps(row + k), share));
        store(g->weights + place + k, 0xffff, w);
        _mm512_storeu_ps(row + k, g->dropout.limit ? dropped(w, place + k, &g->dropout) : w);
    }
    for (long k = (tokens + LANES - 1) / LANES * LANES; k < whole; k += LANES) {
        store(g->weights + place + k, 0xffff, all(0.0f));
        _mm512_storeu_ps(row + k, all(0.0f));
    }
}

static void attend_head(const Attention *g, long s, long h, int thread) {
    const long queries = g->queries[s], tokens = g->tokens[s], d = g->head_size, whole = (tokens + LANES - 1) / LANES * LANES;
    const Room r = room_of(g, thread, queries, tokens);
    widen(g->query + g->query_start[s] * g->query_stride + h * d, g->query_stride, queries, d, g->scale, r.query);
    widen(g->key + g->start[s] * g->key_stride + h * d, g->key_stride, tokens, d, 1.0f, r.key);
    widen(g->value + g->start[s] * g->value_stride + h * d, g->value_stride, tokens, d, 1.0f, r.value);
    turn(r.key, tokens, d, r.turned);
    multiply(r.query, d, 1, r.turned, queries, whole, d, r.weights);
    for (long m = 0; m < queries; m++) {
        float *row = r.weights + m * whole;
        if (g->scores) memcpy(g->scores + g->score_places[s] + (h * queries + m) * tokens, row, (size_t)tokens * sizeof *row);
        softmax_row(g, row, g->causal ? m + 1 : tokens, whole, g->places[s] + (h * queries + m) * whole);
    }
    multiply(r.weights, whole, 1, r.value, queries, d, tokens, r.result);
    narrow(r.result, queries, d, 1.0f, g->out + g->query_start[s] * g->heads * d + h * d, g->heads * d);
}

/* Gradients of dropped weights (`row`) to those of scores, in place; `weights` to dropped weights. */
static void softmax_row_backward(const Attention *g, float *row, float *weights, long whole, long place) {
    vec along = all(0.0f);
    for (long k = 0; k < whole; k += LANES) {
        const vec w = load(g->weights + place + k, 0xffff);
        const __mmask16 mask = g->dropout.limit ? stays(place + k, &g->dropout) : 0xffff;
        const vec d = _mm512_maskz_mul_ps(mask, _mm512_loadu_ps(row + k), all(g->dropout.scale));
        along = _mm512_fmadd_ps(d, w, along);
        _mm512_storeu_ps(row + k, d);
        _mm512_storeu_ps(weights + k, _mm512_maskz_mul_ps(mask, w, all(g->dropout.scale)));
    }
    const vec mean = all(_mm512_reduce_add_ps(along));
    for (long k = 0; k < whole; k += LANES) {
        const vec w = load(g->weights + place + k, 0xffff);
        _mm512_storeu_ps(row + k, _mm512_mul_ps(w, _mm512_sub_ps(_mm512_loadu_ps(row + k), mean)));
    }
}

static void attend_head_backward(const Attention *g, long s, long h, int thread) {
    const long queries = g->queries[s], tokens = g->tokens[s], d = g->head_size, whole = (tokens + LANES - 1) / LANES * LANES;
    const Room r = room_of(g, thread, queries, tokens);
    widen(g->gradient + g->query_start[s] * g->heads * d + h * d, g->heads * d, queries, d, 1.0f, r.query);
    widen(g->value + g->start[s] * g->value_stride + h * d, g->value_stride, tokens, d, 1.0f, r.value);
    turn(r.value, tokens, d, r.turned);
    multiply(r.query, d, 1, r.turned, queries, whole, d, r.other);
    for (long m = 0; m < queries; m++) {
        float *row = r.other + m * whole;
        softmax_row_backward(g, row, r.weights + m * whole, whole, g->places[s] + (h * queries + m) * whole);
        if (!g->scores_gradient) continue;
        const float *more = g->scores_gradient + g->score_places[s] + (h * queries + m) * tokens;
        for (long k = 0; k < tokens; k++) row[k] += more[k];
    }
    multiply(r.weights, 1, whole, r.query, tokens, d, queries, r.result);
    narrow(r.result, tokens, d, 1.0f, g->value_gradient + g->start[s] * g->value_gradient_stride + h * d, g->value_gradient_stride);
    widen(g->query + g->query_start[s] * g->query_stride + h * d, g->query_stride, queries, d, 1.0f, r.query);
    widen(g->key + g->start[s] * g->key_stride + h * d, g->key_stride, tokens, d, 1.0f, r.key);
    multiply(r.other, 1, whole, r.query, tokens, d, queries, r.result);
    narrow(r.result, tokens, d, g->scale, g->key_gradient + g->start[s] * g->key_gradient_stride + h * d, g->key_gradient_stride);
    multiply(r.other, whole, 1, r.key, queries, d, tokens, r.result);
    narrow(r.result, queries, d, g->scale, g->query_gradient + g->query_start[s] * g->query_gradient_stride + h * d, g->query_gradient_stride);
}

static void attention_work(void *data, int thread, int threads) {
    const Attention *g = data;
    const Share mine = share(g->sequences * g->heads, 1, thread, threads);
    for (long i = mine.first; i < mine.last; i++) (g->gradient ? attend_head_backward : attend_head)(g, i / g->heads, i % g->heads, thread);
}
