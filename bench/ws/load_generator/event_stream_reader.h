/* Server-sent events as they come: each has one line of data here. */
#ifndef BENCH_EVENT_STREAM_READER_H
#define BENCH_EVENT_STREAM_READER_H

#include <stddef.h>

struct peer;

/* Hands the data of each event to the peer's kind. Returns how many bytes were used. */
size_t event_stream_read(struct peer *peer, const char *bytes, size_t length);

#endif
