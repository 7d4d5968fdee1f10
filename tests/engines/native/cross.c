/* Runs kernels without Python, so that they can be tried on another processor (`make cross`): cross NAME... compares each set of kernels
   with four_in_c at random shapes, to the bit, on memory full of rubbish; sets that this processor must not have are given as -NAME. Those in
   plain C are compared with the same sums in double precision. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

extern const Kernels *niwaki_kernels(const char *name);
extern int32_t niwaki_layout(void);

enum { SHAPES = 300, ROWS = 50, WIDTH = 130, MOST = 160 };

static uint32_t state;
static uint32_t bits(void) { return (state = state * 1664525u + 1013904223u) >> 8; }
static float draw(void) { return (float)bits() / (1 << 23) - 1; }
static int size(int most) { return 1 + (int)(bits() % (uint32_t)(bits() % 2 ? most : 1 + most / 8)); } /* small ones as often as others */

static const uint32_t RUBBISH[] = {0x7fc00000u, 0xffffffffu, 0x7f7f7f7fu, 0};

static void fill(void *room, size_t bytes, uint32_t word) {
    for (size_t i = 0; i < bytes / 4; i++) ((uint32_t *)room)[i] = word;
}

static void *room(size_t bytes) {
    void *found = aligned_alloc(64, (bytes + 127) / 64 * 64);
    memset(found, 0, (bytes + 127) / 64 * 64);
    return found;
}

static void fail(const char *kernels, const char *what, int seed) {
    printf("%s: %s at shape %d is not what four_in_c gives\n", kernels, what, seed);
    exit(1);
}

static void check(const char *what, double found, double wanted, double tolerance) {
    if (!(fabs(found - wanted) <= tolerance)) {
        printf("%s: %g instead of %g\n", what, found, wanted);
        exit(1);
    }
}

/* Rows of padded width, zeros behind; now and then all of a sign, or tiny. */
static void draw_rows(float *rows, int count, int width) {
    for (int r = 0; r < count; r++) {
        const float spread = bits() % 8 ? 3.0f : 1e-31f, around = bits() % 3 ? 0.0f : 4.0f * draw();
        for (int i = 0; i < padded(width); i++) rows[r * padded(width) + i] = i < width ? spread * draw() + around : 0.0f;
    }
}

/* One product, of floats or of bytes with the extreme ones among them. */
static void product(const Kernels *kernels, int seed, uint32_t rubbish, float *to) {
    state = (uint32_t)seed;
    const int whole = (int)(bits() % 3 > 0), count = size(ROWS), inputs = size(WIDTH), outputs = size(WIDTH), biased = (int)(bits() % 2), more = (int)(bits() % 2);
    float *rows = room((size_t)count * padded(inputs) * 4), *plus = room((size_t)count * padded(outputs) * 4), *three[3];
    draw_rows(rows, count, inputs);
    draw_rows(plus, count, outputs);
    for (int i = 0; i < 3; i++) draw_rows(three[i] = room(padded(outputs) * 4), 1, outputs);
    float *weights = room((size_t)outputs * inputs * 4);
    for (int i = 0; i < outputs * inputs; i++) {
        if (whole) ((int8_t *)weights)[i] = (int8_t)(bits() % 4 ? (int)bits() : bits() % 2 ? -128 : 127);
        else weights[i] = draw();
    }
    void *panels = room(kernels->panel_bytes(outputs, inputs, whole)), *scratch = room(1 << 17);
    fill(scratch, 1 << 17, rubbish);
    fill(to, (size_t)count * padded(outputs) * 4, rubbish);
    kernels->pack(weights, outputs, inputs, whole, panels);
    const Matrix matrix = {inputs, outputs, whole, panels, whole ? three[0] : NULL, whole ? three[1] : NULL, biased ? three[2] : NULL};
    kernels->product(rows, count, &matrix, more ? plus : NULL, (int)(bits() % 6), to, scratch);
    void *all[] = {rows, plus, three[0], three[1], three[2], weights, panels, scratch};
    for (int i = 0; i < 8; i++) free(all[i]);
}

/* What is done to rows alone, one result behind the other. */
static void passes(const Kernels *kernels, int seed, float *to) {
    state = (uint32_t)seed;
    const int count = size(ROWS), width = size(WIDTH), all_of = count * padded(width);
    float *rows = room((size_t)all_of * 4), *gain = room(padded(width) * 4), *shift = room(padded(width) * 4);
    draw_rows(rows, count, width);
    draw_rows(gain, 1, width);
    draw_rows(shift, 1, width);
    const Norm norm = {gain, bits() % 2 ? shift : NULL, 1e-5f, width};
    for (int i = 0; i < 3; i++, to += ROWS * MOST) {
        memcpy(to, rows, (size_t)all_of * 4);
        if (i == 0) kernels->activate(to, all_of, (int)(bits() % 6));
        if (i == 1) kernels->normalize(to, count, &norm);
        if (i == 2) kernels->softmax(to, count, width, padded(width));
    }
    kernels->round_rows(rows, count, width, (uint8_t *)to, to + ROWS * MOST, to + 2 * ROWS * MOST);
    for (int i = 0; i < all_of; i++) ((uint8_t *)to)[i] += (uint8_t)kernels->less;
    free(rows), free(gain), free(shift);
}

static void compare(const Kernels *kernels, const Kernels *wanted) {
    const size_t bytes = (size_t)6 * ROWS * MOST * 4;
    float *found[2] = {room(bytes), room(bytes)};
    for (int seed = 0; seed < SHAPES; seed++) {
        for (int part = 0; part < 2; part++) {
            for (int i = 0; i < 2; i++) {
                memset(found[i], 0, bytes);
                if (part) passes(i ? wanted : kernels, seed, found[i]);
                else product(i ? wanted : kernels, seed, RUBBISH[(seed + i) % 4], found[i]); /* of each, other rubbish */
            }
            if (memcmp(found[0], found[1], bytes)) fail(kernels->name, part ? "a pass over rows" : "a product", seed);
        }
    }
    free(found[0]), free(found[1]);
}

static void products(const Kernels *kernels) {
    enum { COUNT = 3, INPUTS = 37, OUTPUTS = 21 };
    float weights[OUTPUTS * INPUTS], *rows = room(COUNT * padded(INPUTS) * 4), *to = room(COUNT * padded(OUTPUTS) * 4);
    float *bias = room(padded(OUTPUTS) * 4);
    for (int i = 0; i < OUTPUTS * INPUTS; i++) weights[i] = draw();
    for (int i = 0; i < OUTPUTS; i++) bias[i] = draw();
    for (int row = 0; row < COUNT; row++)
        for (int i = 0; i < INPUTS; i++) rows[row * padded(INPUTS) + i] = draw();
    void *panels = room(kernels->panel_bytes(OUTPUTS, INPUTS, 0));
    kernels->pack(weights, OUTPUTS, INPUTS, 0, panels);
    Matrix matrix = {INPUTS, OUTPUTS, 0, panels, NULL, NULL, bias};
    kernels->product(rows, COUNT, &matrix, NULL, NONE, to, room(1 << 20));
    for (int row = 0; row < COUNT; row++)
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
    enum { INPUTS = 37 };
    float *row = room(padded(INPUTS) * 4), *gain = room(padded(INPUTS) * 4), *shift = room(padded(INPUTS) * 4), before[INPUTS];
    double mean = 0, variance = 0;
    for (int i = 0; i < INPUTS; i++) before[i] = row[i] = draw(), gain[i] = draw(), shift[i] = draw(), mean += before[i] / INPUTS;
    for (int i = 0; i < INPUTS; i++) variance += (before[i] - mean) * (before[i] - mean) / INPUTS;
    Norm norm = {gain, shift, 1e-12f, INPUTS};
    kernels->normalize(row, 1, &norm);
    for (int i = 0; i < INPUTS; i++) check("norm", row[i], (before[i] - mean) / sqrt(variance + 1e-12) * gain[i] + shift[i], 1e-4);
}

int main(int count, char **names) {
    const char *in_c[] = {"plain", "four_in_c"};
    if (niwaki_layout() != LAYOUT) return 1;
    for (int i = 0; i < 2; i++) {
        const Kernels *kernels = niwaki_kernels(in_c[i]);
        if (kernels == NULL) return 1;
        products(kernels);
        activations(kernels);
        norms(kernels);
        printf("%s: near to double precision\n", in_c[i]);
    }
    for (int i = 1; i < count; i++) {
        const int unwanted = names[i][0] == '-';
        const Kernels *kernels = niwaki_kernels(names[i] + unwanted);
        if (unwanted != (kernels == NULL)) {
            printf("%s: %s\n", names[i] + unwanted, kernels ? "there, though this processor cannot run it" : "not there");
            return 1;
        }
        if (!kernels) continue;
        compare(kernels, niwaki_kernels("four_in_c"));
        printf("%s: the same bits as four_in_c at %d shapes\n", names[i], SHAPES);
    }
    return 0;
}
