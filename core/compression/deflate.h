/* Compresses messages one by one (RFC 7692, section 7.2), without context takeover. All clients of a loop share one
 * struct uw_deflate, so idle clients use no memory for compression. */
#ifndef UW_COMPRESSION_DEFLATE_H
#define UW_COMPRESSION_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>

#define UW_WINDOW_BITS_MIN 8
#define UW_WINDOW_BITS_MAX 15
#define UW_DEFLATE_BYTES_MIN 128                  /* shorter messages are sent uncompressed */
#define UW_DEFLATE_SCRATCH_BYTES_MAX (256 * 1024) /* scratch bytes that remain allocated between messages */

struct uw_deflate;

/* Returns false without zlib. */
bool uw_deflate_is_possible(void);

/* Returns NULL without memory or without zlib. */
struct uw_deflate *uw_deflate_new(void);
void uw_deflate_free(struct uw_deflate *deflate);

/* Compresses a message. `*result` is valid until the next call. Returns the compressed length. Returns -1 if the caller
 * must send the message uncompressed. The reasons are a result that is not shorter, an unsupported window, or no
 * memory. */
long uw_deflate_compress(struct uw_deflate *deflate, int window_bits, const char *bytes, size_t length, char **result);

/* Decompresses a message. `*result` is valid until the next call. Returns the length, -E2BIG for a result of more than
 * `length_max` bytes, -EBADMSG for invalid data, or -ENOMEM. */
long uw_deflate_decompress(struct uw_deflate *deflate, const char *bytes, size_t length, size_t length_max,
                           char **result);

#endif
