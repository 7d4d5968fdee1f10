/* Texts to ids, as BERT's tokenizer makes them. Structures are mirrored in library.py. Their tables are filled by ../wordpiece.py: it asks the
   tokenizers library what becomes of each sign, and leaves to it every text with signs or words that are not in them. */
#ifndef NIWAKI_WORDPIECE_H
#define NIWAKI_WORDPIECE_H

#include <stdint.h>

#define SIGNS 0x2100    /* code points from here on are left to the library */
#define SIGN_BYTES 3    /* of UTF-8, that one sign becomes */
#define MOST_MARKS 4    /* ids that are put before, between or behind texts */
#define MOST_SIGNS 340  /* that a word may have before it is no word, at most */

/* What becomes of a sign: nothing is known of it, it goes, it ends a word, it is a word, it is part of one. */
enum SignKind { UNKNOWN, GONE, BLANK, ALONE, PART };

typedef struct {
    uint8_t kind, bytes; /* how many it becomes */
    char becomes[SIGN_BYTES];
    uint8_t starts; /* whether a word that the library looks for in raw text begins with its first byte */
} Sign;

typedef struct {
    uint32_t hash;
    int32_t start, bytes, id, inner; /* where it lies in `letters`; inner: it continues a word. No bytes: the slot is free */
} Piece;

/* Ids and types that are put around texts. */
typedef struct {
    int32_t count, ids[MOST_MARKS];
    uint8_t types[MOST_MARKS];
} Marks;

typedef struct {
    Marks before, between, behind;
    uint8_t types[2];
} Frame;

typedef struct {
    const Sign *signs;   /* SIGNS of them */
    const char *letters; /* of all pieces, one behind the other */
    Piece *slots;        /* a hash table: a power of two of them, half of them free at least */
    int32_t slot_count, longest, unknown, most_signs; /* bytes of the longest piece; id of what is none; signs that a word may have, not more than MOST_SIGNS */
    const char *raw;     /* words that are looked for in raw text, one behind the other */
    const int32_t *raw_ends;
    int32_t raw_count;
    Frame alone, pair;
} Wordpiece;

#endif
