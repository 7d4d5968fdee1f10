/* Runs packed files on another processor: prints the bits of all outputs, which must be those of the same program elsewhere, and fails if a
   text's outputs depend on its batch or on threads. MALLOC_PERTURB_ fills scratch memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "niwaki.h"

enum { TEXTS = 5, LONGEST = 90, VOCABULARY = 40, MOST_OUTPUTS = 160 };

static uint32_t state = 1;
static int draw(int most) { return (int)(((state = state * 1664525u + 1013904223u) >> 8) % (uint32_t)most); }

static int run(const char *path) {
    static float alone[TEXTS * LONGEST * MOST_OUTPUTS], together[TEXTS * LONGEST * MOST_OUTPUTS];
    int32_t ids[TEXTS * LONGEST], types[TEXTS * LONGEST], lengths[TEXTS];
    niwaki_model *model = niwaki_open(path);
    if (!model || niwaki_outputs(model) > MOST_OUTPUTS) return printf("%s\n", model ? "too many outputs" : niwaki_error()), 1;
    size_t tokens = 0, found = 0;
    for (int i = 0; i < TEXTS; i++) {
        const int most = niwaki_max_tokens(model) < LONGEST ? niwaki_max_tokens(model) : LONGEST;
        lengths[i] = i ? 1 + draw(most) : most;
        for (int j = 0; j < lengths[i]; j++) ids[tokens + j] = draw(VOCABULARY), types[tokens + j] = draw(2);
        if (niwaki_predict(model, ids + tokens, types + tokens, lengths + i, 1, 1, alone + found)) return printf("%s\n", niwaki_error()), 1;
        found += (size_t)niwaki_outputs(model) * (niwaki_per_token(model) ? (size_t)lengths[i] : 1);
        tokens += (size_t)lengths[i];
    }
    for (int threads = 1; threads <= 5; threads += 2) {
        memset(together, 255, sizeof together);
        if (niwaki_predict(model, ids, types, lengths, TEXTS, threads, together)) return printf("%s\n", niwaki_error()), 1;
        if (memcmp(alone, together, found * sizeof *alone)) return printf("%s: outputs differ in a batch, with %d threads\n", path, threads), 1;
    }
    uint32_t hash = 0x811c9dc5u;
    for (size_t i = 0; i < found * sizeof *alone; i++) hash = (hash ^ ((const uint8_t *)alone)[i]) * 0x01000193u;
    printf("%s %zu %08x %.6g\n", strrchr(path, '/') + 1, found, hash, (double)alone[0]);
    fprintf(stderr, "%s\n", niwaki_kernels_of(model));
    niwaki_close(model);
    return 0;
}

int main(int count, char **paths) {
    for (int i = 1; i < count; i++)
        if (run(paths[i])) return 1;
    return 0;
}
