/* Those for AMX with tiles in C, for tests. */
#define KERNELS amx_in_c
#define TILES "tiles_in_c.h"
#include "avx512.c"
