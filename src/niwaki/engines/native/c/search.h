/* The search for texts, or the scores of given ones: many texts at once, in one call. It does what answers/_beam_search.py does, which is
   the reference: the same tokens, and scores to 1e-4.

   A hypothesis that ended takes no more room, and a text that is finished leaves the batch: the rows of a step are those of
   hypotheses that go on. */

#define IMPOSSIBLE -1e9f
#define NO_TOKEN -1

/* The first step's rows: one hypothesis of each text, or none of a text whose target is empty. */
static void begin(const Finder *f) {
    Generation *g = f->generation;
    const int columns = scores_targets(g) ? 1 : 1 + g->longest, beam = scores_targets(g) ? 1 : f->search->beam;
    for (int text = 0, token = 0, wide = 0; text < g->texts; token += g->lengths[text], wide += padded(g->lengths[text]), text++) {
        f->crew.token_start[text] = token;
        f->crew.padded_start[text] = wide;
        float *found = g->found + (size_t)text * columns;
        found[0] = scores_targets(g) ? 0.0f : IMPOSSIBLE;
        for (int i = 1; i < columns; i++) found[i] = NO_TOKEN;
        for (int i = 0; i < beam; i++) f->best[(size_t)text * beam + i] = scores_targets(g) ? 0.0 : -INFINITY;
        if (scores_targets(g) && g->targets[(size_t)text * g->longest] == NO_TOKEN) continue;
        f->value[0][g->rows] = 0.0f;
        f->next_text[g->rows] = text;
        f->next_token[g->rows] = f->search->start;
        f->next_parent[g->rows++] = -1;
    }
}

/* Makes room for a step of the rows that go on. Returns 0 if there is none left. */
static int open_step(const Finder *f) {
    Generation *g = f->generation;
    const Crew *c = &f->crew;
    const size_t needed = (step_floats(c->decoder->depth, g->rows, c->stride) + PAD - 1) / PAD * PAD;
    if (g->block < g->blocks && g->used + needed > g->block_floats) g->block++, g->used = 0;
    if (g->block >= g->blocks) return 0;
    Step *step = c->steps + g->length;
    *step = (Step){g->memory[g->block] + g->used, g->rows};
    g->used += needed;
    memcpy(step_tokens(step, c->decoder->depth, c->stride), f->next_token, g->rows * sizeof(int32_t));
    memcpy(step_parents(step, c->decoder->depth, c->stride), f->next_parent, g->rows * sizeof(int32_t));
    for (int r = 0; r < g->rows; r++) {
        step_parent_steps(step, c->decoder->depth, c->stride)[r] = g->length - 1;
        step_places(step, c->decoder->depth, c->stride)[r] = g->length;
    }
    memcpy(c->text, f->next_text, g->rows * sizeof(int32_t));
    for (int r = 0; scores_targets(g) && r < g->rows; r++) f->wanted[r] = g->targets[(size_t)c->text[r] * g->longest + g->length];
    return 1;
}

static Watched watched_of(const Finder *f) {
    if (scores_targets(f->generation)) return (Watched){f->wanted, 1, 1, f->watched};
    return (Watched){f->search->suppress, f->search->renormalizes ? f->search->suppressed : 0, 0, f->watched};
}

/* The product with the vocabulary: each thread's candidates, and all of a row's sums. */
static void multiply_vocabulary(const Finder *f, int rows) {
    const Crew *c = &f->crew;
    const Linear *output = &c->decoder->output;
    const int parts = output->parts;
    const Matrix *by = output->part + parts - 1;
    Found found = f->found[c->me];
    Rows from = c->decoder->pre_norm ? last_rows(c, rows) : settled(c, c->hidden, padded(c->decoder->width));
    if (parts > 1) {
        Linear inner = *output;
        inner.parts--;
        together(c, &inner, from, rows, (Outputs){c->inner, padded(by->inputs), NULL});
        from = rows_of(c->inner, padded(by->inputs));
    }
    from = rounded_together(c, by, from, rows);
    memset(found.count, 0, rows * sizeof(int32_t));
    for (int chunk = c->me; chunk < f->chunks; chunk += c->threads) {
        const int first = chunk * CHUNK, last = first + CHUNK < by->outputs ? first + CHUNK : by->outputs;
        const Matrix part = columns(by, first, last);
        multiply(&part, from, rows, (Outputs){found.logits, CHUNK, NULL});
        note_chunk(found, rows, last - first, chunk, f->search, watched_of(f), f->maxima, f->sums, f->chunks);
    }
    meet(c->team);
}

/* What log-probabilities are made with, and all candidates of a row in the first thread's list. */
static void gather(const Finder *f, int rows) {
    const Crew *c = &f->crew;
    const Watched watched = watched_of(f);
    int from, to;
    share(c, rows, 1, &from, &to);
    for (int r = from; r < to; r++) {
        double sum = log_of_sum(f->maxima + (size_t)r * f->chunks, f->sums + (size_t)r * f->chunks, f->chunks);
        if (!watched.own && watched.count) { /* probabilities among the other tokens */
            double rest = 1.0;
            for (int i = 0; i < watched.count; i++) rest -= exp(f->watched[(size_t)r * watched.count + i] - sum);
            sum += rest != rest ? rest : log(rest > FLT_MIN ? rest : FLT_MIN);
        }
        f->log_sums[r] = sum;
        Candidate *best = f->found[0].best + (size_t)r * f->most;
        for (int thread = 1; thread < c->threads; thread++)
            for (int i = 0; i < f->found[thread].count[r]; i++) {
                const Candidate other = f->found[thread].best[(size_t)r * f->most + i];
                keep_candidate(best, f->found[0].count + r, f->most, other.logit, other.token);
            }
    }
    meet(c->team);
}

/* Of two of the same value, the one of the earlier hypothesis comes first, and then that of the smaller token. */
static int choice_first(Choice one, Choice other) {
    if (one.value != other.value) return one.value > other.value;
    return one.row != other.row ? one.row < other.row : one.token < other.token;
}

static int keep_choice(Choice *choices, int count, int most, Choice one) {
    int place = count;
    if (place == most) {
        if (!choice_first(one, choices[most - 1])) return count;
        place--;
    }
    for (; place > 0 && choice_first(one, choices[place - 1]); place--) choices[place] = choices[place - 1];
    choices[place] = one;
    return count < most ? count + 1 : count;
}

/* The best next tokens of a text with the rows `from` to `to`; their number. */
static int choose(const Finder *f, int from, int to) {
    if (f->search->first >= 0 && f->generation->length == 0) {
        f->choices[0] = (Choice){f->value[0][from], from, f->search->first};
        return 1;
    }
    int count = 0;
    for (int r = from; r < to; r++)
        for (int i = 0; i < f->found[0].count[r]; i++) {
            const Candidate candidate = f->found[0].best[(size_t)r * f->most + i];
            const float ahead = (float)(candidate.logit - f->log_sums[r]), value = ahead + f->value[0][r];
            if (value > IMPOSSIBLE / 2) count = keep_choice(f->choices, count, f->most, (Choice){value, r, candidate.token});
        }
    return count;
}

/* Writes a text down: back from its last row to the first token. */
static void write_down(const Finder *f, int text, Choice last) {
    const Generation *g = f->generation;
    const Crew *c = &f->crew;
    float *found = g->found + (size_t)text * (1 + g->longest);
    for (int i = 1; i <= g->longest; i++) found[i] = NO_TOKEN;
    found[0] = last.value;
    if (last.token != f->search->end) found[1 + g->length] = (float)last.token;
    for (int p = g->length, row = last.row; p > 0; p--) {
        found[p] = (float)step_tokens(c->steps + p, c->decoder->depth, c->stride)[row];
        row = step_parents(c->steps + p, c->decoder->depth, c->stride)[row];
    }
}

/* A hypothesis that ends: it is written down where it is better than those before. */
static void note_end(const Finder *f, int text, Choice one, double penalty) {
    const int beam = f->search->beam;
    double *best = f->best + (size_t)text * beam, before = best[0];
    int worst = 0;
    for (int i = 1; i < beam; i++) {
        if (best[i] > before) before = best[i];
        if (best[i] < best[worst]) worst = i;
    }
    const double worth = one.value / penalty;
    if (worth > best[worst]) best[worst] = worth;
    if (worth > before) write_down(f, text, one);
}

/* The next rows of a text with the rows `from` to `to`, if it goes on. */
static void advance_text(const Finder *f, int from, int to) {
    Generation *g = f->generation;
    const int beam = f->search->beam, text = f->crew.text[from], length = g->length + 1, is_last = length == g->longest;
    const double penalty = pow(length, f->search->length_penalty);
    for (int r = from; r < to; r++)
        if (isnan(f->log_sums[r])) { /* the network is broken: no other text of it is worth finding */
            for (int i = 1; i <= g->longest; i++) g->found[(size_t)text * (1 + g->longest) + i] = NO_TOKEN;
            g->found[(size_t)text * (1 + g->longest)] = NAN;
            return;
        }
    const int count = choose(f, from, to);
    int others = 0;
    for (int i = 0; i < count; i++) {
        const int ends = f->choices[i].token == f->search->end;
        if (i < beam && (ends || is_last)) note_end(f, text, f->choices[i], penalty);
        if (!ends) f->choices[others++] = f->choices[i];
    }
    double worst = f->best[(size_t)text * beam];
    for (int i = 1; i < beam; i++)
        if (f->best[(size_t)text * beam + i] < worst) worst = f->best[(size_t)text * beam + i];
    if (is_last || !others || !((double)(f->choices[0].value / (float)penalty) > worst)) return;
    for (int i = 0; i < others && i < beam; i++, g->rows++) {
        f->value[1][g->rows] = f->choices[i].value;
        f->next_text[g->rows] = text;
        f->next_token[g->rows] = f->choices[i].token;
        f->next_parent[g->rows] = f->choices[i].row;
    }
}

/* Adds a row's token to the score of its text, and goes on with the next. */
static void advance_target(const Finder *f, int row) {
    Generation *g = f->generation;
    const int text = f->crew.text[row], next = g->length + 1;
    f->best[text] += (float)(f->watched[row] - f->log_sums[row]);
    g->found[text] = (float)f->best[text];
    if (next == g->longest || g->targets[(size_t)text * g->longest + next] == NO_TOKEN) return;
    f->value[1][g->rows] = 0.0f;
    f->next_text[g->rows] = text;
    f->next_token[g->rows] = f->wanted[row];
    f->next_parent[g->rows++] = row;
}

/* From the candidates of a step's rows to the rows of the next. */
static void advance(Finder *f) {
    Generation *g = f->generation;
    const int rows = g->rows;
    g->rows = 0;
    for (int from = 0, to; from < rows; from = to) {
        for (to = from + 1; to < rows && f->crew.text[to] == f->crew.text[from];) to++;
        scores_targets(g) ? advance_target(f, from) : advance_text(f, from, to);
    }
    g->length++;
    memcpy(f->value[0], f->value[1], g->rows * sizeof(float));
}

/* The encoder's rows as products read them. */
static void take_in(const Crew *c) {
    const int width = source_width(c->decoder);
    const Generation *g = c->generation;
    int from, to;
    share(c, g->tokens, 1, &from, &to);
    for (int r = from; r < to; r++) {
        float *row = c->source + (size_t)r * padded(width);
        memcpy(row, g->hidden + (size_t)r * width, width * sizeof(float));
        memset(row + width, 0, (padded(width) - width) * sizeof(float));
    }
    meet(c->team);
    read_source(c);
}

typedef struct {
    const Decoder *decoder;
    const Search *search;
    Generation *generation;
    void *scratch;
    Team *team;
    int me;
    atomic_int *open; /* whether there is a step to run */
} Quest;

static void *find(void *given) {
    const Quest *q = given;
    Generation *g = q->generation;
    for (int spun = 0; !atomic_load(&q->team->size);) pause_a_little(&spun);
    Arena arena = {q->scratch, 0};
    Finder f = finder_of(q->decoder, q->search, g, atomic_load(&q->team->size), q->me, &arena);
    f.crew.team = q->team;
    const int starts = g->length == 0 && g->rows == 0;
    meet(q->team);
    if (starts) {
        if (!q->me) begin(&f);
        meet(q->team);
        take_in(&f.crew);
    }
    for (;;) {
        if (!q->me) atomic_store(q->open, g->rows > 0 && open_step(&f));
        meet(q->team);
        if (!atomic_load(q->open)) break;
        const int rows = g->rows;
        decode(&f.crew, g->length);
        multiply_vocabulary(&f, rows);
        gather(&f, rows);
        if (!q->me) advance(&f);
    }
#ifdef TILES
    tile_release();
#endif
    return NULL;
}

static int generate(const Decoder *d, const Search *how, Generation *g, int threads, void *scratch) {
    Team team = {0};
    Quest quests[MOST_THREADS];
    pthread_t others[MOST_THREADS];
    atomic_int open = 0;
    int made = 1;
    threads = threads > MOST_THREADS ? MOST_THREADS : threads;
    quests[0] = (Quest){d, how, g, scratch, &team, 0, &open};
    for (; made < threads; made++) {
        quests[made] = quests[0];
        quests[made].me = made;
        if (pthread_create(&others[made], NULL, find, &quests[made])) break; /* then fewer do it */
    }
    atomic_store(&team.size, made);
    find(&quests[0]);
    for (int i = 1; i < made; i++) pthread_join(others[i], NULL);
    return g->rows > 0;
}
