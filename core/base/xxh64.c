#include "base/xxh64.h"

#include <string.h>

#include "base/little_endian.h"

#define PRIME_1 UINT64_C(0x9E3779B185EBCA87)
#define PRIME_2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define PRIME_3 UINT64_C(0x165667B19E3779F9)
#define PRIME_4 UINT64_C(0x85EBCA77C2B2AE63)
#define PRIME_5 UINT64_C(0x27D4EB2F165667C5)

static const int lane_rotations[4] = {1, 7, 12, 18};

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t read_64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
    return uw_little_endian_64(value);
}

static uint32_t read_32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof value);
    return uw_little_endian_32(value);
}

static uint64_t add_to_lane(uint64_t lane, uint64_t value)
{
    return rotate_left(lane + value * PRIME_2, 31) * PRIME_1;
}

static void add_stripes(uint64_t lanes[4], const unsigned char *at, size_t count)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];

    for (; count > 0; count--, at += UW_XXH64_STRIPE_BYTES) {
        a = add_to_lane(a, read_64(at));
        b = add_to_lane(b, read_64(at + 8));
        c = add_to_lane(c, read_64(at + 16));
        d = add_to_lane(d, read_64(at + 24));
    }
    lanes[0] = a;
    lanes[1] = b;
    lanes[2] = c;
    lanes[3] = d;
}

void uw_xxh64_init(struct uw_xxh64 *sum, uint64_t seed)
{
    *sum = (struct uw_xxh64){.seed = seed, .lanes = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1}};
}

void uw_xxh64_add(struct uw_xxh64 *sum, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    size_t kept = sum->length % UW_XXH64_STRIPE_BYTES, missing = UW_XXH64_STRIPE_BYTES - kept;

    sum->length += length;
    if (kept > 0 && length >= missing) {
        memcpy(sum->rest + kept, at, missing);
        add_stripes(sum->lanes, sum->rest, 1);
        at += missing;
        length -= missing;
        kept = 0;
    }
    if (kept == 0) {
        add_stripes(sum->lanes, at, length / UW_XXH64_STRIPE_BYTES);
        at += length - length % UW_XXH64_STRIPE_BYTES;
        length %= UW_XXH64_STRIPE_BYTES;
    }
    if (length > 0)
        memcpy(sum->rest + kept, at, length);
}

static uint64_t merge_lanes(const struct uw_xxh64 *sum)
{
    uint64_t merged = 0;

    if (sum->length < UW_XXH64_STRIPE_BYTES)
        return sum->seed + PRIME_5;
    for (int i = 0; i < 4; i++)
        merged += rotate_left(sum->lanes[i], lane_rotations[i]);
    for (int i = 0; i < 4; i++)
        merged = (merged ^ add_to_lane(0, sum->lanes[i])) * PRIME_1 + PRIME_4;
    return merged;
}

static uint64_t add_rest(uint64_t value, const unsigned char *at, size_t length)
{
    for (; length >= 8; length -= 8, at += 8)
        value = rotate_left(value ^ add_to_lane(0, read_64(at)), 27) * PRIME_1 + PRIME_4;
    for (; length >= 4; length -= 4, at += 4)
        value = rotate_left(value ^ read_32(at) * PRIME_1, 23) * PRIME_2 + PRIME_3;
    for (; length > 0; length--, at++)
        value = rotate_left(value ^ *at * PRIME_5, 11) * PRIME_1;
    return value;
}

uint64_t uw_xxh64_end(const struct uw_xxh64 *sum)
{
    uint64_t value = add_rest(merge_lanes(sum) + sum->length, sum->rest, sum->length % UW_XXH64_STRIPE_BYTES);

    value = (value ^ value >> 33) * PRIME_2;
    value = (value ^ value >> 29) * PRIME_3;
    return value ^ value >> 32;
}

uint64_t uw_xxh64(const void *bytes, size_t length)
{
    struct uw_xxh64 sum;

    uw_xxh64_init(&sum, 0);
    uw_xxh64_add(&sum, bytes, length);
    return uw_xxh64_end(&sum);
}
