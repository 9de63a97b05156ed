#include "rack/cross_thread_backpressure.h"

#include <errno.h>
#include <ruby/thread.h>

#include "pub_sub/cross_thread.h"

#define STANDSTILL_NS (5 * UW_NS_PER_SECOND)

struct waiting {
    struct uw_post_quota *quota; /* with a reference */
    size_t bytes;
    int64_t deadline_ns;
    bool interrupted;
};

static void *await_room(void *argument)
{
    struct waiting *waiting = argument;

    uw_post_quota_await(waiting->quota, waiting->bytes, waiting->deadline_ns, &waiting->interrupted);
    return NULL;
}

static void interrupt(void *argument)
{
    struct waiting *waiting = argument;

    uw_post_quota_interrupt(waiting->quota, &waiting->interrupted);
}

/* The loop may end, and its channels with it, while this thread is without the interpreter's lock. No Ruby code runs on
 * this thread before the quota is released. */
static void wait_for_room(const struct rb_uw_rack_context *rack_context, size_t bytes)
{
    struct waiting waiting = {.quota = rack_context->server->server_context.channels->quota,
                              .bytes = uw_post_bytes(bytes),
                              .deadline_ns = uw_clock_ns() + STANDSTILL_NS};

    uw_post_quota_retain(waiting.quota);
    rb_nogvl(await_room, &waiting, interrupt, &waiting, RB_NOGVL_INTR_FAIL);
    uw_post_quota_release(waiting.quota);
    rb_thread_check_ints();
}

/* The application has occupied the loop's thread for so long that it may be waiting for this thread. */
static bool stands_still(const struct rb_uw_rack_context *rack_context)
{
    return rack_context->busy_since_ns && uw_clock_ns() - rack_context->busy_since_ns >= STANDSTILL_NS;
}

/* The channels exist while this thread has the interpreter's lock. */
int rb_uw_post_or_wait(struct rb_uw_rack_context *rack_context, rb_uw_post_function *post, const void *argument,
                       size_t bytes)
{
    int error;

    for (;;) {
        if (rack_context->closed || rb_uw_rack_context_is_copy(rack_context))
            return -ESHUTDOWN;
        error = post(argument);
        if (error != -EAGAIN || stands_still(rack_context))
            break;
        wait_for_room(rack_context, bytes);
    }
    if (error == -ENOMEM)
        rb_memerror();
    return error;
}
