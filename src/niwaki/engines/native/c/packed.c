/* Opens packed files and runs them: what niwaki.h declares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "niwaki.h"
#include "packed.h"

#if (defined(__unix__) || defined(__APPLE__)) && !defined(NIWAKI_NO_FILES)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define MAPS 1
#endif

extern const Kernels *niwaki_kernels(const char *name);
extern int64_t niwaki_encode(const Wordpiece *by, const char *text, const int64_t *ends, const uint8_t *pairs, int32_t inputs, int32_t most, int32_t *ids, uint8_t *types, int32_t *lengths);

struct niwaki_model {
    Header *header;
    const Model *model;
    const Kernels *kernels;
    size_t mapped; /* bytes; 0 where the memory is the caller's */
    char *scratch;
    size_t room;
};

static _Thread_local char message[400];

const char *niwaki_error(void) { return message; }

static void *failed(const char *what, const char *why) {
    snprintf(message, sizeof message, "%.200s: %.180s", what, why);
    return NULL;
}

/* The fastest kernels here that read panels of so many lanes. */
static const Kernels *kernels_for(int lanes) {
    static const char *const fastest[] = {"amx", "avx512", "avx_vnni", "avx2", "neon_i8mm", "neon_dot", "neon", "wasm", "four_in_c", "plain"};
    for (size_t i = 0; i < sizeof fastest / sizeof *fastest; i++) {
        const Kernels *found = niwaki_kernels(fastest[i]);
        if (found && found->lanes == lanes) return found;
    }
    return NULL;
}

/* Offsets become pointers. */
static int relocated(Header *h) {
    char *base = (char *)h;
    const uint32_t *list = (const uint32_t *)(base + h->list);
    if (h->list % 4 || h->list > h->bytes || h->pointers < 0 || (uint64_t)h->pointers > (h->bytes - h->list) / sizeof *list) return 0;
    for (int32_t i = 0; i < h->pointers; i++) {
        if (list[i] < sizeof *h || list[i] % sizeof(void *) || list[i] > h->bytes - sizeof(void *)) return 0;
        void *at = base + list[i];
        uintptr_t offset;
        memcpy(&offset, at, sizeof offset);
        if (offset >= h->bytes) return 0;
        offset += (uintptr_t)base;
        memcpy(at, &offset, sizeof offset);
    }
    return 1;
}

static niwaki_model *opened(Header *h, size_t size, const char *what) {
    if (size < sizeof *h || memcmp(h->magic, MAGIC, sizeof h->magic)) return failed(what, "is not a packed model; `niwaki pack` writes them");
    if (h->layout != LAYOUT) return failed(what, "was packed by another version of niwaki; pack the model again");
    if (h->pointer_bytes != (int32_t)sizeof(void *)) return failed(what, "was packed for another kind of processor; see `niwaki pack --processor`");
    const Kernels *kernels = kernels_for(h->lanes);
    if (!kernels) return failed(what, "was packed for another kind of processor; see `niwaki pack --processor`");
    if (h->bytes != size) return failed(what, "is not complete, or something follows it");
    const uint64_t offsets[] = {h->model, h->wordpiece, h->names, h->tokenizer, h->list};
    for (int i = 0; i < 5; i++)
        if (offsets[i] > size || (i != 2 && i != 3 && offsets[i] % 8)) return failed(what, "is damaged");
    const int32_t counts[] = {h->outputs, h->vocabulary, h->longest, h->max_tokens};
    for (int i = 0; i < 4; i++)
        if (counts[i] < 1 || counts[i] > 1 << 24) return failed(what, "is damaged");
    if (h->types < 0 || h->types > 255 || h->max_tokens > h->longest || ((const char *)h)[size - 1]) return failed(what, "is damaged");
    const char *unfit = relocated(h) ? niwaki_unfit(h) : "a pointer leads out of it";
    if (unfit) return failed(what, unfit);
    niwaki_model *model = calloc(1, sizeof *model);
    if (!model) return failed(what, "there is no memory left");
    model->header = h, model->kernels = kernels, model->model = (const Model *)((const char *)h + h->model);
    return model;
}

niwaki_model *niwaki_open_bytes(void *bytes, size_t size) {
    if ((uintptr_t)bytes % 64) return failed("a model in memory", "must be aligned to 64 bytes");
    return opened(bytes, size, "a model in memory");
}

#ifdef MAPS
niwaki_model *niwaki_open(const char *path) {
    struct stat about;
    const int file = open(path, O_RDONLY);
    if (file < 0) return failed(path, "cannot be opened");
    void *at = fstat(file, &about) || about.st_size < (off_t)sizeof(Header) ? MAP_FAILED : mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    if (at == MAP_FAILED) return failed(path, "is not a packed model; `niwaki pack` writes them");
    niwaki_model *model = opened(at, (size_t)about.st_size, path);
    if (model) model->mapped = (size_t)about.st_size;
    else munmap(at, (size_t)about.st_size);
    return model;
}
#else
niwaki_model *niwaki_open(const char *path) { return failed(path, "files are not opened on this system; use niwaki_open_bytes"); }
#endif

void niwaki_close(niwaki_model *model) {
    if (!model) return;
#ifdef MAPS
    if (model->mapped) munmap(model->header, model->mapped);
#endif
    free(model->scratch);
    free(model);
}

int niwaki_outputs(const niwaki_model *model) { return model->header->outputs; }
int niwaki_per_token(const niwaki_model *model) { return model->header->per_token; }
int niwaki_answer(const niwaki_model *model) { return model->header->answer; }
int niwaki_max_tokens(const niwaki_model *model) { return model->header->max_tokens; }
const char *niwaki_kernels_of(const niwaki_model *model) { return model->kernels->name; }

const char *niwaki_tokenizer(const niwaki_model *model) {
    const Header *h = model->header;
    return h->tokenizer ? (const char *)h + h->tokenizer : "";
}

const char *niwaki_label(const niwaki_model *model, int n) {
    const Header *h = model->header;
    if (!h->names || n < 0 || n >= h->labels) return "";
    const char *name = (const char *)h + h->names, *end = (const char *)h + h->bytes; /* the last byte is 0 */
    while (n-- && name < end) name += strlen(name) + 1;
    return name < end ? name : "";
}

/* At least so many bytes, aligned to 64. */
static char *scratch(niwaki_model *model, size_t bytes) {
    if (model->room < bytes + 64) {
        free(model->scratch);
        model->room = bytes + bytes / 4 + 64;
        model->scratch = malloc(model->room);
        if (!model->scratch) model->room = 0;
    }
    return model->scratch ? model->scratch + (64 - (uintptr_t)model->scratch % 64) % 64 : NULL;
}

int niwaki_tokenize(niwaki_model *model, const char *text, int32_t *ids, int32_t *types, int room) {
    const Header *h = model->header;
    const int64_t bytes = (int64_t)strlen(text), most = h->max_tokens, fit = (bytes < most ? bytes : most) + 2 * bytes + 6 * MOST_MARKS;
    const uint8_t alone = 0;
    int32_t length = -1;
    if (!h->wordpiece) return failed("niwaki_tokenize", "this model's tokenizer is not WordPiece; use the tokenizers library"), -1;
    int32_t *found = (int32_t *)scratch(model, (size_t)fit * (sizeof *found + 1));
    if (!found) return failed("niwaki_tokenize", "there is no memory left"), -1;
    uint8_t *kinds = (uint8_t *)(found + fit);
    niwaki_encode((const Wordpiece *)((const char *)h + h->wordpiece), text, &bytes, &alone, 1, h->max_tokens, found, kinds, &length);
    if (length < 0) return failed("niwaki_tokenize", "the text has characters that only the tokenizers library reads"), -1;
    if (length > room) return failed("niwaki_tokenize", "there is not enough room for the token ids"), -1;
    for (int32_t i = 0; i < length; i++) {
        ids[i] = found[i];
        if (types) types[i] = kinds[i];
    }
    return length;
}

int niwaki_predict(niwaki_model *model, const int32_t *ids, const int32_t *types, const int32_t *lengths, int texts, int threads, float *outputs) {
    const Header *h = model->header;
    int64_t tokens = 0;
    for (int i = 0; i < texts; tokens += lengths[i++])
        if (lengths[i] < 1 || lengths[i] > h->longest) return failed("niwaki_predict", "a text has no tokens, or more than the model reads"), -1;
    if (tokens > INT32_MAX / 64) return failed("niwaki_predict", "there are too many tokens for one call"), -1;
    for (int64_t i = 0; i < tokens; i++)
        if (ids[i] < 0 || ids[i] >= h->vocabulary || (types && h->types && (types[i] < 0 || types[i] >= h->types))) return failed("niwaki_predict", "a token id or type is not in the vocabulary"), -1;
    if (texts < 1) return 0;
    const Batch batch = {.texts = texts, .tokens = (int32_t)tokens, .last = model->model->depth, .ids = ids, .kinds = h->types ? types : NULL, .lengths = lengths};
    threads = threads < 1 ? 1 : threads > texts && tokens < threads ? (int)tokens : threads > 64 ? 64 : threads;
    char *memory = scratch(model, model->kernels->scratch_bytes(model->model, &batch, threads));
    if (!memory) return failed("niwaki_predict", "there is no memory left"), -1;
    model->kernels->forward(model->model, &batch, threads, memory, outputs);
    return 0;
}
