/* Decodes the chunked transfer coding (RFC 9112, section 7.1) incrementally, without a buffer. */
#ifndef UW_HTTP1_CHUNKED_H
#define UW_HTTP1_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extensions may not outweigh the data. A limited number of extension bytes is free at first, and data bytes earn more.
 * A signature of 81 bytes may come with every 1,296 bytes of data. */
#define UW_CHUNK_EXTENSION_BYTES_MAX 1024
#define UW_CHUNK_DATA_BYTES_PER_EXTENSION_BYTE 16
#define UW_CHUNK_TRAILER_BYTES_MAX 8192

struct uw_http_chunked {
    uint64_t left;             /* data bytes left in this chunk */
    uint32_t extension_credit; /* in data bytes */
    uint32_t trailer_bytes;
    uint8_t state;
    uint8_t digits;  /* digits of the size line: at most 16, without overflow */
    bool part_begun; /* the name or value of an extension has a byte already */
    bool in_value;
    bool done; /* the last chunk and the trailer section are complete */
};

void uw_http_chunked_init(struct uw_http_chunked *chunked);

/* Reads from `bytes[0 .. length)` up to and including the next piece of data. Returns the number of bytes consumed,
 * with the piece (possibly empty) in `*data` and `*data_length`, pointing into `bytes`; or -400 / -431. Call this until
 * `chunked->done` or all bytes are consumed. Trailer fields are checked for syntax and dropped (RFC 9110, section 6.5.1
 * allows this). */
int64_t uw_http_chunked_read(struct uw_http_chunked *chunked, const char *bytes, size_t length, const char **data,
                             size_t *data_length);

#endif
