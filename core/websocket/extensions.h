/* What the Sec-WebSocket-Extensions of a request offer, and what is made of it: permessage-deflate (RFC 7692, section
 * 7), of which no message ever refers to one before it. So nobody has a context of his own, and what goes to many is
 * compressed once. */
#ifndef UW_WEBSOCKET_EXTENSIONS_H
#define UW_WEBSOCKET_EXTENSIONS_H

#include <stdbool.h>
#include <stddef.h>

#define UW_WINDOW_BITS_MIN 8
#define UW_WINDOW_BITS_MAX 15
#define UW_EXTENSIONS_BYTES_MAX 128 /* of an answer */

struct uw_deflate_terms {
    bool agreed;
    int window_bits;       /* of what the server compresses, at most */
    bool window_was_asked; /* and is to be told */
};

/* Reads one field's value, unless something was agreed upon already: the first offer that can be met is (section 5.1).
 */
void uw_extensions_read(struct uw_deflate_terms *terms, const char *value, size_t length);

/* Writes the answer. Returns its length; 0: nothing was agreed upon. */
size_t uw_extensions_answer(const struct uw_deflate_terms *terms, char *text);

#endif
