/* Matrices as the product reads them (product.h): values in pairs along the dimension that is summed over.

   Panels have PANEL columns: [panel][pair][PANEL][2]. For gradients of weights, where both sides are packed, panels have NARROW columns
   and blocks have TALL rows: [block][pair][TALL][2]. What lies beyond the matrix is 0. */
#define PANEL 64
#define NARROW 48
#define TALL 8

INLINE void transpose16(__m512i r[16]) {
    __m512i t[16];
    UNROLL for (int i = 0; i < 8; i++) {
        t[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    UNROLL for (int i = 0; i < 4; i++)
        UNROLL for (int j = 0; j < 2; j++) {
            r[4 * i + 2 * j] = _mm512_unpacklo_epi64(t[4 * i + j], t[4 * i + 2 + j]);
            r[4 * i + 2 * j + 1] = _mm512_unpackhi_epi64(t[4 * i + j], t[4 * i + 2 + j]);
        }
    UNROLL for (int j = 0; j < 4; j++)
        UNROLL for (int i = 0; i < 2; i++) {
            t[8 * i + j] = _mm512_shuffle_i32x4(r[8 * i + j], r[8 * i + 4 + j], 0x88);
            t[8 * i + 4 + j] = _mm512_shuffle_i32x4(r[8 * i + j], r[8 * i + 4 + j], 0xdd);
        }
    UNROLL for (int j = 0; j < 8; j++) {
        r[j] = _mm512_shuffle_i32x4(t[j], t[8 + j], 0x88);
        r[8 + j] = _mm512_shuffle_i32x4(t[j], t[8 + j], 0xdd);
    }
}

/* 16 outputs from n of weights (outputs, inputs), for the product with inputs: pairs along inputs. */
static void pack_inputs(const float *w, long outputs, long inputs, long n, bf16 *panels) {
    bf16 *to = panels + n / PANEL * PANEL * inputs + n % PANEL * 2;
    for (long k = 0; k < inputs; k += 32) {
        __m512i r[16];
        UNROLL for (int i = 0; i < 16; i++) {
            const __mmask16 one = n + i < outputs ? first_lanes(inputs - k) : 0;
            const __mmask16 two = n + i < outputs && inputs - k > 16 ? first_lanes(inputs - k - 16) : 0;
            const float *from = w + (n + i) * inputs + k;
            r[i] = (__m512i)_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(two, from + 16), _mm512_maskz_loadu_ps(one, from));
        }
        transpose16(r);
        UNROLL for (int i = 0; i < 16; i++)
            if (k + 2 * i < inputs) _mm512_storeu_si512(to + (k / 2 + i) * 2 * PANEL, r[i]);
    }
}

INLINE __m512i paired(vec low, vec high) {
    const __m512i a = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(low)), b = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(high));
    return _mm512_or_si512(a, _mm512_slli_epi32(b, 16));
}

/* Rows n and n + 1 of the same weights, for the product with gradients of outputs: pairs along outputs. `all_outputs` are those of
   all matrices that are stacked in these panels, `before` those of the ones above this. */
static void pack_outputs(const float *w, long inputs, long n, long all_outputs, long before, bf16 *panels) {
    for (long k = 0; k < (inputs + PANEL - 1) / PANEL * PANEL; k += 16) {
        const __mmask16 mask = k < inputs ? first_lanes(inputs - k) : 0;
        const float *from = w + n * inputs + k;
        bf16 *to = panels + k / PANEL * PANEL * all_outputs + (before + n) * PANEL + k % PANEL * 2;
        _mm512_storeu_si512(to, paired(_mm512_maskz_loadu_ps(mask, from), _mm512_maskz_loadu_ps(mask, from + inputs)));
    }
}

typedef struct {
    const float *w;
    long outputs, inputs, all_outputs, before;
    bf16 *for_inputs, *for_outputs; /* either may be NULL */
} Weights;

static void pack_weights_work(void *data, int thread, int threads) {
    const Weights *g = data;
    const Share mine = share((g->outputs + PANEL - 1) / PANEL * PANEL, 16, thread, threads);
    for (long n = mine.first; n < mine.last; n += 16) {
        if (g->for_inputs) pack_inputs(g->w, g->outputs, g->inputs, n, g->for_inputs);
        if (!g->for_outputs) continue;
        for (long i = n; i < n + 16 && i < g->outputs; i += 2) pack_outputs(g->w, g->inputs, i, g->all_outputs, g->before, g->for_outputs);
    }
}

/* Rows (tokens, width) of activations in pairs along tokens, for gradients of weights: as panels, or as blocks with the sums of all columns. */
typedef struct {
    const bf16 *x;
    long tokens, width, stride;
    bf16 *panels, *blocks; /* one of them is NULL */
    float *sums;           /* with blocks: (threads, width), 0 before */
} Activations;

INLINE __m512i pair_of_rows(const Activations *g, long m, long k) {
    const __mmask16 mask = k < g->width ? first_lanes(g->width - k) : 0, second = m + 1 < g->tokens ? mask : 0;
    const bf16 *from = g->x + m * g->stride + k;
    return _mm512_or_si512(load_bits(from, mask), _mm512_slli_epi32(load_bits(from + g->stride, second), 16));
}

#define TOGETHER 32 /* tokens that are packed together, so that whole cache lines are written */

static void pack_panels(const Activations *g, Share tokens) {
    const long pairs = (g->tokens + 1) / 2;
    for (long n = 0; n < g->width; n += NARROW)
        for (long m = tokens.first; m < tokens.last; m += 2)
            UNROLL for (long j = 0; j < NARROW; j += LANES)
                _mm512_storeu_si512(g->panels + (n / NARROW * pairs + m / 2) * NARROW * 2 + j * 2, pair_of_rows(g, m, n + j));
}

static void pack_blocks(const Activations *g, Share tokens, float *sums) {
    const long pairs = (g->tokens + 1) / 2;
    for (long n = 0; n < g->width; n += LANES) {
        const __mmask16 mask = first_lanes(g->width - n);
        vec sum = _mm512_maskz_loadu_ps(mask, sums + n);
        for (long m = tokens.first; m < tokens.last; m += 2) {
            const __m512i both = pair_of_rows(g, m, n);
            bf16 *to = g->blocks + (n / TALL * pairs + m / 2) * TALL * 2;
            _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(both));
            if (n + TALL < g->width) _mm256_storeu_si256((__m256i *)(to + pairs * TALL * 2), _mm512_extracti64x4_epi64(both, 1));
            const __m512i low = _mm512_slli_epi32(both, 16), high = _mm512_and_si512(both, _mm512_set1_epi32((int)0xffff0000u));
            sum = _mm512_add_ps(sum, _mm512_add_ps(_mm512_castsi512_ps(low), _mm512_castsi512_ps(high)));
        }
        _mm512_mask_storeu_ps(sums + n, mask, sum);
    }
}

static void pack_activations_work(void *data, int thread, int threads) {
    const Activations *g = data;
    const Share mine = share(g->tokens, 2, thread, threads);
    for (long m = mine.first; m < mine.last; m += TOGETHER) {
        const Share some = {m, m + TOGETHER < mine.last ? m + TOGETHER : mine.last};
        if (g->panels) pack_panels(g, some);
        else pack_blocks(g, some, g->sums + thread * g->width);
    }
}
