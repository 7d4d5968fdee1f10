/* Layer norm of (dropout of x) + rows: forward and backward. One thread works on whole rows. */
typedef struct {
    long rows, width;
    const bf16 *x, *residual;
    const float *gain, *shift;
    float epsilon;
    Dropout dropout;
    bf16 *sum, *out;    /* the normed sum, saved for the backward pass, and the output */
    float *mean, *rstd; /* of each row */
    const bf16 *gradient; /* of the output; and below those of sum, x, gain and shift (the last two of each thread, 0 before) */
    bf16 *sum_gradient, *x_gradient;
    float *gain_gradient, *shift_gradient;
} Norm;

static void norm_row(const Norm *g, long row) {
    const long start = row * g->width;
    vec total = all(0.0f), squares = all(0.0f);
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        vec x = load(g->x + start + k, mask);
        if (g->dropout.limit) x = dropped(x, start + k, &g->dropout);
        x = rounded(_mm512_add_ps(x, load(g->residual + start + k, mask)));
        store(g->sum + start + k, mask, x);
        total = _mm512_add_ps(total, x);
    }
    const float mean = _mm512_reduce_add_ps(total) / (float)g->width;
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec x = _mm512_maskz_sub_ps(mask, load(g->sum + start + k, mask), all(mean));
        squares = _mm512_fmadd_ps(x, x, squares);
    }
    const float rstd = 1.0f / __builtin_sqrtf(_mm512_reduce_add_ps(squares) / (float)g->width + g->epsilon);
    g->mean[row] = mean, g->rstd[row] = rstd;
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec x = _mm512_mul_ps(_mm512_sub_ps(load(g->sum + start + k, mask), all(mean)), all(rstd));
        store(g->out + start + k, mask, _mm512_fmadd_ps(x, _mm512_maskz_loadu_ps(mask, g->gain + k), _mm512_maskz_loadu_ps(mask, g->shift + k)));
    }
}

static void norm_work(void *data, int thread, int threads) {
    const Norm *g = data;
    const Share mine = share(g->rows, 1, thread, threads);
    for (long row = mine.first; row < mine.last; row++) norm_row(g, row);
}

static void norm_row_backward(const Norm *g, long row, float *gains, float *shifts) {
    const long start = row * g->width;
    const vec mean = all(g->mean[row]), rstd = all(g->rstd[row]);
    vec total = all(0.0f), along = all(0.0f);
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec d = load(g->gradient + start + k, mask);
        const vec x = _mm512_maskz_mul_ps(mask, _mm512_sub_ps(load(g->sum + start + k, mask), mean), rstd);
        const vec scaled = _mm512_mul_ps(d, _mm512_maskz_loadu_ps(mask, g->gain + k));
        total = _mm512_add_ps(total, scaled);
        along = _mm512_fmadd_ps(scaled, x, along);
        _mm512_mask_storeu_ps(gains + k, mask, _mm512_fmadd_ps(d, x, _mm512_maskz_loadu_ps(mask, gains + k)));
        _mm512_mask_storeu_ps(shifts + k, mask, _mm512_add_ps(d, _mm512_maskz_loadu_ps(mask, shifts + k)));
    }
    const vec a = all(_mm512_reduce_add_ps(total) / (float)g->width), b = all(_mm512_reduce_add_ps(along) / (float)g->width);
    for (long k = 0; k < g->width; k += LANES) {
        const __mmask16 mask = first_lanes(g->width - k);
        const vec scaled = _mm512_mul_ps(load(g->gradient + start + k, mask), _mm512_maskz_loadu_ps(mask, g->gain + k));
        const vec x = _mm512_mul_ps(_mm512_sub_ps(load(g->sum + start + k, mask), mean), rstd);
        const vec d = rounded(_mm512_mul_ps(_mm512_fnmadd_ps(x, b, _mm512_sub_ps(scaled, a)), rstd));
        store(g->sum_gradient + start + k, mask, d);
        if (g->dropout.limit) store(g->x_gradient + start + k, mask, dropped(d, start + k, &g->dropout));
    }
}

static void norm_backward_work(void *data, int thread, int threads) {
    const Norm *g = data;
    const Share mine = share(g->rows, 1, thread, threads);
    float *gains = g->gain_gradient + thread * g->width, *shifts = g->shift_gradient + thread * g->width;
    for (long row = mine.first; row < mine.last; row++) norm_row_backward(g, row, gains, shifts);
}
