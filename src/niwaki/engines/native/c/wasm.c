/* The kernels for WebAssembly; tools/web_demo.py compiles them with emscripten. */
#if defined(__wasm_simd128__)
#include <math.h>
#include <string.h>

#include "native.h"

#include "lanes_wasm.h"

#include "kernels.h"
#endif
