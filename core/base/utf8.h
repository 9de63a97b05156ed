/* Distinguishes UTF-8 (RFC 3629) from other bytes. */
#ifndef UW_BASE_UTF8_H
#define UW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD replaces invalid bytes */

/* Returns the length of the character at the start of `text[0 .. length)`, 1 to 4 bytes, or 0 when the character is
 * invalid or incomplete. */
size_t uw_utf8_character(const char *text, size_t length);

/* The state of a text that arrives in pieces, zero at first: what the last piece's incomplete character still needs. */
struct uw_utf8 {
    uint8_t missing;   /* bytes that the character still lacks */
    uint8_t low, high; /* bounds of the next byte */
    bool beyond_ascii; /* the text has a character beyond ASCII */
};

/* Checks the next piece. Returns false at the first byte that makes the text invalid. */
bool uw_utf8_feed(struct uw_utf8 *utf8, const char *text, size_t length);

/* Returns whether all bytes form one valid text. */
bool uw_utf8_is_text(const char *text, size_t length);

/* Returns whether the text may end here. */
static inline bool uw_utf8_is_whole(const struct uw_utf8 *utf8)
{
    return utf8->missing == 0;
}

#endif
