/* Four numbers at a time, in plain C: what the kernels for NEON (neon.c) and for WebAssembly (wasm.c) do, to the bit. WebAssembly has no
   instruction that multiplies and adds without rounding in between: UNFUSED. */
#include <math.h>

#ifndef KERNELS
#define KERNELS four_in_c
#endif
#define LANES 4
#define WHOLE_ROWS 4
#define FLOAT_ROWS 4
#define TILE_PANELS 4
#define LAST_CODE 255

typedef struct { float at[LANES]; } Floats;
typedef struct { int32_t at[LANES]; } Wholes;

#define EACH(type, expression) \
    type found; \
    for (int i = 0; i < LANES; i++) found.at[i] = (expression); \
    return found
static inline Floats load(const float *from) { EACH(Floats, from[i]); }
static inline Floats load_first(const float *from, int count) { EACH(Floats, i < count ? from[i] : 0.0f); }
static inline void store(float *to, Floats x) { memcpy(to, x.at, sizeof x.at); }
static inline Floats all(float x) { EACH(Floats, x); }
static inline Floats add(Floats a, Floats b) { EACH(Floats, a.at[i] + b.at[i]); }
static inline Floats sub(Floats a, Floats b) { EACH(Floats, a.at[i] - b.at[i]); }
static inline Floats mul(Floats a, Floats b) { EACH(Floats, a.at[i] * b.at[i]); }
static inline Floats over(Floats a, Floats b) { EACH(Floats, a.at[i] / b.at[i]); }
#ifdef UNFUSED
static inline Floats mul_add(Floats a, Floats b, Floats c) { return add(mul(a, b), c); }
#else
static inline Floats mul_add(Floats a, Floats b, Floats c) { EACH(Floats, fmaf(a.at[i], b.at[i], c.at[i])); }
#endif
static inline Floats larger(Floats a, Floats b) { EACH(Floats, a.at[i] > b.at[i] ? a.at[i] : b.at[i]); }
static inline Floats smaller(Floats a, Floats b) { EACH(Floats, a.at[i] < b.at[i] ? a.at[i] : b.at[i]); }
static inline Floats size(Floats a) { EACH(Floats, fabsf(a.at[i])); }
static inline float sum_of(Floats a) { return (a.at[0] + a.at[1]) + (a.at[2] + a.at[3]); }
#define REDUCED(name, both) \
    static inline float name(Floats a) { \
        const Floats one = all(a.at[0]), other = all(a.at[1]), third = all(a.at[2]), last = all(a.at[3]); \
        return both(both(one, other), both(third, last)).at[0]; \
    }
REDUCED(largest_of, larger)
REDUCED(smallest_of, smaller)
static inline Wholes nearest(Floats a) { EACH(Wholes, (int32_t)lrintf(a.at[i])); }
static inline Floats to_floats(Wholes a) { EACH(Floats, (float)a.at[i]); }
static inline Floats rounded(Floats a) { EACH(Floats, rintf(a.at[i])); }
static inline Floats times_power(Floats a, Floats n) { EACH(Floats, ldexpf(a.at[i], (int)lrintf(n.at[i]))); }
static inline void turn(Floats x[LANES]) {
    for (int i = 0; i < LANES; i++)
        for (int j = 0; j < i; j++) {
            const float held = x[i].at[j];
            x[i].at[j] = x[j].at[i];
            x[j].at[i] = held;
        }
}
static inline void store_bytes(int8_t *to, Wholes x) {
    for (int i = 0; i < LANES; i++) to[i] = (int8_t)(x.at[i] < -128 ? -128 : x.at[i] > 127 ? 127 : x.at[i]);
}
static inline void store_codes(uint8_t *to, Wholes x) {
    for (int i = 0; i < LANES; i++) to[i] = (uint8_t)(x.at[i] < 0 ? 0 : x.at[i] > LAST_CODE ? LAST_CODE : x.at[i]);
}
static inline Wholes add_wholes(Wholes a, Wholes b) { EACH(Wholes, a.at[i] + b.at[i]); }
static inline void store_four(int8_t *to, Wholes a, Wholes b, Wholes c, Wholes d) {
    for (int i = 0; i < LANES; i++, to += 4) to[0] = (int8_t)a.at[i], to[1] = (int8_t)b.at[i], to[2] = (int8_t)c.at[i], to[3] = (int8_t)d.at[i];
}
static inline Floats load_codes(const int8_t *from) { EACH(Floats, (float)from[i]); }

typedef struct { uint8_t at[4]; } Four;
typedef struct { int8_t at[4 * LANES]; } Weights;
static inline Wholes no_wholes(void) { EACH(Wholes, 0); }
static inline Four four_inputs(const uint8_t *codes) { Four found; memcpy(found.at, codes, sizeof found.at); return found; }
static inline Weights load_weights(const int8_t *from) { Weights found; memcpy(found.at, from, sizeof found.at); return found; }
static inline Wholes dot(Wholes sums, Four inputs, Weights weights) {
    for (int i = 0; i < 4 * LANES; i++) sums.at[i / 4] += inputs.at[i % 4] * weights.at[i];
    return sums;
}
