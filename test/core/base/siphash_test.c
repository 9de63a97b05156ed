/* Against the reference's values for the key 00 01 .. 0f and the bytes 00 01 .. of each length. */
#include "base/siphash.h"

#include "check.h"

static const uint64_t key[] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

TEST(hashes_of_the_reference)
{
    static const uint64_t expected[] = {
        UINT64_C(0xabac0158050fc4dc), UINT64_C(0xc9f49bf37d57ca93), UINT64_C(0x82cb9b024dc7d44d),
        UINT64_C(0x8bf80ab8e7ddf7fb), UINT64_C(0xcf75576088d38328), UINT64_C(0xdef9d52f49533b67),
        UINT64_C(0xc50d2b50c59f22a7), UINT64_C(0xd3927d989bb11140), UINT64_C(0x369095118d299a8e),
    };
    unsigned char bytes[9];

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)i;
        CHECK(uw_siphash(key, bytes, i) == expected[i]);
    }
}

TEST(another_key_hashes_otherwise)
{
    const uint64_t other[] = {key[0], key[1] + 1};

    CHECK(uw_siphash(key, "a", 1) != uw_siphash(other, "a", 1));
}

TEST_MAIN
