/* Runs the portable kernels without Python, so that they can be tried on another processor (`make cross`). Each result is compared
   with the same sum in double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

extern const Kernels *niwaki_kernels(const char *name);
extern int32_t niwaki_layout(void);

enum { ROWS = 3, INPUTS = 37, OUTPUTS = 21 };

static float draw(void) {
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (1 << 23) - 1;
}

static void *room(size_t bytes) {
    void *found = aligned_alloc(64, (bytes + 127) / 64 * 64);
    memset(found, 0, (bytes + 127) / 64 * 64);
    return found;
}

static void check(const char *what, double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance)) {
        printf("%s: %g instead of %g\n", what, found, wanted);
        exit(1);
    }
}

static void products(const Kernels *kernels) {
    float weights[OUTPUTS * INPUTS], *rows = room(ROWS * padded(INPUTS) * 4), *to = room(ROWS * padded(OUTPUTS) * 4);
    float *bias = room(padded(OUTPUTS) * 4);
    for (int i = 0; i < OUTPUTS * INPUTS; i++) weights[i] = draw();
    for (int i = 0; i < OUTPUTS; i++) bias[i] = draw();
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < INPUTS; i++) rows[row * padded(INPUTS) + i] = draw();
    void *panels = room(kernels->panel_bytes(OUTPUTS, INPUTS, 0));
    kernels->pack(weights, OUTPUTS, INPUTS, 0, panels);
    Matrix matrix = {INPUTS, OUTPUTS, 0, panels, NULL, NULL, bias};
    kernels->product(rows, ROWS, &matrix, NULL, NONE, to, room(1 << 20));
    for (int row = 0; row < ROWS; row++)
        for (int out = 0; out < OUTPUTS; out++) {
            double wanted = bias[out];
            for (int i = 0; i < INPUTS; i++) wanted += (double)weights[out * INPUTS + i] * rows[row * padded(INPUTS) + i];
            check("product", to[row * padded(OUTPUTS) + out], wanted, 1e-4);
        }
}

static void activations(const Kernels *kernels) {
    float *values = room(64 * 4), before[64];
    for (int i = 0; i < 64; i++) before[i] = values[i] = 6 * draw();
    kernels->activate(values, 64, GELU);
    for (int i = 0; i < 64; i++) check("gelu", values[i], before[i] * 0.5 * (1 + erf(before[i] / sqrt(2))), 1e-4);
}

static void norms(const Kernels *kernels) {
    float *row = room(padded(INPUTS) * 4), *gain = room(padded(INPUTS) * 4), *shift = room(padded(INPUTS) * 4), before[INPUTS];
    double mean = 0, variance = 0;
    for (int i = 0; i < INPUTS; i++) before[i] = row[i] = draw(), gain[i] = draw(), shift[i] = draw(), mean += before[i] / INPUTS;
    for (int i = 0; i < INPUTS; i++) variance += (before[i] - mean) * (before[i] - mean) / INPUTS;
    Norm norm = {gain, shift, 1e-12f, INPUTS};
    kernels->normalize(row, 1, &norm);
    for (int i = 0; i < INPUTS; i++) check("norm", row[i], (before[i] - mean) / sqrt(variance + 1e-12) * gain[i] + shift[i], 1e-4);
}

int main(void) {
    const Kernels *kernels = niwaki_kernels("plain");
    if (niwaki_layout() != LAYOUT || kernels == NULL) return 1;
    products(kernels);
    activations(kernels);
    norms(kernels);
    printf("plain kernels: fine\n");
    return 0;
}
