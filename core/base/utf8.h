/* Validates UTF-8 (RFC 3629). */
#ifndef UW_BASE_UTF8_H
#define UW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, which replaces invalid bytes */

/* Returns the length of the first character of `text`, 1 to 4 bytes. Returns 0 if the character is invalid or
 * incomplete. */
size_t uw_utf8_character(const char *text, size_t length);

/* State of a text that arrives in pieces, initially zero. It describes the incomplete character at the end of the last
 * piece. */
struct uw_utf8 {
    uint8_t missing;   /* missing bytes of the character */
    uint8_t low, high; /* bounds of the next byte */
    bool beyond_ascii; /* true once the text has a character beyond ASCII */
};

/* Checks the next piece. Returns false if a byte makes the text invalid. */
bool uw_utf8_feed(struct uw_utf8 *utf8, const char *text, size_t length);

/* Returns true if the bytes are a complete, valid text. */
bool uw_utf8_is_text(const char *text, size_t length);

/* Returns true if the text may end here, with no incomplete character. */
static inline bool uw_utf8_is_whole(const struct uw_utf8 *utf8)
{
    return utf8->missing == 0;
}

#endif
