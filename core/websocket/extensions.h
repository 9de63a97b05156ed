/* Negotiates the Sec-WebSocket-Extensions of a request: permessage-deflate (RFC 7692, section 7) without context
 * takeover. So clients need no context of their own, and a message for many clients is compressed once. */
#ifndef UW_WEBSOCKET_EXTENSIONS_H
#define UW_WEBSOCKET_EXTENSIONS_H

#include <stdbool.h>
#include <stddef.h>

#define UW_EXTENSIONS_BYTES_MAX 128 /* of an answer */

struct uw_deflate_terms {
    bool agreed;
    int window_bits;       /* the server's window, at most */
    bool window_was_asked; /* the answer must contain it */
};

/* Reads one field's value, unless something was agreed upon already: the first offer that can be met is (section 5.1).
 */
void uw_extensions_read(struct uw_deflate_terms *terms, const char *value, size_t length);

/* Writes the answer. Returns its length; 0: nothing was agreed upon. */
size_t uw_extensions_answer(const struct uw_deflate_terms *terms, char *text);

#endif
