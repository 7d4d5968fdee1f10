/* The kernels for ARM processors since about 2018, which multiply four bytes at once (FEAT_DotProd). */
#include "native.h"
#ifdef NEWER_ARM
#define KERNELS neon_dot
#define DOTPROD
#define TARGET "arch=armv8.2-a+dotprod"
#define CLANG_TARGET "dotprod"
#include "neon.c"
#endif
