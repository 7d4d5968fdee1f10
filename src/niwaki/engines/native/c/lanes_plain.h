/* One number at a time, in plain C: for processors without kernels of their own, and to check the others against. */
#include <math.h>

#define KERNELS plain
#define LANES 1
#define WHOLE_ROWS 4
#define FLOAT_ROWS 4
#define TILE_PANELS 4
#define LAST_CODE 255

typedef float Floats;
typedef int32_t Wholes;

static inline Floats load(const float *from) { return *from; }
static inline Floats load_first(const float *from, int count) { return count ? *from : 0.0f; }
static inline void store(float *to, Floats x) { *to = x; }
static inline Floats all(float x) { return x; }
static inline Floats add(Floats a, Floats b) { return a + b; }
static inline Floats sub(Floats a, Floats b) { return a - b; }
static inline Floats mul(Floats a, Floats b) { return a * b; }
static inline Floats over(Floats a, Floats b) { return a / b; }
static inline Floats mul_add(Floats a, Floats b, Floats c) { return a * b + c; }
static inline Floats larger(Floats a, Floats b) { return a > b ? a : b; }
static inline Floats smaller(Floats a, Floats b) { return a < b ? a : b; }
static inline Floats size(Floats a) { return fabsf(a); }
static inline float sum_of(Floats a) { return a; }
static inline float largest_of(Floats a) { return a; }
static inline float smallest_of(Floats a) { return a; }
static inline Wholes nearest(Floats a) { return (int32_t)lrintf(a); }
static inline Floats to_floats(Wholes a) { return (float)a; }
static inline Floats rounded(Floats a) { return rintf(a); }
static inline Floats times_power(Floats a, Floats n) { return ldexpf(a, (int)lrintf(n)); }
static inline void turn(Floats x[LANES]) { (void)x; }
static inline void store_codes(uint8_t *to, Wholes x) { *to = (uint8_t)(x < 0 ? 0 : x > LAST_CODE ? LAST_CODE : x); }
static inline void store_bytes(int8_t *to, Wholes x) { *to = (int8_t)(x < -128 ? -128 : x > 127 ? 127 : x); }
static inline Wholes add_wholes(Wholes a, Wholes b) { return a + b; }
static inline void store_four(int8_t *to, Wholes a, Wholes b, Wholes c, Wholes d) { to[0] = (int8_t)a, to[1] = (int8_t)b, to[2] = (int8_t)c, to[3] = (int8_t)d; }
static inline Floats load_codes(const int8_t *from) { return (float)*from; }

typedef struct { int32_t one[4]; } Four;
typedef struct { int32_t one[4]; } Weights;
static inline Wholes no_wholes(void) { return 0; }
static inline Four four_inputs(const uint8_t *codes) { return (Four){{codes[0], codes[1], codes[2], codes[3]}}; }
static inline Weights load_weights(const int8_t *from) { return (Weights){{from[0], from[1], from[2], from[3]}}; }
static inline Wholes dot(Wholes sums, Four inputs, Weights weights) {
    for (int i = 0; i < 4; i++) sums += inputs.one[i] * weights.one[i];
    return sums;
}
