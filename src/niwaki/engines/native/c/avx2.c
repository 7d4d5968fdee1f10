/* The kernels for processors with avx2, fma. The rest of the library runs on any. */
#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include <math.h>
#include <string.h>

#include "native.h"

#include "lanes_avx2.h"

#include "kernels.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
