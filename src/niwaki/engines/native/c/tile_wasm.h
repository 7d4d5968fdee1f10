/* Tiles of sums of products of bytes on WebAssembly, which multiplies pairs of 16 bits and adds them in 32. A panel's four inputs of two
   outputs fill a vector; sums are in two parts until the end. */
INLINE void whole_sums(const int rows, const int panels, const uint8_t *codes, const int8_t *weights, int inputs, Wholes sums[WHOLE_ROWS][TILE_PANELS]) {
    v128_t found[WHOLE_ROWS][TILE_PANELS][2];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) found[r][p][0] = found[r][p][1] = no_wholes();
    for (int k = 0; k < inputs; k += 4, weights += 4 * LANES) {
        v128_t four[WHOLE_ROWS];
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) four[r] = wasm_u16x8_extend_low_u8x16(wasm_v128_load32_splat(codes + (size_t)r * inputs + k));
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) {
            const v128_t here = wasm_v128_load(weights + (size_t)p * LANES * inputs), first = wasm_i16x8_extend_low_i8x16(here), last = wasm_i16x8_extend_high_i8x16(here);
#pragma GCC unroll 8
            for (int r = 0; r < rows; r++) {
                found[r][p][0] = wasm_i32x4_add(found[r][p][0], wasm_i32x4_dot_i16x8(four[r], first));
                found[r][p][1] = wasm_i32x4_add(found[r][p][1], wasm_i32x4_dot_i16x8(four[r], last));
            }
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int p = 0; p < panels; p++) {
            const v128_t a = found[r][p][0], b = found[r][p][1];
            sums[r][p] = wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6), wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
        }
}
