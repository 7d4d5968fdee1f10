/* Attention to near tokens: a block of queries is multiplied with the keys that one of them can see, not with all, so time is linear in the
   length of a text. A text's first tokens may be seen by all, and see all. Where tokens of a window are several apart (dilation), a text is as many
   strands of such tokens, each with rows that far apart in memory.

   A row's shares do not depend on the block it is in: keys begin at whole panels, and those that are not seen add zeros. */

/* Outputs `first` to `last` of a matrix as a matrix; `first` begins a panel. */
static Matrix columns(const Matrix *by, int first, int last) {
    Matrix part = *by;
    part.outputs = last - first;
    part.panels = (const char *)by->panels + panel_bytes(first, by->inputs, by->whole);
    if (by->scale) part.scale += first, part.sums += first;
    if (by->bias) part.bias += first;
    return part;
}

static void multiply_panel(const Matrix *by, Rows from, int count, Outputs to) {
#ifdef TILES
    multiply(by, from, count, to); /* LANES are PAD here */
#else
    (by->whole ? whole_stripe_1 : float_stripe_1)(by, 0, from, count, &to);
#endif
}

/* Rows against inputs `first` to `last` of a matrix; `first` is a multiple of PAD. In a panel these lie together, so panels come one by one. */
static void multiply_inputs(const Matrix *by, int first, int last, const float *rows, int stride, int count, Outputs to, AttentionScratch s) {
    const size_t inputs = by->whole ? (size_t)padded(by->inputs) : by->inputs * sizeof(float), skipped = (size_t)first * LANES * (by->whole ? sizeof(int8_t) : sizeof(float));
    if (by->whole) round_rows_from(rows, stride, count, padded(last - first), s.codes, s.step, s.zero);
    for (int column = 0; column < by->outputs; column += LANES) {
        Matrix part = *by;
        part.inputs = last - first;
        part.outputs = by->outputs - column < LANES ? by->outputs - column : LANES;
        part.panels = (const char *)by->panels + column * inputs + skipped;
        if (by->whole) part.scale += column, part.sums += column;
        multiply_panel(&part, (Rows){rows, stride, s.codes, s.step, s.zero}, count, (Outputs){to.values + column, to.stride, to.plus ? to.plus + column : NULL});
    }
}

/* Which of a row's numbers count: two stretches, each within whole vectors. */
typedef struct {
    int firsts;   /* the first ones, up to here; */
    int from, to; /* and these */
} Seen;

static const float FROM_ONE[2 * PAD] = {[PAD ... 2 * PAD - 1] = 1.0f};
static const float LOWERED_BEFORE[2 * PAD] = {[0 ... PAD - 1] = -1e30f};

static int within(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

/* A vector of scores from place `i` on, where those before `from` and from `to` on are lowered; and 1 for each of the others. */
static inline Floats lowered_outside(const float *row, int i, int from, int to) {
    if (i >= from && i + LANES <= to) return load(row + i);
    return add(add(load(row + i), load(LOWERED_BEFORE + PAD + within(i - from, -PAD, 0))), load(LOWERED + PAD - within(to - i, 0, PAD)));
}

static inline Floats counted_inside(int i, int from, int to) {
    return mul(load(FROM_ONE + PAD + within(i - from, -PAD, 0)), load(COUNTED + PAD - within(to - i, 0, PAD)));
}

/* Scores to shares; those that are not seen become 0. */
static void softmax_of_seen(float *row, Seen seen, int width) {
    const int edges[2][2] = {{0, seen.firsts}, {seen.from, seen.to}};
    Floats high = all(-1e30f), sum = all(0.0f);
    for (int part = 0; part < 2; part++)
        for (int i = edges[part][0] / LANES * LANES; i < edges[part][1]; i += LANES) high = larger(high, lowered_outside(row, i, edges[part][0], edges[part][1]));
    const Floats most = all(largest_of(high));
    int end = 0; /* of what is written */
    for (int part = 0; part < 2; part++) {
        const int from = edges[part][0], to = edges[part][1];
        for (; end < from / LANES * LANES; end += LANES) store(row + end, all(0.0f));
        for (int i = from / LANES * LANES; i < to; i += LANES) {
            const Floats share = mul(exponential(sub(lowered_outside(row, i, from, to), most)), counted_inside(i, from, to));
            store(row + i, share);
            sum = add(sum, share);
            end = i + LANES;
        }
    }
    for (; end < width; end += LANES) store(row + end, all(0.0f));
    const Floats factor = all(1.0f / sum_of(sum));
    for (int i = 0; i < width; i += LANES) store(row + i, mul(load(row + i), factor));
}

/* What a call's rows see. */
typedef struct {
    int window, apart, firsts, causal;
} Reach;

/* One head and one strand of a text. */
typedef struct {
    const Layer *layer;
    Head near, first;
    Reach reach;
    int head, strand, tokens; /* tokens of the strand */
    int stride;               /* from one to the next */
} Strand;

static int first_of_strand(int token, int strand, int apart) { return token <= strand ? 0 : (token - strand + apart - 1) / apart; }

/* Adds what belongs to distances to a row's scores, where `low` is the first near key. */
static void add_distances(const Strand *t, float *scores, int row, int low, Seen seen) {
    const int apart = t->reach.apart, token = t->strand + row * apart;
    const float *middle = by_distance(t->layer, t->head), *near = middle + (low - padded(t->reach.firsts) - row) * apart;
    for (int i = 0; i < seen.firsts; i++) scores[i] += middle[i - token];
    for (int i = seen.from; i < seen.to; i++) scores[i] += near[i * apart];
}

/* Rows `row` to `row + some` of a strand. */
static void attend_block(const Strand *t, int row, int some, const float *queries, float *mixed, AttentionScratch s) {
    const Reach reach = t->reach;
    const int low = row > reach.window ? (row - reach.window) / PAD * PAD : 0, before = padded(reach.firsts);
    const int behind = reach.causal ? 0 : reach.window, high = t->tokens - row - some > behind ? row + some + behind : t->tokens;
    const int width = before + padded(high - low), own = first_of_strand(reach.firsts, t->strand, reach.apart);
    const Matrix keys = columns(&t->near.keys, low, high);
    if (keys.whole) round_rows_from(queries, t->stride, some, keys.inputs, s.codes, s.step, s.zero);
    const Rows rows = {queries, t->stride, s.codes, s.step, s.zero};
    if (reach.firsts) multiply(&t->first.keys, rows, some, (Outputs){s.scores, width, NULL});
    multiply(&keys, rows, some, (Outputs){s.scores + before, width, NULL});
    for (int r = 0; r < some; r++) {
        const int here = row + r, from = here > reach.window + own ? here - reach.window : own, to = t->tokens - here > behind + 1 ? here + behind + 1 : t->tokens;
        const Seen seen = {reach.firsts, before + from - low, before + to - low};
        float *scores = s.scores + (size_t)r * width;
        if (t->layer->relative) add_distances(t, scores, here, low, seen);
        softmax_of_seen(scores, seen, width);
    }
    if (reach.firsts) multiply_rows(&t->first.values, s.scores, width, some, (Outputs){mixed, t->stride, NULL}, s);
    multiply_inputs(&t->near.values, low, high, s.scores + before, width, some, (Outputs){mixed, t->stride, reach.firsts ? mixed : NULL}, s);
}

/* As `attend`, for rows that see what `reach` says. */
static void attend_near(const Layer *layer, Reach reach, const float *queries, int start, int count, const float *keys, const float *values, int length, int stride, float *mixed, AttentionScratch s) {
    const int whole = in_bytes(layer, length), apart = reach.apart;
    for (int head = 0; head < layer->heads; head++) {
        const size_t read = columns_read(layer, head);
        Strand t = {.layer = layer, .reach = reach, .head = head, .stride = stride * apart};
        if (reach.firsts) t.first = pack_head(layer, whole, keys + read, values + read, stride, reach.firsts, s.first);
        for (; t.strand < apart && t.strand < length; t.strand++) {
            const size_t begin = (size_t)t.strand * stride + read;
            const int from = first_of_strand(start, t.strand, apart), to = first_of_strand(start + count, t.strand, apart);
            if (from >= to) continue;
            t.tokens = first_of_strand(length, t.strand, apart);
            t.near = pack_head(layer, whole, keys + begin, values + begin, t.stride, t.tokens, s.every);
            for (int row = from; row < to; row += BLOCK) {
                const size_t place = (size_t)(t.strand + row * apart - start) * stride + (size_t)head * layer->head_width;
                attend_block(&t, row, to - row < BLOCK ? to - row : BLOCK, queries + place, mixed + place, s);
            }
        }
    }
    clear_padding(mixed, count, stride, layer->heads * layer->head_width);
}

/* As `attend`, for what the layer's rows see. A window over the whole text is plain attention. */
static void attend_as(const Layer *layer, const float *queries, int start, int count, const float *keys, const float *values, int length, int stride, float *mixed, AttentionScratch s) {
    const int covers = layer->window < 0 || (layer->dilation == 1 && layer->window >= length - 1);
    const int firsts = layer->globals < length ? layer->globals : length, whole_rows = covers ? count : within(firsts - start, 0, count);
    const size_t place = (size_t)whole_rows * stride;
    if (whole_rows && layer->causal)
        attend_near(layer, (Reach){length, 1, 0, 1}, queries, start, whole_rows, keys, values, length, stride, mixed, s);
    else if (whole_rows)
        attend(layer, queries, start, whole_rows, keys, values, length, stride, mixed, s);
    if (whole_rows < count)
        attend_near(layer, (Reach){layer->window, layer->dilation, firsts, layer->causal}, queries + place, start + whole_rows, count - whole_rows, keys, values, length, stride, mixed + place, s);
}
