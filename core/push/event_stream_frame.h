/* Server-sent events as they are sent (HTML Living Standard, section 9.2.5). */
#ifndef UW_PUSH_EVENT_STREAM_FRAME_H
#define UW_PUSH_EVENT_STREAM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/chunk.h"

/* Of `name` and `id` whoever makes it has seen to it that they hold no line's end and no NUL; `data` may hold any. */
struct uw_sent_event {
    const char *data; /* NULL: none, so that the client tells nobody */
    size_t data_length;
    const char *name; /* NULL: not said, which is "message" */
    size_t name_length;
    const char *id; /* NULL: not said, so that the last one stays; an empty one is forgotten */
    size_t id_length;
    int64_t retry_ms; /* until the client comes back to a stream that has ended; negative: not said */
};

/* Whether a name or an id may be this. */
bool uw_event_stream_is_line(const char *bytes, size_t length);

/* In a chunk of `slab` where it fits, or NULL when memory is exhausted. `slab` may be NULL: then any thread. */
struct uw_chunk *uw_event_stream_frame(struct uw_slab *slab, const struct uw_sent_event *event);

#endif
