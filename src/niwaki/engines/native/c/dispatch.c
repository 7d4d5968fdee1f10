/* Which kernels there are, best first, and which of them this processor runs. */
#include <string.h>

#include "native.h"

extern const Kernels niwaki_avx512, niwaki_avx2, niwaki_plain;

int niwaki_layout(void) { return LAYOUT; }

/* Sizes of the structures, so that Python can see that it means the same ones. */
void niwaki_sizes(int32_t sizes[8]) {
    const size_t all[8] = {sizeof(Matrix), sizeof(Linear), sizeof(Norm), sizeof(Table), sizeof(Layer), sizeof(Model), sizeof(Batch), sizeof(Kernels)};
    for (int i = 0; i < 8; i++) sizes[i] = (int32_t)all[i];
}

/* The kernels of that name, or NULL where this processor does not run them. */
const Kernels *niwaki_kernels(const char *name) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!strcmp(name, "avx512") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &niwaki_avx512;
    if (!strcmp(name, "avx2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &niwaki_avx2;
#endif
    return strcmp(name, "plain") ? NULL : &niwaki_plain;
}
