/* Rotary positions: pairs of a head's numbers are turned by angles that grow with the place of the token. */

static void turn_heads(float *row, int heads, int width, const float *turns, int neighbours) {
    const int half = width / 2, apart = neighbours ? 1 : half, step = neighbours ? 2 : 1;
    for (int head = 0; head < heads; head++, row += width)
        for (int i = 0; i < half; i++) {
            float *first = row + i * step, *second = first + apart;
            const float one = *first, other = *second;
            *first = one * turns[i] - other * turns[half + i];
            *second = other * turns[i] + one * turns[half + i];
        }
}

static int key_heads(const Layer *layer) { return layer->key.part[layer->key.parts - 1].outputs / layer->head_width; }
