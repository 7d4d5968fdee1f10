/* The kernels for processors with AMX: those of AVX-512, but for the products of whole numbers. */
#include "native.h"
#ifdef NEWER
#define KERNELS amx
#define TILES "tiles_amx.h"
#include "avx512.c"
#endif
