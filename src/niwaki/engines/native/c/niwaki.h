/* Predictions in C, from a file that `niwaki pack` wrote: an encoder with its tokenizer, ready to run. See docs/packed_models.md.

   A model is one memory map; processes that open the same file share its weights. Calls with one model must not overlap; several threads
   open it several times. Functions that can fail return NULL or a negative number, and niwaki_error() then says why. */
#ifndef NIWAKI_H
#define NIWAKI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct niwaki_model niwaki_model;

enum { NIWAKI_NUMBERS, NIWAKI_ONE_LABEL, NIWAKI_SEVERAL_LABELS }; /* what outputs mean: numbers, logits to softmax, logits to sigmoid each */

/* Opens a packed file. */
niwaki_model *niwaki_open(const char *path);
/* The same from memory, which the model changes and uses until it is closed; aligned to 64 bytes. */
niwaki_model *niwaki_open_bytes(void *bytes, size_t size);
void niwaki_close(niwaki_model *model);

/* Why the last call of this thread failed; a sentence. */
const char *niwaki_error(void);

int niwaki_outputs(const niwaki_model *model);               /* numbers for each text, or for each token */
int niwaki_per_token(const niwaki_model *model);             /* whether there are outputs for each token */
int niwaki_answer(const niwaki_model *model);                /* NIWAKI_... */
int niwaki_max_tokens(const niwaki_model *model);            /* of a text, special tokens included */
const char *niwaki_label(const niwaki_model *model, int n);  /* UTF-8; "" where outputs have no names */
const char *niwaki_kernels_of(const niwaki_model *model);    /* which kernels run: avx512, neon_dot, ... */
const char *niwaki_tokenizer(const niwaki_model *model);     /* tokenizer.json of the tokenizers library, or "" */

/* Token ids of a text in UTF-8 as the tokenizer gives them, cut to niwaki_max_tokens(), with their types (may be NULL). There is room for `room`
   of them. Returns how many there are; -1 if the text has characters that only the tokenizers library reads, or the file has no tokenizer. */
int niwaki_tokenize(niwaki_model *model, const char *text, int32_t *ids, int32_t *types, int room);

/* Token ids of several texts, one behind the other, and how many each has; types may be NULL. Writes niwaki_outputs() numbers for each text, or
   for each token. Returns 0. At most `threads` threads share the work; outputs do not depend on it, nor on the other texts. */
int niwaki_predict(niwaki_model *model, const int32_t *ids, const int32_t *types, const int32_t *lengths, int texts, int threads, float *outputs);

#ifdef __cplusplus
}
#endif
#endif
