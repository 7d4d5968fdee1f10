/* The AVX-512 instructions of the training kernels in plain C, one lane after the other. Sanitizers do not see what masked
   instructions read and write, and valgrind knows none of them; here each access is one of C. Results are those of the processor but for
   the estimate of a reciprocal and the last bit of fused sums. `make sanitize` compiles the kernels with this. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef float __m512 __attribute__((vector_size(64)));
typedef uint32_t __m512i __attribute__((vector_size(64)));
typedef uint16_t __m512bh __attribute__((vector_size(64)));
typedef uint16_t __m256i __attribute__((vector_size(32)));
typedef uint16_t __mmask16;

#define _MM_FROUND_TO_NEAREST_INT 0
#define _MM_FROUND_NO_EXC 8
#define _CMP_GE_OQ 29

#define OP static inline __attribute__((always_inline, unused))
#define EACH(COUNT) for (int i = 0; i < (COUNT); i++)

/* A function of vectors a and b: lane i is the expression; and with masks, with zeros or lanes of s elsewhere. */
#define PLAIN(NAME, TYPE, EXPRESSION)                     \
    OP TYPE _mm512_##NAME(TYPE a, TYPE b) {               \
        TYPE r;                                           \
        EACH(16) r[i] = EXPRESSION;                       \
        return r;                                         \
    }
#define MASKED(NAME)                                                                                                                  \
    OP __m512 _mm512_mask_##NAME(__m512 s, __mmask16 k, __m512 a, __m512 b) { return _mm512_mask_mov_ps(s, k, _mm512_##NAME(a, b)); } \
    OP __m512 _mm512_maskz_##NAME(__mmask16 k, __m512 a, __m512 b) { return _mm512_maskz_mov_ps(k, _mm512_##NAME(a, b)); }

OP __m512 _mm512_mask_mov_ps(__m512 s, __mmask16 k, __m512 a) {
    EACH(16) s[i] = k >> i & 1 ? a[i] : s[i];
    return s;
}
OP __m512 _mm512_set1_ps(float x) {
    __m512 r;
    EACH(16) r[i] = x;
    return r;
}
OP __m512 _mm512_setzero_ps(void) { return _mm512_set1_ps(0.0f); }
OP __m512 _mm512_maskz_mov_ps(__mmask16 k, __m512 a) { return _mm512_mask_mov_ps(_mm512_setzero_ps(), k, a); }

PLAIN(add_ps, __m512, a[i] + b[i])
PLAIN(sub_ps, __m512, a[i] - b[i])
PLAIN(mul_ps, __m512, a[i] * b[i])
PLAIN(max_ps, __m512, a[i] > b[i] ? a[i] : b[i]) /* b where one of them is NaN */
PLAIN(min_ps, __m512, a[i] < b[i] ? a[i] : b[i])
PLAIN(scalef_ps, __m512, (float)ldexp(a[i], (int)fmax(-2000.0, fmin(2000.0, floorf(b[i])))))
PLAIN(add_epi32, __m512i, a[i] + b[i])
PLAIN(mullo_epi32, __m512i, a[i] * b[i])
PLAIN(and_si512, __m512i, a[i] & b[i])
PLAIN(or_si512, __m512i, a[i] | b[i])
PLAIN(xor_si512, __m512i, a[i] ^ b[i])
MASKED(add_ps)
MASKED(sub_ps)
MASKED(mul_ps)
MASKED(max_ps)

OP __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
    EACH(16) c[i] = (float)((double)a[i] * b[i] + c[i]);
    return c;
}
OP __m512 _mm512_fnmadd_ps(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(-a, b, c); }
OP __m512 _mm512_abs_ps(__m512 a) {
    EACH(16) a[i] = fabsf(a[i]);
    return a;
}
OP __m512 _mm512_rcp14_ps(__m512 a) { return 1.0f / a; }
OP __m512 _mm512_roundscale_ps(__m512 a, int how) {
    (void)how;
    EACH(16) a[i] = nearbyintf(a[i]);
    return a;
}
OP float _mm512_reduce_add_ps(__m512 a) {
    for (int half = 8; half; half /= 2) EACH(half) a[i] += a[i + half];
    return a[0];
}
OP float _mm512_reduce_max_ps(__m512 a) {
    EACH(16) a[0] = a[i] > a[0] ? a[i] : a[0];
    return a[0];
}
OP __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int how) {
    __mmask16 k = 0;
    (void)how;
    EACH(16) k |= (__mmask16)((a[i] >= b[i]) << i);
    return k;
}
OP __mmask16 _mm512_cmpge_epu32_mask(__m512i a, __m512i b) {
    __mmask16 k = 0;
    EACH(16) k |= (__mmask16)((a[i] >= b[i]) << i);
    return k;
}

OP __m512i _mm512_set1_epi32(int x) {
    __m512i r;
    EACH(16) r[i] = (uint32_t)x;
    return r;
}
#define _mm512_setr_epi32(...) ((__m512i){__VA_ARGS__})
#define _mm512_slli_epi32(a, bits) ((__m512i)(a) << (bits))
#define _mm512_srli_epi32(a, bits) ((__m512i)(a) >> (bits))
#define _mm512_castsi512_ps(a) ((__m512)(a))
OP __m512i _mm512_cvtepu16_epi32(__m256i a) {
    __m512i r;
    EACH(16) r[i] = a[i];
    return r;
}
OP __m256i _mm512_extracti64x4_epi64(__m512i a, int half) {
    __m256i r;
    EACH(16) r[i] = ((__m512bh)a)[16 * half + i];
    return r;
}
OP __m256i _mm512_castsi512_si256(__m512i a) { return _mm512_extracti64x4_epi64(a, 0); }
OP __m512i unpacked(__m512i a, __m512i b, int from, int run) {
    __m512i r;
    EACH(16) r[i] = (i / run % 2 ? b : a)[i / 4 * 4 + from + i % 4 / (2 * run) * run + i % run];
    return r;
}
OP __m512i _mm512_unpacklo_epi32(__m512i a, __m512i b) { return unpacked(a, b, 0, 1); }
OP __m512i _mm512_unpackhi_epi32(__m512i a, __m512i b) { return unpacked(a, b, 2, 1); }
OP __m512i _mm512_unpacklo_epi64(__m512i a, __m512i b) { return unpacked(a, b, 0, 2); }
OP __m512i _mm512_unpackhi_epi64(__m512i a, __m512i b) { return unpacked(a, b, 2, 2); }
OP __m512i _mm512_shuffle_i32x4(__m512i a, __m512i b, int which) {
    __m512i r;
    EACH(16) r[i] = (i < 8 ? a : b)[(which >> i / 4 * 2 & 3) * 4 + i % 4];
    return r;
}

/* To the nearest bf16, ties to even; numbers below the normal ones become 0, and NaN stays one. */
OP uint16_t nearest_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    if (!(bits & 0x7f800000)) return (uint16_t)(bits >> 16 & 0x8000);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
OP __m256i _mm512_cvtneps_pbh(__m512 a) {
    __m256i r;
    EACH(16) r[i] = nearest_bf16(a[i]);
    return r;
}
OP __m512bh _mm512_cvtne2ps_pbh(__m512 high, __m512 low) {
    __m512bh r;
    EACH(32) r[i] = nearest_bf16(i < 16 ? low[i] : high[i - 16]);
    return r;
}
OP __m512 _mm512_dpbf16_ps(__m512 sum, __m512bh a, __m512bh b) { /* the product of two bf16 is exact */
    const __m512i x = (__m512i)a, y = (__m512i)b;
    sum += (__m512)(x & 0xffff0000u) * (__m512)(y & 0xffff0000u);
    return sum + (__m512)(x << 16) * (__m512)(y << 16);
}

#define MEMORY(LOAD, STORE, TYPE)                               \
    OP TYPE LOAD(const void *from) {                                     \
        TYPE r;                                                          \
        memcpy(&r, from, sizeof r);                                      \
        return r;                                                        \
    }                                                                    \
    OP void STORE(void *to, TYPE a) { memcpy(to, &a, sizeof a); }
#define MASKED_MEMORY(LOAD, STORE, TYPE, ELEMENT)                        \
    OP TYPE LOAD(__mmask16 k, const void *from) {                        \
        TYPE r = {0};                                                    \
        EACH(16) if (k >> i & 1) {                                       \
            ELEMENT one;                                                 \
            memcpy(&one, (const ELEMENT *)from + i, sizeof one);         \
            r[i] = one;                                                  \
        }                                                                \
        return r;                                                        \
    }                                                                    \
    OP void STORE(void *to, __mmask16 k, TYPE a) {                       \
        EACH(16) if (k >> i & 1) {                                       \
            const ELEMENT one = a[i];                                    \
            memcpy((ELEMENT *)to + i, &one, sizeof one);                 \
        }                                                                \
    }
MEMORY(_mm512_loadu_ps, _mm512_storeu_ps, __m512)
MEMORY(_mm512_loadu_si512, _mm512_storeu_si512, __m512i)
MEMORY(_mm256_loadu_si256, _mm256_storeu_si256, __m256i)
MASKED_MEMORY(_mm512_maskz_loadu_ps, _mm512_mask_storeu_ps, __m512, float)
MASKED_MEMORY(_mm256_maskz_loadu_epi16, _mm256_mask_storeu_epi16, __m256i, uint16_t)
/* These need aligned addresses, which the sanitizer for undefined behaviour checks. */
OP __m512 _mm512_load_ps(const void *from) { return *(const __m512 *)from; }
OP void _mm512_store_ps(void *to, __m512 a) { *(__m512 *)to = a; }
OP void _mm512_stream_ps(void *to, __m512 a) { *(__m512 *)to = a; }
