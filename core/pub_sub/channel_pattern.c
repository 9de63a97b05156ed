#include "pub_sub/channel_pattern.h"

#include <stdlib.h>

#define BYTES 256
#define WORD_BITS 64

/* The rest of the pattern. */
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

/* Reads a byte or a range of a set. A "]" may be the end of a range. */
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

/* Sets the bytes that the next element matches. */
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

static void add_element(struct uw_channel_pattern *pattern, struct reader *reader)
{
    bool set_of[BYTES] = {false};

    read_element(reader, set_of);
    pattern->elements++;
    for (size_t byte = 0; byte < BYTES; byte++)
        if (set_of[byte])
            set(pattern->goes + byte * pattern->words, pattern->elements);
}

struct uw_channel_pattern *uw_channel_pattern_compile(const char *text, size_t length)
{
    struct reader reader = {(const unsigned char *)text, (const unsigned char *)text + length};
    size_t words = length / WORD_BITS + 1;
    struct uw_channel_pattern *pattern;

    if (length > UW_CHANNEL_PATTERN_BYTES_MAX)
        return NULL;
    pattern = calloc(1, sizeof *pattern + BYTES * words * sizeof *pattern->goes);
    if (!pattern)
        return NULL;
    pattern->words = words;
    while (reader.at < reader.end) {
        if (*reader.at != '*') {
            add_element(pattern, &reader);
        } else {
            set(pattern->stays, pattern->elements);
            reader.at++;
        }
    }
    return pattern;
}

/* Returns whether any state remains. */
static bool step(const struct uw_channel_pattern *pattern, uint64_t *states, unsigned char byte)
{
    const uint64_t *goes = pattern->goes + byte * pattern->words;
    uint64_t carried = 0, any = 0;

    for (size_t i = 0; i < pattern->words; i++) {
        uint64_t before = states[i];

        states[i] = ((before << 1 | carried) & goes[i]) | (before & pattern->stays[i]);
        carried = before >> (WORD_BITS - 1);
        any |= states[i];
    }
    return any;
}

bool uw_channel_pattern_matches(const struct uw_channel_pattern *pattern, const char *name, size_t length)
{
    uint64_t states[UW_CHANNEL_PATTERN_WORDS_MAX] = {1};

    for (size_t i = 0; i < length; i++)
        if (!step(pattern, states, (unsigned char)name[i]))
            return false;
    return states[pattern->elements / WORD_BITS] >> pattern->elements % WORD_BITS & 1;
}
