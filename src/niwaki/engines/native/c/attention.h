/* Attention of one text: for each head the scores of queries and keys, their softmax, and the values weighted by it. */

/* Rows that are worked on together: few enough that what is between two products stays in the cache, and full tiles. */
#ifdef TILES
#define BLOCK 64
#else
#define BLOCK 48
#endif

#define WHOLE_FROM 64 /* tokens of a text from which on rounding keys and values to bytes saves more time than it takes */

/* Memory for one head's keys and values. */
typedef struct {
    void *keys, *values; /* panels */
    float *key_scale, *key_sums, *value_scale, *value_sums;
} HeadPanels;

typedef struct {
    HeadPanels every, first; /* of a text; of its first tokens, where these are read beside a window */
    float *scores; /* (BLOCK, padded length, and those of the first tokens) */
    uint8_t *codes; /* of a block's queries, then of its shares */
    float *step, *zero;
} AttentionScratch;

/* One head's columns from `from` on: a vector, with 0 in place of columns behind the head. Those belong to the next head, or behind the
   last head to nobody: rows are as far apart as the widest layer needs, and what a narrower layer leaves unwritten is undefined. */
static inline Floats load_columns(const float *from, int left) {
    return left >= LANES ? load(from) : load_first(from, left > 0 ? left : 0);
}

/* Keys as a matrix with an output for each token: (head_width, tokens), already times the layer's factor. Squares of LANES
   keys x LANES columns are turned. */
static void pack_keys(const float *keys, int stride, int length, const Layer *layer, float *panels) {
    const Floats factor = all(layer->factor);
    const int head_width = layer->head_width;
    for (int token = 0; token < padded(length); token += LANES, panels += (size_t)LANES * head_width)
        for (int column = 0; column < head_width; column += LANES) {
            Floats square[LANES];
#pragma GCC unroll 16
            for (int i = 0; i < LANES; i++)
                square[i] = token + i < length ? mul(load_columns(keys + (size_t)(token + i) * stride + column, head_width - column), factor) : all(0.0f);
            turn(square);
#pragma GCC unroll 16
            for (int i = 0; i < LANES; i++)
                if (column + i < head_width) store(panels + (size_t)(column + i) * LANES, square[i]);
        }
}

/* Values as a matrix with an output for each column of the head: (tokens, head_width), and outputs of 0 up to the padded width. */
static void pack_values(const float *values, int stride, int length, int head_width, float *panels) {
    for (int column = 0; column < padded(head_width); column += LANES)
        for (int token = 0; token < length; token++, panels += LANES)
            store(panels, load_columns(values + (size_t)token * stride + column, head_width - column));
}

#define FEW (LANES < 4 ? LANES : 4) /* bytes that stay side by side in a panel */

/* The same as bytes: each key has a scale, and each column of the values. Only for heads that fill their vectors. */
static void round_keys(const float *keys, int stride, int length, const Layer *layer, int8_t *panels, float *scale, float *sums) {
    const int head_width = layer->head_width;
    for (int token = 0; token < padded(length); token++) {
        int8_t *column = panels + (size_t)(token / LANES) * LANES * head_width + (size_t)(token % LANES) * 4;
        int8_t bytes[LANES];
        scale[token] = sums[token] = 0.0f;
        if (token >= length) {
            for (int k = 0; k < head_width; k += 4) memset(column + (size_t)k * LANES, 0, 4);
            continue;
        }
        const float *key = keys + (size_t)token * stride;
        Floats high = all(LEAST);
        for (int k = 0; k < head_width; k += LANES) high = larger(high, size(load(key + k)));
        const float most = largest_of(high);
        Wholes sum = no_wholes();
        for (int k = 0; k < head_width; k += LANES) {
            Wholes rounded = nearest(mul(load(key + k), all(127.0f / most)));
            sum = add_wholes(sum, rounded);
            store_bytes(bytes, rounded);
            for (int i = 0; i < LANES; i += FEW) memcpy(column + (size_t)((k + i) / 4) * LANES * 4 + (k + i) % 4, bytes + i, FEW);
        }
        scale[token] = layer->factor * most / 127.0f;
        sums[token] = scale[token] * sum_of(to_floats(sum));
    }
}

static void round_values(const float *values, int stride, int length, int head_width, int8_t *panels, float *scale, float *sums) {
    for (int column = 0; column < head_width; column += LANES) {
        const float *from = values + column;
        Floats high = all(LEAST);
        for (int token = 0; token < length; token++) high = larger(high, size(load(from + (size_t)token * stride)));
        const Floats inverse = over(all(127.0f), high);
        Wholes sum = no_wholes();
        for (int token = 0; token < padded(length); token += 4, panels += 4 * LANES) {
            Wholes four[4];
            for (int i = 0; i < 4; i++) {
                four[i] = token + i < length ? nearest(mul(load(from + (size_t)(token + i) * stride), inverse)) : no_wholes();
                sum = add_wholes(sum, four[i]);
            }
            store_four(panels, four[0], four[1], four[2], four[3]);
        }
        const Floats each = mul(high, all(1.0f / 127.0f));
        store(scale + column, each);
        store(sums + column, mul(each, to_floats(sum)));
    }
}

/* To the last vector that softmax reads and clears: what it leaves beyond must stay 0, or rounding would count it. */
static void add_by_distance(float *scores, int count, int length, const float *middle) {
    for (int q = 0; q < count; q++, scores += padded(length))
        for (int k = 0; k < length; k += LANES) store(scores + k, add(load(scores + k), load(middle - q + k)));
}

/* Rows against keys or values, rounded first where these are bytes. */
static void multiply_rows(const Matrix *by, const float *rows, int stride, int count, Outputs to, AttentionScratch s) {
    if (by->whole) round_rows_from(rows, stride, count, padded(by->inputs), s.codes, s.step, s.zero);
    multiply(by, (Rows){rows, stride, s.codes, s.step, s.zero}, count, to);
}

/* The padding of rows, which whoever writes a row defines: rounding takes a row's range over its padded width. */
static void clear_padding(float *rows, int count, int stride, int width) {
    for (int r = 0; r < count; r++) memset(rows + (size_t)r * stride + width, 0, (padded(width) - width) * sizeof(float));
}

/* One head's keys and values as matrices. */
typedef struct {
    Matrix keys, values;
} Head;

/* Whether keys and values are rounded to bytes. */
static int in_bytes(const Layer *layer, int length) {
    return layer->query.part[layer->query.parts - 1].whole && layer->head_width % PAD == 0 && length >= WHOLE_FROM;
}

/* Where a head's keys and values begin in a row. */
static size_t columns_read(const Layer *layer, int head) { return (size_t)(layer->reads ? layer->reads[head] : head) * layer->head_width; }

static Head pack_head(const Layer *layer, int whole, const float *keys, const float *values, int stride, int length, HeadPanels to) {
    const int width = layer->head_width;
    if (whole) {
        round_keys(keys, stride, length, layer, to.keys, to.key_scale, to.key_sums);
        round_values(values, stride, length, width, to.values, to.value_scale, to.value_sums);
    } else {
        pack_keys(keys, stride, length, layer, to.keys);
        pack_values(values, stride, length, width, to.values);
    }
    return (Head){{width, length, whole, to.keys, to.key_scale, to.key_sums, NULL}, {length, width, whole, to.values, to.value_scale, to.value_sums, NULL}};
}

/* What is added to a head's scores by distance; here is that of no distance. */
static const float *by_distance(const Layer *layer, int head) { return layer->relative + (size_t)head * (2 * layer->reach + 1 + PAD) + layer->reach; }

/* One text. `queries` are `count` of its rows, from row `start` on; keys and values are all `length` of them. Of a head that does not fill its last
   vector, more than its columns of `mixed` are written: so heads come in order, and behind the last there is room in a row. Several narrow heads
   may still end before the row's padding does, so that is cleared afterwards. */
static void attend(const Layer *layer, const float *queries, int start, int count, const float *keys, const float *values, int length, int stride, float *mixed, AttentionScratch s) {
    const int width = layer->head_width, row = padded(length), whole = in_bytes(layer, length);
    for (int head = 0; head < layer->heads; head++) {
        const size_t own = (size_t)head * width, read = columns_read(layer, head);
        const Head by = pack_head(layer, whole, keys + read, values + read, stride, length, s.every);
        for (int first = 0; first < count; first += BLOCK) {
            const int some = count - first < BLOCK ? count - first : BLOCK;
            const size_t place = (size_t)first * stride + own;
            multiply_rows(&by.keys, queries + place, stride, some, (Outputs){s.scores, row, NULL}, s);
            if (layer->relative) add_by_distance(s.scores, some, length, by_distance(layer, head) - start - first);
            softmax(s.scores, some, length, row);
            multiply_rows(&by.values, s.scores, row, some, (Outputs){mixed + place, stride, NULL}, s);
        }
    }
    clear_padding(mixed, count, stride, layer->heads * width);
}
