/* epoll, level-triggered or one-shot: see `man 7 epoll`. */
#ifdef UW_HAVE_EPOLL

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "io/readiness.h"

#define EVENTS_PER_WAIT 256
#define REGISTRATIONS_MIN 64
#define STRAYS_PAUSE_NS UW_NS_PER_MS

_Static_assert(EPOLLIN == POLLIN && EPOLLPRI == POLLPRI && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR &&
                   EPOLLHUP == POLLHUP,
               "epoll's events are those of poll");

struct epoll {
    struct uw_readiness readiness;
    int fd;
    uint32_t *registrations; /* by descriptor: the serial number of its registration */
    int registrations_size;
    uint32_t registered; /* registrations so far */
};

static struct epoll *epoll_of(struct uw_loop *loop)
{
    return uw_container_of(loop->backend_state, struct epoll, readiness);
}

static int epoll_open(struct uw_loop *loop)
{
    struct epoll *epoll = malloc(sizeof *epoll);
    int error;

    if (!epoll)
        return -ENOMEM;
    epoll->fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll->fd < 0) {
        error = -errno;
        free(epoll);
        return error;
    }
    epoll->registrations = NULL;
    epoll->registrations_size = 0;
    epoll->registered = 0;
    uw_readiness_open(loop, &epoll->readiness);
    return 0;
}

static void epoll_close(struct uw_loop *loop)
{
    struct epoll *epoll = epoll_of(loop);

    close(epoll->fd);
    free(epoll->registrations);
    uw_readiness_close(&epoll->readiness);
    free(epoll);
}

static int grow_registrations(struct epoll *epoll, int fd)
{
    int size = epoll->registrations_size ? epoll->registrations_size : REGISTRATIONS_MIN;
    uint32_t *grown;

    if (fd < epoll->registrations_size)
        return 0;
    while (size <= fd)
        size *= 2;
    grown = realloc(epoll->registrations, (size_t)size * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    memset(grown + epoll->registrations_size, 0, (size_t)(size - epoll->registrations_size) * sizeof *grown);
    epoll->registrations = grown;
    epoll->registrations_size = size;
    return 0;
}

/* An event carries its descriptor and the serial number of the registration. */
static uint64_t label(const struct epoll *epoll, int fd)
{
    return (uint64_t)epoll->registrations[fd] << 32 | (uint32_t)fd;
}

static int descriptor_of(const struct epoll_event *event)
{
    return (int)(uint32_t)event->data.u64;
}

/* Calls epoll_ctl on `set` with the descriptor's label. Returns 0 or -errno. */
static int tell(const struct epoll *epoll, int set, int action, int fd, unsigned events)
{
    struct epoll_event event = {.events = events & ~UW_ONCE, .data.u64 = label(epoll, fd)};

    if (events & UW_ONCE)
        event.events |= EPOLLONESHOT;
    return epoll_ctl(set, action, fd, &event) ? -errno : 0;
}

static int add(struct epoll *epoll, int fd, unsigned events)
{
    int error = grow_registrations(epoll, fd);

    if (error)
        return error;
    epoll->registrations[fd] = ++epoll->registered;
    return tell(epoll, epoll->fd, EPOLL_CTL_ADD, fd, events);
}

static int modify(const struct epoll *epoll, int fd, unsigned events)
{
    return tell(epoll, epoll->fd, EPOLL_CTL_MOD, fd, events);
}

static int epoll_interest(struct uw_loop *loop, int fd, unsigned old, unsigned new)
{
    struct epoll *epoll = epoll_of(loop);
    int error;

    if (new == 0 || new == UW_ONCE) {
        /* A one-shot event has disabled the descriptor already. The kernel has removed a closed descriptor. */
        if (new == 0 || !(old & UW_ONCE))
            (void)epoll_ctl(epoll->fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    error = old ? modify(epoll, fd, new) : add(epoll, fd, new);
    if (error == -ENOENT)
        return add(epoll, fd, new);
    if (error == -EEXIST)
        return modify(epoll, fd, new);
    return error;
}

static bool has_waiting(const struct uw_descriptor *descriptor)
{
    return descriptor->readers || descriptor->writers;
}

/* Registers in `set` every descriptor that an operation waits for. A registration fails if the owner closed the
 * descriptor without notice yet. Returns false when the kernel lacks memory. */
static bool register_all(const struct epoll *epoll, int set)
{
    for (int fd = 0; fd < epoll->readiness.descriptors_size; fd++) {
        const struct uw_descriptor *descriptor = &epoll->readiness.descriptors[fd];
        int error = 0;

        if (descriptor->interest && has_waiting(descriptor))
            error = tell(epoll, set, EPOLL_CTL_ADD, fd, descriptor->interest);
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

/* A closed descriptor remains registered while another process has the same file open, and cannot be removed. So all
 * other descriptors move to a new set. Returns false, without a change, when descriptors or memory run out. */
static bool leave_closed_behind(struct epoll *epoll)
{
    int set = epoll_create1(EPOLL_CLOEXEC);
    bool left;

    if (set < 0)
        return false;
    left = register_all(epoll, set) && dup3(set, epoll->fd, O_CLOEXEC) >= 0;
    close(set);
    if (left)
        forget_silent(&epoll->readiness);
    return left;
}

/* Stray events repeat at once. To avoid spinning, the loop pauses, too briefly for a noticeable delay. */
static void bear_strays(int64_t wait_ns)
{
    struct timespec pause = {.tv_nsec = wait_ns < STRAYS_PAUSE_NS ? wait_ns : STRAYS_PAUSE_NS};

    (void)nanosleep(&pause, NULL);
}

/* Returns whether an operation waits for the event's descriptor. */
static bool awaited(const struct epoll *epoll, const struct epoll_event *event)
{
    int fd = descriptor_of(event);

    return event->data.u64 == label(epoll, fd) && has_waiting(&epoll->readiness.descriptors[fd]);
}

/* This counts before any delivery: a callback may end an operation, whose event is then no stray. */
static int count_strays(const struct epoll *epoll, const struct epoll_event *events, int count)
{
    int strays = 0;

    for (int i = 0; i < count; i++)
        if (!awaited(epoll, &events[i]))
            strays++;
    return strays;
}

static int epoll_wait_events(struct uw_loop *loop, int64_t wait_ns)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    struct epoll *epoll = epoll_of(loop);
    int count = epoll_wait(epoll->fd, events, EVENTS_PER_WAIT, uw_wait_ms(wait_ns));
    int strays;

    loop->now_ns = uw_clock_ns();
    if (count < 0)
        return errno == EINTR ? UW_WAIT_SOME : -errno;
    if (count == 0)
        return UW_WAIT_NOTHING;
    strays = count_strays(epoll, events, count);
    for (int i = 0; i < count; i++)
        if (awaited(epoll, &events[i]))
            uw_ready(loop, descriptor_of(&events[i]), events[i].events);
    if (strays && !leave_closed_behind(epoll) && strays == count)
        bear_strays(wait_ns);
    return count < EVENTS_PER_WAIT ? UW_WAIT_ALL : UW_WAIT_SOME;
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
typedef int uw_backend_epoll_is_left_out; /* ISO C requires a declaration */
#endif
