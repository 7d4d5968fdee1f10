/* Cross-entropy of rows of logits with one target each, and its gradient, without fp32 copies of the logits. */
typedef struct {
    long rows, classes, stride; /* of the logits' rows */
    const bf16 *logits;
    const int64_t *targets;
    float scale; /* of the gradient */
    float *losses;
    bf16 *gradient; /* (rows, classes) */
} CrossEntropy;

static void cross_entropy_row(const CrossEntropy *g, long row) {
    const bf16 *x = g->logits + row * g->stride;
    bf16 *to = g->gradient + row * g->classes;
    vec top = all(-3e38f), total = all(0.0f);
    for (long k = 0; k < g->classes; k += LANES) {
        const __mmask16 mask = first_lanes(g->classes - k);
        top = _mm512_mask_max_ps(top, mask, top, load(x + k, mask));
    }
    const float most = _mm512_reduce_max_ps(top);
    for (long k = 0; k < g->classes; k += LANES) {
        const __mmask16 mask = first_lanes(g->classes - k);
        total = _mm512_mask_add_ps(total, mask, total, power_of_two(_mm512_mul_ps(_mm512_sub_ps(load(x + k, mask), all(most)), all(LOG2_E))));
    }
    const float sum = _mm512_reduce_add_ps(total);
    const uint32_t bits = (uint32_t)x[g->targets[row]] << 16;
    float chosen;
    memcpy(&chosen, &bits, sizeof chosen);
    g->losses[row] = (most - chosen) + __builtin_logf(sum);
    const vec share = all(g->scale / sum);
    for (long k = 0; k < g->classes; k += LANES) {
        const __mmask16 mask = first_lanes(g->classes - k);
        vec p = _mm512_mul_ps(power_of_two(_mm512_mul_ps(_mm512_sub_ps(load(x + k, mask), all(most)), all(LOG2_E))), share);
        if (g->targets[row] - k >= 0 && g->targets[row] - k < LANES) {
            const __mmask16 here = (__mmask16)(1u << (g->targets[row] - k));
            p = _mm512_mask_sub_ps(p, here, p, all(g->scale));
        }
        store(to + k, mask, p);
    }
}

static void cross_entropy_work(void *data, int thread, int threads) {
    const CrossEntropy *g = data;
    const Share mine = share(g->rows, 1, thread, threads);
    for (long row = mine.first; row < mine.last; row++) cross_entropy_row(g, row);
}
