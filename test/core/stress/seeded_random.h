/* Numbers that a seed determines, a stream a thread. */
#ifndef UW_STRESS_SEEDED_RANDOM_H
#define UW_STRESS_SEEDED_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

/* splitmix64 */
static inline uint64_t roll(struct dice *dice)
{
    uint64_t z = dice->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline unsigned below(struct dice *dice, unsigned bound)
{
    return (unsigned)(roll(dice) % bound);
}

static inline bool one_in(struct dice *dice, unsigned count)
{
    return below(dice, count) == 0;
}

#endif
