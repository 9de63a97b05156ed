/* Finds ends of streams that the kernel does not report. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <poll.h>

#define LOOK_AFTER_NS UW_NS_PER_SECOND /* without bytes for so long, a stream is checked for its end */

/* Linux may fail to report an end of stream to a multishot receive if the end arrives together with bytes (seen on
 * 6.18: one reset in 60,000). So the loop checks a stream once when no more bytes follow. */
void uw_uring_watch_eof(struct uw_loop *loop, struct uw_operation *operation)
{
    struct uw_uring *ring = uw_uring_of(loop);

    if (!ring->look.active)
        uw_timers_start(&loop->timers, &ring->look, loop->now_ns + LOOK_AFTER_NS);
    if (uw_list_empty(&operation->eof_watch))
        uw_list_append(&ring->eof_watch, &operation->eof_watch);
    operation->eof_quiet = false;
}

/* shutdown(2) drops nothing, since nothing more can arrive. It makes the kernel check the stream again. */
static void have_end_told(const struct uw_operation *operation)
{
    struct pollfd item = {.fd = operation->fd, .events = POLLRDHUP};

    if (poll(&item, 1, 0) > 0 && item.revents & (POLLRDHUP | POLLHUP))
        (void)shutdown(operation->fd, SHUT_RD); /* fails after a reset, but wakes the kernel all the same */
}

void uw_uring_check_quiet_streams(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_list *eof_watch = &uw_uring_of(loop)->eof_watch, *next;

    for (struct uw_list *link = eof_watch->next; link != eof_watch; link = next) {
        struct uw_operation *operation = uw_container_of(link, struct uw_operation, eof_watch);

        next = link->next;
        if (operation->eof_quiet) {
            uw_list_remove(&operation->eof_watch);
            have_end_told(operation);
        }
        operation->eof_quiet = true;
    }
    if (!uw_list_empty(eof_watch))
        uw_timers_start(&loop->timers, timer, loop->now_ns + LOOK_AFTER_NS);
}

#endif
