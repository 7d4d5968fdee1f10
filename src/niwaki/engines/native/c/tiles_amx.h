/* The processor's own tiles. Not the intrinsics: GCC's do not say that they read and write memory. */
#define tile_shapes(shapes) __asm__ volatile("ldtilecfg %0" ::"m"(*(shapes)))
#define tile_release() __asm__ volatile("tilerelease" ::)
#define tile_zero(tile) __asm__ volatile("tilezero %%tmm" #tile ::)
#define tile_load(tile, from, stride) __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(from), "r"((size_t)(stride)) : "memory")
#define tile_store(tile, to, stride) __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"((size_t)(stride)) : "memory")
/* the first without a sign, the second with */
#define tile_dot(sums, codes, weights) __asm__ volatile("tdpbusd %%tmm" #weights ", %%tmm" #codes ", %%tmm" #sums ::)
