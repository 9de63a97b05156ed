/* SipHash-1-3 (Aumasson and Bernstein, 2012), a hash of 64 bits for tables with keys that a client chooses. A client
 * without the secret key cannot provoke collisions. */
#ifndef UW_BASE_SIPHASH_H
#define UW_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define UW_SIPHASH_KEY_WORDS 2

uint64_t uw_siphash(const uint64_t key[UW_SIPHASH_KEY_WORDS], const void *bytes, size_t length);

#endif
