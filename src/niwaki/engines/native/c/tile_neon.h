/* Tiles of sums of products of bytes on NEON. A register holds the weights of four neighbouring inputs to four outputs, which is a panel's
   width (product.h); rows of codes are read sixteen inputs at a time. */

#define SIXTEEN 16 /* inputs to a register of codes */

INLINE int8x16_t codes_at(const uint8_t *codes) { return vreinterpretq_s8_u8(vld1q_u8(codes)); }

#ifdef LESS
/* A panel's sums of weights, times what codes are stored less. */
INLINE Wholes less_times_sums(const int8_t *weights, int inputs) {
    Wholes sums = no_wholes();
    for (int k = 0; k < inputs; k += 4, weights += 4 * LANES) {
        const int16x8_t pairs = vpaddlq_s8(vld1q_s8(weights));
        sums = vaddq_s32(sums, vpaddlq_s16(pairs));
    }
    return vmulq_n_s32(sums, LESS);
}
#endif

#if defined(I8MM)
/* One instruction multiplies two rows of eight inputs with two outputs' weights of them. Of an odd number of rows the last is read twice. */
INLINE void pairs_of_rows(const int rows, const int panels, const uint8_t *codes, const int8_t *weights, int inputs, Wholes sums[WHOLE_ROWS][TILE_PANELS]) {
    const int pairs = (rows + 1) / 2;
    Wholes found[WHOLE_ROWS / 2][TILE_PANELS][2]; /* of a panel's first two outputs, and of its last */
#pragma GCC unroll 8
    for (int i = 0; i < pairs; i++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) found[i][p][0] = found[i][p][1] = no_wholes();
    for (int k = 0; k < inputs; k += SIXTEEN, weights += SIXTEEN * LANES) {
        int64x2_t upper[WHOLE_ROWS / 2], lower[WHOLE_ROWS / 2];
#pragma GCC unroll 8
        for (int i = 0; i < pairs; i++) {
            upper[i] = vreinterpretq_s64_s8(codes_at(codes + (size_t)(2 * i) * inputs + k));
            lower[i] = vreinterpretq_s64_s8(codes_at(codes + (size_t)(2 * i + 1 < rows ? 2 * i + 1 : 2 * i) * inputs + k));
        }
#pragma GCC unroll 2
        for (int half = 0; half < 2; half++) {
            uint8x16_t eight[WHOLE_ROWS / 2];
#pragma GCC unroll 8
            for (int i = 0; i < pairs; i++) eight[i] = vreinterpretq_u8_s64(half ? vzip2q_s64(upper[i], lower[i]) : vzip1q_s64(upper[i], lower[i]));
#pragma GCC unroll 8
            for (int p = 0; p < panels; p++) {
                const int8_t *here = weights + (size_t)p * LANES * inputs + half * 8 * LANES;
                const int32x4_t one = vreinterpretq_s32_s8(vld1q_s8(here)), other = vreinterpretq_s32_s8(vld1q_s8(here + 4 * LANES));
                const int8x16_t first = vreinterpretq_s8_s32(vzip1q_s32(one, other)), last = vreinterpretq_s8_s32(vzip2q_s32(one, other));
#pragma GCC unroll 8
                for (int i = 0; i < pairs; i++) {
                    found[i][p][0] = vusmmlaq_s32(found[i][p][0], eight[i], first);
                    found[i][p][1] = vusmmlaq_s32(found[i][p][1], eight[i], last);
                }
            }
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) {
            const int64x2_t first = vreinterpretq_s64_s32(found[r / 2][p][0]), last = vreinterpretq_s64_s32(found[r / 2][p][1]);
            sums[r][p] = vreinterpretq_s32_s64(r % 2 ? vzip2q_s64(first, last) : vzip1q_s64(first, last));
        }
}
#endif

#if defined(I8MM) || defined(DOTPROD)
#ifdef I8MM
#define BY_LANE(sums, weights, codes, lane) vsudotq_laneq_s32(sums, weights, vreinterpretq_u8_s8(codes), lane)
#else
#define BY_LANE(sums, weights, codes, lane) vdotq_laneq_s32(sums, weights, codes, lane)
#endif
#define DOT(quarter) \
    do { \
        int8x16_t here[TILE_PANELS]; \
        _Pragma("GCC unroll 8") for (int p = 0; p < panels; p++) here[p] = vld1q_s8(weights + (size_t)p * LANES * inputs + (quarter) * 4 * LANES); \
        _Pragma("GCC unroll 8") for (int r = 0; r < rows; r++) \
            _Pragma("GCC unroll 8") for (int p = 0; p < panels; p++) sums[r][p] = BY_LANE(sums[r][p], here[p], sixteen[r], quarter); \
    } while (0)

/* One instruction multiplies four inputs of a row with four outputs' weights of them. */
INLINE void rows_by_dot(const int rows, const int panels, const uint8_t *codes, const int8_t *weights, int inputs, Wholes sums[WHOLE_ROWS][TILE_PANELS]) {
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) sums[r][p] = no_wholes();
    for (int k = 0; k < inputs; k += SIXTEEN, weights += SIXTEEN * LANES) {
        int8x16_t sixteen[WHOLE_ROWS];
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) sixteen[r] = codes_at(codes + (size_t)r * inputs + k);
        DOT(0);
        DOT(1);
        DOT(2);
        DOT(3);
    }
}
#else
/* Products of eight bytes in sixteen bits, added in pairs to sums of 32: -128 x -128 twice would not fit into sixteen. */
INLINE void rows_by_pairs(const int rows, const int panels, const uint8_t *codes, const int8_t *weights, int inputs, Wholes sums[WHOLE_ROWS][TILE_PANELS]) {
    Wholes found[WHOLE_ROWS][TILE_PANELS][2]; /* of two outputs each, in two parts */
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) found[r][p][0] = found[r][p][1] = no_wholes();
    for (int k = 0; k < inputs; k += 4, weights += 4 * LANES) {
        int8x16_t four[WHOLE_ROWS];
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) four[r] = vreinterpretq_s8_s32(vld1q_dup_s32((const int32_t *)(codes + (size_t)r * inputs + k)));
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) {
            const int8x16_t here = vld1q_s8(weights + (size_t)p * LANES * inputs);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) {
                found[r][p][0] = vpadalq_s16(found[r][p][0], vmull_s8(vget_low_s8(four[r]), vget_low_s8(here)));
                found[r][p][1] = vpadalq_s16(found[r][p][1], vmull_high_s8(four[r], here));
            }
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) sums[r][p] = vpaddq_s32(found[r][p][0], found[r][p][1]);
}
#endif

INLINE void whole_sums(const int rows, const int panels, const uint8_t *codes, const int8_t *weights, int inputs, Wholes sums[WHOLE_ROWS][TILE_PANELS]) {
#if defined(I8MM)
    (rows > 1 ? pairs_of_rows : rows_by_dot)(rows, panels, codes, weights, inputs, sums);
#elif defined(DOTPROD)
    rows_by_dot(rows, panels, codes, weights, inputs, sums);
#else
    rows_by_pairs(rows, panels, codes, weights, inputs, sums);
#endif
}
