/* poll(2) is the portable fallback, linear in the number of descriptors. */
#ifdef UW_HAVE_POLL

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "io/readiness.h"

#define ITEMS_MIN 64

struct poll_set {
    struct uw_readiness readiness;
    struct pollfd *items;
    int *places; /* by descriptor: index in `items`, or -1 */
    int count, items_size, places_size;
};

static struct poll_set *set_of(struct uw_loop *loop)
{
    return uw_container_of(loop->backend_state, struct poll_set, readiness);
}

static int poll_open(struct uw_loop *loop)
{
    struct poll_set *set = malloc(sizeof *set);

    if (!set)
        return -ENOMEM;
    set->items = NULL;
    set->places = NULL;
    set->count = set->items_size = set->places_size = 0;
    uw_readiness_open(loop, &set->readiness);
    return 0;
}

static void poll_close(struct uw_loop *loop)
{
    struct poll_set *set = set_of(loop);

    free(set->items);
    free(set->places);
    uw_readiness_close(&set->readiness);
    free(set);
}

static int grow_items(struct poll_set *set)
{
    int size = set->items_size ? set->items_size * 2 : ITEMS_MIN;
    struct pollfd *items;

    if (set->count < set->items_size)
        return 0;
    items = realloc(set->items, (size_t)size * sizeof *items);
    if (!items)
        return -ENOMEM;
    set->items = items;
    set->items_size = size;
    return 0;
}

static int grow_places(struct poll_set *set, int fd)
{
    int size = set->places_size ? set->places_size : ITEMS_MIN;
    int *places;

    if (fd < set->places_size)
        return 0;
    while (size <= fd)
        size *= 2;
    places = realloc(set->places, (size_t)size * sizeof *places);
    if (!places)
        return -ENOMEM;
    for (int i = set->places_size; i < size; i++)
        places[i] = -1;
    set->places = places;
    set->places_size = size;
    return 0;
}

static int join(struct poll_set *set, int fd, unsigned events)
{
    int error = grow_items(set);

    if (!error)
        error = grow_places(set, fd);
    if (error)
        return error;
    set->places[fd] = set->count;
    set->items[set->count++] = (struct pollfd){.fd = fd, .events = (short)events};
    return 0;
}

/* The last item moves to the place of the removed item. */
static void leave(struct poll_set *set, int fd)
{
    struct pollfd last = set->items[--set->count];

    set->items[set->places[fd]] = last;
    set->places[last.fd] = set->places[fd];
    set->places[fd] = -1;
}

static int poll_interest(struct uw_loop *loop, int fd, unsigned old, unsigned new)
{
    struct poll_set *set = set_of(loop);
    bool joined = fd < set->places_size && set->places[fd] >= 0;

    (void)old;
    new &= ~UW_ONCE; /* readiness.c removes the interest after an event */
    if (new && !joined)
        return join(set, fd, new);
    if (new)
        set->items[set->places[fd]].events = (short)new;
    else if (joined)
        leave(set, fd);
    return 0;
}

static int poll_wait(struct uw_loop *loop, int64_t wait_ns)
{
    struct poll_set *set = set_of(loop);
    int count = poll(set->items, (nfds_t)set->count, uw_wait_ms(wait_ns));

    loop->now_ns = uw_clock_ns();
    if (count < 0)
        return errno == EINTR ? UW_WAIT_SOME : -errno;
    if (count == 0)
        return UW_WAIT_NOTHING;
    /* The scan runs backwards: callbacks add at the end, and a deletion moves the last item to an earlier place. At
     * worst the next turn sees an item, because its descriptor is still ready then. */
    for (int i = set->count - 1; i >= 0 && count > 0; i--) {
        struct pollfd item;

        if (i >= set->count)
            continue;
        item = set->items[i];
        if (item.revents) {
            set->items[i].revents = 0;
            count--;
            uw_ready(loop, item.fd, (unsigned)item.revents);
        }
    }
    return UW_WAIT_ALL;
}

const struct uw_backend uw_backend_poll = {
    .name = "poll",
    .open = poll_open,
    .close = poll_close,
    .submit = uw_readiness_submit,
    .cancel = uw_readiness_cancel,
    .forget = uw_readiness_forget,
    .wait = poll_wait,
    .interest = poll_interest,
};

#else
typedef int uw_backend_poll_is_left_out; /* ISO C requires a declaration */
#endif
