/* What a packed file begins with (../packed_file.py writes it). Offsets count from the beginning; 0: not there. Pointers are stored as offsets,
   too, and the file lists where they are. */
#ifndef NIWAKI_PACKED_H
#define NIWAKI_PACKED_H

#include "native.h"
#include "wordpiece.h"

#define MAGIC "niwaki\n\2"

typedef struct {
    char magic[8];
    int32_t layout, pointer_bytes, lanes, pointers; /* LAYOUT; of the program that reads it; of the kernels; how many are listed */
    int32_t outputs, vocabulary, longest, types, per_token, answer, max_tokens, labels;
    uint64_t bytes, model, wordpiece, names, tokenizer, list; /* of the whole file; names: ended by 0, one behind the other */
} Header;

/* Why a model with its pointers in place does not fit into its file, or NULL. */
const char *niwaki_unfit(const Header *header);

#endif
