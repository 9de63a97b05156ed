/* XXH64, a fast hash of 64 bits with the same result on every machine:
 * https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md. XXH64 does not resist an attacker that chooses both
 * contents. */
#ifndef UW_BASE_XXH64_H
#define UW_BASE_XXH64_H

#include <stddef.h>
#include <stdint.h>

#define UW_XXH64_STRIPE_BYTES 32

struct uw_xxh64 {
    uint64_t lanes[4];
    uint64_t length; /* number of bytes so far */
    uint64_t seed;
    unsigned char rest[UW_XXH64_STRIPE_BYTES]; /* the last, incomplete stripe: `length` % UW_XXH64_STRIPE_BYTES bytes */
};

void uw_xxh64_init(struct uw_xxh64 *sum, uint64_t seed);
void uw_xxh64_add(struct uw_xxh64 *sum, const void *bytes, size_t length);
uint64_t uw_xxh64_end(const struct uw_xxh64 *sum);

/* Returns the hash of `bytes` with the seed 0. */
uint64_t uw_xxh64(const void *bytes, size_t length);

#endif
