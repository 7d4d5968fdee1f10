/* WordPiece: words are cut into the longest pieces that are known, from left to right. */
#include "wordpiece.h"

#include <string.h>

enum { WORD_BYTES = MOST_SIGNS * SIGN_BYTES };

static uint32_t begun(int inner) { return inner ? 0x9747b28cu : 0x811c9dc5u; }
static uint32_t hashed(uint32_t hash, char byte) { return (hash ^ (uint8_t)byte) * 0x01000193u; }
static uint32_t place(const Wordpiece *by, uint32_t hash) { return (hash ^ hash >> 15) & (uint32_t)(by->slot_count - 1); }

/* The id of a piece, or -1. */
static int32_t look(const Wordpiece *by, const char *word, int bytes, int inner, uint32_t hash) {
    for (uint32_t at = place(by, hash); by->slots[at].bytes; at = (at + 1) & (uint32_t)(by->slot_count - 1)) {
        const Piece *piece = &by->slots[at];
        if (piece->hash == hash && piece->bytes == bytes && piece->inner == inner && !memcmp(by->letters + piece->start, word, (size_t)bytes)) return piece->id;
    }
    return -1;
}

/* Puts pieces into the table; `pieces` has where they lie, their ids and whether they are inner. */
void niwaki_fill_pieces(const Wordpiece *by, const Piece *pieces, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        Piece piece = pieces[i];
        piece.hash = begun(piece.inner);
        for (int32_t j = 0; j < piece.bytes; j++) piece.hash = hashed(piece.hash, by->letters[piece.start + j]);
        uint32_t at = place(by, piece.hash);
        while (by->slots[at].bytes) at = (at + 1) & (uint32_t)(by->slot_count - 1);
        by->slots[at] = piece;
    }
}

/* The pieces of a word; one id where it, or some part of it, is not known. */
static int32_t cut(const Wordpiece *by, const char *word, int bytes, int signs, int32_t *ids) {
    uint32_t hashes[WORD_BYTES];
    int32_t count = 0;
    for (int at = 0; at < bytes && signs <= by->most_signs;) {
        const int inner = at > 0, reach = bytes - at < by->longest ? bytes - at : by->longest;
        uint32_t hash = begun(inner);
        for (int i = 0; i < reach; i++) hashes[i] = hash = hashed(hash, word[at + i]);
        int32_t id = -1;
        int taken = reach;
        while (taken && (id = look(by, word + at, taken, inner, hashes[taken - 1])) < 0) taken--;
        if (!taken) break;
        ids[count++] = id;
        if ((at += taken) == bytes) return count;
    }
    ids[0] = by->unknown;
    return 1;
}

/* The code point at `text`, of UTF-8 as Python writes it, and its bytes; SIGNS or more where it is beyond the table. */
static int32_t point(const char *text, int *bytes) {
    const uint8_t *at = (const uint8_t *)text;
    *bytes = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (*bytes == 1) return at[0];
    if (*bytes == 2) return (at[0] & 0x1f) << 6 | (at[1] & 0x3f);
    const int32_t found = (at[0] & 0x0f) << 12 | (at[1] & 0x3f) << 6 | (at[2] & 0x3f);
    return *bytes == 3 ? found : SIGNS;
}

/* Whether one of the words that are looked for in raw text begins here. */
static int raw_word(const Wordpiece *by, const char *text, const char *end) {
    for (int32_t i = 0, start = 0; i < by->raw_count; start = by->raw_ends[i++]) {
        const int32_t bytes = by->raw_ends[i] - start;
        if (bytes <= end - text && !memcmp(by->raw + start, text, (size_t)bytes)) return 1;
    }
    return 0;
}

/* The first `most` ids of a text, written with those of the word that the last of them is from; or -1 where the text is left to the library. */
static int32_t text_ids(const Wordpiece *by, const char *text, const char *end, int32_t most, int32_t *ids) {
    char word[WORD_BYTES];
    int bytes = 0, signs = 0, taken;
    int32_t count = 0;
    for (; text < end && count < most; text += taken) {
        const int32_t at = point(text, &taken);
        const Sign *sign = at < SIGNS ? &by->signs[at] : NULL;
        if (!sign || sign->kind == UNKNOWN || (sign->starts && raw_word(by, text, end))) return -1;
        if (sign->kind == GONE) continue;
        if (sign->kind != PART && bytes) {
            count += cut(by, word, bytes, signs, ids + count);
            bytes = signs = 0;
        }
        if (sign->kind == ALONE && count < most) count += cut(by, sign->becomes, sign->bytes, 1, ids + count);
        if (sign->kind != PART) continue;
        if (signs > by->most_signs) continue; /* the word is too long already */
        if (signs++ == by->most_signs) continue;
        memcpy(word + bytes, sign->becomes, sign->bytes);
        bytes += sign->bytes;
    }
    if (bytes && count < most) count += cut(by, word, bytes, signs, ids + count);
    return count < most ? count : most;
}

static int32_t put(const Marks *marks, int32_t *ids, uint8_t *types) {
    memcpy(ids, marks->ids, (size_t)marks->count * sizeof *ids);
    memcpy(types, marks->types, (size_t)marks->count);
    return marks->count;
}

/* How much of a pair is kept where it is longer than `most`: of the longer text less, until both are of one length. */
static void shorten(int32_t *first, int32_t *second, int32_t most) {
    if (*first + *second <= most) return;
    const int32_t shorter = *first < *second ? *first : *second, half = most / 2;
    if (shorter <= half) *(*first < *second ? second : first) = most - shorter;
    else if (*first <= *second) *first = half, *second = most - half;
    else *second = half, *first = most - half;
}

/* Inputs of one text or two (`pairs`), whose bytes lie one text behind the other: ids and types of all, one input behind the other,
   and the length of each, or -1 where the library has to read it. There is room for `most` of each input, or for its bytes and the
   marks around where these are fewer, and for one input more, of any length. Returns how many there are. */
int64_t niwaki_encode(const Wordpiece *by, const char *text, const int64_t *ends, const uint8_t *pairs, int32_t inputs, int32_t most, int32_t *ids, uint8_t *types, int32_t *lengths) {
    int64_t count = 0;
    const char *from = text;
    for (int32_t i = 0; i < inputs; i++) {
        const Frame *frame = pairs[i] ? &by->pair : &by->alone;
        const int32_t room = most - frame->before.count - frame->between.count - frame->behind.count;
        const char *end = text + *ends++, *last = pairs[i] ? text + *ends++ : end;
        int32_t *own = ids + count;
        uint8_t *kinds = types + count;
        int32_t at = put(&frame->before, own, kinds);
        int32_t first = text_ids(by, from, end, pairs[i] ? INT32_MAX : room, own + at), second = 0;
        if (pairs[i] && first >= 0) second = text_ids(by, end, last, INT32_MAX, own + at + first + frame->between.count);
        from = last;
        lengths[i] = -1;
        if (first < 0 || second < 0) continue;
        const int32_t *others = own + at + first + frame->between.count;
        shorten(&first, &second, room);
        memset(kinds + at, frame->types[0], (size_t)first);
        at += first;
        if (pairs[i]) {
            memmove(own + at + frame->between.count, others, (size_t)second * sizeof *own);
            at += put(&frame->between, own + at, kinds + at);
            memset(kinds + at, frame->types[1], (size_t)second);
            at += second;
        }
        at += put(&frame->behind, own + at, kinds + at);
        lengths[i] = at;
        count += at;
    }
    return count;
}
