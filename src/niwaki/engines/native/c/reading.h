/* A decoder that stands alone reads tokens: those of prompts, all at once, or the next one of each text. Texts that begin alike share the
   rows of their beginning, since a row only knows its parent. */

static size_t reading_floats(const Decoder *d, int rows) { return step_floats(d->depth, rows, decoder_stride(d)) + PAD; }

/* For thread `me` of so many; `chunk` is its own memory for logits. */
static Crew reader_of(const Decoder *d, const Reading *reading, int threads, int me, float **chunk, Arena *arena) {
    Crew c = {.decoder = d, .me = me, .threads = threads, .stride = decoder_stride(d), .steps = reading->steps};
    take_rows(&c, reading->rows > reading->wanted ? reading->rows : reading->wanted, reading->rows > reading->wanted ? reading->rows : reading->wanted, arena);
    for (int thread = 0; thread < threads; thread++) {
        Crew own = c;
        float *logits = take(arena, (size_t)reading->wanted * CHUNK, sizeof(float));
        take_own_rows(&own, 0, 0, reading->places, arena);
        if (thread == me) c = own, *chunk = logits;
    }
    return c;
}

static size_t reading_bytes(const Decoder *d, const Reading *reading, int threads) {
    Arena arena = {NULL, 0};
    float *chunk;
    reader_of(d, reading, threads, 0, &chunk, &arena);
    return arena.used;
}

static void note_rows(const Decoder *d, const Reading *reading, int stride) {
    const Step *step = reading->steps + reading->number;
    const size_t bytes = reading->rows * sizeof(int32_t);
    memcpy(step_tokens(step, d->depth, stride), reading->tokens, bytes);
    memcpy(step_parents(step, d->depth, stride), reading->parents, bytes);
    memcpy(step_parent_steps(step, d->depth, stride), reading->parent_steps, bytes);
    memcpy(step_places(step, d->depth, stride), reading->place, bytes);
}

/* The wanted rows take the place of all. */
static void pick_rows(Crew *c, const Reading *reading) {
    const size_t width = padded(c->decoder->width);
    int from, to;
    share(c, reading->wanted, 1, &from, &to);
    for (int i = from; i < to; i++) memcpy(c->middle + i * width, c->hidden + reading->which[i] * width, width * sizeof(float));
    meet(c->team);
    float *hidden = c->middle;
    c->middle = c->hidden, c->hidden = hidden;
}

static void write_logits(const Crew *c, const Reading *reading, float *chunk) {
    const Linear *output = &c->decoder->output;
    const Matrix *by = output->part + output->parts - 1;
    const int rows = reading->wanted;
    Rows from = last_rows(c, rows);
    if (output->parts > 1) {
        Linear inner = *output;
        inner.parts--;
        together(c, &inner, from, rows, (Outputs){c->inner, padded(by->inputs), NULL});
        from = rows_of(c->inner, padded(by->inputs));
    }
    from = rounded_together(c, by, from, rows);
    for (int first = c->me * CHUNK; first < by->outputs; first += c->threads * CHUNK) {
        const int last = first + CHUNK < by->outputs ? first + CHUNK : by->outputs;
        const Matrix part = columns(by, first, last);
        multiply(&part, from, rows, (Outputs){chunk, CHUNK, NULL});
        for (int r = 0; r < rows; r++) memcpy(reading->logits + (size_t)r * by->outputs + first, chunk + (size_t)r * CHUNK, (last - first) * sizeof(float));
    }
}

typedef struct {
    const Decoder *decoder;
    const Reading *reading;
    void *scratch;
    Team *team;
    int me;
} Reader;

static void *read_part(void *given) {
    const Reader *r = given;
    for (int spun = 0; !atomic_load(&r->team->size);) pause_a_little(&spun);
    Arena arena = {r->scratch, 0};
    float *chunk = NULL;
    Crew c = reader_of(r->decoder, r->reading, atomic_load(&r->team->size), r->me, &chunk, &arena);
    c.team = r->team;
    if (!r->me) note_rows(r->decoder, r->reading, c.stride);
    meet(r->team);
    decode(&c, r->reading->number);
    if (r->reading->wanted) {
        pick_rows(&c, r->reading);
        write_logits(&c, r->reading, chunk);
    }
#ifdef TILES
    tile_release();
#endif
    return NULL;
}

static void read_rows(const Decoder *d, const Reading *reading, int threads, void *scratch) {
    Team team = {0};
    Reader readers[MOST_THREADS];
    pthread_t others[MOST_THREADS];
    int made = 1;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    readers[0] = (Reader){d, reading, scratch, &team, 0};
    for (; made < threads; made++) {
        readers[made] = readers[0];
        readers[made].me = made;
        if (pthread_create(&others[made], NULL, read_part, &readers[made])) break; /* then fewer do it */
    }
    atomic_store(&team.size, made);
    read_part(&readers[0]);
    for (int i = 1; i < made; i++) pthread_join(others[i], NULL);
}
