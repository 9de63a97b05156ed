/* How much of what other threads ask of a loop is on its way, see from_afar.h, and who waits until it is less. Outlives
 * the loop for those who hold it. */
#ifndef UW_PUSH_AFAR_ROOM_H
#define UW_PUSH_AFAR_ROOM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_AFAR_ERRANDS_MAX 256              /* that wait; others wait behind them */
#define UW_AFAR_BYTES_MAX (16 * 1024 * 1024) /* in them; one is always taken */

struct uw_afar_room {
    atomic_uint holds;
    pthread_mutex_t lock; /* for what follows, and whoever lines up */
    pthread_cond_t changed;
    unsigned errands;
    size_t bytes;
    bool closed; /* the loop has ended: nothing is taken any more */
};

/* Held once; NULL when memory is exhausted. */
struct uw_afar_room *uw_afar_room_new(void);
void uw_afar_room_hold(struct uw_afar_room *room);
void uw_afar_room_release(struct uw_afar_room *room);

/* Room for an errand of so many bytes in all; one that is pressing has it in any case. Returns 0, -EAGAIN, or
 * -ESHUTDOWN. */
int uw_afar_room_take(struct uw_afar_room *room, size_t bytes, bool pressing);
void uw_afar_room_give(struct uw_afar_room *room, size_t bytes);

/* Waits until there is room again for an errand of so many bytes; or the loop has ended, the deadline passed, or
 * `*interrupted` is set, which uw_afar_room_interrupt does. Not on the loop's thread. Who waits holds the room. */
void uw_afar_room_await(struct uw_afar_room *room, size_t bytes, int64_t deadline_ns, const bool *interrupted);
void uw_afar_room_interrupt(struct uw_afar_room *room, bool *interrupted);

/* The loop has ended: there is no room any more, and nobody waits for it. */
void uw_afar_room_close(struct uw_afar_room *room);

#endif
