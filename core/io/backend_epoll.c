/* epoll, level-triggered or for one event: see `man 7 epoll`. */
#ifdef UW_HAVE_EPOLL

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "io/readiness.h"

#define EVENTS_PER_WAIT 256

_Static_assert(EPOLLIN == POLLIN && EPOLLPRI == POLLPRI && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
                   EPOLLHUP == POLLHUP,
               "epoll's events are those of poll");

static int epoll_of(struct uw_loop *loop)
{
    struct uw_readiness *readiness = loop->backend_state;

    return (int)(intptr_t)readiness->kernel;
}

static int epoll_open(struct uw_loop *loop)
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC), error;

    if (epoll_fd < 0)
        return -errno;
    error = uw_readiness_open(loop, (void *)(intptr_t)epoll_fd);
    if (error)
        close(epoll_fd);
    return error;
}

static void epoll_close(struct uw_loop *loop)
{
    close(epoll_of(loop));
    uw_readiness_close(loop);
}

/* An event names its descriptor, and which registration of that number it is. */
static uint64_t label(int fd, uint32_t registration)
{
    return (uint64_t)registration << 32 | (uint32_t)fd;
}

static int descriptor_of(const struct epoll_event *event)
{
    return (int)(uint32_t)event->data.u64;
}

static int control(struct uw_loop *loop, int action, int fd, unsigned events)
{
    struct uw_readiness *readiness = loop->backend_state;
    struct epoll_event event = {.events = events & ~UW_ONCE};

    if (events & UW_ONCE)
        event.events |= EPOLLONESHOT;
    if (action == EPOLL_CTL_ADD)
        readiness->descriptors[fd].registration = ++readiness->registrations;
    event.data.u64 = label(fd, readiness->descriptors[fd].registration);
    return epoll_ctl(epoll_of(loop), action, fd, &event) ? -errno : 0;
}

static int epoll_interest(struct uw_loop *loop, int fd, unsigned old, unsigned new)
{
    int error;

    if (new == 0 || new == UW_ONCE) {
        /* After one event the kernel has disarmed it; a closed descriptor it has forgotten. */
        if (new == 0 || !(old & UW_ONCE))
            (void)control(loop, EPOLL_CTL_DEL, fd, 0);
        return 0;
    }
    error = control(loop, old ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, new);
    if (error == -ENOENT)
        return control(loop, EPOLL_CTL_ADD, fd, new);
    if (error == -EEXIST)
        return control(loop, EPOLL_CTL_MOD, fd, new);
    return error;
}

/* A closed descriptor stays registered while another process has the same file open, and nothing can take it out: so
 * all others move to a new set. Returns 0 or -errno. */
static int leave_closed_behind(struct uw_loop *loop)
{
    struct uw_readiness *readiness = loop->backend_state;
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC), replaced;

    if (epoll_fd < 0)
        return -errno;
    replaced = dup3(epoll_fd, epoll_of(loop), O_CLOEXEC);
    close(epoll_fd);
    if (replaced < 0)
        return -errno;
    for (int fd = 0; fd < readiness->descriptors_size; fd++) {
        struct uw_descriptor *descriptor = &readiness->descriptors[fd];

        if (!descriptor->readers && !descriptor->writers)
            descriptor->interest = 0;
        else if (descriptor->interest) /* what cannot be registered is closed, and its owner has not said so yet */
            (void)control(loop, EPOLL_CTL_ADD, fd, descriptor->interest);
    }
    return 0;
}

/* Whether it is for a descriptor that somebody waits for. */
static bool awaited(const struct uw_readiness *readiness, const struct epoll_event *event)
{
    int fd = descriptor_of(event);
    const struct uw_descriptor *descriptor = &readiness->descriptors[fd];

    return event->data.u64 == label(fd, descriptor->registration) && (descriptor->readers || descriptor->writers);
}

static int epoll_wait_events(struct uw_loop *loop, int64_t wait_ns)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int count = epoll_wait(epoll_of(loop), events, EVENTS_PER_WAIT, uw_wait_ms(wait_ns));
    bool strays = false;
    int error;

    loop->now_ns = uw_clock_ns();
    if (count < 0)
        return errno == EINTR ? UW_TOLD_SOME : -errno;
    if (count == 0)
        return UW_TOLD_NOTHING;
    for (int i = 0; i < count; i++) {
        if (awaited(loop->backend_state, &events[i]))
            uw_ready(loop, descriptor_of(&events[i]), events[i].events);
        else
            strays = true;
    }
    error = strays ? leave_closed_behind(loop) : 0;
    if (error)
        return error;
    return count < EVENTS_PER_WAIT ? UW_TOLD_ALL : UW_TOLD_SOME;
}

const struct uw_backend uw_backend_epoll = {
    .name = "epoll",
    .open = epoll_open,
    .close = epoll_close,
    .submit = uw_readiness_submit,
    .cancel = uw_readiness_cancel,
    .forget = uw_readiness_forget,
    .wait = epoll_wait_events,
    .interest = epoll_interest,
};

#else
typedef int uw_backend_epoll_is_left_out; /* ISO C wants a declaration */
#endif
