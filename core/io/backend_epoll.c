/* epoll, level-triggered or for one event: see `man 7 epoll`. */
#ifdef UW_HAVE_EPOLL

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "io/readiness.h"

#define EVENTS_PER_WAIT 256
#define STRAYS_PAUSE_NS UW_NS_PER_MS

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

/* Tells the set `epoll_fd` of a descriptor, as what it is registered as. Returns 0 or -errno. */
static int tell(int epoll_fd, int action, int fd, unsigned events, uint32_t registration)
{
    struct epoll_event event = {.events = events & ~UW_ONCE, .data.u64 = label(fd, registration)};

    if (events & UW_ONCE)
        event.events |= EPOLLONESHOT;
    return epoll_ctl(epoll_fd, action, fd, &event) ? -errno : 0;
}

static int control(struct uw_loop *loop, int action, int fd, unsigned events)
{
    struct uw_readiness *readiness = loop->backend_state;

    if (action == EPOLL_CTL_ADD)
        readiness->descriptors[fd].registration = ++readiness->registrations;
    return tell(epoll_of(loop), action, fd, events, readiness->descriptors[fd].registration);
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

static bool has_waiting(const struct uw_descriptor *descriptor)
{
    return descriptor->readers || descriptor->writers;
}

/* Registers in `epoll_fd` all that somebody waits for. What cannot be registered is closed, and its owner has not said
 * so yet; unless the kernel is short of memory. */
static bool register_all(const struct uw_readiness *readiness, int epoll_fd)
{
    for (int fd = 0; fd < readiness->descriptors_size; fd++) {
        const struct uw_descriptor *descriptor = &readiness->descriptors[fd];
        int error = 0;

        if (descriptor->interest && has_waiting(descriptor))
            error = tell(epoll_fd, EPOLL_CTL_ADD, fd, descriptor->interest, descriptor->registration);
        if (error == -ENOMEM || error == -ENOSPC)
            return false;
    }
    return true;
}

static void forget_silent(struct uw_readiness *readiness)
{
    for (int fd = 0; fd < readiness->descriptors_size; fd++)
        if (!has_waiting(&readiness->descriptors[fd]))
            readiness->descriptors[fd].interest = 0;
}

/* A closed descriptor stays registered while another process has the same file open, and nothing can take it out: so
 * all others move to a new set. Returns false when descriptors or memory are short: then all is as it was. */
static bool leave_closed_behind(struct uw_loop *loop)
{
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bool left;

    if (epoll_fd < 0)
        return false;
    left = register_all(loop->backend_state, epoll_fd) && dup3(epoll_fd, epoll_of(loop), O_CLOEXEC) >= 0;
    close(epoll_fd);
    if (left)
        forget_silent(loop->backend_state);
    return left;
}

/* They are there again at once: not to spin, this waits in their place, so briefly that nobody misses it. */
static void bear_strays(int64_t wait_ns)
{
    struct timespec pause = {.tv_nsec = wait_ns < STRAYS_PAUSE_NS ? wait_ns : STRAYS_PAUSE_NS};

    (void)nanosleep(&pause, NULL);
}

/* Whether it is for a descriptor that somebody waits for. */
static bool awaited(const struct uw_readiness *readiness, const struct epoll_event *event)
{
    int fd = descriptor_of(event);
    const struct uw_descriptor *descriptor = &readiness->descriptors[fd];

    return event->data.u64 == label(fd, descriptor->registration) && has_waiting(descriptor);
}

static int epoll_wait_events(struct uw_loop *loop, int64_t wait_ns)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int count = epoll_wait(epoll_of(loop), events, EVENTS_PER_WAIT, uw_wait_ms(wait_ns));
    int strays = 0;

    loop->now_ns = uw_clock_ns();
    if (count < 0)
        return errno == EINTR ? UW_TOLD_SOME : -errno;
    if (count == 0)
        return UW_TOLD_NOTHING;
    for (int i = 0; i < count; i++) {
        if (awaited(loop->backend_state, &events[i]))
            uw_ready(loop, descriptor_of(&events[i]), events[i].events);
        else
            strays++;
    }
    if (strays && !leave_closed_behind(loop) && strays == count)
        bear_strays(wait_ns);
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
