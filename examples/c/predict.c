/* Answers texts with a packed model, in C (docs/packed_models.md):

     niwaki export MODEL --to native --out small && niwaki pack small --out small.niwaki
     cc -O2 -Isrc/niwaki/engines/native/c examples/c/predict.c src/niwaki/engines/native/c/[a-z]*.c -lm -lpthread -o predict
     ./predict small.niwaki "a film to see twice"          # a text
     ./predict small.niwaki --ids 101 1037 2143 102        # token ids, of any tokenizer */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "niwaki.h"

static int fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* The share of each output, as its meaning wants it. */
static void shares(float *outputs, int count, int answer) {
    if (answer == NIWAKI_SEVERAL_LABELS) {
        for (int i = 0; i < count; i++) outputs[i] = 1.0f / (1.0f + expf(-outputs[i]));
    } else if (answer == NIWAKI_ONE_LABEL) {
        float most = outputs[0], sum = 0.0f;
        for (int i = 1; i < count; i++)
            if (outputs[i] > most) most = outputs[i];
        for (int i = 0; i < count; i++) sum += outputs[i] = expf(outputs[i] - most);
        for (int i = 0; i < count; i++) outputs[i] /= sum;
    }
}

/* Prints the outputs of one text, or of each of its tokens. */
static int answer(niwaki_model *model, const int32_t *ids, const int32_t *types, int32_t length) {
    const int count = niwaki_outputs(model), rows = niwaki_per_token(model) ? length : 1;
    float *outputs = malloc((size_t)rows * (size_t)count * sizeof *outputs);
    if (!outputs || niwaki_predict(model, ids, types, &length, 1, 1, outputs)) {
        free(outputs);
        return fail(outputs ? niwaki_error() : "no memory");
    }
    for (int row = 0; row < rows; row++) {
        float *found = outputs + (size_t)row * count;
        for (int i = 0; i < count; i++) printf("%slogit %.6f", i ? ", " : "", (double)found[i]);
        shares(found, count, niwaki_answer(model));
        for (int i = 0; niwaki_answer(model) != NIWAKI_NUMBERS && i < count; i++) printf("%s %s %.4f", i ? "," : ";", niwaki_label(model, i), (double)found[i]);
        printf("\n");
    }
    free(outputs);
    return 0;
}

static int answer_text(niwaki_model *model, const char *text) {
    const int room = niwaki_max_tokens(model);
    int32_t *ids = malloc(2 * (size_t)room * sizeof *ids);
    if (!ids) return fail("no memory");
    const int length = niwaki_tokenize(model, text, ids, ids + room, room);
    const int code = length < 0 ? fail(niwaki_error()) : answer(model, ids, ids + room, length);
    free(ids);
    return code;
}

int main(int count, char **given) {
    if (count < 3) return fail("usage: predict MODEL TEXT... | predict MODEL --ids NUMBER...");
    niwaki_model *model = niwaki_open(given[1]);
    if (!model) return fail(niwaki_error());
    int code = 0;
    if (!strcmp(given[2], "--ids")) {
        int32_t *ids = malloc((size_t)count * sizeof *ids);
        for (int i = 3; ids && i < count; i++) ids[i - 3] = (int32_t)strtol(given[i], NULL, 10);
        code = ids ? answer(model, ids, NULL, count - 3) : fail("no memory");
        free(ids);
    } else {
        for (int i = 2; i < count && !code; i++) code = answer_text(model, given[i]);
    }
    niwaki_close(model);
    return code;
}
