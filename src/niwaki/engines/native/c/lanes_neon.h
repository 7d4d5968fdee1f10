/* Four numbers at a time: NEON, every 64-bit ARM processor. Products of whole numbers are in tile_neon.h. */
#include <arm_neon.h>

#ifndef KERNELS /* neon_dot.c and neon_i8mm.c name their own */
#define KERNELS neon
#endif
#define LANES 4
#define FLOAT_ROWS 8 /* a tile is 8 rows x 2 panels: 16 sums, 2 vectors of weights, 8 of inputs, of 32 registers */
#define TILE_PANELS 2
#define LAST_CODE 255
#ifndef I8MM
#define LESS 128 /* codes are stored less this: before i8mm, products are of two bytes with a sign or two without */
#endif

typedef float32x4_t Floats;
typedef int32x4_t Wholes;

static inline Floats load(const float *from) { return vld1q_f32(from); }
static inline Floats load_first(const float *from, int count) {
    float first[LANES] = {0};
    memcpy(first, from, (size_t)count * sizeof(float));
    return vld1q_f32(first);
}
static inline void store(float *to, Floats x) { vst1q_f32(to, x); }
static inline Floats all(float x) { return vdupq_n_f32(x); }
static inline Floats add(Floats a, Floats b) { return vaddq_f32(a, b); }
static inline Floats sub(Floats a, Floats b) { return vsubq_f32(a, b); }
static inline Floats mul(Floats a, Floats b) { return vmulq_f32(a, b); }
static inline Floats over(Floats a, Floats b) { return vdivq_f32(a, b); }
static inline Floats mul_add(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
/* not vmaxq: of two numbers one of which is NaN, the second is wanted (numbers.h) */
static inline Floats larger(Floats a, Floats b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
static inline Floats smaller(Floats a, Floats b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
static inline Floats size(Floats a) { return vabsq_f32(a); }
static inline float sum_of(Floats a) { return vaddvq_f32(a); }
#define REDUCED(name, both) \
    static inline float name(Floats a) { \
        const Floats two = both(vuzp1q_f32(a, a), vuzp2q_f32(a, a)); /* the first of each pair with the second */ \
        return vgetq_lane_f32(both(two, vdupq_laneq_f32(two, 1)), 0); \
    }
REDUCED(largest_of, larger)
REDUCED(smallest_of, smaller)
static inline Wholes nearest(Floats a) { return vcvtnq_s32_f32(a); }
static inline Floats to_floats(Wholes a) { return vcvtq_f32_s32(a); }
static inline Floats rounded(Floats a) { return vrndnq_f32(a); }
static inline Floats times_power(Floats a, Floats n) { return mul(a, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(nearest(n), vdupq_n_s32(127)), 23))); }
static inline void turn(Floats x[LANES]) {
    const float32x4x2_t upper = vtrnq_f32(x[0], x[1]), lower = vtrnq_f32(x[2], x[3]);
    for (int i = 0; i < 2; i++) {
        x[i] = vcombine_f32(vget_low_f32(upper.val[i]), vget_low_f32(lower.val[i]));
        x[i + 2] = vcombine_f32(vget_high_f32(upper.val[i]), vget_high_f32(lower.val[i]));
    }
}
static inline void store_bytes(int8_t *to, Wholes x) {
    const int16x4_t pairs = vqmovn_s32(x);
    const int32_t four = vget_lane_s32(vreinterpret_s32_s8(vqmovn_s16(vcombine_s16(pairs, pairs))), 0);
    memcpy(to, &four, sizeof four);
}
static inline void store_codes(uint8_t *to, Wholes x) {
#ifdef LESS
    store_bytes((int8_t *)to, vsubq_s32(x, vdupq_n_s32(LESS)));
#else
    const uint16x4_t pairs = vqmovun_s32(x);
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(pairs, pairs))), 0);
    memcpy(to, &four, sizeof four);
#endif
}
static inline Wholes add_wholes(Wholes a, Wholes b) { return vaddq_s32(a, b); }
static inline void store_four(int8_t *to, Wholes a, Wholes b, Wholes c, Wholes d) {
    const int32x4_t low = vdupq_n_s32(255);
    const int32x4_t first = vorrq_s32(vandq_s32(a, low), vshlq_n_s32(vandq_s32(b, low), 8));
    const int32x4_t second = vorrq_s32(vshlq_n_s32(vandq_s32(c, low), 16), vshlq_n_s32(d, 24));
    vst1q_s8(to, vreinterpretq_s8_s32(vorrq_s32(first, second)));
}
static inline Floats load_codes(const int8_t *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(four))))));
}
static inline Wholes no_wholes(void) { return vdupq_n_s32(0); }

#define WHOLE_TILE "tile_neon.h"
#if defined(I8MM)
#define WHOLE_ROWS 6 /* three pairs of rows */
#elif defined(DOTPROD)
#define WHOLE_ROWS 8
#else
#define WHOLE_ROWS 4 /* each sum is in two parts */
#endif
