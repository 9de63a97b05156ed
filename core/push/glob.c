#include "push/glob.h"

#include <stdlib.h>

#define BYTES 256
#define WORD_BITS 64

/* What is left of the pattern. */
struct reader {
    const unsigned char *at, *end;
};

static void set(uint64_t *words, size_t bit)
{
    words[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
}

static void take(bool set_of[BYTES], unsigned from, unsigned to)
{
    for (unsigned byte = from < to ? from : to; byte <= (from < to ? to : from); byte++)
        set_of[byte] = true;
}

/* A byte or a range of a set. What looks like the end of the set may be the end of a range. */
static void read_member(struct reader *reader, bool set_of[BYTES])
{
    size_t left = (size_t)(reader->end - reader->at);

    if (left >= 2 && reader->at[0] == '\\') {
        set_of[reader->at[1]] = true;
        reader->at += 2;
    } else if (left >= 3 && reader->at[1] == '-') {
        take(set_of, reader->at[0], reader->at[2]);
        reader->at += 3;
    } else {
        set_of[*reader->at++] = true;
    }
}

/* Behind the bracket. */
static void read_set(struct reader *reader, bool set_of[BYTES])
{
    bool inverted = reader->at < reader->end && *reader->at == '^';

    reader->at += inverted;
    while (reader->at < reader->end && *reader->at != ']')
        read_member(reader, set_of);
    reader->at += reader->at < reader->end;
    for (int byte = 0; byte < BYTES; byte++)
        set_of[byte] ^= inverted;
}

/* Which bytes the next element stands for. */
static void read_element(struct reader *reader, bool set_of[BYTES])
{
    unsigned char first = *reader->at++;

    if (first == '?')
        take(set_of, 0, BYTES - 1);
    else if (first == '[')
        read_set(reader, set_of);
    else if (first == '\\' && reader->at < reader->end)
        set_of[*reader->at++] = true;
    else
        set_of[first] = true;
}

static void add_element(struct uw_glob *glob, struct reader *reader)
{
    bool set_of[BYTES] = {false};

    read_element(reader, set_of);
    glob->elements++;
    for (size_t byte = 0; byte < BYTES; byte++)
        if (set_of[byte])
            set(glob->goes + byte * glob->words, glob->elements);
}

struct uw_glob *uw_glob_compile(const char *pattern, size_t length)
{
    struct reader reader = {(const unsigned char *)pattern, (const unsigned char *)pattern + length};
    size_t words = length / WORD_BITS + 1;
    struct uw_glob *glob;

    if (length > UW_GLOB_BYTES_MAX)
        return NULL;
    glob = calloc(1, sizeof *glob + BYTES * words * sizeof *glob->goes);
    if (!glob)
        return NULL;
    glob->words = words;
    while (reader.at < reader.end) {
        if (*reader.at != '*') {
            add_element(glob, &reader);
        } else {
            set(glob->stays, glob->elements);
            reader.at++;
        }
    }
    return glob;
}

/* Returns whether any state is left. */
static bool step(const struct uw_glob *glob, uint64_t *states, unsigned char byte)
{
    const uint64_t *goes = glob->goes + byte * glob->words;
    uint64_t carried = 0, any = 0;

    for (size_t i = 0; i < glob->words; i++) {
        uint64_t before = states[i];

        states[i] = ((before << 1 | carried) & goes[i]) | (before & glob->stays[i]);
        carried = before >> (WORD_BITS - 1);
        any |= states[i];
    }
    return any;
}

bool uw_glob_matches(const struct uw_glob *glob, const char *name, size_t length)
{
    uint64_t states[UW_GLOB_WORDS_MAX] = {1};

    for (size_t i = 0; i < length; i++)
        if (!step(glob, states, (unsigned char)name[i]))
            return false;
    return states[glob->elements / WORD_BITS] >> glob->elements % WORD_BITS & 1;
}
