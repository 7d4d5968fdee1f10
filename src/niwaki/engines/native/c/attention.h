/* Attention of one text: for each head the scores of queries and keys, their softmax, and the values weighted by it. */

#define BLOCK 48 /* rows that are worked on together: few enough that what is between two products stays in the cache */

typedef struct {
    float *keys, *values; /* panels of one head's keys and values */
    float *scores;        /* (BLOCK, padded length + PAD) */
} AttentionScratch;

/* Keys as a matrix with an output for each token: (head_width, tokens), already divided by the root of the width. */
static void pack_keys(const float *keys, int stride, int length, int head_width, float *panels) {
    const float factor = 1.0f / sqrtf((float)head_width);
    for (int token = 0; token < padded(length); token += LANES, panels += (size_t)LANES * head_width)
        for (int lane = 0; lane < LANES; lane++) {
            const float *key = keys + (size_t)(token + lane) * stride;
            if (token + lane < length)
                for (int k = 0; k < head_width; k++) panels[(size_t)k * LANES + lane] = key[k] * factor;
            else
                for (int k = 0; k < head_width; k++) panels[(size_t)k * LANES + lane] = 0.0f;
        }
}

/* Values as a matrix with an output for each column of the head: (tokens, head_width). Of a head that does not fill its last
   vector, what lies behind comes along: the next head's columns, and behind the last head the padding. */
static void pack_values(const float *values, int stride, int length, int head_width, float *panels) {
    for (int column = 0; column < head_width; column += LANES)
        for (int token = 0; token < length; token++, panels += LANES) store(panels, load(values + (size_t)token * stride + column));
}

/* One text. `queries` are `count` rows, its first ones; keys and values are `length` rows. Of a head that does not fill its last
   vector, more than its columns of `mixed` are written: so heads come in order, and behind the last there is room in a row. */
static void attend(const Layer *layer, const float *queries, int count, const float *keys, const float *values, int length, int stride, float *mixed, AttentionScratch s) {
    const int width = layer->head_width, row = padded(length);
    const Matrix by_keys = {.inputs = width, .outputs = length, .panels = s.keys};
    const Matrix by_values = {.inputs = length, .outputs = width, .panels = s.values};
    for (int head = 0; head < layer->heads; head++) {
        pack_keys(keys + head * width, stride, length, width, s.keys);
        pack_values(values + head * width, stride, length, width, s.values);
        for (int first = 0; first < count; first += BLOCK) {
            const int some = count - first < BLOCK ? count - first : BLOCK;
            const float *from = queries + (size_t)first * stride + head * width;
            multiply(&by_keys, (Rows){.values = from, .stride = stride}, some, (Outputs){s.scores, row, NULL});
            if (layer->relative)
                for (int q = 0; q < some; q++) {
                    const float *by_distance = layer->relative + (size_t)head * (2 * layer->reach + 1 + PAD) + layer->reach - (first + q);
                    for (int k = 0; k < row; k += LANES) store(s.scores + q * row + k, add(load(s.scores + q * row + k), load(by_distance + k)));
                }
            softmax(s.scores, some, length, row);
            multiply(&by_values, (Rows){.values = s.scores, .stride = row}, some, (Outputs){mixed + (size_t)first * stride + head * width, stride, NULL});
        }
    }
}
