/* Kernels for training in bf16 on processors with avx512_bf16: products, feed-forward activations, norms, attention, cross-entropy.

   Python fills the structures (library.py mirrors them) and hands over memory of torch tensors. Activations and their gradients are
   bf16; weights, their gradients and statistics are fp32. All functions give the same bits for the same number of threads. */
#if defined(NIWAKI_EMULATED) || (defined(__x86_64__) && defined(__linux__) && __has_include(<avx512bf16intrin.h>))
#if defined(NIWAKI_EMULATED) /* instructions in plain C, for sanitizers (tests/models/fused/emulated) */
#elif defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")
#endif
#define _GNU_SOURCE
#include <stddef.h>
#include "vectors.h"

#include "team.h"

#include "pack.h"

#include "product.h"

#include "norm.h"

#include "attention.h"

#include "pre_norm.h"

#include "cross_entropy.h"

void niwaki_pack_weights(Weights *g, int threads) { run_team(pack_weights_work, g, threads); }
void niwaki_pack_activations(Activations *g, int threads) { run_team(pack_activations_work, g, threads); }
void niwaki_product(Product *g, int threads) { run_team(product_work, g, threads); }
void niwaki_weight_gradient(WeightGradient *g, int threads) { run_team(weight_gradient_work, g, threads); }
void niwaki_norm(Norm *g, int threads) { run_team(g->gradient ? norm_backward_work : norm_work, g, threads); }
void niwaki_pre_norm(PreNorm *g, int threads) { run_team(pre_norm_work, g, threads); }
void niwaki_cross_entropy(CrossEntropy *g, int threads) { run_team(cross_entropy_work, g, threads); }
void niwaki_sizes(int64_t sizes[8]) {
    const size_t all_sizes[8] = {sizeof(Weights), sizeof(Activations), sizeof(Product), sizeof(WeightGradient),
                                 sizeof(Norm),    sizeof(Attention),   sizeof(PreNorm), sizeof(CrossEntropy)};
    for (int i = 0; i < 8; i++) sizes[i] = (int64_t)all_sizes[i];
}
void niwaki_attention(Attention *g, int threads) { run_team(attention_work, g, threads); }
#if defined(__clang__) && !defined(NIWAKI_EMULATED)
#pragma clang attribute pop
#endif
#define COMPILED 1
#else
#define COMPILED 0
#endif

/* Whether this library has kernels for this processor. */
int niwaki_training(void) {
#if defined(NIWAKI_EMULATED)
    return 1;
#elif COMPILED
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
    return 0;
#endif
}
