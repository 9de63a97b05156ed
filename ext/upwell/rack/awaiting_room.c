/* What other threads ask of the loop is bounded: who asks more waits, without stopping anybody else. */
#include <errno.h>

#include "push/from_afar.h"
#include "rack/rack.h"

#define STANDSTILL_NS (5 * UW_NS_PER_SECOND)

struct waiting {
    struct uw_channels *channels;
    size_t bytes;
    int64_t deadline_ns;
    bool interrupted;
};

static void *await_room(void *argument)
{
    struct waiting *waiting = argument;

    uw_afar_await_room(waiting->channels, waiting->bytes, waiting->deadline_ns, &waiting->interrupted);
    return NULL;
}

static void interrupt(void *argument)
{
    struct waiting *waiting = argument;

    uw_afar_interrupt(waiting->channels, &waiting->interrupted);
}

static void wait_for_room(const struct rb_uw_host *host, size_t bytes)
{
    struct waiting waiting = {
        .channels = host->server->service.channels, .bytes = bytes, .deadline_ns = uw_clock_ns() + STANDSTILL_NS};

    rb_thread_call_without_gvl(await_room, &waiting, interrupt, &waiting);
}

/* The application has had the loop's thread for so long that it may be waiting for this one. */
static bool stands_still(const struct rb_uw_host *host)
{
    return host->busy_since_ns && uw_clock_ns() - host->busy_since_ns >= STANDSTILL_NS;
}

/* The channels are there while the lock is held, and until nobody waits any more. */
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
