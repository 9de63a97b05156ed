/* Channel patterns in the syntax of Redis. `*` matches any bytes, and `?` matches one byte. `[a-c]` and `[^x]` match a
 * byte inside or outside a set. A backslash quotes the next byte. A set without "]" ends with the pattern.
 *
 * A pattern is compiled once into an automaton. Its states are bits, so a match takes a few instructions for each byte
 * of the name, whatever the pattern. */
#ifndef UW_PUB_SUB_CHANNEL_PATTERN_H
#define UW_PUB_SUB_CHANNEL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_CHANNEL_PATTERN_BYTES_MAX 255 /* maximum length of a pattern */
#define UW_CHANNEL_PATTERN_WORDS_MAX (UW_CHANNEL_PATTERN_BYTES_MAX / 64 + 1)

struct uw_channel_pattern {
    size_t words;                                       /* words of 64 states. The last state accepts */
    size_t elements;                                    /* elements besides "*": the number of the last state */
    uint64_t star_states[UW_CHANNEL_PATTERN_WORDS_MAX]; /* states that remain on any byte, because "*" follows */
    uint64_t transitions[]; /* for each byte, `words` words: states that this byte reaches from the state before */
};

/* Returns a pattern, which the caller frees with free(). Returns NULL without memory, or if the pattern is longer than
 * UW_CHANNEL_PATTERN_BYTES_MAX. */
struct uw_channel_pattern *uw_channel_pattern_compile(const char *text, size_t length);

bool uw_channel_pattern_matches(const struct uw_channel_pattern *pattern, const char *name, size_t length);

#endif
