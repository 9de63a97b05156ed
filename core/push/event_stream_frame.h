/* Server-sent events as they are sent (HTML Living Standard, section 9.2.5). */
#ifndef UW_PUSH_EVENT_STREAM_FRAME_H
#define UW_PUSH_EVENT_STREAM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/chunk.h"

/* The caller ensures that `name` and `id` contain no line end and no NUL; `data` may contain any byte. */
struct uw_sent_event {
    const char *data; /* NULL: no data, so that the client dispatches no event */
    size_t data_length;
    const char *name; /* NULL: not said, which is "message" */
    size_t name_length;
    const char *id; /* NULL: not sent, so the last one remains; an empty one resets it */
    size_t id_length;
    int64_t retry_ms; /* the client's delay before it reconnects; negative: not sent */
};

/* Whether a name or an id may be this. */
bool uw_event_stream_is_line(const char *bytes, size_t length);

/* Returns the event in a chunk of `slab` if it fits; NULL when memory is exhausted. `slab` may be NULL: then any
 * thread. */
struct uw_chunk *uw_event_stream_frame(struct uw_slab *slab, const struct uw_sent_event *event);

#endif
