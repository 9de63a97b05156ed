#include "pub_sub/channel_pattern.h"

#include <stdlib.h>

#define BYTE_VALUES 256
#define WORD_BITS 64

/* The unread rest of a pattern */
struct reader {
    const unsigned char *at, *end;
};

static void set_bit(uint64_t *words, size_t bit)
{
    words[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
}

static void add_range(bool byte_set[BYTE_VALUES], unsigned from, unsigned to)
{
    for (unsigned byte = from < to ? from : to; byte <= (from < to ? to : from); byte++)
        byte_set[byte] = true;
}

/* Reads a byte or a range of a set. As in Redis, "]" may end a range. */
static void read_member(struct reader *reader, bool byte_set[BYTE_VALUES])
{
    size_t left = (size_t)(reader->end - reader->at);

    if (left >= 2 && reader->at[0] == '\\') {
        byte_set[reader->at[1]] = true;
        reader->at += 2;
    } else if (left >= 3 && reader->at[1] == '-') {
        add_range(byte_set, reader->at[0], reader->at[2]);
        reader->at += 3;
    } else {
        byte_set[*reader->at++] = true;
    }
}

/* Reads the rest of a set, after "[". */
static void read_set(struct reader *reader, bool byte_set[BYTE_VALUES])
{
    bool inverted = reader->at < reader->end && *reader->at == '^';

    reader->at += inverted;
    while (reader->at < reader->end && *reader->at != ']')
        read_member(reader, byte_set);
    reader->at += reader->at < reader->end;
    for (int byte = 0; byte < BYTE_VALUES; byte++)
        byte_set[byte] ^= inverted;
}

/* Reads the next element. Sets the bytes that match it. */
static void read_element(struct reader *reader, bool byte_set[BYTE_VALUES])
{
    unsigned char first = *reader->at++;

    if (first == '?')
        add_range(byte_set, 0, BYTE_VALUES - 1);
    else if (first == '[')
        read_set(reader, byte_set);
    else if (first == '\\' && reader->at < reader->end)
        byte_set[*reader->at++] = true;
    else
        byte_set[first] = true;
}

static void add_element(struct uw_channel_pattern *pattern, struct reader *reader)
{
    bool byte_set[BYTE_VALUES] = {false};

    read_element(reader, byte_set);
    pattern->elements++;
    for (size_t byte = 0; byte < BYTE_VALUES; byte++)
        if (byte_set[byte])
            set_bit(pattern->transitions + byte * pattern->words, pattern->elements);
}

struct uw_channel_pattern *uw_channel_pattern_compile(const char *text, size_t length)
{
    struct reader reader = {(const unsigned char *)text, (const unsigned char *)text + length};
    size_t words = length / WORD_BITS + 1;
    struct uw_channel_pattern *pattern;

    if (length > UW_CHANNEL_PATTERN_BYTES_MAX)
        return NULL;
    pattern = calloc(1, sizeof *pattern + BYTE_VALUES * words * sizeof *pattern->transitions);
    if (!pattern)
        return NULL;
    pattern->words = words;
    while (reader.at < reader.end) {
        if (*reader.at != '*') {
            add_element(pattern, &reader);
        } else {
            set_bit(pattern->star_states, pattern->elements);
            reader.at++;
        }
    }
    return pattern;
}

/* Advances all states by one byte. Returns false if no state remains. */
static bool advance_states(const struct uw_channel_pattern *pattern, uint64_t *states, unsigned char byte)
{
    const uint64_t *transitions = pattern->transitions + byte * pattern->words;
    uint64_t carried = 0, any = 0;

    for (size_t i = 0; i < pattern->words; i++) {
        uint64_t before = states[i];

        states[i] = ((before << 1 | carried) & transitions[i]) | (before & pattern->star_states[i]);
        carried = before >> (WORD_BITS - 1);
        any |= states[i];
    }
    return any;
}

bool uw_channel_pattern_matches(const struct uw_channel_pattern *pattern, const char *name, size_t length)
{
    uint64_t states[UW_CHANNEL_PATTERN_WORDS_MAX] = {1};

    for (size_t i = 0; i < length; i++)
        if (!advance_states(pattern, states, (unsigned char)name[i]))
            return false;
    return states[pattern->elements / WORD_BITS] >> pattern->elements % WORD_BITS & 1;
}
