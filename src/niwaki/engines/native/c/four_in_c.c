/* Four numbers at a time in plain C, for tests: the bits that neon.c and wasm.c must give. */
#include <math.h>
#include <string.h>

#include "native.h"

#include "lanes_four.h"

#include "kernels.h"
