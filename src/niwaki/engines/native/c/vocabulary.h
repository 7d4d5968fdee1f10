/* The product with the vocabulary, which is most of the work of small batches. Logits are never all there: a chunk of tokens is
   multiplied with all rows, and what counts of it is kept: its maximum and the sum of its exponentials, from which a row's
   log-probabilities are made; the tokens that may be among the most likely; and the logits of some tokens that the search watches. */
#include <float.h>

#define CHUNK 512 /* tokens: their weights stay in the cache while they meet all rows */

typedef struct {
    float logit;
    int32_t token;
} Candidate;

/* What one thread has of each row. */
typedef struct {
    float *logits; /* (rows, CHUNK) */
    Candidate *best; /* (rows, most), the most likely first */
    int32_t *count;  /* (rows) */
    int most;
} Found;

/* Logits of tokens that every row is asked for, or that each row has one of its own of. */
typedef struct {
    const int32_t *tokens;
    int count, own; /* `own`: one to a row */
    float *logits;  /* (rows, count) */
} Watched;

/* Of two tokens as likely, the one with the smaller number comes first. */
static int comes_first(float logit, int token, Candidate other) { return logit > other.logit || (logit == other.logit && token < other.token); }

static void keep_candidate(Candidate *best, int32_t *count, int most, float logit, int token) {
    int place = *count;
    if (place == most) {
        if (!comes_first(logit, token, best[most - 1])) return;
        place--;
    } else
        ++*count;
    for (; place > 0 && comes_first(logit, token, best[place - 1]); place--) best[place] = best[place - 1];
    best[place] = (Candidate){logit, token};
}

/* Of a row's logits of the tokens from `first` on; those that are suppressed are as low as can be by now. */
static void keep_best(const float *logits, int width, int first, Candidate *best, int32_t *count, int most) {
    for (int i = 0; i < width; i += LANES) {
        const float least = *count == most ? best[most - 1].logit : -FLT_MAX / 2;
        if (!(largest_of(load(logits + i)) >= least)) continue;
        for (int j = i; j < i + LANES; j++)
            if (logits[j] >= least) keep_candidate(best, count, most, logits[j], first + j);
    }
}

/* A row's chunk: the true `width` of it. The rest, to whole vectors, is lowered so that it does not count. */
static float summed(float *logits, int width, float *sum) {
    Floats high = all(-FLT_MAX), total = all(0.0f);
    for (int i = width; i < padded(width); i++) logits[i] = -FLT_MAX;
    for (int i = 0; i < width; i += LANES) high = larger(high, load(logits + i));
    const float most = largest_of(high);
    for (int i = 0; i < width; i += LANES) total = add(total, exponential(sub(load(logits + i), all(most))));
    *sum = sum_of(total); /* where the rest added less than 1e-36 */
    return most;
}

/* One chunk, of which all rows have their logits: number `chunk`, of `chunks`. */
static void note_chunk(Found found, int rows, int width, int chunk, const Search *search, Watched watched, float *maxima, float *sums, int chunks) {
    const int first = chunk * CHUNK;
    for (int r = 0; r < rows; r++) {
        float *logits = found.logits + (size_t)r * CHUNK;
        const size_t place = (size_t)r * chunks + chunk;
        maxima[place] = summed(logits, width, sums + place);
        for (int i = 0; i < watched.count; i++) {
            const int token = watched.own ? watched.tokens[r] : watched.tokens[i];
            if (token >= first && token < first + width) watched.logits[(size_t)r * watched.count + i] = logits[token - first];
        }
        if (found.count[r] == found.most && maxima[place] < found.best[(size_t)r * found.most + found.most - 1].logit) continue;
        for (int i = 0; i < search->suppressed; i++)
            if (search->suppress[i] >= first && search->suppress[i] < first + width) logits[search->suppress[i] - first] = -FLT_MAX;
        keep_best(logits, width, first, found.best + (size_t)r * found.most, found.count + r, found.most);
    }
}

/* The logarithm of the sum of a row's exponentials. Chunks are added in their order, whoever computed them. */
static double log_of_sum(const float *maxima, const float *sums, int chunks) {
    float most = maxima[0];
    double sum = 0.0;
    for (int i = 1; i < chunks; i++) most = maxima[i] > most ? maxima[i] : most;
    for (int i = 0; i < chunks; i++) sum += (double)sums[i] * exp((double)maxima[i] - most);
    return most + log(sum);
}
