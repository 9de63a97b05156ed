#include "base/siphash.h"

#include <string.h>

#include "base/little_endian.h"

#define FINAL_ROUNDS 3

struct state {
    uint64_t a, b, c, d;
};

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

static void sip_round(struct state *state)
{
    state->a += state->b;
    state->c += state->d;
    state->b = rotate_left(state->b, 13) ^ state->a;
    state->d = rotate_left(state->d, 16) ^ state->c;
    state->a = rotate_left(state->a, 32) + state->d;
    state->c += state->b;
    state->d = rotate_left(state->d, 21) ^ state->a;
    state->b = rotate_left(state->b, 17) ^ state->c;
    state->c = rotate_left(state->c, 32);
}

static void add_word(struct state *state, uint64_t word)
{
    state->d ^= word;
    sip_round(state);
    state->a ^= word;
}

/* Reads up to eight bytes in little-endian order. */
static uint64_t read_word(const unsigned char *at, size_t length)
{
    uint64_t word = 0;

    memcpy(&word, at, length);
    return uw_little_endian_64(word);
}

uint64_t uw_siphash(const uint64_t key[UW_SIPHASH_KEY_WORDS], const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    struct state state = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                          key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    size_t left = length;

    for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t))
        add_word(&state, read_word(at, sizeof(uint64_t)));
    add_word(&state, (uint64_t)length << 56 | read_word(at, left));
    state.c ^= 0xff;
    for (int i = 0; i < FINAL_ROUNDS; i++)
        sip_round(&state);
    return state.a ^ state.b ^ state.c ^ state.d;
}
