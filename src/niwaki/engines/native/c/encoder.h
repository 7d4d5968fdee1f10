/* The whole network: token ids in, logits out. Nothing is allocated: `laid_out` says where in the scratch memory things lie,
   and with no memory given how much of it there must be.

   Several threads share a batch by its rows: each does everything for its own, and they meet once in a layer, when all keys and
   values are there. Behind the last layer, where only first tokens count, one thread goes on alone. */

typedef struct {
    char *memory;
    size_t used;
} Arena;

static void *take(Arena *arena, size_t count, size_t bytes) {
    void *here = arena->memory ? arena->memory + arena->used : NULL;
    arena->used += (count * bytes + 63) / 64 * 64;
    return here;
}

#include "experts.h"

typedef struct {
    int32_t *position;                     /* of each token in its text */
    float *hidden;                         /* rows of all tokens */
    float *read;                           /* the same as matrices read them: normed, where norms come first */
    uint8_t *codes;                        /* of `read` */
    float *step, *zero;
    float *query, *mixed;                  /* rows of all tokens */
    float *key[2], *value[2];              /* the same; two of each, because others may still read those of the layer before */
    float *middle, *normed, *inner, *gated, *gathered, *between[2]; /* rows of a block, of one thread's own from here on */
    uint8_t *block_codes;
    float *block_step, *block_zero;
    Routing routing;
    AttentionScratch attention;
    int stride; /* of query, key, value and mixed */
    int from, to; /* the thread's own rows */
} Scratch;

typedef struct {
    int rows;   /* the widest thing that a row of a block can be */
    int heads;  /* the widest query, key or value */
    int head;   /* the widest head */
    int firsts; /* tokens of a text that are read beside a window */
    int experts;
} Widest;

static void widen_for(Widest *w, const Linear *linear) {
    for (int i = 0; i < linear->parts; i++) {
        if (linear->part[i].inputs > w->rows) w->rows = linear->part[i].inputs;
        if (linear->part[i].outputs > w->rows) w->rows = linear->part[i].outputs;
    }
}

static void widen_for_experts(Widest *w, const Experts *experts) {
    widen_for(w, &experts->router);
    for (int i = 0; i < experts->count + experts->shared; i++) {
        widen_for(w, &experts->expert[i].up);
        widen_for(w, &experts->expert[i].down);
    }
    if (experts->count > w->experts) w->experts = experts->count;
}

static Widest widest_of(const Model *m) {
    Widest w = {.rows = m->tokens.width > m->embedded.width ? m->tokens.width : m->embedded.width};
    widen_for(&w, &m->widen);
    widen_for(&w, &m->project);
    for (int i = 0; i < m->head_parts; i++) widen_for(&w, m->head + i);
    for (int depth = 0; depth < m->depth; depth++) {
        const Layer *layer = m->layers + m->order[depth];
        const Linear *all_of[] = {&layer->query, &layer->key, &layer->value, &layer->out, &layer->up, &layer->gate, &layer->down};
        for (int i = 0; i < 7; i++) widen_for(&w, all_of[i]);
        if (layer->globals > w.firsts) w.firsts = layer->globals;
        if (layer->experts) widen_for_experts(&w, layer->experts);
        if (layer->heads * layer->head_width > w.heads) w.heads = layer->heads * layer->head_width;
        if (layer->head_width > w.head) w.head = layer->head_width;
    }
    return w;
}

static void take_panels(HeadPanels *panels, size_t tokens, size_t head, Arena *arena) {
    panels->keys = take(arena, tokens * head, sizeof(float));
    panels->values = take(arena, tokens * head, sizeof(float));
    panels->key_scale = take(arena, tokens, sizeof(float));
    panels->key_sums = take(arena, tokens, sizeof(float));
    panels->value_scale = take(arena, head, sizeof(float));
    panels->value_sums = take(arena, head, sizeof(float));
}

static void take_own(Scratch *s, const Widest *widest, int longest, Arena *arena) {
    const size_t wide = padded(widest->rows) + PAD, tokens = padded(longest), head = padded(widest->head), longer = tokens > head ? tokens : head;
    const size_t firsts = padded(widest->firsts < longest ? widest->firsts : longest);
    s->middle = take(arena, BLOCK * wide, sizeof(float));
    s->normed = take(arena, BLOCK * wide, sizeof(float));
    s->inner = take(arena, BLOCK * wide, sizeof(float));
    s->gated = take(arena, BLOCK * wide, sizeof(float));
    s->gathered = take(arena, widest->experts ? BLOCK * wide : 0, sizeof(float));
    s->routing = take_routing(widest->experts, arena);
    for (int i = 0; i < 2; i++) s->between[i] = take(arena, BLOCK * wide, sizeof(float));
    s->block_codes = take(arena, BLOCK * wide, 1);
    s->block_step = take(arena, BLOCK, sizeof(float));
    s->block_zero = take(arena, BLOCK, sizeof(float));
    take_panels(&s->attention.every, tokens, head, arena);
    take_panels(&s->attention.first, firsts, head, arena);
    s->attention.scores = take(arena, BLOCK * (tokens + firsts), sizeof(float));
    s->attention.codes = take(arena, BLOCK * longer, 1);
    s->attention.step = take(arena, BLOCK, sizeof(float));
    s->attention.zero = take(arena, BLOCK, sizeof(float));
}

/* For thread `me` of so many. */
static Scratch laid_out(const Model *m, const Batch *batch, int threads, int me, Arena *arena) {
    const Widest widest = widest_of(m);
    const size_t rows = (size_t)batch->tokens, width = padded(m->width);
    int longest = 0;
    for (int i = 0; i < batch->texts; i++)
        if (batch->lengths[i] > longest) longest = batch->lengths[i];
    Scratch s = {.stride = padded(widest.heads) + PAD};
    s.position = take(arena, rows, sizeof(int32_t));
    s.hidden = take(arena, rows * width, sizeof(float));
    s.read = m->pre_norm ? take(arena, rows * width, sizeof(float)) : s.hidden;
    s.codes = take(arena, rows * width, 1);
    s.step = take(arena, rows, sizeof(float));
    s.zero = take(arena, rows, sizeof(float));
    s.query = take(arena, rows * s.stride, sizeof(float));
    s.mixed = take(arena, rows * s.stride, sizeof(float));
    for (int i = 0; i < 2; i++) {
        s.key[i] = take(arena, rows * s.stride, sizeof(float));
        s.value[i] = take(arena, rows * s.stride, sizeof(float));
    }
    Arena one = {NULL, 0};
    take_own(&s, &widest, longest, &one);
    const size_t shared = arena->used;
    arena->used = shared + one.used * me;
    take_own(&s, &widest, longest, arena);
    arena->used = shared + one.used * threads;
    s.from = (int)((int64_t)batch->tokens * me / threads);
    s.to = (int)((int64_t)batch->tokens * (me + 1) / threads);
    return s;
}

static size_t scratch_bytes(const Model *m, const Batch *batch, int threads) {
    Arena arena = {NULL, 0};
    laid_out(m, batch, threads, 0, &arena);
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

/* Of rows from `from` to `to`. Families that begin behind 0 begin behind the padding mark's id: this mark, standing in a text, has
   its own position there, and does not count. */
static void find_positions(const Model *m, const Batch *batch, const Scratch *s) {
    const int mark = m->first_position - 1;
    for (int text = 0, token = 0; text < batch->texts; text++)
        for (int p = 0, next = m->first_position; p < batch->lengths[text]; p++, token++) {
            const int here = mark >= 0 && batch->ids[token] == mark ? mark : next++;
            if (token >= s->from && token < s->to) s->position[token] = here;
        }
}

/* Codes of rows as they are, unless norms come first. */
static void settle_rows(const Model *m, const Scratch *s, int first, int some) {
    const size_t place = (size_t)first * padded(m->width);
    if (!m->pre_norm) round_rows(s->hidden + place, some, m->width, s->codes + place, s->step + first, s->zero + first);
}

/* Rows `from` to `to` as a block reads them where norms come first. */
static void norm_rows(const Model *m, const Norm *norm, const Scratch *s, int from, int to) {
    const size_t width = padded(m->width);
    for (int first = from; first < to; first += BLOCK) {
        const int some = to - first < BLOCK ? to - first : BLOCK;
        memcpy(s->read + first * width, s->hidden + first * width, some * width * sizeof(float));
        normalize(s->read + first * width, some, norm);
        round_rows(s->read + first * width, some, m->width, s->codes + first * width, s->step + first, s->zero + first);
    }
}

/* Rows from `from` to `to`. */
static void embed(const Model *m, const Batch *batch, const Scratch *s) {
    const int narrow = padded(m->tokens.width), width = padded(m->embedded.width), hidden = padded(m->width);
    find_positions(m, batch, s);
    for (int first = s->from; first < s->to; first += BLOCK) {
        const int some = s->to - first < BLOCK ? s->to - first : BLOCK;
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
        settle_rows(m, s, first, some);
    }
}

/* Rows `from` to `to` as an earlier call left them. */
static void go_on(const Model *m, const Batch *batch, const Scratch *s) {
    const size_t width = padded(m->width), start = s->from * width;
    memcpy(s->hidden + start, batch->found + start, (s->to - s->from) * width * sizeof(float));
    for (int first = s->from; first < s->to; first += BLOCK) {
        const int some = s->to - first < BLOCK ? s->to - first : BLOCK;
        settle_rows(m, s, first, some);
    }
}

/* Rows `from` to `to` for a later call. */
static void leave(const Model *m, const Batch *batch, const Scratch *s) {
    const size_t width = padded(m->width), start = s->from * width;
    memcpy(batch->left + start, s->hidden + start, (s->to - s->from) * width * sizeof(float));
}

/* Only the first row of each text is wanted from here on: they move to the front. */
static void keep_first(const Model *m, const Batch *batch, const Scratch *s) {
    const size_t width = padded(m->width);
    for (int text = 0, token = 0; text < batch->texts; token += batch->lengths[text++]) {
        memmove(s->hidden + text * width, s->hidden + token * width, width * sizeof(float));
        if (m->pre_norm) memmove(s->read + text * width, s->read + token * width, width * sizeof(float));
        memmove(s->codes + text * width, s->codes + token * width, width);
        s->step[text] = s->step[token];
        s->zero[text] = s->zero[token];
    }
}

/* Rows as products read them, from one of them on. */
static Rows rows_from(const Model *m, const Scratch *s, int first) {
    const size_t width = padded(m->width);
    return (Rows){s->read + first * width, (int)width, s->codes + first * width, s->step + first, s->zero + first};
}

/* Turns the queries and keys of rows `from` to `to`; the first tokens' queries alone stay as they are. */
static void turn_rows_of(const Layer *layer, const Batch *batch, const Scratch *s, float *keys, int with_queries) {
    const int width = layer->head_width;
    for (int text = 0, token = 0; text < batch->texts; token += batch->lengths[text++]) {
        const int last = token + batch->lengths[text] < s->to ? token + batch->lengths[text] : s->to;
        for (int row = token > s->from ? token : s->from; row < last; row++) {
            const float *turns = layer->turns + (size_t)(row - token) * width;
            if (with_queries) turn_heads(s->query + (size_t)row * s->stride, layer->heads, width, turns, layer->neighbours);
            turn_heads(keys + (size_t)row * s->stride, key_heads(layer), width, turns, layer->neighbours);
        }
    }
}

/* What the heads mix for rows `from` to `to`, or for the first row of each text, whose query then lies at the text's number. */
static void mix(const Layer *layer, const Batch *batch, const Scratch *s, int turn, int only_first, int from, int to) {
    for (int text = 0, token = 0; text < batch->texts; token += batch->lengths[text++]) {
        const int length = batch->lengths[text];
        const int first = only_first ? token : token > from ? token : from;
        const int last = only_first ? token + 1 : token + length < to ? token + length : to;
        if (first >= last) continue;
        const size_t own = (size_t)(only_first ? text : first) * s->stride, theirs = (size_t)token * s->stride;
        attend_as(layer, s->query + own, first - token, last - first, s->key[turn] + theirs, s->value[turn] + theirs, length, s->stride, s->mixed + own, s->attention);
    }
}

/* Rows through one expert, in `gated`. */
static void run_expert(const Expert *expert, const float *rows, int count, int activation, const Scratch *s) {
    const Linear *up = &expert->up, *down = &expert->down;
    const int neurons = padded(up->part[up->parts - 1].outputs), width = padded(down->part[down->parts - 1].outputs);
    apply(up, (Rows){rows, padded(up->part[0].inputs), NULL, NULL, NULL}, count, (Outputs){s->inner, neurons, NULL}, s);
    activate(s->inner, count * neurons, activation);
    apply(down, (Rows){s->inner, neurons, NULL, NULL, NULL}, count, (Outputs){s->gated, width, NULL}, s);
}

/* Adds to rows what experts make of them: each expert is one product over the rows that chose it. */
static void add_experts(const Layer *layer, const float *rows, int width, int some, float *to, const Scratch *s) {
    const Experts *experts = layer->experts;
    const int stride = padded(experts->count);
    apply(&experts->router, (Rows){rows, width, NULL, NULL, NULL}, some, (Outputs){s->inner, stride, NULL}, s);
    for (int r = 0; r < some; r++) choose_experts(experts, s->inner + (size_t)r * stride, r, &s->routing);
    for (int e = 0; e < experts->count; e++) {
        const int count = gather_chosen(experts, e, rows, width, some, s->gathered, &s->routing);
        if (!count) continue;
        run_expert(experts->expert + e, s->gathered, count, layer->activation, s);
        for (int i = 0; i < count; i++) add_weighted(to + (size_t)s->routing.row[i] * width, s->gated + (size_t)i * width, s->routing.weight[s->routing.row[i] * experts->count + e], width);
    }
    if (!experts->shared) return;
    run_expert(experts->expert + experts->count, rows, some, layer->activation, s);
    for (int r = 0; r < some; r++) add_weighted(to + (size_t)r * width, s->gated + (size_t)r * width, 1.0f, width);
}

/* What is in `middle` through the feed-forward block, with the residual connection. */
static void feed_forward(const Model *m, const Layer *layer, const Scratch *s, int some, float *to) {
    const int width = padded(m->width);
    const float *read = s->middle;
    if (m->pre_norm) {
        memcpy(s->normed, s->middle, (size_t)some * width * sizeof(float));
        normalize(s->normed, some, &layer->widened);
        read = s->normed;
    }
    if (layer->experts) {
        memcpy(to, s->middle, (size_t)some * width * sizeof(float));
        add_experts(layer, read, width, some, to, s);
        return;
    }
    const int neurons = padded(layer->up.part[layer->up.parts - 1].outputs);
    apply(&layer->up, (Rows){read, width, NULL, NULL, NULL}, some, (Outputs){s->inner, neurons, NULL}, s);
    if (layer->gate.parts) {
        apply(&layer->gate, (Rows){read, width, NULL, NULL, NULL}, some, (Outputs){s->gated, neurons, NULL}, s);
        activate(s->gated, some * neurons, layer->activation);
        multiply_numbers(s->inner, s->gated, some * neurons);
    } else
        activate(s->inner, some * neurons, layer->activation);
    apply(&layer->down, (Rows){s->inner, neurons, NULL, NULL, NULL}, some, (Outputs){to, width, s->middle}, s);
}

/* From what the heads mixed to the next layer's rows, `from` to `to`. */
static void finish_layer(const Model *m, const Layer *layer, const Scratch *s, int from, int to) {
    const int width = padded(m->width), stride = s->stride;
    for (int first = from; first < to; first += BLOCK) {
        const int some = to - first < BLOCK ? to - first : BLOCK;
        float *hidden = s->hidden + (size_t)first * width;
        if (layer->out.parts)
            apply(&layer->out, (Rows){s->mixed + (size_t)first * stride, stride, NULL, NULL, NULL}, some, (Outputs){s->middle, width, hidden}, s);
        else
            go_past(hidden, layer->attention_bias, some, width, s->middle);
        if (!m->pre_norm) normalize(s->middle, some, &layer->attended);
        if (layer->down.parts || layer->experts)
            feed_forward(m, layer, s, some, hidden);
        else
            go_past(s->middle, layer->ffn_bias, some, width, hidden);
        if (!m->pre_norm) normalize(hidden, some, &layer->widened);
        settle_rows(m, s, first, some);
    }
}

/* Whether the last layer runs for first tokens alone. */
static int reads_firsts(const Model *m) { return !m->per_token && m->pooling == POOL_FIRST; }

/* One row for each text, in place: text number n begins at row n or behind it, and rows before that are read already. First rows are in
   their places already. */
static void pool(const Model *m, const Batch *batch, const Scratch *s) {
    const size_t width = padded(m->width);
    for (int text = 0, token = 0; text < batch->texts; token += batch->lengths[text++]) {
        const int first = m->pooling == POOL_FIRST, last = m->pooling == POOL_LAST, length = first || last ? 1 : batch->lengths[text];
        const float *rows = s->hidden + (first ? text : last ? token + batch->lengths[text] - 1 : token) * width, divisor = m->pooling == POOL_MEAN_SQRT ? sqrtf((float)length) : (float)length;
        float *pooled = s->hidden + text * width, squares = 0.0f;
        for (int column = 0; column < m->width; column++) {
            float value = rows[column];
            for (int row = 1; row < length; row++) {
                const float other = rows[row * width + column];
                value = m->pooling == POOL_MAX ? (other > value ? other : value) : value + other;
            }
            pooled[column] = m->pooling == POOL_MAX ? value : value / divisor;
            squares += pooled[column] * pooled[column];
        }
        if (!m->unit_length) continue;
        const float norm = sqrtf(squares) > 1e-12f ? sqrtf(squares) : 1e-12f;
        for (int column = 0; column < m->width; column++) pooled[column] /= norm;
    }
}

/* The head, for rows `from` to `to`. */
static void answer(const Model *m, const Scratch *s, int from, int to, float *logits) {
    const int width = padded(m->width);
    for (int first = from; first < to; first += BLOCK) {
        const int some = to - first < BLOCK ? to - first : BLOCK;
        Rows rows = {s->hidden + (size_t)first * width, width, NULL, NULL, NULL};
        int outputs = m->width;
        for (int i = 0; i < m->head_parts; i++) {
            outputs = m->head[i].part[m->head[i].parts - 1].outputs;
            float *to_here = i % 2 ? s->inner : s->middle;
            apply(m->head + i, rows, some, (Outputs){to_here, padded(outputs), NULL}, s);
            if (i < m->head_parts - 1) activate(to_here, some * padded(outputs), m->head_activation);
            if (i == m->head_parts - 2) normalize(to_here, some, &m->answered);
            rows = (Rows){to_here, padded(outputs), NULL, NULL, NULL};
        }
        for (int r = 0; r < some; r++) memcpy(logits + (size_t)(first + r) * outputs, rows.values + (size_t)r * rows.stride, outputs * sizeof(float));
    }
}

typedef struct {
    const Model *model;
    const Batch *batch;
    void *scratch;
    float *logits;
    Team *team;
    int me;
} Job;

static void run(const Job *job) {
    const Model *m = job->model;
    const Batch *batch = job->batch;
    for (int spun = 0; !atomic_load(&job->team->size);) pause_a_little(&spun);
    Arena arena = {job->scratch, 0};
    const Scratch s = laid_out(m, batch, atomic_load(&job->team->size), job->me, &arena);
    batch->found ? go_on(m, batch, &s) : embed(m, batch, &s);
    for (int depth = batch->first, turn = 0; depth < batch->last; depth++) {
        const Layer *layer = m->layers + m->order[depth];
        const int only_first = depth == batch->last - 1 && reads_firsts(m), attends = layer->out.parts > 0;
        if (depth == batch->last - 1 && batch->left) leave(m, batch, &s);
        if (attends) {
            if (m->pre_norm) norm_rows(m, &layer->attended, &s, s.from, s.to);
            const Rows own = rows_from(m, &s, s.from);
            const size_t place = (size_t)s.from * s.stride;
            turn = !turn;
            apply(&layer->key, own, s.to - s.from, (Outputs){s.key[turn] + place, s.stride, NULL}, &s);
            apply(&layer->value, own, s.to - s.from, (Outputs){s.value[turn] + place, s.stride, NULL}, &s);
            if (!only_first) apply(&layer->query, own, s.to - s.from, (Outputs){s.query + place, s.stride, NULL}, &s);
            if (layer->turns) turn_rows_of(layer, batch, &s, s.key[turn], !only_first);
        }
        if (attends || only_first) meet(job->team);
        if (only_first) {
            if (job->me) return;
            keep_first(m, batch, &s);
            if (attends) apply(&layer->query, rows_from(m, &s, 0), batch->texts, (Outputs){s.query, s.stride, NULL}, &s);
        }
        const int from = only_first ? 0 : s.from, to = only_first ? batch->texts : s.to;
        if (attends) mix(layer, batch, &s, turn, only_first, from, to);
        finish_layer(m, layer, &s, from, to);
    }
    if (batch->last == m->depth) {
        const int from = reads_firsts(m) ? 0 : s.from, to = reads_firsts(m) ? batch->texts : s.to;
        normalize(s.hidden + (size_t)from * padded(m->width), to - from, &m->last);
    }
    if (m->pooling != POOL_FIRST) {
        meet(job->team);
        if (job->me) return;
    }
    if (m->pooling != POOL_FIRST || m->unit_length) pool(m, batch, &s);
    answer(m, &s, m->per_token ? s.from : 0, m->per_token ? s.to : batch->texts, job->logits);
}

static void *work(void *given) {
    run(given);
#ifdef TILES
    tile_release();
#endif
    return NULL;
}

#define MOST_THREADS 64

static void forward(const Model *m, const Batch *batch, int threads, void *scratch, float *logits) {
    Team team = {0};
    Job jobs[MOST_THREADS];
    pthread_t others[MOST_THREADS];
    int made = 1;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    jobs[0] = (Job){m, batch, scratch, logits, &team, 0};
    for (; made < threads; made++) {
        jobs[made] = jobs[0];
        jobs[made].me = made;
        if (pthread_create(&others[made], NULL, work, &jobs[made])) break; /* then fewer do it */
    }
    atomic_store(&team.size, made);
    work(&jobs[0]);
    for (int i = 1; i < made; i++) pthread_join(others[i], NULL);
}
