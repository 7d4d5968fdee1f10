/* The kernels for processors with AVX-VNNI: those of AVX2, but for the products of whole numbers. */
#include "native.h"
#ifdef NEWER
#define KERNELS avx_vnni
#define VNNI "%{vex%} "
#include "avx2.c"
#endif
