/* Sixteen numbers at a time: AVX-512 with VNNI. */
#include <immintrin.h>

#ifndef KERNELS /* amx.c names its own */
#define KERNELS avx512
#endif
#define LANES 16
#define WHOLE_ROWS 6 /* a tile is 6 rows x 4 panels: 24 sums, 4 vectors of weights, one of inputs, of 32 registers */
#define FLOAT_ROWS 6
#define TILE_PANELS 4
#define LAST_CODE 255 /* codes of inputs end here; they have no sign */

typedef __m512 Floats;
typedef __m512i Wholes;
typedef __m512i Weights;

static inline Floats load(const float *from) { return _mm512_loadu_ps(from); }
/* The first `count` numbers, and 0 in place of the others, which are not read. */
static inline Floats load_first(const float *from, int count) { return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), from); }
static inline void store(float *to, Floats x) { _mm512_storeu_ps(to, x); }
static inline Floats all(float x) { return _mm512_set1_ps(x); }
static inline Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
static inline Floats sub(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
static inline Floats mul(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
static inline Floats over(Floats a, Floats b) { return _mm512_div_ps(a, b); }
static inline Floats mul_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
static inline Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
static inline Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
static inline Floats size(Floats a) { return _mm512_abs_ps(a); }
static inline float sum_of(Floats a) { return _mm512_reduce_add_ps(a); }
static inline float largest_of(Floats a) { return _mm512_reduce_max_ps(a); }
static inline float smallest_of(Floats a) { return _mm512_reduce_min_ps(a); }
static inline Wholes nearest(Floats a) { return _mm512_cvtps_epi32(a); }
static inline Floats to_floats(Wholes a) { return _mm512_cvtepi32_ps(a); }
static inline Floats rounded(Floats a) { return _mm512_roundscale_ps(a, 0); }
static inline Floats times_power(Floats a, Floats n) { return _mm512_scalef_ps(a, n); } /* a times 2^n */
/* Rows of a square become its columns: first in fours of neighbours, then fours of them. */
static inline void turn(Floats x[LANES]) {
    Floats y[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i += 2) {
        y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) {
        const __m512d low = _mm512_castps_pd(y[i / 4 * 4 + i % 4 / 2]), high = _mm512_castps_pd(y[i / 4 * 4 + i % 4 / 2 + 2]);
        x[i] = _mm512_castpd_ps(i % 2 ? _mm512_unpackhi_pd(low, high) : _mm512_unpacklo_pd(low, high));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const Floats a = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x44), b = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xee);
        const Floats c = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x44), d = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xee);
        x[i] = _mm512_shuffle_f32x4(a, c, 0x88);
        x[i + 4] = _mm512_shuffle_f32x4(a, c, 0xdd);
        x[i + 8] = _mm512_shuffle_f32x4(b, d, 0x88);
        x[i + 12] = _mm512_shuffle_f32x4(b, d, 0xdd);
    }
}
static inline void store_codes(uint8_t *to, Wholes x) { _mm_storeu_si128((void *)to, _mm512_cvtusepi32_epi8(_mm512_max_epi32(x, _mm512_setzero_si512()))); }
static inline void store_bytes(int8_t *to, Wholes x) { _mm_storeu_si128((void *)to, _mm512_cvtsepi32_epi8(x)); }
static inline Floats load_codes(const int8_t *from) { return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)from))); }

static inline Wholes load_wholes(const int32_t *from) { return _mm512_load_si512(from); }
static inline Wholes add_wholes(Wholes a, Wholes b) { return _mm512_add_epi32(a, b); }
/* The lowest bytes of four, side by side: as a panel has the weights of four inputs. */
static inline void store_four(int8_t *to, Wholes a, Wholes b, Wholes c, Wholes d) {
    const __m512i low = _mm512_set1_epi32(255);
    __m512i first = _mm512_or_si512(_mm512_and_si512(a, low), _mm512_slli_epi32(_mm512_and_si512(b, low), 8));
    __m512i second = _mm512_or_si512(_mm512_slli_epi32(_mm512_and_si512(c, low), 16), _mm512_slli_epi32(d, 24));
    _mm512_storeu_si512((void *)to, _mm512_or_si512(first, second));
}

/* Products of four neighbouring inputs of one row with the weights of LANES outputs, added to the sums. */
typedef __m512i Four;
static inline Wholes no_wholes(void) { return _mm512_setzero_si512(); }
static inline Four four_inputs(const uint8_t *codes) { int32_t four; memcpy(&four, codes, 4); return _mm512_set1_epi32(four); }
static inline Weights load_weights(const int8_t *from) { return _mm512_load_si512(from); }
static inline Wholes dot(Wholes sums, Four inputs, Weights weights) {
    /* not the intrinsic: for that GCC keeps each sum twice, and 24 of them do not fit into the registers */
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(inputs), "v"(weights));
    return sums;
}
