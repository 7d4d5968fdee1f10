/* Which kernels there are, and which of them this processor runs. */
#include <string.h>

#include "native.h"
#include "wordpiece.h"

extern const Kernels niwaki_plain, niwaki_four_in_c;

int niwaki_layout(void) { return LAYOUT; }

/* Sizes of the structures, so that Python can see that it means the same ones. */
void niwaki_sizes(int32_t sizes[18]) {
    const size_t all[18] = {sizeof(Matrix), sizeof(Linear), sizeof(Norm), sizeof(Table), sizeof(Expert), sizeof(Experts), sizeof(Layer), sizeof(Model), sizeof(Batch), sizeof(Decoder), sizeof(Search), sizeof(Generation), sizeof(Step), sizeof(Reading), sizeof(Kernels), sizeof(Sign), sizeof(Piece), sizeof(Wordpiece)};
    for (int i = 0; i < 18; i++) sizes[i] = (int32_t)all[i];
}

#if defined(__x86_64__)
extern const Kernels niwaki_amx_in_c, niwaki_avx512, niwaki_avx2;

static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static int has_avx512(void) {
    return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* Two sets of kernels make the same of one product, to the last bit: with rows and inputs that do not fill the last tile. */
enum { ROWS = 37, INPUTS = 208, OUTPUTS = 48 };
int niwaki_agree(const Kernels *one, const Kernels *other) {
    static _Alignas(64) int8_t weights[OUTPUTS * INPUTS], panels[OUTPUTS * INPUTS];
    static _Alignas(64) float rows[ROWS * INPUTS], scale[OUTPUTS], found[2][ROWS * OUTPUTS];
    static _Alignas(64) char scratch[ROWS * INPUTS + 2 * ROWS * sizeof(float) + 1024];
    unsigned drawn = 1;
    for (int i = 0; i < OUTPUTS * INPUTS; i++) weights[i] = (int8_t)((drawn = drawn * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < ROWS * INPUTS; i++) rows[i] = (float)((drawn = drawn * 1664525u + 1013904223u) >> 16) - 20000.0f;
    for (int i = 0; i < OUTPUTS; i++) scale[i] = 0.001f * (float)(i + 1);
    const Kernels *both[2] = {one, other};
    for (int i = 0; i < 2; i++) {
        both[i]->pack(weights, OUTPUTS, INPUTS, 1, panels);
        const Matrix by = {.inputs = INPUTS, .outputs = OUTPUTS, .whole = 1, .panels = panels, .scale = scale, .sums = scale, .bias = scale};
        both[i]->product(rows, ROWS, &by, NULL, NONE, found[i], scratch);
    }
    return !memcmp(found[0], found[1], sizeof found[0]);
}

#ifdef NEWER
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const Kernels niwaki_amx, niwaki_avx_vnni, niwaki_avx_vnni_evex;

#define TILES_AND_THEIR_BYTES (3u << 24) /* of cpuid's leaf 7: amx-tile, amx-int8 */
#define AVX_VNNI (1u << 4)               /* of its second part */
#define ASK_FOR_STATE 0x1023             /* arch_prctl: ARCH_REQ_XCOMP_PERM */
#define STATE_OF_TILES 18                /* XFEATURE_XTILEDATA */

static int has_avx_vnni(void) {
    unsigned a, b, c, d;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & AVX_VNNI;
}

/* Whether the processor has tiles, the system lets us use them, and they do what we take them to do. */
static int has_amx(void) {
#ifdef __linux__
    unsigned a, b, c, d;
    if (!has_avx512() || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & TILES_AND_THEIR_BYTES) != TILES_AND_THEIR_BYTES) return 0;
    return !syscall(SYS_arch_prctl, ASK_FOR_STATE, STATE_OF_TILES) && niwaki_agree(&niwaki_amx, &niwaki_avx512);
#else
    return 0;
#endif
}
#endif
#endif

#if defined(__wasm_simd128__)
extern const Kernels niwaki_wasm;
#endif

#ifdef ARM
extern const Kernels niwaki_neon;

#ifdef NEWER_ARM
extern const Kernels niwaki_neon_dot, niwaki_neon_i8mm;

#if defined(__linux__)
#include <sys/auxv.h>
#define DOTPROD_THERE (1ul << 20) /* HWCAP_ASIMDDP */
#define I8MM_THERE (1ul << 13)    /* HWCAP2_I8MM */
static int has_dotprod(void) { return (getauxval(AT_HWCAP) & DOTPROD_THERE) != 0; }
static int has_i8mm(void) { return has_dotprod() && (getauxval(AT_HWCAP2) & I8MM_THERE) != 0; }
#elif defined(__APPLE__)
#include <sys/sysctl.h>
static int has(const char *feature) {
    int found = 0;
    size_t bytes = sizeof found;
    return !sysctlbyname(feature, &found, &bytes, NULL, 0) && found;
}
static int has_dotprod(void) { return has("hw.optional.arm.FEAT_DotProd"); }
static int has_i8mm(void) { return has_dotprod() && has("hw.optional.arm.FEAT_I8MM"); }
#else
static int has_dotprod(void) { return 0; }
static int has_i8mm(void) { return 0; }
#endif
#endif
#endif

/* The kernels of that name, or NULL where this processor does not run them. */
const Kernels *niwaki_kernels(const char *name) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!strcmp(name, "amx_in_c")) return has_avx512() ? &niwaki_amx_in_c : NULL;
    if (!strcmp(name, "avx512")) return has_avx512() ? &niwaki_avx512 : NULL;
    if (!strcmp(name, "avx2")) return has_avx2() ? &niwaki_avx2 : NULL;
#ifdef NEWER
    if (!strcmp(name, "amx")) return has_amx() ? &niwaki_amx : NULL;
    if (!strcmp(name, "avx_vnni")) return has_avx_vnni() ? &niwaki_avx_vnni : NULL;
    if (!strcmp(name, "avx_vnni_evex")) return has_avx512() ? &niwaki_avx_vnni_evex : NULL;
#endif
#endif
#ifdef ARM
    if (!strcmp(name, "neon")) return &niwaki_neon;
#ifdef NEWER_ARM
    if (!strcmp(name, "neon_dot")) return has_dotprod() ? &niwaki_neon_dot : NULL;
    if (!strcmp(name, "neon_i8mm")) return has_i8mm() ? &niwaki_neon_i8mm : NULL;
#endif
#endif
#if defined(__wasm_simd128__)
    if (!strcmp(name, "wasm")) return &niwaki_wasm;
#endif
    if (!strcmp(name, "four_in_c")) return &niwaki_four_in_c;
    return strcmp(name, "plain") ? NULL : &niwaki_plain;
}
