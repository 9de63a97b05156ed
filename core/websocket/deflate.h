/* The payload of compressed messages (RFC 7692, section 7.2), each for itself. A loop has one of these for all its
 * clients, so that those who are idle hold nothing. */
#ifndef UW_WEBSOCKET_DEFLATE_H
#define UW_WEBSOCKET_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

#define UW_DEFLATE_BYTES_MIN 128                  /* shorter messages are sent as they are */
#define UW_DEFLATE_SCRATCH_BYTES_MAX (256 * 1024) /* that are kept from one message to the next */

struct uw_deflate;

/* Whether there is zlib. */
bool uw_deflate_is_possible(void);

/* NULL when memory is exhausted. */
struct uw_deflate *uw_deflate_new(void);
void uw_deflate_free(struct uw_deflate *deflate);

/* Compresses a message. `*result` is valid until the next call. Returns the length; or -1 when it is not shorter than
 * `length`, cannot be made with such a window, or memory is exhausted: then it is sent as it is. */
long uw_deflate_compress(struct uw_deflate *deflate, int window_bits, const char *bytes, size_t length, char **result);

/* The reverse. Returns the length, -E2BIG when it would be more than `length_max`, -EBADMSG for what is no such
 * message, or -ENOMEM. */
long uw_deflate_decompress(struct uw_deflate *deflate, const char *bytes, size_t length, size_t length_max,
                           char **result);

#endif
