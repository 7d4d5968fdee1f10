/* Whether what a packed file says of sizes fits together and lies within it, so that a damaged one cannot make kernels read elsewhere. */
#include "packed.h"

#define MOST_OUTPUTS (1 << 24)
#define MOST_WIDTH (1 << 16)
#define MOST_LAYERS 1024

static int inside(const Header *h, const void *at, size_t bytes) {
    const uintptr_t from = (uintptr_t)h, place = (uintptr_t)at;
    return place >= from + sizeof(Header) && place - from <= h->bytes && bytes <= h->bytes - (place - from) && place % 4 == 0;
}

static int floats(const Header *h, const float *at, int64_t count) { return inside(h, at, (size_t)count * sizeof(float)); }
static int floats_or_none(const Header *h, const float *at, int64_t count) { return !at || floats(h, at, count); }

static int matrix_fits(const Header *h, const Matrix *m) {
    if (m->inputs < 1 || m->inputs > MOST_WIDTH || m->outputs < 1 || m->outputs > MOST_OUTPUTS || (uintptr_t)m->panels % 64) return 0;
    const size_t outputs = (size_t)padded(m->outputs);
    if (!inside(h, m->panels, m->whole ? outputs * (size_t)padded(m->inputs) : outputs * (size_t)m->inputs * sizeof(float))) return 0;
    if (m->whole && !(floats(h, m->scale, outputs) && floats(h, m->sums, outputs))) return 0;
    return floats_or_none(h, m->bias, outputs);
}

/* The outputs of a linear map from so many inputs; of one that is not there, the inputs; -1 where it does not fit. */
static int through(const Header *h, const Linear *linear, int inputs) {
    if (linear->parts < 0 || linear->parts > MOST_PARTS) return -1;
    for (int i = 0; i < linear->parts; i++) {
        if (linear->part[i].inputs != inputs || !matrix_fits(h, &linear->part[i])) return -1;
        inputs = linear->part[i].outputs;
    }
    return inputs <= MOST_WIDTH ? inputs : -1;
}

static int norm_fits(const Header *h, const Norm *norm, int width) {
    return norm->width == width && floats_or_none(h, norm->gain, padded(width)) && floats_or_none(h, norm->shift, padded(width));
}

/* A norm of no width is none. */
static int norm_or_none(const Header *h, const Norm *norm, int width) { return norm->width ? norm_fits(h, norm, width) : !norm->gain; }

static int table_fits(const Header *h, const Table *table, int rows, int width) {
    if (table->rows < rows || table->rows > MOST_OUTPUTS || table->width != width) return 0;
    const size_t count = (size_t)table->rows * (size_t)padded(width);
    return table->codes ? inside(h, table->codes, count) && floats(h, table->scale, table->rows) : floats(h, table->floats, (int64_t)count);
}

static int attention_fits(const Header *h, const Layer *layer, int width) {
    if (!layer->out.parts) return floats_or_none(h, layer->attention_bias, padded(width));
    if (layer->heads < 1 || layer->heads > MOST_WIDTH || layer->head_width < 1 || layer->head_width > MOST_WIDTH / layer->heads) return 0;
    const int inner = layer->heads * layer->head_width;
    if (!layer->query.parts || !layer->key.parts || !layer->value.parts) return 0;
    const int keys = layer->reads ? through(h, &layer->key, width) : inner; /* several heads may read the same key */
    if (through(h, &layer->query, width) != inner || keys < layer->head_width || keys > inner || keys % layer->head_width) return 0;
    if (through(h, &layer->key, width) != keys || through(h, &layer->value, width) != keys) return 0;
    if (layer->reads && !inside(h, layer->reads, (size_t)layer->heads * sizeof(int32_t))) return 0;
    for (int head = 0; layer->reads && head < layer->heads; head++)
        if (layer->reads[head] < 0 || layer->reads[head] >= keys / layer->head_width) return 0;
    if (layer->turns && (layer->head_width % 2 || !floats(h, layer->turns, (int64_t)h->longest * layer->head_width))) return 0;
    if (layer->window < -1 || layer->window > MOST_OUTPUTS || layer->dilation < (layer->window >= 0) || layer->dilation > MOST_OUTPUTS) return 0;
    if (layer->globals < 0 || layer->globals > MOST_OUTPUTS) return 0;
    if (layer->relative && (layer->reach < h->longest - 1 || layer->reach > MOST_OUTPUTS || !floats(h, layer->relative, (int64_t)layer->heads * (2 * (int64_t)layer->reach + 1 + PAD)))) return 0;
    return through(h, &layer->out, inner) == width;
}

/* A mixture: its router has a number for each expert. */
static int experts_fit(const Header *h, const Experts *e, int width) {
    if ((uintptr_t)e % sizeof(void *) || !inside(h, e, sizeof *e)) return 0;
    if (e->count < 1 || e->count > MOST_LAYERS || e->active < 1 || e->active > e->count || e->shared < 0 || e->shared > 1) return 0;
    const int every = e->count + e->shared;
    if ((uintptr_t)e->expert % sizeof(void *) || !inside(h, e->expert, (size_t)every * sizeof(Expert))) return 0;
    for (int i = 0; i < every; i++) {
        const int neurons = e->expert[i].up.parts ? through(h, &e->expert[i].up, width) : -1;
        if (neurons < 1 || !e->expert[i].down.parts || through(h, &e->expert[i].down, neurons) != width) return 0;
    }
    return e->router.parts && through(h, &e->router, width) == e->count;
}

static int layer_fits(const Header *h, const Layer *layer, int width) {
    if (!attention_fits(h, layer, width)) return 0;
    if (!norm_or_none(h, &layer->attended, width) || !norm_or_none(h, &layer->widened, width)) return 0;
    if (layer->experts) return experts_fit(h, layer->experts, width);
    if (!layer->down.parts) return floats_or_none(h, layer->ffn_bias, padded(width));
    const int neurons = layer->up.parts ? through(h, &layer->up, width) : -1;
    if (layer->gate.parts && through(h, &layer->gate, width) != neurons) return 0;
    return neurons > 0 && through(h, &layer->down, neurons) == width;
}

static int layers_fit(const Header *h, const Model *m) {
    if (m->depth < 1 || m->depth > MOST_LAYERS || !inside(h, m->order, (size_t)m->depth * sizeof(int32_t))) return 0;
    for (int depth = 0; depth < m->depth; depth++) {
        const int number = m->order[depth];
        if (number < 0 || number >= MOST_LAYERS) return 0;
        const Layer *layer = m->layers + number;
        if ((uintptr_t)layer % sizeof(void *) || !inside(h, layer, sizeof *layer) || !layer_fits(h, layer, m->width)) return 0;
    }
    return 1;
}

static int head_fits(const Header *h, const Model *m) {
    if (m->head_parts < 0 || m->head_parts > MOST_PARTS || (m->head_parts && !inside(h, m->head, (size_t)m->head_parts * sizeof(Linear)))) return 0;
    int width = m->width;
    for (int i = 0; i < m->head_parts && width > 0; i++) {
        width = m->head[i].parts ? through(h, m->head + i, width) : -1;
        if (i == m->head_parts - 2 && width > 0 && !norm_or_none(h, &m->answered, width)) return 0;
    }
    return width == h->outputs;
}

static const char *wordpiece_unfit(const Header *h) {
    const Wordpiece *w = (const Wordpiece *)((const char *)h + h->wordpiece);
    const char *const why = "the tokenizer does not fit into it";
    if (!inside(h, w, sizeof *w) || !inside(h, w->signs, SIGNS * sizeof(Sign))) return why;
    if (w->slot_count < 2 || (w->slot_count & (w->slot_count - 1)) || !inside(h, w->slots, (size_t)w->slot_count * sizeof(Piece))) return why;
    if (w->most_signs < 1 || w->most_signs > MOST_SIGNS || w->raw_count < 0 || w->longest < 0 || w->unknown < 0 || w->unknown >= h->vocabulary) return why;
    const size_t letters = h->bytes - (size_t)(w->letters - (const char *)h);
    if (!inside(h, (const void *)((uintptr_t)w->letters & ~(uintptr_t)3), 0)) return why;
    int32_t free_slots = 0;
    for (int32_t i = 0; i < w->slot_count; free_slots += !w->slots[i++].bytes) {
        const Piece *p = &w->slots[i];
        if (p->bytes && (p->bytes < 0 || p->start < 0 || (size_t)p->start + (size_t)p->bytes > letters || p->id < 0 || p->id >= h->vocabulary)) return why;
    }
    for (int32_t i = 0; i < SIGNS; i++)
        if (w->signs[i].bytes > SIGN_BYTES) return why;
    if (w->raw_count && !inside(h, w->raw_ends, (size_t)w->raw_count * sizeof(int32_t))) return why;
    for (int32_t i = 0, before = 0; i < w->raw_count; before = w->raw_ends[i++])
        if (w->raw_ends[i] < before || !inside(h, (const void *)((uintptr_t)w->raw & ~(uintptr_t)3), (size_t)w->raw_ends[i] + 3)) return why;
    const Marks *marks[] = {&w->alone.before, &w->alone.between, &w->alone.behind};
    for (int i = 0, count = 0; i < 3; i++) {
        if (marks[i]->count < 0 || marks[i]->count > MOST_MARKS || (count += marks[i]->count) >= h->max_tokens) return why;
        for (int j = 0; j < marks[i]->count; j++)
            if (marks[i]->ids[j] < 0 || marks[i]->ids[j] >= h->vocabulary) return why;
    }
    return free_slots ? NULL : why;
}

const char *niwaki_unfit(const Header *h) {
    const Model *m = (const Model *)((const char *)h + h->model);
    if (!inside(h, m, sizeof *m) || (uintptr_t)m % sizeof(void *)) return "its model lies outside of it";
    if (m->width < 1 || m->width > MOST_WIDTH || m->tokens.width < 1 || m->tokens.width > MOST_WIDTH) return "its model has no width";
    const int embedded = through(h, &m->widen, m->tokens.width);
    if (!table_fits(h, &m->tokens, h->vocabulary, m->tokens.width)) return "its token embeddings do not fit";
    if (embedded < 1 || !norm_fits(h, &m->embedded, embedded)) return "its embeddings do not fit together";
    if (m->first_position < 0 || m->first_position > MOST_OUTPUTS || (m->positions.rows && !table_fits(h, &m->positions, m->first_position + h->longest, embedded))) return "its positions do not fit";
    if ((m->types.rows || h->types) && !table_fits(h, &m->types, h->types > 1 ? h->types : 1, embedded)) return "its token types do not fit";
    if (through(h, &m->project, embedded) != m->width) return "its embeddings do not fit its layers";
    if (m->per_token != h->per_token || m->pooling < POOL_FIRST || m->pooling > POOL_LAST) return "its pooling is not known";
    if (!norm_or_none(h, &m->last, m->width)) return "its last norm does not fit";
    if (!layers_fit(h, m)) return "a layer does not fit";
    if (!head_fits(h, m)) return "its head does not fit";
    return h->wordpiece ? wordpiece_unfit(h) : NULL;
}
