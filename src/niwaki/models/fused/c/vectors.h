/* Vectors of 16 floats: bf16 in memory, elementary functions, random bits. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t bf16;
typedef __m512 vec;

#define LANES 16
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

INLINE __mmask16 first_lanes(long count) { return count >= LANES ? 0xffff : (__mmask16)((1u << count) - 1); }
INLINE __m512i load_bits(const bf16 *from, __mmask16 mask) { return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, from)); }
INLINE vec load(const bf16 *from, __mmask16 mask) { return _mm512_castsi512_ps(_mm512_slli_epi32(load_bits(from, mask), 16)); }
INLINE void store(bf16 *to, __mmask16 mask, vec x) {
    if (mask == 0xffff) _mm256_storeu_si256((__m256i *)to, (__m256i)_mm512_cvtneps_pbh(x)); /* several times as fast */
    else _mm256_mask_storeu_epi16(to, mask, (__m256i)_mm512_cvtneps_pbh(x));
}
INLINE vec rounded(vec x) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x)), 16)); }
INLINE vec all(float x) { return _mm512_set1_ps(x); }

/* 2 to the x, to a relative error of 2e-7 and the rounding of x. */
INLINE vec power_of_two(vec x) {
    const vec n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), r = _mm512_sub_ps(x, n);
    vec p = all(1.33908634e-3f);
    p = _mm512_fmadd_ps(p, r, all(9.67603192e-3f));
    p = _mm512_fmadd_ps(p, r, all(5.55035711e-2f));
    p = _mm512_fmadd_ps(p, r, all(2.40221075e-1f));
    p = _mm512_fmadd_ps(p, r, all(6.93147188e-1f));
    p = _mm512_fmadd_ps(p, r, all(1.0f));
    return _mm512_scalef_ps(p, n);
}

#define LOG2_E 1.44269504f

/* 1 / x: an estimate and one step of Newton's method, faster than a division. */
INLINE vec reciprocal(vec x) {
    const vec guess = _mm512_rcp14_ps(x);
    return _mm512_mul_ps(guess, _mm512_fnmadd_ps(x, guess, all(2.0f)));
}

/* GELU(x) = x P(x), with the probability P of a normal number below x (Abramowitz and Stegun 7.1.26, error below 1e-7), and its slope. */
INLINE vec gelu(vec x, vec *slope) {
    const vec square = _mm512_min_ps(_mm512_mul_ps(x, x), all(300.0f)), e = power_of_two(_mm512_mul_ps(square, all(-0.5f * LOG2_E)));
    const vec t = reciprocal(_mm512_fmadd_ps(_mm512_abs_ps(x), all(0.3275911f * 0.70710678f), all(1.0f)));
    vec p = all(0.5f * 1.061405429f);
    p = _mm512_fmadd_ps(p, t, all(0.5f * -1.453152027f));
    p = _mm512_fmadd_ps(p, t, all(0.5f * 1.421413741f));
    p = _mm512_fmadd_ps(p, t, all(0.5f * -0.284496736f));
    p = _mm512_fmadd_ps(p, t, all(0.5f * 0.254829592f));
    const vec beyond = _mm512_mul_ps(_mm512_mul_ps(p, t), e); /* the probability of a number above |x| */
    const vec below = _mm512_mask_sub_ps(beyond, _mm512_cmp_ps_mask(x, all(0.0f), _CMP_GE_OQ), all(1.0f), beyond);
    *slope = _mm512_fmadd_ps(_mm512_mul_ps(x, all(0.39894228f)), e, below);
    return _mm512_mul_ps(x, below);
}

/* x S(2u) with the logistic function S and u = sqrt(2 / pi) (x + 0.044715 x^3), which is 0.5 x (1 + tanh(u)), and its slope. */
INLINE vec gelu_tanh(vec x, vec *slope) {
    const vec square = _mm512_mul_ps(x, x);
    const vec twice = _mm512_mul_ps(x, _mm512_fmadd_ps(square, all(2.0f * 0.79788456f * 0.044715f), all(2.0f * 0.79788456f)));
    const vec bounded = _mm512_max_ps(_mm512_min_ps(twice, all(80.0f)), all(-80.0f));
    const vec s = reciprocal(_mm512_add_ps(all(1.0f), power_of_two(_mm512_mul_ps(bounded, all(-LOG2_E)))));
    const vec rise = _mm512_fmadd_ps(square, all(6.0f * 0.79788456f * 0.044715f), all(2.0f * 0.79788456f));
    const vec out = _mm512_mul_ps(x, s);
    *slope = _mm512_fmadd_ps(_mm512_mul_ps(out, _mm512_sub_ps(all(1.0f), s)), rise, s);
    return out;
}

/* Dropout: element `place` of a tensor stays where a hash of it and the seed is at least `limit`. Forward and backward pass
   compute the same, so that no mask is stored. */
typedef struct {
    uint32_t seed, salt, limit;
    float scale; /* of what stays */
} Dropout;

INLINE __m512i mixed_bits(__m512i x) {
    x = _mm512_mullo_epi32(_mm512_xor_si512(x, _mm512_srli_epi32(x, 16)), _mm512_set1_epi32(0x7feb352d));
    x = _mm512_mullo_epi32(_mm512_xor_si512(x, _mm512_srli_epi32(x, 15)), _mm512_set1_epi32((int)0x846ca68bu));
    return _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
}

INLINE __mmask16 stays(long place, const Dropout *by) {
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i at = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(uint32_t)place));
    const __m512i bits = mixed_bits(_mm512_xor_si512(_mm512_add_epi32(at, _mm512_set1_epi32((int)by->salt)), _mm512_set1_epi32((int)by->seed)));
    return _mm512_cmpge_epu32_mask(bits, _mm512_set1_epi32((int)by->limit));
}

INLINE vec dropped(vec x, long place, const Dropout *by) { return _mm512_maskz_mul_ps(stays(place, by), x, all(by->scale)); }
