/* What Python hands to the engine, and what it may call. All structures are mirrored in library.py.

   Words: a row is what belongs to one token (or, behind the last layer, to one text). Rows of all texts of a batch lie
   one behind the other: there is no padding between texts. Widths of rows in memory are rounded up to PAD numbers, and
   the numbers beyond the true width are 0, so that no kernel needs a special case at the end of a row. Whoever writes a row writes
   these zeros too: scratch memory is undefined when a call begins. */
#ifndef NIWAKI_NATIVE_H
#define NIWAKI_NATIVE_H

#include <stddef.h>
#include <stdint.h>

/* Compilers whose assembler has AMX and AVX-VNNI. clang has them too, but checks inline assembly against the target; it goes without. */
#if defined(__x86_64__) && !defined(__clang__) && __has_include(<amxint8intrin.h>) && __has_include(<avxvnniintrin.h>)
#define NEWER 1
#endif

#if defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN)
#define ARM 1
/* Compilers that can be told of products of bytes for a part of a program. Apple's clang 15 is LLVM 16. */
#if !defined(__clang__) || __clang_major__ >= 16 || (defined(__apple_build_version__) && __clang_major__ >= 15)
#define NEWER_ARM 1
#endif
#endif

#define LAYOUT 8     /* of the structures; Python refuses a library with another */
#define PAD 16       /* numbers that widths are rounded up to: what the widest vectors hold */
#define MOST_PARTS 4 /* matrices that one linear map may be the product of */

static inline int padded(int width) { return (width + PAD - 1) / PAD * PAD; }

enum Activation { NONE, GELU, GELU_TANH, RELU, TANH, SILU };

/* One matrix, outputs x inputs, in panels (product.h). Of 8-bit integers (`whole`), each output has a scale, and `sums` are the
   sums of its weights times that scale; else the panels hold floats and there are no scales. */
typedef struct {
    int32_t inputs, outputs, whole;
    const void *panels;
    const float *scale, *sums, *bias;
} Matrix;

/* A linear map: its matrices one after the other. No parts: the map is not there. */
typedef struct {
    int32_t parts;
    Matrix part[MOST_PARTS];
} Linear;

/* Without a gain there is no norm, and only its width counts. Without a shift it only scales: rows are divided by their root mean square. */
typedef struct {
    const float *gain, *shift;
    float epsilon;
    int32_t width;
} Norm;

/* Rows to look up: floats, or 8-bit integers where each row has a scale. */
typedef struct {
    int32_t rows, width;
    const float *floats;
    const int8_t *codes;
    const float *scale;
} Table;

/* A mixture of experts: a row goes through the `active` experts of which the router says most, and through the shared one, which stands behind the
   others if there is one. Outputs are added up, or (`mean`) weighted by the shares of the router's exponentials. */
typedef struct {
    Linear up, down;
} Expert;

typedef struct {
    Linear router;
    int32_t count, active, mean, shared;
    const Expert *expert;
} Experts;

/* A layer. `experts`, where it has them, stand in place of `up` and `down`. `gate`, where it has parts: its activated outputs are what those of `up` are multiplied with. `relative`, where a family has it, is what
   is added to the scores by the distance from query to key: (heads, 2 reach + 1, and PAD zeros), with no distance in the middle. A block
   whose last map has no parts was taken out, and leaves its bias, or NULL. `reads`: which key of a token each head reads, where several read
   one. `turns`: cosines and then sines of the angles that a head's numbers are turned by, (positions, head_width): those of its halves with each
   other, or neighbours. `factor`: what products of queries and keys are multiplied by.

   A token attends to all, unless the layer is causal or has a window: then to `window` tokens on each side (all: -1), of which every one is
   `dilation` tokens from the next, and to the text's first `globals`, which attend to all themselves (windows.h). */
typedef struct {
    Linear query, key, value, out, up, down, gate;
    Norm attended, widened;
    int32_t heads, head_width, activation, reach, neighbours, window, dilation, globals, causal;
    float factor;
    const float *relative, *attention_bias, *ffn_bias, *turns;
    const int32_t *reads;
    const Experts *experts;
} Layer;

/* The first or the last token's row, or one computed from all rows of the text. */
enum { POOL_FIRST, POOL_MEAN, POOL_MAX, POOL_MEAN_SQRT, POOL_LAST };

typedef struct {
    Table tokens, positions, types;
    Linear widen; /* from a narrow table of tokens to the width of the embeddings */
    Norm embedded;
    Linear project; /* from the width of the embeddings to that of the layers */
    Norm last, answered; /* behind the last layer; behind the head's activation, before its last part */
    int32_t first_position, width, depth, per_token, head_parts, head_activation; /* a head without parts gives the rows themselves */
    int32_t pooling, unit_length; /* what the head reads of a text: POOL_…; whether it is scaled to length 1 */
    int32_t pre_norm;             /* norms stand before blocks */
    const Layer *layers;
    const int32_t *order; /* which layer runs at each depth */
    const Linear *head;   /* the activation is between its parts */
} Model;

/* Texts, and the depths between which they are run, with the head behind. They begin with ids, or with the rows that an earlier call
   `left`: those before its last layer, since behind it only first tokens are answered for. Rows are of padded width. */
typedef struct {
    int32_t texts, tokens, first, last;
    const int32_t *ids, *kinds; /* of all tokens, text behind text; kinds may be NULL */
    const int32_t *lengths;
    const float *found;
    float *left;
} Batch;

/* A decoder. Each of its layers is two: attention to the tokens generated so far (the rest of `own` is not read), then attention to the text
   that the encoder read, with the feed-forward block behind it. A decoder that stands alone has no attention to texts: the norm of
   `cross` has no width. */
typedef struct {
    Table tokens, positions;
    Linear widen;
    Norm embedded, last; /* `last`: behind the last layer */
    int32_t width, depth, pre_norm;
    const Layer *own, *cross;
    Linear output; /* from the last layer's rows to a logit for each token of the vocabulary */
} Decoder;

/* Tokens that are read together, with their keys and values. A row is a token; it comes behind its parent, a row of the same step
   or an earlier one, at the next place. */
typedef struct {
    float *start; /* keys and values of each layer, (2 x depth, rows, stride), then four numbers of each row */
    int32_t rows;
} Step;

/* A step of a decoder that stands alone: rows to read, and those whose logits are wanted. */
typedef struct {
    int32_t number, rows, wanted, places; /* of the step; of places that a text may have */
    const int32_t *tokens, *parents, *parent_steps, *place; /* of each row; a text's first token has no parent: -1 */
    const int32_t *which;                                   /* (wanted) */
    Step *steps;                                            /* all up to this one, whose memory is there */
    float *logits;                                          /* (wanted, vocabulary) */
} Reading;

/* How texts are searched for (answers/_beam_search.py). `suppress` are tokens that are never generated; `first`, unless it is negative, is
   the token that is always generated first. */
typedef struct {
    int32_t beam, start, end, first, suppressed, renormalizes;
    double length_penalty;
    const int32_t *suppress;
} Search;

/* Texts that are generated together, and how far they are. The keys and values of generated tokens lie in blocks of memory that are given
   one after the other, when a call says that it needs another. */
typedef struct {
    int32_t texts, tokens, longest; /* of the input; the most that is generated of a text */
    const int32_t *lengths;
    const float *hidden;    /* the encoder's rows of all tokens, of true width */
    const int32_t *targets; /* (texts, longest): generated texts to score, -1 behind their ends; or NULL */
    float *found;           /* (texts, 1 + longest): the logarithm of how likely a text is, its tokens, -1 behind its end; or (texts, 1) */
    int32_t blocks, block;  /* how many there are, and which is being filled */
    float *const *memory;
    size_t block_floats, used; /* the size of each; what is used of the last */
    int32_t length, rows;      /* tokens generated so far; hypotheses that go on: 0 at first */
} Generation;

/* One set of kernels, for one kind of processor. Python's tests call each of them. */
typedef struct {
    const char *name;
    int32_t lanes, last_code, less; /* numbers in a vector; what inputs are rounded to runs from 0 to this; what is taken off where codes are stored */
    /* weights (outputs, inputs), row by row, to panels; bytes of these */
    size_t (*panel_bytes)(int outputs, int inputs, int whole);
    void (*pack)(const void *weights, int outputs, int inputs, int whole, void *panels);
    size_t (*scratch_bytes)(const Model *, const Batch *, int threads);
    void (*forward)(const Model *, const Batch *, int threads, void *scratch, float *logits);
    /* generation: scratch memory, which stays as it is between calls; floats that a block must hold; one call, which returns whether it needs
       another block */
    size_t (*generation_bytes)(const Decoder *, const Search *, const Generation *, int threads);
    size_t (*block_floats)(const Decoder *, const Search *, const Generation *);
    int (*generate)(const Decoder *, const Search *, Generation *, int threads, void *scratch);
    /* a decoder that stands alone: scratch memory; floats of a step of so many rows; one step */
    size_t (*reading_bytes)(const Decoder *, const Reading *, int threads);
    size_t (*reading_floats)(const Decoder *, int rows);
    void (*read)(const Decoder *, const Reading *, int threads, void *scratch);
    /* parts, for tests */
    void (*activate)(float *values, int count, int activation);
    void (*normalize)(float *rows, int count, const Norm *);
    void (*round_rows)(const float *rows, int count, int width, uint8_t *codes, float *step, float *zero);
    void (*softmax)(float *rows, int count, int width, int stride);
    void (*product)(const float *rows, int count, const Matrix *, const float *plus, int activation, float *to, void *scratch);
} Kernels;

#endif
