/* Includes zlib. A build that loads zlib with dlopen(3) lists here each function in use. */
#ifndef UW_COMPRESSION_ZLIB_LIBRARY_H
#define UW_COMPRESSION_ZLIB_LIBRARY_H

#include <zlib.h>

#ifdef UW_LOADS_ZLIB

#include "base/shared_library.h"

/* Returns NULL, or a sentence that explains why the library is missing. Call this function before any function of
 * zlib. */
const char *uw_zlib_missing(void);

#define UW_ZLIB_FUNCTIONS(X) \
    X(deflate) \
    X(deflateEnd) \
    X(deflateInit2_) \
    X(deflateReset) \
    X(inflate) \
    X(inflateEnd) \
    X(inflateInit2_) \
    X(inflateReset)

struct uw_zlib {
    UW_ZLIB_FUNCTIONS(UW_SHARED_LIBRARY_POINTER)
};

extern struct uw_zlib uw_zlib;

#define deflate(stream, flush) uw_zlib.deflate(stream, flush)
#define deflateEnd uw_zlib.deflateEnd
#define deflateInit2_ uw_zlib.deflateInit2_
#define deflateReset uw_zlib.deflateReset
#define inflate(stream, flush) uw_zlib.inflate(stream, flush)
#define inflateEnd uw_zlib.inflateEnd
#define inflateInit2_ uw_zlib.inflateInit2_
#define inflateReset uw_zlib.inflateReset

#else

static inline const char *uw_zlib_missing(void)
{
    return NULL;
}

#endif
#endif
