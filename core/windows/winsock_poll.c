/* Implements poll(2) simply, for few descriptors. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <winsock2.h>

#include "windows/errno_map.h"
#include "windows/poll_events.h"
#include "windows/sockets.h"

#define SLICE_MS 1 /* interval between checks, in milliseconds */
#define US_PER_SECOND INT64_C(1000000)
#define US_PER_MS 1000

struct pollfd_of_posix {
    int fd;
    short events, revents;
};

static int64_t now_us(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

/* Reads the events of all items. Returns the number of items with events. */
static int read_events(struct pollfd_of_posix *items, unsigned long count)
{
    int ready = 0;

    for (unsigned long i = 0; i < count; i++) {
        struct uw_object *object = items[i].fd < 0 ? NULL : uw_number_retain(items[i].fd);
        int events = object ? uw_object_poll(object, items[i].events, 0) : UW_EVENT_NVAL;

        if (object)
            uw_object_release(object);
        items[i].revents = (short)(items[i].fd < 0 ? 0 : events < 0 ? UW_EVENT_NVAL : events);
        ready += items[i].revents != 0;
    }
    return ready;
}

static short winsock_events(int events)
{
    return (short)((events & UW_EVENT_IN ? POLLRDNORM : 0) | (events & UW_EVENT_OUT ? POLLWRNORM : 0));
}

/* Waits for an event of any item, without storing events. */
static void wait_for_any(const struct pollfd_of_posix *items, unsigned long count, int wait_ms)
{
    WSAPOLLFD *theirs = calloc(count + 1, sizeof *theirs);
    struct uw_object **objects = calloc(count + 1, sizeof *objects);
    unsigned long sockets = 0;

    for (unsigned long i = 0; theirs && objects && i < count; i++) {
        struct uw_object *object = items[i].fd < 0 ? NULL : uw_number_retain(items[i].fd);

        if (object && uw_object_is_socket(object)) {
            objects[sockets] = object;
            /* The write end of a pipe gets an end of file when the reader has closed. */
            theirs[sockets++] = (WSAPOLLFD){.fd = object->handle,
                                            .events = (short)(winsock_events(items[i].events) |
                                                              (object->kind == UW_KIND_PIPE_OUT ? POLLRDNORM : 0))};
        } else if (object) {
            uw_object_release(object);
        }
    }
    if (sockets == 0 || WSAPoll(theirs, sockets, wait_ms) < 0)
        Sleep(wait_ms < 0 ? SLICE_MS : (DWORD)wait_ms);
    while (sockets > 0)
        uw_object_release(objects[--sockets]);
    free(objects);
    free(theirs);
}

/* WSAPoll does not wake for some POSIX events, so these are checked in slices. Windows' millisecond clock advances in
 * coarse steps. A wait by this clock would end too early. */
int uw_posix_poll(struct pollfd_of_posix *items, unsigned long count, int wait_ms)
{
    int64_t end_us = wait_ms < 0 ? INT64_MAX : now_us() + (int64_t)wait_ms * US_PER_MS;
    bool first = true;
    int ready;

    while ((ready = read_events(items, count)) == 0 && wait_ms != 0) {
        int64_t left_us = end_us - now_us();

        if (left_us <= 0)
            break;
        if (!first)
            Sleep(SLICE_MS);
        first = false;
        wait_for_any(items, count, wait_ms < 0 ? -1 : (int)((left_us + US_PER_MS - 1) / US_PER_MS));
    }
    return ready;
}
