/* The kernels for ARM processors since about 2021, which multiply matrices of 2 x 8 bytes (FEAT_I8MM). */
#include "native.h"
#ifdef NEWER_ARM
#define KERNELS neon_i8mm
#define I8MM
#define TARGET "arch=armv8.2-a+dotprod+i8mm"
#define CLANG_TARGET "dotprod,i8mm"
#include "neon.c"
#endif
