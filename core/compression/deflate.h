/* Compression of message payloads (RFC 7692, section 7.2), each message by itself. A loop shares one compressor between
 * all clients, so idle clients use no memory for it. */
#ifndef UW_COMPRESSION_DEFLATE_H
#define UW_COMPRESSION_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

#define UW_WINDOW_BITS_MIN 8
#define UW_WINDOW_BITS_MAX 15
#define UW_DEFLATE_BYTES_MIN 128                  /* shorter messages are sent as they are */
#define UW_DEFLATE_SCRATCH_BYTES_MAX (256 * 1024) /* that are kept from one message to the next */

struct uw_deflate;

/* NULL, or a sentence that says why messages are not compressed. */
const char *uw_deflate_missing(void);

/* NULL when memory is exhausted, or zlib is missing. */
struct uw_deflate *uw_deflate_new(void);
void uw_deflate_free(struct uw_deflate *deflate);

/* Compresses a message. `*result` is valid until the next call. Returns the length. Returns -1 when the result is not
 * shorter than `length`, the window is not supported, or memory is exhausted: then the caller sends the message as it
 * is. */
long uw_deflate_compress(struct uw_deflate *deflate, int window_bits, const char *bytes, size_t length, char **result);

/* Decompresses a message. Returns the length, -E2BIG when the result would exceed `length_max`, -EBADMSG for invalid
 * data, or -ENOMEM. */
long uw_deflate_decompress(struct uw_deflate *deflate, const char *bytes, size_t length, size_t length_max,
                           char **result);

#endif
