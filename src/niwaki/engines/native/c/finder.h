/* Where things lie while texts are searched for: `finder_of` lays them out in the scratch memory, as `laid_out` does for the encoder. */

/* A hypothesis' next token: its value, and where it comes from. */
typedef struct {
    float value;
    int32_t row, token;
} Choice;

typedef struct {
    Crew crew;
    const Search *search;
    Generation *generation;
    int most;                     /* candidates of a row, choices of a text */
    int chunks;
    float *maxima, *sums;         /* (rows, chunks) of the vocabulary */
    float *watched;               /* (rows, watched tokens) */
    Found found[MOST_THREADS];
    double *log_sums;             /* of each row */
    float *value[2];              /* what hypotheses are worth: of this step's rows, and of the next */
    int32_t *next_text, *next_token, *next_parent; /* of the next step's rows */
    int32_t *wanted;              /* of each row, the token to score */
    double *best;                 /* (texts, beam): what those that ended are worth */
    Choice *choices;              /* (most) of one text */
} Finder;

static int scores_targets(const Generation *g) { return g->targets != NULL; }
static int most_rows(const Search *how, const Generation *g) { return scores_targets(g) ? g->texts : g->texts * how->beam; }

static void widen_for_layer(Widest *w, const Layer *layer) {
    const Linear *maps[] = {&layer->query, &layer->key, &layer->value, &layer->out, &layer->up, &layer->down, &layer->gate};
    for (int i = 0; i < 7; i++) widen_for(w, maps[i]);
    if (layer->heads * layer->head_width > w->heads) w->heads = layer->heads * layer->head_width;
}

static Widest widest_of_decoder(const Decoder *d) {
    Widest w = {.rows = d->tokens.width > d->width ? d->tokens.width : d->width};
    widen_for(&w, &d->widen);
    for (int i = 0; i < d->output.parts; i++)
        if (d->output.part[i].inputs > w.rows) w.rows = d->output.part[i].inputs;
    for (int l = 0; l < d->depth; l++) {
        widen_for_layer(&w, d->own + l);
        widen_for_layer(&w, d->cross + l);
    }
    return w;
}

static int decoder_stride(const Decoder *d) { return padded(widest_of_decoder(d).heads) + PAD; }

static size_t block_floats(const Decoder *d, const Search *how, const Generation *g) {
    return step_floats(d->depth, most_rows(how, g), decoder_stride(d)) + PAD;
}

static int source_width(const Decoder *d) {
    for (int l = 0; l < d->depth; l++)
        if (d->cross[l].out.parts) return d->cross[l].key.part[0].inputs;
    return 0;
}

/* What is read of the texts: their rows, and panels of each layer. */
static void take_source(Crew *c, Arena *arena) {
    const Decoder *d = c->decoder;
    const Generation *g = c->generation;
    size_t rows = 0;
    for (int text = 0; text < g->texts; text++) rows += padded(g->lengths[text]);
    c->source = take(arena, (size_t)g->tokens * padded(source_width(d)), sizeof(float));
    c->projected = take(arena, (size_t)g->tokens * c->stride, sizeof(float));
    c->token_start = take(arena, g->texts, sizeof(int32_t));
    c->padded_start = take(arena, g->texts, sizeof(int32_t));
    c->keys = take(arena, d->depth, sizeof(float *));
    c->values = take(arena, d->depth, sizeof(float *));
    for (int l = 0; l < d->depth; l++) {
        const Layer *layer = d->cross + l;
        if (!layer->out.parts) continue;
        float *keys = take(arena, rows * layer->heads * layer->head_width, sizeof(float));
        float *values = take(arena, (size_t)g->tokens * layer->heads * padded(layer->head_width), sizeof(float));
        if (arena->memory) c->keys[l] = keys, c->values[l] = values; /* every thread writes the same */
    }
}

/* For so many rows; `most`: with those of the source, which are multiplied too. */
static void take_rows(Crew *c, int rows, int most_rows, Arena *arena) {
    const Widest widest = widest_of_decoder(c->decoder);
    const size_t wide = padded(widest.rows) + PAD, width = padded(c->decoder->width), most = most_rows;
    c->hidden = take(arena, rows * width, sizeof(float));
    c->middle = take(arena, rows * width, sizeof(float));
    c->query = take(arena, (size_t)rows * c->stride, sizeof(float));
    c->mixed = take(arena, (size_t)rows * c->stride, sizeof(float));
    c->inner = take(arena, rows * wide, sizeof(float));
    c->normed = take(arena, c->decoder->pre_norm ? rows * width : 0, sizeof(float));
    c->gated = take(arena, c->decoder->pre_norm ? rows * wide : 0, sizeof(float));
    for (int i = 0; i < 2; i++) c->between[i] = take(arena, most * wide, sizeof(float));
    c->codes = take(arena, most * (wide > (size_t)padded(source_width(c->decoder)) ? wide : (size_t)padded(source_width(c->decoder))), 1);
    c->step = take(arena, most, sizeof(float));
    c->zero = take(arena, most, sizeof(float));
    c->text = take(arena, rows, sizeof(int32_t));
}

static void take_found(Finder *f, int rows, int thread, Arena *arena) {
    Found *found = f->found + thread;
    found->most = f->most;
    found->logits = take(arena, (size_t)rows * CHUNK, sizeof(float));
    found->best = take(arena, (size_t)rows * f->most, sizeof(Candidate));
    found->count = take(arena, rows, sizeof(int32_t));
}

static void take_own_rows(Crew *c, int longest_source, int beam, int places, Arena *arena) {
    const size_t read = (size_t)beam * padded(longest_source), generated = padded(places);
    c->scores = take(arena, read > generated ? read : generated, sizeof(float));
    c->own_keys = take(arena, places, sizeof(float *));
    c->own_values = take(arena, places, sizeof(float *));
}

/* For thread `me` of so many. Only what all threads share need stay between calls. */
static Finder finder_of(const Decoder *d, const Search *how, Generation *g, int threads, int me, Arena *arena) {
    const int rows = most_rows(how, g), vocabulary = d->output.part[d->output.parts - 1].outputs, beam = scores_targets(g) ? 1 : how->beam;
    int longest_source = 0;
    for (int i = 0; i < g->texts; i++)
        if (g->lengths[i] > longest_source) longest_source = g->lengths[i];
    Finder f = {.search = how, .generation = g, .most = scores_targets(g) ? 1 : beam == 1 ? 1 : 2 * beam, .chunks = (vocabulary + CHUNK - 1) / CHUNK};
    f.crew = (Crew){.decoder = d, .generation = g, .me = me, .threads = threads, .stride = decoder_stride(d)};
    take_source(&f.crew, arena);
    take_rows(&f.crew, rows, rows > g->tokens ? rows : g->tokens, arena);
    f.crew.steps = take(arena, g->longest + 1, sizeof(Step));
    f.maxima = take(arena, (size_t)rows * f.chunks, sizeof(float));
    f.sums = take(arena, (size_t)rows * f.chunks, sizeof(float));
    f.watched = take(arena, (size_t)rows * (how->suppressed + 1), sizeof(float));
    f.log_sums = take(arena, rows, sizeof(double));
    for (int i = 0; i < 2; i++) f.value[i] = take(arena, rows, sizeof(float));
    f.next_text = take(arena, rows, sizeof(int32_t));
    f.next_token = take(arena, rows, sizeof(int32_t));
    f.next_parent = take(arena, rows, sizeof(int32_t));
    f.wanted = take(arena, rows, sizeof(int32_t));
    f.best = take(arena, (size_t)g->texts * beam, sizeof(double));
    f.choices = take(arena, f.most, sizeof(Choice));
    for (int thread = 0; thread < threads; thread++) {
        Crew own = f.crew;
        take_found(&f, rows, thread, arena);
        take_own_rows(&own, longest_source, beam, g->longest + 1, arena);
        if (thread == me) f.crew = own;
    }
    return f;
}

static size_t generation_bytes(const Decoder *d, const Search *how, const Generation *g, int threads) {
    Arena arena = {NULL, 0};
    Generation copy = *g;
    finder_of(d, how, &copy, threads, 0, &arena);
    return arena.used;
}
