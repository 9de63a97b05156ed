#include "push/afar_room.h"

#include <errno.h>
#include <stdlib.h>

#include "base/system.h"

struct uw_afar_room *uw_afar_room_new(void)
{
    struct uw_afar_room *room = calloc(1, sizeof *room);

    if (!room)
        return NULL;
    atomic_init(&room->holds, 1);
    if (pthread_mutex_init(&room->lock, NULL)) {
        free(room);
        return NULL;
    }
    if (uw_condition_init(&room->changed)) {
        (void)pthread_mutex_destroy(&room->lock);
        free(room);
        return NULL;
    }
    return room;
}

void uw_afar_room_hold(struct uw_afar_room *room)
{
    atomic_fetch_add(&room->holds, 1);
}

void uw_afar_room_release(struct uw_afar_room *room)
{
    if (atomic_fetch_sub(&room->holds, 1) > 1)
        return;
    (void)pthread_cond_destroy(&room->changed);
    (void)pthread_mutex_destroy(&room->lock);
    free(room);
}

static bool has_room(const struct uw_afar_room *room, size_t bytes)
{
    return room->errands < UW_AFAR_ERRANDS_MAX && (!room->errands || room->bytes + bytes <= UW_AFAR_BYTES_MAX);
}

int uw_afar_room_take(struct uw_afar_room *room, size_t bytes, bool pressing)
{
    int error;

    pthread_mutex_lock(&room->lock);
    error = room->closed ? -ESHUTDOWN : pressing || has_room(room, bytes) ? 0 : -EAGAIN;
    if (!error) {
        room->errands++;
        room->bytes += bytes;
    }
    pthread_mutex_unlock(&room->lock);
    return error;
}

/* Then who waits is woken: not for each errand anew. */
static bool is_half_free(const struct uw_afar_room *room)
{
    return room->errands <= UW_AFAR_ERRANDS_MAX / 2 && room->bytes <= UW_AFAR_BYTES_MAX / 2;
}

void uw_afar_room_give(struct uw_afar_room *room, size_t bytes)
{
    pthread_mutex_lock(&room->lock);
    room->errands--;
    room->bytes -= bytes;
    if (is_half_free(room))
        pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->lock);
}

void uw_afar_room_await(struct uw_afar_room *room, size_t bytes, int64_t deadline_ns, const bool *interrupted)
{
    int late = 0;

    pthread_mutex_lock(&room->lock);
    while (!late && !*interrupted && !room->closed && !(is_half_free(room) && has_room(room, bytes)))
        late = uw_condition_wait_until(&room->changed, &room->lock, deadline_ns);
    pthread_mutex_unlock(&room->lock);
}

void uw_afar_room_interrupt(struct uw_afar_room *room, bool *interrupted)
{
    pthread_mutex_lock(&room->lock);
    *interrupted = true;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->lock);
}

void uw_afar_room_close(struct uw_afar_room *room)
{
    pthread_mutex_lock(&room->lock);
    room->closed = true;
    pthread_cond_broadcast(&room->changed);
    pthread_mutex_unlock(&room->lock);
}
