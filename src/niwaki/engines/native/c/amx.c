/* The kernels for processors with AMX: those of AVX-512, but for the products of whole numbers. */
#if defined(__x86_64__) && __has_include(<amxint8intrin.h>) /* then the compiler is new enough, and its assembler */
#define KERNELS amx
#define TILES "tiles_amx.h"
#include "avx512.c"
#endif
