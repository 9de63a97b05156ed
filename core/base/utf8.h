/* UTF-8 (RFC 3629), told from other bytes. */
#ifndef UW_BASE_UTF8_H
#define UW_BASE_UTF8_H

#include <stddef.h>

#define UW_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for what is no character */

/* Bytes of the character that begins `text[0 .. length)`, 1 to 4; 0 when there is none. */
size_t uw_utf8_character(const char *text, size_t length);

#endif
