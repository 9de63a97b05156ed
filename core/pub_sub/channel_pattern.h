/* Channel patterns with Redis' syntax: `*` matches any bytes, `?` one byte, `[a-c]` and `[^x]` a byte in or outside a
 * set. A backslash quotes the next byte. A set without an end ends with the pattern.
 *
 * A pattern is compiled once into an automaton whose states are bits. So a match takes a few instructions for each byte
 * of the name, whatever the pattern. */
#ifndef UW_PUB_SUB_CHANNEL_PATTERN_H
#define UW_PUB_SUB_CHANNEL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_CHANNEL_PATTERN_BYTES_MAX 255 /* of a pattern */
#define UW_CHANNEL_PATTERN_WORDS_MAX (UW_CHANNEL_PATTERN_BYTES_MAX / 64 + 1)

struct uw_channel_pattern {
    size_t words;                                 /* of 64 states each; the last state is the one to end in */
    size_t elements;                              /* of the pattern that are no star: the number of the last state */
    uint64_t stays[UW_CHANNEL_PATTERN_WORDS_MAX]; /* states with a star behind them */
    uint64_t goes[]; /* by byte: the states that it leads to, `words` of them each, from the state before */
};

/* NULL when memory is exhausted, or the pattern is longer than UW_CHANNEL_PATTERN_BYTES_MAX; to be freed by free(3). */
struct uw_channel_pattern *uw_channel_pattern_compile(const char *text, size_t length);

bool uw_channel_pattern_matches(const struct uw_channel_pattern *pattern, const char *name, size_t length);

#endif
