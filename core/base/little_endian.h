/* Converts numbers that are stored in little-endian order. */
#ifndef UW_BASE_LITTLE_ENDIAN_H
#define UW_BASE_LITTLE_ENDIAN_H

#include <stdint.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline uint64_t uw_little_endian_64(uint64_t value)
{
    return value;
}

static inline uint32_t uw_little_endian_32(uint32_t value)
{
    return value;
}
#else
static inline uint64_t uw_little_endian_64(uint64_t value)
{
    return __builtin_bswap64(value);
}

static inline uint32_t uw_little_endian_32(uint32_t value)
{
    return __builtin_bswap32(value);
}
#endif

#endif
