/* Four numbers at a time: WebAssembly's vectors of 128 bits (-msimd128), which every browser has had since 2023. They have no fused sums. */
#include <wasm_simd128.h>

#define KERNELS wasm
#define LANES 4
#define WHOLE_ROWS 4 /* browsers run this on processors with 16 registers, too */
#define FLOAT_ROWS 4
#define TILE_PANELS 2
#define LAST_CODE 255

typedef v128_t Floats;
typedef v128_t Wholes;

static inline Floats load(const float *from) { return wasm_v128_load(from); }
static inline Floats load_first(const float *from, int count) {
    float first[LANES] = {0};
    memcpy(first, from, (size_t)count * sizeof(float));
    return wasm_v128_load(first);
}
static inline void store(float *to, Floats x) { wasm_v128_store(to, x); }
static inline Floats all(float x) { return wasm_f32x4_splat(x); }
static inline Floats add(Floats a, Floats b) { return wasm_f32x4_add(a, b); }
static inline Floats sub(Floats a, Floats b) { return wasm_f32x4_sub(a, b); }
static inline Floats mul(Floats a, Floats b) { return wasm_f32x4_mul(a, b); }
static inline Floats over(Floats a, Floats b) { return wasm_f32x4_div(a, b); }
static inline Floats mul_add(Floats a, Floats b, Floats c) { return add(mul(a, b), c); }
static inline Floats larger(Floats a, Floats b) { return wasm_f32x4_pmax(b, a); } /* a > b ? a : b */
static inline Floats smaller(Floats a, Floats b) { return wasm_f32x4_pmin(b, a); }
static inline Floats size(Floats a) { return wasm_f32x4_abs(a); }
#define AT(a, i) wasm_f32x4_extract_lane(a, i)
static inline float sum_of(Floats a) { return (AT(a, 0) + AT(a, 1)) + (AT(a, 2) + AT(a, 3)); }
#define REDUCED(name, both) \
    static inline float name(Floats a) { \
        const Floats two = both(wasm_i32x4_shuffle(a, a, 0, 2, 0, 2), wasm_i32x4_shuffle(a, a, 1, 3, 1, 3)); /* the first of each pair with the second */ \
        return AT(both(two, wasm_i32x4_shuffle(two, two, 1, 1, 1, 1)), 0); \
    }
REDUCED(largest_of, larger)
REDUCED(smallest_of, smaller)
static inline Wholes nearest(Floats a) { return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(a)); }
static inline Floats to_floats(Wholes a) { return wasm_f32x4_convert_i32x4(a); }
static inline Floats rounded(Floats a) { return wasm_f32x4_nearest(a); }
static inline Floats times_power(Floats a, Floats n) { return mul(a, wasm_i32x4_shl(wasm_i32x4_add(nearest(n), wasm_i32x4_splat(127)), 23)); }
static inline void turn(Floats x[LANES]) {
    const Floats a = wasm_i32x4_shuffle(x[0], x[1], 0, 4, 1, 5), b = wasm_i32x4_shuffle(x[0], x[1], 2, 6, 3, 7);
    const Floats c = wasm_i32x4_shuffle(x[2], x[3], 0, 4, 1, 5), d = wasm_i32x4_shuffle(x[2], x[3], 2, 6, 3, 7);
    x[0] = wasm_i64x2_shuffle(a, c, 0, 2);
    x[1] = wasm_i64x2_shuffle(a, c, 1, 3);
    x[2] = wasm_i64x2_shuffle(b, d, 0, 2);
    x[3] = wasm_i64x2_shuffle(b, d, 1, 3);
}
static inline void store_bytes(int8_t *to, Wholes x) {
    const v128_t pairs = wasm_i16x8_narrow_i32x4(x, x);
    wasm_v128_store32_lane(to, wasm_i8x16_narrow_i16x8(pairs, pairs), 0);
}
static inline void store_codes(uint8_t *to, Wholes x) {
    const v128_t pairs = wasm_i16x8_narrow_i32x4(x, x);
    wasm_v128_store32_lane(to, wasm_u8x16_narrow_i16x8(pairs, pairs), 0);
}
static inline Wholes add_wholes(Wholes a, Wholes b) { return wasm_i32x4_add(a, b); }
static inline void store_four(int8_t *to, Wholes a, Wholes b, Wholes c, Wholes d) {
    const v128_t low = wasm_i32x4_splat(255);
    const v128_t first = wasm_v128_or(wasm_v128_and(a, low), wasm_i32x4_shl(wasm_v128_and(b, low), 8));
    const v128_t second = wasm_v128_or(wasm_i32x4_shl(wasm_v128_and(c, low), 16), wasm_i32x4_shl(d, 24));
    wasm_v128_store(to, wasm_v128_or(first, second));
}
static inline Floats load_codes(const int8_t *from) {
    return wasm_f32x4_convert_i32x4(wasm_i32x4_extend_low_i16x8(wasm_i16x8_extend_low_i8x16(wasm_v128_load32_zero(from))));
}

#define WHOLE_TILE "tile_wasm.h"
static inline Wholes no_wholes(void) { return wasm_i32x4_splat(0); }
