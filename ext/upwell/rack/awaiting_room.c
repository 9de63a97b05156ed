/* What other threads ask of the loop is bounded: who asks more waits, without stopping anybody else. */
#include <errno.h>

#include "push/from_afar.h"
#include "rack/rack.h"

#define STANDSTILL_NS (5 * UW_NS_PER_SECOND)

struct waiting {
    struct uw_afar_room *room; /* held */
    size_t bytes;
    int64_t deadline_ns;
    bool interrupted;
};

static void *await_room(void *argument)
{
    struct waiting *waiting = argument;

    uw_afar_room_await(waiting->room, waiting->bytes, waiting->deadline_ns, &waiting->interrupted);
    return NULL;
}

static void interrupt(void *argument)
{
    struct waiting *waiting = argument;

    uw_afar_room_interrupt(waiting->room, &waiting->interrupted);
}

/* The loop may end, and its channels with it, as soon as the interpreter's lock is given up, and until it is had again.
 * Nothing of Ruby's runs before the room is let go. */
static void wait_for_room(const struct rb_uw_host *host, size_t bytes)
{
    struct waiting waiting = {.room = host->server->service.channels->room,
                              .bytes = uw_afar_bytes(bytes),
                              .deadline_ns = uw_clock_ns() + STANDSTILL_NS};

    uw_afar_room_hold(waiting.room);
    rb_nogvl(await_room, &waiting, interrupt, &waiting, RB_NOGVL_INTR_FAIL);
    uw_afar_room_release(waiting.room);
    rb_thread_check_ints();
}

/* The application has had the loop's thread for so long that it may be waiting for this one. */
static bool stands_still(const struct rb_uw_host *host)
{
    return host->busy_since_ns && uw_clock_ns() - host->busy_since_ns >= STANDSTILL_NS;
}

/* The channels are there while the lock is held. */
int rb_uw_ask(struct rb_uw_host *host, rb_uw_errand *errand, const void *argument, size_t bytes)
{
    int error;

    for (;;) {
        if (host->closed || rb_uw_host_is_copy(host))
            return -ESHUTDOWN;
        error = errand(argument);
        if (error != -EAGAIN || stands_still(host))
            break;
        wait_for_room(host, bytes);
    }
    if (error == -ENOMEM)
        rb_memerror();
    return error;
}
