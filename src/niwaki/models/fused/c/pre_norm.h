/* Layer norm of fp32 rows to bf16, as networks with norms first read their sum over all layers. One thread works on whole rows. */
typedef struct {
    long rows, width;
    const float *x, *gain, *shift;
    float epsilon;
    bf16 *out;
    float *mean, *rstd;   /* of each row */
    const bf16 *gradient; /* of the output; and below those of x, gain and shift (the last two of each thread, 0 before) */
    float *x_gradient, *gain_gradient, *shift_gradient;
} PreNorm;

INLINE vec floats(const float *from, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, from); }

static void pre_norm_row(const PreNorm *g, long row) {
    const float *x = g->x + row * g->width;
    vec total = all(0.0f), squares = all(0.0f);
    for (long k = 0; k < g->width; k += LANES) total = _mm512_add_ps(total, floats(x + k, first_lanes(g->width - k)));
    const float mean = _mm512_reduce_add_ps(total) / (float)g->width;
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec away = _mm512_maskz_sub_ps(mask, floats(x + k, mask), all(mean));
        squares = _mm512_fmadd_ps(away, away, squares);
    }
    const float rstd = 1.0f / __builtin_sqrtf(_mm512_reduce_add_ps(squares) / (float)g->width + g->epsilon);
    g->mean[row] = mean, g->rstd[row] = rstd;
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec away = _mm512_mul_ps(_mm512_sub_ps(floats(x + k, mask), all(mean)), all(rstd));
        store(g->out + row * g->width + k, mask, _mm512_fmadd_ps(away, floats(g->gain + k, mask), floats(g->shift + k, mask)));
    }
}

static void pre_norm_row_backward(const PreNorm *g, long row, float *gains, float *shifts) {
    const long start = row * g->width;
    const vec mean = all(g->mean[row]), rstd = all(g->rstd[row]);
    vec total = all(0.0f), along = all(0.0f);
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec d = load(g->gradient + start + k, mask);
        const vec x = _mm512_maskz_mul_ps(mask, _mm512_sub_ps(floats(g->x + start + k, mask), mean), rstd);
        const vec scaled = _mm512_mul_ps(d, floats(g->gain + k, mask));
        total = _mm512_add_ps(total, scaled);
        along = _mm512_fmadd_ps(scaled, x, along);
        _mm512_mask_storeu_ps(gains + k, mask, _mm512_fmadd_ps(d, x, floats(gains + k, mask)));
        _mm512_mask_storeu_ps(shifts + k, mask, _mm512_add_ps(d, floats(shifts + k, mask)));
    }
    const vec a = all(_mm512_reduce_add_ps(total) / (float)g->width), b = all(_mm512_reduce_add_ps(along) / (float)g->width);
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec scaled = _mm512_mul_ps(load(g->gradient + start + k, mask), floats(g->gain + k, mask));
        const vec x = _mm512_mul_ps(_mm512_sub_ps(floats(g->x + start + k, mask), mean), rstd);
        _mm512_mask_storeu_ps(g->x_gradient + start + k, mask, _mm512_mul_ps(_mm512_fnmadd_ps(x, b, _mm512_sub_ps(scaled, a)), rstd));
    }
}

static void pre_norm_work(void *data, int thread, int threads) {
    const PreNorm *g = data;
    const Share mine = share(g->rows, 1, thread, threads);
    for (long row = mine.first; row < mine.last; row++)
        if (g->gradient) pre_norm_row_backward(g, row, g->gain_gradient + thread * g->width, g->shift_gradient + thread * g->width);
        else pre_norm_row(g, row);
}
