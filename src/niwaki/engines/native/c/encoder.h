/* The whole network: token ids in, logits out. Nothing is allocated: `laid_out` says where in the scratch memory things lie,
   and with no memory given how much of it there must be. */

typedef struct {
    char *memory;
    size_t used;
} Arena;

static void *take(Arena *arena, size_t count, size_t bytes) {
    void *here = arena->memory ? arena->memory + arena->used : NULL;
    arena->used += (count * bytes + 63) / 64 * 64;
    return here;
}

typedef struct {
    int32_t *position;                     /* of each token in its text */
    float *hidden;                         /* rows of all tokens, and their codes */
    uint8_t *codes;
    float *step, *zero;
    float *query, *key, *value, *mixed;    /* rows of all tokens */
    float *middle, *inner, *between[2];    /* rows of a block */
    uint8_t *block_codes;
    float *block_step, *block_zero;
    AttentionScratch attention;
    int stride; /* of query, key, value and mixed */
} Scratch;

typedef struct {
    int rows;   /* the widest thing that a row of a block can be */
    int heads;  /* the widest query, key or value */
    int head;   /* the widest head */
} Widest;

static void widen_for(Widest *w, const Linear *linear) {
    for (int i = 0; i < linear->parts; i++) {
        if (linear->part[i].inputs > w->rows) w->rows = linear->part[i].inputs;
        if (linear->part[i].outputs > w->rows) w->rows = linear->part[i].outputs;
    }
}

static Widest widest_of(const Model *m) {
    Widest w = {.rows = m->tokens.width > m->embedded.width ? m->tokens.width : m->embedded.width};
    widen_for(&w, &m->widen);
    widen_for(&w, &m->project);
    for (int i = 0; i < m->head_parts; i++) widen_for(&w, m->head + i);
    for (int depth = 0; depth < m->depth; depth++) {
        const Layer *layer = m->layers + m->order[depth];
        const Linear *all_of[] = {&layer->query, &layer->key, &layer->value, &layer->out, &layer->up, &layer->down};
        for (int i = 0; i < 6; i++) widen_for(&w, all_of[i]);
        if (layer->heads * layer->head_width > w.heads) w.heads = layer->heads * layer->head_width;
        if (layer->head_width > w.head) w.head = layer->head_width;
    }
    return w;
}

static Scratch laid_out(const Model *m, const Batch *batch, Arena *arena) {
    const Widest widest = widest_of(m);
    const size_t rows = (size_t)batch->tokens, width = padded(m->width), wide = padded(widest.rows) + PAD;
    int longest = 0;
    for (int i = 0; i < batch->texts; i++)
        if (batch->lengths[i] > longest) longest = batch->lengths[i];
    Scratch s = {.stride = padded(widest.heads) + PAD};
    s.position = take(arena, rows, sizeof(int32_t));
    s.hidden = take(arena, rows * width, sizeof(float));
    s.codes = take(arena, rows * width, 1);
    s.step = take(arena, rows, sizeof(float));
    s.zero = take(arena, rows, sizeof(float));
    s.query = take(arena, rows * s.stride, sizeof(float));
    s.key = take(arena, rows * s.stride, sizeof(float));
    s.value = take(arena, rows * s.stride, sizeof(float));
    s.mixed = take(arena, rows * s.stride, sizeof(float));
    s.middle = take(arena, BLOCK * wide, sizeof(float));
    s.inner = take(arena, BLOCK * wide, sizeof(float));
    for (int i = 0; i < 2; i++) s.between[i] = take(arena, BLOCK * wide, sizeof(float));
    s.block_codes = take(arena, BLOCK * wide, 1);
    s.block_step = take(arena, BLOCK, sizeof(float));
    s.block_zero = take(arena, BLOCK, sizeof(float));
    const size_t texts = padded(longest), head = padded(widest.head), longer = texts > head ? texts : head;
    s.attention.keys = take(arena, texts * head, sizeof(float));
    s.attention.values = take(arena, texts * head, sizeof(float));
    s.attention.key_scale = take(arena, texts, sizeof(float));
    s.attention.key_sums = take(arena, texts, sizeof(float));
    s.attention.value_scale = take(arena, head, sizeof(float));
    s.attention.value_sums = take(arena, head, sizeof(float));
    s.attention.scores = take(arena, BLOCK * texts, sizeof(float));
    s.attention.codes = take(arena, BLOCK * longer, 1);
    s.attention.step = take(arena, BLOCK, sizeof(float));
    s.attention.zero = take(arena, BLOCK, sizeof(float));
    return s;
}

static size_t scratch_bytes(const Model *m, const Batch *batch) {
    Arena arena = {NULL, 0};
    laid_out(m, batch, &arena);
    return arena.used;
}

/* A linear map of any number of rows, a block at a time. Rows that have no codes yet get them where the matrix needs them. */
static void apply(const Linear *linear, Rows from, int count, Outputs to, const Scratch *s) {
    for (int first = 0; first < count; first += BLOCK) {
        const int some = count - first < BLOCK ? count - first : BLOCK;
        Rows now = {from.values + (size_t)first * from.stride, from.stride, NULL, NULL, NULL};
        if (from.codes) {
            now.codes = from.codes + (size_t)first * padded(linear->part[0].inputs);
            now.step = from.step + first;
            now.zero = from.zero + first;
        }
        for (int i = 0; i < linear->parts; i++) {
            const Matrix *by = linear->part + i;
            const size_t place = (size_t)first * to.stride;
            Outputs next = {s->between[i % 2], padded(by->outputs), NULL};
            if (i == linear->parts - 1) next = (Outputs){to.values + place, to.stride, to.plus ? to.plus + place : NULL};
            if (by->whole && !now.codes) {
                round_rows_from(now.values, now.stride, some, padded(by->inputs), s->block_codes, s->block_step, s->block_zero);
                now.codes = s->block_codes, now.step = s->block_step, now.zero = s->block_zero;
            }
            multiply(by, now, some, next);
            now = (Rows){next.values, next.stride, NULL, NULL, NULL};
        }
    }
}

static void look_up(const Table *table, int row, float *to, int adds) {
    const size_t start = (size_t)row * padded(table->width);
    for (int i = 0; i < padded(table->width); i += LANES) {
        Floats x = table->codes ? mul(load_codes(table->codes + start + i), all(table->scale[row])) : load(table->floats + start + i);
        store(to + i, adds ? add(x, load(to + i)) : x);
    }
}

static void embed(const Model *m, const Batch *batch, const Scratch *s) {
    const int narrow = padded(m->tokens.width), width = padded(m->embedded.width), hidden = padded(m->width);
    for (int text = 0, token = 0; text < batch->texts; text++)
        for (int p = 0; p < batch->lengths[text]; p++) s->position[token++] = m->first_position + p;
    for (int first = 0; first < batch->tokens; first += BLOCK) {
        const int some = batch->tokens - first < BLOCK ? batch->tokens - first : BLOCK;
        float *rows = m->project.parts ? s->inner : s->hidden + (size_t)first * hidden;
        float *looked_up = m->widen.parts ? s->middle : rows;
        for (int r = 0; r < some; r++) look_up(&m->tokens, batch->ids[first + r], looked_up + (size_t)r * narrow, 0);
        if (m->widen.parts) apply(&m->widen, (Rows){looked_up, narrow, NULL, NULL, NULL}, some, (Outputs){rows, width, NULL}, s);
        for (int r = 0; r < some; r++) {
            if (m->positions.rows) look_up(&m->positions, s->position[first + r], rows + (size_t)r * width, 1);
            if (m->types.rows) look_up(&m->types, batch->kinds ? batch->kinds[first + r] : 0, rows + (size_t)r * width, 1);
        }
        normalize(rows, some, &m->embedded);
        if (m->project.parts) apply(&m->project, (Rows){rows, width, NULL, NULL, NULL}, some, (Outputs){s->hidden + (size_t)first * hidden, hidden, NULL}, s);
        round_rows(s->hidden + (size_t)first * hidden, some, m->width, s->codes + (size_t)first * hidden, s->step + first, s->zero + first);
    }
}

/* Only the first row of each text is wanted from here on: they move to the front. */
static void keep_first(const Model *m, const Batch *batch, const Scratch *s) {
    const size_t width = padded(m->width);
    for (int text = 0, token = 0; text < batch->texts; token += batch->lengths[text++]) {
        memmove(s->hidden + text * width, s->hidden + token * width, width * sizeof(float));
        memmove(s->codes + text * width, s->codes + token * width, width);
        s->step[text] = s->step[token];
        s->zero[text] = s->zero[token];
    }
}

/* All rows' keys and values, the wanted rows' queries, and what the heads mix of them. */
static void attention(const Model *m, const Layer *layer, const Batch *batch, const Scratch *s, int only_first) {
    const int stride = s->stride;
    const Rows rows = {s->hidden, padded(m->width), s->codes, s->step, s->zero};
    apply(&layer->key, rows, batch->tokens, (Outputs){s->key, stride, NULL}, s);
    apply(&layer->value, rows, batch->tokens, (Outputs){s->value, stride, NULL}, s);
    if (only_first) keep_first(m, batch, s);
    apply(&layer->query, rows, only_first ? batch->texts : batch->tokens, (Outputs){s->query, stride, NULL}, s);
    for (int text = 0, token = 0; text < batch->texts; token += batch->lengths[text++]) {
        const size_t own = (size_t)(only_first ? text : token) * stride, theirs = (size_t)token * stride;
        attend(layer, s->query + own, only_first ? 1 : batch->lengths[text], s->key + theirs, s->value + theirs, batch->lengths[text], stride, s->mixed + own, s->attention);
    }
}

static void run_layer(const Model *m, const Layer *layer, const Batch *batch, const Scratch *s, int only_first) {
    const int width = padded(m->width), stride = s->stride;
    if (layer->out.parts)
        attention(m, layer, batch, s, only_first);
    else if (only_first)
        keep_first(m, batch, s);
    const int wanted = only_first ? batch->texts : batch->tokens;
    for (int first = 0; first < wanted; first += BLOCK) {
        const int some = wanted - first < BLOCK ? wanted - first : BLOCK;
        float *hidden = s->hidden + (size_t)first * width;
        if (layer->out.parts)
            apply(&layer->out, (Rows){s->mixed + (size_t)first * stride, stride, NULL, NULL, NULL}, some, (Outputs){s->middle, width, hidden}, s);
        else
            go_past(hidden, layer->attention_bias, some, width, s->middle);
        normalize(s->middle, some, &layer->attended);
        if (layer->down.parts) {
            const int neurons = padded(layer->up.part[layer->up.parts - 1].outputs);
            apply(&layer->up, (Rows){s->middle, width, NULL, NULL, NULL}, some, (Outputs){s->inner, neurons, NULL}, s);
            activate(s->inner, some * neurons, layer->activation);
            apply(&layer->down, (Rows){s->inner, neurons, NULL, NULL, NULL}, some, (Outputs){hidden, width, s->middle}, s);
        } else
            go_past(s->middle, layer->ffn_bias, some, width, hidden);
        normalize(hidden, some, &layer->widened);
        round_rows(hidden, some, m->width, s->codes + (size_t)first * width, s->step + first, s->zero + first);
    }
}

static void answer(const Model *m, int count, const Scratch *s, float *logits) {
    const int width = padded(m->width);
    for (int first = 0; first < count; first += BLOCK) {
        const int some = count - first < BLOCK ? count - first : BLOCK;
        Rows rows = {s->hidden + (size_t)first * width, width, NULL, NULL, NULL};
        int outputs = 0;
        for (int i = 0; i < m->head_parts; i++) {
            outputs = m->head[i].part[m->head[i].parts - 1].outputs;
            float *to = i % 2 ? s->inner : s->middle;
            apply(m->head + i, rows, some, (Outputs){to, padded(outputs), NULL}, s);
            if (i < m->head_parts - 1) activate(to, some * padded(outputs), m->head_activation);
            rows = (Rows){to, padded(outputs), NULL, NULL, NULL};
        }
        for (int r = 0; r < some; r++) memcpy(logits + (size_t)(first + r) * outputs, rows.values + (size_t)r * rows.stride, outputs * sizeof(float));
    }
}

static void forward(const Model *m, const Batch *batch, void *scratch, float *logits) {
    Arena arena = {scratch, 0};
    const Scratch s = laid_out(m, batch, &arena);
    embed(m, batch, &s);
    for (int depth = 0; depth < m->depth; depth++)
        run_layer(m, m->layers + m->order[depth], batch, &s, depth == m->depth - 1 && !m->per_token);
    answer(m, m->per_token ? batch->tokens : batch->texts, &s, logits);
}
