/* A decoder's layers, one token further for each hypothesis. A row is a hypothesis; rows of a text lie one behind the other.

   All threads do each product together, each for some of its outputs, since the rows are few and the weights many; everything else they
   share by rows. So no sum is made in another order with other threads, and a row's numbers do not depend on other rows.

   Nothing that was computed moves. A step's keys and values stay where they were written, and a hypothesis finds those of its tokens by going
   back from row to row, as each step notes which row of the step before it continues. */

#define COLUMNS 64 /* outputs that one thread does at least: a stripe of the widest tile */

typedef struct {
    const Decoder *decoder;
    const Generation *generation; /* NULL if the decoder stands alone */
    Team *team;
    int me, threads;
    int stride;               /* of query, mixed, and of the steps' keys and values */
    float **keys, **values;   /* panels of each layer's keys and values of what was read */
    float *projected;         /* those of one layer before they are packed */
    float *source;            /* the encoder's rows, of padded width */
    float *hidden, *middle;   /* rows of hypotheses */
    float *normed;            /* the same as blocks read them, where norms come first */
    float *query, *mixed, *inner, *gated, *between[2];
    uint8_t *codes;           /* of what is multiplied next */
    float *step, *zero;
    Step *steps;
    int32_t *text;            /* of each row, the number of its text */
    int32_t *token_start;     /* of each text, its first row of the source, and the same with padded lengths */
    int32_t *padded_start;
    float *scores;            /* one thread's own from here on */
    const float **own_keys, **own_values;
} Crew;

/* This thread's part of so many, in units. */
static void share(const Crew *c, int count, int unit, int *from, int *to) {
    const int64_t units = (count + unit - 1) / unit;
    *from = (int)(units * c->me / c->threads) * unit;
    *to = (int)(units * (c->me + 1) / c->threads) * unit;
    if (*to > count) *to = count;
}

/* Codes of rows, where a matrix needs them. */
static Rows rounded_together(const Crew *c, const Matrix *by, Rows from, int count) {
    if (!by->whole || from.codes) return from;
    const size_t width = padded(by->inputs);
    int first, last;
    share(c, count, 1, &first, &last);
    round_rows_from(from.values + (size_t)first * from.stride, from.stride, last - first, (int)width, c->codes + first * width, c->step + first, c->zero + first);
    meet(c->team);
    from.codes = c->codes, from.step = c->step, from.zero = c->zero;
    return from;
}

/* A linear map of all rows by all threads, who know its outputs when it returns. */
static void together(const Crew *c, const Linear *linear, Rows from, int count, Outputs to) {
    for (int i = 0; i < linear->parts; i++) {
        const Matrix *by = linear->part + i;
        Outputs next = i == linear->parts - 1 ? to : (Outputs){c->between[i % 2], padded(by->outputs), NULL};
        int first, last;
        from = rounded_together(c, by, from, count);
        share(c, padded(by->outputs), COLUMNS, &first, &last);
        if (first < last) {
            const Matrix part = columns(by, first, last);
            multiply(&part, from, count, (Outputs){next.values + first, next.stride, next.plus ? next.plus + first : NULL});
        }
        meet(c->team);
        from = (Rows){next.values, next.stride, NULL, NULL, NULL};
    }
}

static Rows rows_of(const float *values, int stride) { return (Rows){values, stride, NULL, NULL, NULL}; }

static float *step_keys(const Step *step, int layer, int stride) { return step->start + (size_t)2 * layer * step->rows * stride; }
static int32_t *step_tokens(const Step *step, int depth, int stride) { return (int32_t *)(step->start + (size_t)2 * depth * step->rows * stride); }
static int32_t *step_parents(const Step *step, int depth, int stride) { return step_tokens(step, depth, stride) + step->rows; }
static int32_t *step_parent_steps(const Step *step, int depth, int stride) { return step_tokens(step, depth, stride) + 2 * (size_t)step->rows; }
static int32_t *step_places(const Step *step, int depth, int stride) { return step_tokens(step, depth, stride) + 3 * (size_t)step->rows; }
static size_t step_floats(int depth, int rows, int stride) { return (size_t)rows * (2 * (size_t)depth * stride + 4); }

/* Panels of the keys and values of all texts, of each layer: what is read once, before the first token. */
static void read_source(const Crew *c) {
    const Decoder *d = c->decoder;
    const Generation *g = c->generation;
    for (int l = 0; l < d->depth; l++) {
        const Layer *layer = d->cross + l;
        const int width = layer->head_width, inputs = layer->out.parts ? layer->key.part[0].inputs : 0;
        if (!layer->out.parts) continue;
        for (int values = 0; values < 2; values++) {
            together(c, values ? &layer->value : &layer->key, rows_of(c->source, padded(inputs)), g->tokens, (Outputs){c->projected, c->stride, NULL});
            int first, last;
            share(c, g->texts * layer->heads, 1, &first, &last);
            for (int i = first; i < last; i++) {
                const int text = i / layer->heads, head = i % layer->heads, length = g->lengths[text];
                const float *rows = c->projected + (size_t)c->token_start[text] * c->stride + (size_t)head * width;
                if (values)
                    pack_values(rows, c->stride, length, width, c->values[l] + ((size_t)c->token_start[text] * layer->heads + (size_t)head * length) * padded(width));
                else
                    pack_keys(rows, c->stride, length, layer, c->keys[l] + ((size_t)c->padded_start[text] * layer->heads + (size_t)head * padded(length)) * width);
            }
            meet(c->team);
        }
    }
}

/* A row's attention to its own tokens: itself and those before it. */
static void attend_to_own(const Crew *c, int number, int step, int row) {
    const Layer *layer = c->decoder->own + number;
    const int width = layer->head_width, depth = c->decoder->depth, place = step_places(c->steps + step, depth, c->stride)[row];
    const float *query = c->query + (size_t)row * c->stride;
    float *mixed = c->mixed + (size_t)row * c->stride;
    for (int p = place, at = row, of = step; p >= 0; p--) {
        const Step *one = c->steps + of;
        c->own_keys[p] = step_keys(one, number, c->stride) + (size_t)at * c->stride;
        c->own_values[p] = c->own_keys[p] + (size_t)one->rows * c->stride;
        of = step_parent_steps(one, depth, c->stride)[at];
        at = step_parents(one, depth, c->stride)[at];
    }
    for (int head = 0, first = 0; head < layer->heads; head++, first += width) {
        const int read = (int)columns_read(layer, head);
        for (int p = 0; p <= place; p++) {
            Floats sum = all(0.0f);
            for (int i = 0; i < width; i += LANES)
                sum = mul_add(load_columns(query + first + i, width - i), load_columns(c->own_keys[p] + read + i, width - i), sum);
            c->scores[p] = sum_of(sum) * layer->factor + (layer->relative ? by_distance(layer, head)[p - place] : 0.0f);
        }
        for (int p = place + 1; p < padded(place + 1); p++) c->scores[p] = 0.0f; /* read by softmax, and not counted */
        softmax(c->scores, 1, place + 1, padded(place + 1));
        for (int i = 0; i < width; i += LANES) { /* the last vector reaches into the next head, which is written afterwards */
            Floats sum = all(0.0f);
            for (int p = 0; p <= place; p++) sum = mul_add(all(c->scores[p]), load_columns(c->own_values[p] + read + i, width - i), sum);
            store(mixed + first + i, sum);
        }
    }
    clear_padding(mixed, 1, c->stride, layer->heads * width);
}

/* The attention of rows `from` to `to`, all of one text, to what was read. */
static void attend_to_source(const Crew *c, int number, int from, int to) {
    const Layer *layer = c->decoder->cross + number;
    const int text = c->text[from], length = c->generation->lengths[text], width = layer->head_width;
    float *mixed = c->mixed + (size_t)from * c->stride;
    for (int head = 0; head < layer->heads; head++) {
        const float *keys = c->keys[number] + ((size_t)c->padded_start[text] * layer->heads + (size_t)head * padded(length)) * width;
        const float *values = c->values[number] + ((size_t)c->token_start[text] * layer->heads + (size_t)head * length) * padded(width);
        const Matrix by_keys = {width, length, 0, keys, NULL, NULL, NULL}, by_values = {length, width, 0, values, NULL, NULL, NULL};
        multiply(&by_keys, rows_of(c->query + (size_t)from * c->stride + (size_t)head * width, c->stride), to - from, (Outputs){c->scores, padded(length), NULL});
        softmax(c->scores, to - from, length, padded(length));
        multiply(&by_values, rows_of(c->scores, padded(length)), to - from, (Outputs){mixed + (size_t)head * width, c->stride, NULL});
    }
    clear_padding(mixed, to - from, c->stride, layer->heads * width);
}

/* What heads read of the tokens generated so far (`own`) or of the texts, for this thread's rows. */
static void mix_rows(const Crew *c, int number, int own, int step, int rows) {
    int from, to;
    share(c, rows, 1, &from, &to);
    while (from < to) {
        int next = from + 1;
        while (!own && next < to && c->text[next] == c->text[from]) next++;
        own ? attend_to_own(c, number, step, from) : attend_to_source(c, number, from, next);
        from = next;
    }
    meet(c->team);
}

/* Rows with their norm, and their codes, which the next matrices may need. */
static void settle(const Crew *c, float *rows, int count, const Norm *norm) {
    const int width = padded(c->decoder->width);
    int from, to;
    share(c, count, 1, &from, &to);
    float *own = rows + (size_t)from * width;
    normalize(own, to - from, norm);
    round_rows(own, to - from, c->decoder->width, c->codes + (size_t)from * width, c->step + from, c->zero + from);
    meet(c->team);
}

/* The rows that were settled last. */
static Rows settled(const Crew *c, const float *rows, int width) { return (Rows){rows, width, c->codes, c->step, c->zero}; }

/* Rows as a block reads them: settled by the block before, or normed first. */
static Rows read_by_block(const Crew *c, int rows, const Norm *norm) {
    const int width = padded(c->decoder->width);
    if (!c->decoder->pre_norm) return settled(c, c->hidden, width);
    int from, to;
    share(c, rows, 1, &from, &to);
    memcpy(c->normed + (size_t)from * width, c->hidden + (size_t)from * width, (size_t)(to - from) * width * sizeof(float));
    settle(c, c->normed, rows, norm);
    return settled(c, c->normed, width);
}

/* What a block made, in `middle`, takes the place of the rows. */
static void end_block(Crew *c, int rows, const Norm *norm) {
    if (!c->decoder->pre_norm) settle(c, c->middle, rows, norm);
    float *hidden = c->middle;
    c->middle = c->hidden, c->hidden = hidden;
}

static void turn_rows(const Crew *c, const Layer *layer, int step, int rows, float *keys) {
    const int32_t *places = step_places(c->steps + step, c->decoder->depth, c->stride);
    const int width = layer->head_width;
    int from, to;
    share(c, rows, 1, &from, &to);
    for (int r = from; r < to; r++) {
        const float *turns = layer->turns + (size_t)places[r] * width;
        turn_heads(c->query + (size_t)r * c->stride, layer->heads, width, turns, layer->neighbours);
        turn_heads(keys + (size_t)r * c->stride, key_heads(layer), width, turns, layer->neighbours);
    }
    meet(c->team);
}

/* One attention with its norm: from `hidden` to `hidden`, over `middle`. */
static void attention_block(Crew *c, int number, int own, int step, int rows) {
    const Layer *layer = (own ? c->decoder->own : c->decoder->cross) + number;
    const int width = padded(c->decoder->width);
    if (!layer->attended.width) return;
    if (layer->out.parts) {
        const Rows from = read_by_block(c, rows, &layer->attended);
        const Linear *maps[] = {&layer->query, &layer->key, &layer->value};
        float *keys = step_keys(c->steps + step, number, c->stride), *to[] = {c->query, keys, keys + (size_t)rows * c->stride};
        for (int i = 0, intact = 1; i < (own ? 3 : 1); intact &= maps[i++]->parts == 1) /* codes of inner matrices take the place of those of the rows */
            together(c, maps[i], intact ? from : rows_of(from.values, width), rows, (Outputs){to[i], c->stride, NULL});
        if (own && layer->turns) turn_rows(c, layer, step, rows, keys);
        mix_rows(c, number, own, step, rows);
        together(c, &layer->out, rows_of(c->mixed, c->stride), rows, (Outputs){c->middle, width, c->hidden});
    } else {
        int from, to;
        share(c, rows, 1, &from, &to);
        go_past(c->hidden + (size_t)from * width, layer->attention_bias, to - from, width, c->middle + (size_t)from * width);
    }
    end_block(c, rows, &layer->attended);
}

static void feed_forward_block(Crew *c, int number, int rows) {
    const Layer *layer = c->decoder->cross + number;
    const int width = padded(c->decoder->width);
    int from, to;
    share(c, rows, 1, &from, &to);
    if (layer->down.parts) {
        const int neurons = padded(layer->up.part[layer->up.parts - 1].outputs);
        const Rows read = read_by_block(c, rows, &layer->widened);
        float *activated_rows = layer->gate.parts ? c->gated : c->inner;
        together(c, &layer->up, read, rows, (Outputs){c->inner, neurons, NULL});
        if (layer->gate.parts) together(c, &layer->gate, layer->up.parts > 1 ? rows_of(read.values, width) : read, rows, (Outputs){c->gated, neurons, NULL});
        activate(activated_rows + (size_t)from * neurons, (to - from) * neurons, layer->activation);
        if (layer->gate.parts) multiply_numbers(c->inner + (size_t)from * neurons, c->gated + (size_t)from * neurons, (to - from) * neurons);
        meet(c->team);
        together(c, &layer->down, rows_of(c->inner, neurons), rows, (Outputs){c->middle, width, c->hidden});
    } else
        go_past(c->hidden + (size_t)from * width, layer->ffn_bias, to - from, width, c->middle + (size_t)from * width);
    end_block(c, rows, &layer->widened);
}

static void embed_rows(const Crew *c, int step, int rows) {
    const Decoder *d = c->decoder;
    const int narrow = padded(d->tokens.width), width = padded(d->width);
    const int32_t *tokens = step_tokens(c->steps + step, d->depth, c->stride), *places = step_places(c->steps + step, d->depth, c->stride);
    int from, to;
    share(c, rows, 1, &from, &to);
    float *looked_up = d->widen.parts ? c->inner : c->hidden;
    for (int r = from; r < to; r++) look_up(&d->tokens, tokens[r], looked_up + (size_t)r * narrow, 0);
    if (d->widen.parts) {
        meet(c->team);
        together(c, &d->widen, rows_of(looked_up, narrow), rows, (Outputs){c->hidden, width, NULL});
    }
    for (int r = from; d->positions.rows && r < to; r++) look_up(&d->positions, places[r], c->hidden + (size_t)r * width, 1);
    settle(c, c->hidden, rows, &d->embedded);
}

/* From the tokens of a step to the rows that the vocabulary is multiplied with, in `hidden`. */
static void decode(Crew *c, int step) {
    const int rows = c->steps[step].rows;
    embed_rows(c, step, rows);
    for (int l = 0; l < c->decoder->depth; l++) {
        attention_block(c, l, 1, step, rows);
        attention_block(c, l, 0, step, rows);
        feed_forward_block(c, l, rows);
    }
}

/* The rows of the last layer as the vocabulary is multiplied with them. */
static Rows last_rows(const Crew *c, int rows) {
    return c->decoder->last.gain ? read_by_block(c, rows, &c->decoder->last) : rows_of(c->hidden, padded(c->decoder->width));
}
