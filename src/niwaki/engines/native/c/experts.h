/* Which experts a block's rows go to. */
typedef struct {
    float *weight; /* (BLOCK, experts): of each expert; 0 of those that a row does not go to */
    int32_t *row;  /* (BLOCK): the rows of one expert */
} Routing;

static Routing take_routing(int experts, Arena *arena) {
    Routing c = {NULL, NULL};
    c.weight = take(arena, (size_t)BLOCK * experts, sizeof(float));
    c.row = take(arena, experts ? BLOCK : 0, sizeof(int32_t));
    return c;
}

/* The experts of one row: those with the largest logits; of two alike, the first. Logits that are no numbers choose too. */
static void choose_experts(const Experts *experts, const float *logits, int row, const Routing *c) {
    float *weight = c->weight + (size_t)row * experts->count, sum = 0.0f, most = 0.0f;
    for (int e = 0; e < experts->count; e++) weight[e] = 0.0f;
    for (int slot = 0; slot < experts->active; slot++) {
        int best = -1;
        for (int e = 0; e < experts->count; e++)
            if (weight[e] == 0.0f && (best < 0 || logits[e] > logits[best])) best = e;
        if (!slot) most = logits[best];
        const float share = experts->mean ? expf(logits[best] - most) : 1.0f;
        weight[best] = share > FLT_MIN ? share : FLT_MIN; /* anything but 0 says that it was chosen */
        sum += weight[best];
    }
    for (int e = 0; experts->mean && e < experts->count; e++) weight[e] /= sum;
}

/* The rows that go to an expert, one behind the other; their number. */
static int gather_chosen(const Experts *experts, int expert, const float *rows, int width, int some, float *to, const Routing *c) {
    int count = 0;
    for (int r = 0; r < some; r++)
        if (c->weight[(size_t)r * experts->count + expert] != 0.0f) {
            memcpy(to + (size_t)count * width, rows + (size_t)r * width, width * sizeof(float));
            c->row[count++] = r;
        }
    return count;
}

static void add_weighted(float *to, const float *row, float weight, int width) {
    for (int i = 0; i < width; i += LANES) store(to + i, mul_add(load(row + i), all(weight), load(to + i)));
}
