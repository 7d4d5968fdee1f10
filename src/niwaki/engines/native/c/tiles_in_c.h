/* What Intel's manual says of tiles (TILELOADD, TDPBUSD, TILESTORED), in C: so that `tiles.h` is tried on processors without them. */
static _Thread_local struct {
    int rows, bytes;
    uint8_t at[TILE_SIDE][64];
} tiles[8];

static void tile_shapes(const TileShapes *shapes) {
    for (int i = 0; i < 8; i++) {
        tiles[i].rows = shapes->rows[i];
        tiles[i].bytes = shapes->bytes[i];
        memset(tiles[i].at, 0, sizeof tiles[i].at);
    }
}

static void tile_release(void) { tile_shapes(&(TileShapes){0}); }

static void tile_zero(int tile) { memset(tiles[tile].at, 0, sizeof tiles[tile].at); }

static void tile_load(int tile, const void *from, size_t stride) {
    tile_zero(tile);
    for (int r = 0; r < tiles[tile].rows; r++) memcpy(tiles[tile].at[r], (const char *)from + r * stride, tiles[tile].bytes);
}

static void tile_store(int tile, void *to, size_t stride) {
    for (int r = 0; r < tiles[tile].rows; r++) memcpy((char *)to + r * stride, tiles[tile].at[r], tiles[tile].bytes);
}

static void tile_dot(int sums, int codes, int weights) {
    for (int m = 0; m < tiles[sums].rows; m++)
        for (int n = 0; n < tiles[sums].bytes / 4; n++) {
            int32_t sum;
            memcpy(&sum, tiles[sums].at[m] + 4 * n, 4);
            for (int k = 0; k < tiles[codes].bytes; k++) sum += tiles[codes].at[m][k] * (int8_t)tiles[weights].at[k / 4][4 * n + k % 4];
            memcpy(tiles[sums].at[m] + 4 * n, &sum, 4);
        }
}
