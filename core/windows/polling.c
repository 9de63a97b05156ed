/* poll: a reference, for few descriptors. */
#include <stdlib.h>
#include <winsock2.h>

#include "base/clock.h"
#include "windows/errors.h"
#include "windows/events.h"
#include "windows/sockets.h"

#define SLICE_MS 1 /* Winsock's poll wants something to wait for */

struct pollfd_of_posix {
    int fd;
    short events, revents;
};

/* Looks at each. Returns how many have something. */
static int look(struct pollfd_of_posix *items, unsigned long count)
{
    int told = 0;

    for (unsigned long i = 0; i < count; i++) {
        struct uw_object *object = items[i].fd < 0 ? NULL : uw_number_hold(items[i].fd);
        int events = object ? uw_object_poll(object, items[i].events, 0) : UW_EVENT_NVAL;

        if (object)
            uw_object_release(object);
        items[i].revents = (short)(items[i].fd < 0 ? 0 : events < 0 ? UW_EVENT_NVAL : events);
        told += items[i].revents != 0;
    }
    return told;
}

static short asked(int events)
{
    return (short)((events & UW_EVENT_IN ? POLLRDNORM : 0) | (events & UW_EVENT_OUT ? POLLWRNORM : 0));
}

/* Waits for any of them without looking at what has come. */
static void wait_for_any(const struct pollfd_of_posix *items, unsigned long count, int wait_ms)
{
    WSAPOLLFD *theirs = calloc(count + 1, sizeof *theirs);
    struct uw_object **objects = calloc(count + 1, sizeof *objects);
    unsigned long sockets = 0;

    for (unsigned long i = 0; theirs && objects && i < count; i++) {
        struct uw_object *object = items[i].fd < 0 ? NULL : uw_number_hold(items[i].fd);

        if (object && uw_object_is_socket(object)) {
            objects[sockets] = object;
            /* A pipe's reader that leaves is told of by its end. */
            theirs[sockets++] = (WSAPOLLFD){
                .fd = object->handle,
                .events = (short)(asked(items[i].events) | (object->kind == UW_KIND_PIPE_OUT ? POLLRDNORM : 0))};
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

/* What wakes is not always told by POSIX: then it is looked for in slices. Windows' own count of milliseconds goes on
 * in steps of many, and a wait would end too early by it. */
int uw_posix_poll(struct pollfd_of_posix *items, unsigned long count, int wait_ms)
{
    int64_t end_ns = wait_ms < 0 ? INT64_MAX : uw_clock_ns() + wait_ms * UW_NS_PER_MS;
    bool first = true;
    int told;

    while ((told = look(items, count)) == 0 && wait_ms != 0) {
        int64_t left_ns = end_ns - uw_clock_ns();

        if (left_ns <= 0)
            break;
        if (!first)
            Sleep(SLICE_MS);
        first = false;
        wait_for_any(items, count, wait_ms < 0 ? -1 : (int)((left_ns + UW_NS_PER_MS - 1) / UW_NS_PER_MS));
    }
    return told;
}
