/* UTF-8 (RFC 3629), told from other bytes. */
#ifndef UW_BASE_UTF8_H
#define UW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for what is no character */

/* Bytes of the character that begins `text[0 .. length)`, 1 to 4; 0 when there is none. */
size_t uw_utf8_character(const char *text, size_t length);

/* A text that comes in pieces, zero at first: how far the character goes on with which the last piece ended. */
struct uw_utf8 {
    uint8_t missing;   /* bytes of it */
    uint8_t low, high; /* between which the next of them must be */
    bool beyond_ascii; /* some character so far is */
};

/* The next piece. Returns whether the text can still become one: false at the first byte that no text has there. */
bool uw_utf8_feed(struct uw_utf8 *utf8, const char *text, size_t length);

/* Whether all of it is one text. */
bool uw_utf8_is_text(const char *text, size_t length);

/* Whether the text may end here. */
static inline bool uw_utf8_is_whole(const struct uw_utf8 *utf8)
{
    return utf8->missing == 0;
}

#endif
