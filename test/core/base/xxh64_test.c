#include "base/xxh64.h"

#include "check.h"

#define SANITY_BYTES 2367
#define PRIME_32 UINT32_C(2654435761)
#define PRIME_64 UINT64_C(11400714785074694797)

static unsigned char sanity[SANITY_BYTES];

/* As xxHash's own tests make their bytes. */
__attribute__((constructor)) static void fill(void)
{
    uint64_t next = PRIME_32;

    for (size_t i = 0; i < sizeof sanity; i++, next *= PRIME_64)
        sanity[i] = (unsigned char)(next >> 56);
}

static uint64_t of(size_t length, uint64_t seed)
{
    struct uw_xxh64 sum;

    uw_xxh64_init(&sum, seed);
    uw_xxh64_add(&sum, sanity, length);
    return uw_xxh64_end(&sum);
}

TEST(published_vectors)
{
    CHECK_EQUAL(UINT64_C(0xEF46DB3751D8E999), uw_xxh64("", 0));
    CHECK_EQUAL(UINT64_C(0xD24EC4F1A98C6E5B), uw_xxh64("a", 1));
    CHECK_EQUAL(UINT64_C(0x44BC2CF5AD770999), uw_xxh64("abc", 3));
    CHECK_EQUAL(UINT64_C(0xEF46DB3751D8E999), of(0, 0));
    CHECK_EQUAL(UINT64_C(0xAC75FDA2929B17EF), of(0, PRIME_32));
    CHECK_EQUAL(UINT64_C(0xE934A84ADB052768), of(1, 0));
    CHECK_EQUAL(UINT64_C(0x5014607643A9B4C3), of(1, PRIME_32));
    CHECK_EQUAL(UINT64_C(0x9136A0DCA57457EE), of(4, 0));
    CHECK_EQUAL(UINT64_C(0x8282DCC4994E35C8), of(14, 0));
    CHECK_EQUAL(UINT64_C(0xC3BD6BF63DEB6DF0), of(14, PRIME_32));
    CHECK_EQUAL(UINT64_C(0xB641AE8CB691C174), of(222, 0));
    CHECK_EQUAL(UINT64_C(0x20CB8AB7AE10C14A), of(222, PRIME_32));
    CHECK_EQUAL(UINT64_C(0xA82418DDEC0EA581), of(SANITY_BYTES, 0));
    CHECK_EQUAL(UINT64_C(0xA36A93C18052673A), of(SANITY_BYTES, PRIME_32));
}

TEST(pieces_of_every_length_make_the_same)
{
    for (size_t piece = 1; piece <= 100; piece++) {
        struct uw_xxh64 sum;

        uw_xxh64_init(&sum, 0);
        for (size_t at = 0; at < sizeof sanity; at += piece)
            uw_xxh64_add(&sum, sanity + at, piece < sizeof sanity - at ? piece : sizeof sanity - at);
        CHECK_EQUAL(uw_xxh64(sanity, sizeof sanity), uw_xxh64_end(&sum));
    }
}

TEST_MAIN
