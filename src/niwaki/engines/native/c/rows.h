/* Passes over rows: what is done to one token's numbers alone. Widths here are padded ones unless said otherwise. */

static void activate(float *values, int count, int activation) {
    if (activation == GELU) { /* the one that matters, without a choice in the loop */
        for (int i = 0; i < count; i += LANES) store(values + i, gelu(load(values + i)));
    } else if (activation != NONE) {
        for (int i = 0; i < count; i += LANES) store(values + i, activated(load(values + i), activation));
    }
}

/* Numbers times others, in place. */
static void multiply_numbers(float *values, const float *by, int count) {
    for (int i = 0; i < count; i += LANES) store(values + i, mul(load(values + i), load(by + i)));
}

/* What is left of a block that was taken out: its bias, or nothing, added to what went past it. */
static void go_past(const float *from, const float *bias, int count, int width, float *to) {
    for (size_t row = 0; row < (size_t)count * width; row += width)
        for (int i = 0; i < width; i += LANES) store(to + row + i, bias ? add(load(from + row + i), load(bias + i)) : load(from + row + i));
}

/* To a mean square of 1, then gain. */
static void scale_to_one(float *rows, int count, const Norm *norm) {
    const int width = padded(norm->width);
    for (float *row = rows; row < rows + (size_t)count * width; row += width) {
        Floats squares = all(0.0f);
        for (int i = 0; i < width; i += LANES) squares = mul_add(load(row + i), load(row + i), squares);
        const Floats factor = all(1.0f / sqrtf(sum_of(squares) / (float)norm->width + norm->epsilon));
        for (int i = 0; i < width; i += LANES) store(row + i, mul(mul(load(row + i), factor), load(norm->gain + i)));
    }
}

/* To mean 0 and variance 1, then gain and shift (both 0 in the padding). */
static void normalize(float *rows, int count, const Norm *norm) {
    if (!norm->gain) return;
    if (!norm->shift) {
        scale_to_one(rows, count, norm);
        return;
    }
    const int width = padded(norm->width);
    for (float *row = rows; row < rows + (size_t)count * width; row += width) {
        Floats sum = all(0.0f), squares = all(0.0f);
        for (int i = 0; i < width; i += LANES) sum = add(sum, load(row + i));
        const float mean = sum_of(sum) / (float)norm->width;
        for (int i = 0; i < width; i += LANES) {
            Floats off = sub(load(row + i), all(mean));
            squares = mul_add(off, off, squares);
        }
        const float padding = (float)(width - norm->width) * mean * mean; /* which was counted, and is none of the row */
        float variance = (sum_of(squares) - padding) / (float)norm->width;
        const float factor = 1.0f / sqrtf((variance > 0.0f ? variance : 0.0f) + norm->epsilon);
        for (int i = 0; i < width; i += LANES) {
            Floats standard = mul(sub(load(row + i), all(mean)), all(factor));
            store(row + i, mul_add(standard, load(norm->gain + i), load(norm->shift + i)));
        }
    }
}

#define LEAST 1e-30f /* rows that reach no further are rounded to 0: a step for them has no inverse that is finite */

/* To 8 bits, or 7: x is about step (code - zero). Each row has a step of its own, so that what a text is answered does not depend on
   the texts beside it, and 0 is always met exactly, so that padding stays 0. */
static void round_rows_from(const float *rows, int stride, int count, int width, uint8_t *codes, float *step, float *zero) {
    for (int r = 0; r < count; r++, rows += stride, codes += width) {
        Floats low = all(0.0f), high = all(0.0f);
        for (int i = 0; i < width; i += LANES) {
            low = smaller(low, load(rows + i));
            high = larger(high, load(rows + i));
        }
        const float least = smallest_of(low), range = largest_of(high) - least;
        step[r] = range <= LEAST ? 1.0f : range / (float)LAST_CODE; /* asked so that a row of NaN stays it */
        const float inverse = 1.0f / step[r];
        zero[r] = rintf(-least * inverse);
        for (int i = 0; i < width; i += LANES)
            store_codes(codes + i, nearest(mul_add(load(rows + i), all(inverse), all(zero[r]))));
    }
}

static void round_rows(const float *rows, int count, int width, uint8_t *codes, float *step, float *zero) {
    round_rows_from(rows, padded(width), count, padded(width), codes, step, zero);
}

/* Zeros and ones, to read from the middle: what is beyond the end of a row is taken off, or struck out, with one vector. */
static const float LOWERED[2 * PAD] = {[PAD ... 2 * PAD - 1] = -1e30f};
static const float COUNTED[2 * PAD] = {[0 ... PAD - 1] = 1.0f};

/* Scores to shares that sum to 1; `width` is the true one, and what is beyond it, up to a whole vector, becomes 0. */
static void softmax(float *rows, int count, int width, int stride) {
    const int last = (width - 1) / LANES * LANES; /* where the last vector begins, and how many of its numbers are real */
    const int real = width - last;
    const Floats lowered = load(LOWERED + PAD - real), counted = load(COUNTED + PAD - real);
    for (float *row = rows; row < rows + (size_t)count * stride; row += stride) {
        Floats end = add(load(row + last), lowered), high = end;
        for (int i = 0; i < last; i += LANES) high = larger(high, load(row + i));
        const Floats most = all(largest_of(high));
        Floats sum = end = mul(exponential(sub(end, most)), counted);
        for (int i = 0; i < last; i += LANES) {
            Floats share = exponential(sub(load(row + i), most));
            store(row + i, share);
            sum = add(sum, share);
        }
        const Floats factor = all(1.0f / sum_of(sum));
        for (int i = 0; i < last; i += LANES) store(row + i, mul(load(row + i), factor));
        store(row + last, mul(end, factor));
    }
}
