/* The kernels for 64-bit ARM processors. neon_dot.c and neon_i8mm.c include this for those with products of bytes; TARGET is what
   the compiler is told of these. The rest of the library runs on any. */
#include "native.h"
#ifdef ARM
#include <arm_neon.h>
#ifdef TARGET
#define QUOTED_(text) #text
#define QUOTED(text) QUOTED_(text)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target(CLANG_TARGET))), apply_to = function)
#else
_Pragma(QUOTED(GCC target(TARGET)))
#endif
#endif
#include <math.h>
#include <string.h>

#include "lanes_neon.h"

#include "kernels.h"
#if defined(TARGET) && defined(__clang__)
#pragma clang attribute pop
#endif
#endif
