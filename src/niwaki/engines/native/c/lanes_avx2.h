/* Eight numbers at a time: AVX2 with FMA, every x86 processor since about 2013. With AVX-VNNI, which those for laptops have since
   about 2021 without having AVX-512, `dot` is one instruction; VNNI is how the compiler shall write it. */
#include <immintrin.h>

#define LANES 8
#define FLOAT_ROWS 6 /* a tile is 6 rows x 2 panels: 12 sums, 2 vectors of weights, one of inputs, of 16 registers */
#define TILE_PANELS 2
#ifdef VNNI
#define WHOLE_ROWS 6
#define LAST_CODE 255
#else
#define KERNELS avx2
#define WHOLE_ROWS 3 /* `dot` needs registers of its own: more rows are slower */
#define LAST_CODE 127 /* codes of inputs end here: 7 bits, because `dot` adds two products in 16 */
#endif

typedef __m256 Floats;
typedef __m256i Wholes;
typedef __m256i Weights;

static inline Floats load(const float *from) { return _mm256_loadu_ps(from); }
static const int32_t FIRST[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
static inline Floats load_first(const float *from, int count) { return _mm256_maskload_ps(from, _mm256_loadu_si256((const void *)(FIRST + LANES - count))); }
static inline void store(float *to, Floats x) { _mm256_storeu_ps(to, x); }
static inline Floats all(float x) { return _mm256_set1_ps(x); }
static inline Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
static inline Floats sub(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
static inline Floats mul(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
static inline Floats over(Floats a, Floats b) { return _mm256_div_ps(a, b); }
static inline Floats mul_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
static inline Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
static inline Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
static inline Floats size(Floats a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
#define REDUCED(name, both) \
    static inline float name(Floats a) { \
        __m128 four = both(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)); \
        __m128 two = both(four, _mm_movehl_ps(four, four)); \
        return _mm_cvtss_f32(both(two, _mm_shuffle_ps(two, two, 1))); \
    }
REDUCED(sum_of, _mm_add_ps)
REDUCED(largest_of, _mm_max_ps)
REDUCED(smallest_of, _mm_min_ps)
static inline Wholes nearest(Floats a) { return _mm256_cvtps_epi32(a); }
static inline Floats to_floats(Wholes a) { return _mm256_cvtepi32_ps(a); }
static inline Floats rounded(Floats a) { return _mm256_round_ps(a, 0); }
static inline Floats times_power(Floats a, Floats n) { return mul(a, _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(nearest(n), _mm256_set1_epi32(127)), 23))); }
static inline void turn(Floats x[LANES]) {
    Floats y[LANES];
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i += 2) {
        y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < LANES; i++) {
        const __m256d low = _mm256_castps_pd(y[i / 4 * 4 + i % 4 / 2]), high = _mm256_castps_pd(y[i / 4 * 4 + i % 4 / 2 + 2]);
        x[i] = _mm256_castpd_ps(i % 2 ? _mm256_unpackhi_pd(low, high) : _mm256_unpacklo_pd(low, high));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const Floats a = x[i], b = x[i + 4];
        x[i] = _mm256_permute2f128_ps(a, b, 0x20);
        x[i + 4] = _mm256_permute2f128_ps(a, b, 0x31);
    }
}
static inline void store_bytes(int8_t *to, Wholes x) {
    __m128i pairs = _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    _mm_storel_epi64((void *)to, _mm_packs_epi16(pairs, pairs));
}
static inline void store_codes(uint8_t *to, Wholes x) {
    __m256i held = _mm256_min_epi32(_mm256_max_epi32(x, _mm256_setzero_si256()), _mm256_set1_epi32(LAST_CODE));
    __m128i pairs = _mm_packs_epi32(_mm256_castsi256_si128(held), _mm256_extracti128_si256(held, 1));
    _mm_storel_epi64((void *)to, _mm_packus_epi16(pairs, pairs));
}
static inline Floats load_codes(const int8_t *from) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)from))); }

static inline Wholes add_wholes(Wholes a, Wholes b) { return _mm256_add_epi32(a, b); }
static inline void store_four(int8_t *to, Wholes a, Wholes b, Wholes c, Wholes d) {
    const __m256i low = _mm256_set1_epi32(255);
    __m256i first = _mm256_or_si256(_mm256_and_si256(a, low), _mm256_slli_epi32(_mm256_and_si256(b, low), 8));
    __m256i second = _mm256_or_si256(_mm256_slli_epi32(_mm256_and_si256(c, low), 16), _mm256_slli_epi32(d, 24));
    _mm256_storeu_si256((void *)to, _mm256_or_si256(first, second));
}

static inline Wholes no_wholes(void) { return _mm256_setzero_si256(); }
static inline Weights load_weights(const int8_t *from) { return _mm256_load_si256((const void *)from); }
typedef __m256i Four;
static inline Four four_inputs(const uint8_t *codes) { int32_t four; memcpy(&four, codes, 4); return _mm256_set1_epi32(four); }
static inline Wholes dot(Wholes sums, Four inputs, Weights weights) {
#ifdef VNNI
    __asm__(VNNI "vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(inputs), "x"(weights));
    return sums;
#else /* maddubs adds two products of a number without a sign and one with, and holds the sum in 16 bits: 2 x 127 x 127 fits */
    return _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_maddubs_epi16(inputs, weights), _mm256_set1_epi16(1)));
#endif
}
