/* Those for AVX-VNNI with the instruction as AVX-512 spells it, for tests. */
#include "native.h"
#ifdef NEWER
#define KERNELS avx_vnni_evex
#define VNNI "%{evex%} "
#include "avx2.c"
#endif
