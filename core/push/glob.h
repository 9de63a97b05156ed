/* Patterns as Redis has them for channels: `*` any bytes, `?` one, `[a-c]` and `[^x]` one of a set or not, a backslash
 * before what stands for itself. A set without an end ends with the pattern.
 *
 * Compiled once into an automaton whose states are bits, so that matching takes a few instructions a byte of the name,
 * whatever the pattern. */
#ifndef UW_PUSH_GLOB_H
#define UW_PUSH_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_GLOB_BYTES_MAX 255 /* of a pattern */
#define UW_GLOB_WORDS_MAX (UW_GLOB_BYTES_MAX / 64 + 1)

struct uw_glob {
    size_t words;                      /* of 64 states each; the last state is the one to end in */
    size_t elements;                   /* of the pattern that are no star: the number of the last state */
    uint64_t stays[UW_GLOB_WORDS_MAX]; /* states with a star behind them */
    uint64_t goes[]; /* by byte: the states that it leads to, `words` of them each, from the state before */
};

/* NULL when memory is exhausted, or the pattern is longer than UW_GLOB_BYTES_MAX; to be freed by free(3). */
struct uw_glob *uw_glob_compile(const char *pattern, size_t length);

bool uw_glob_matches(const struct uw_glob *glob, const char *name, size_t length);

#endif
