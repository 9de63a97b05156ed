/* How a connection begins: the request of a client, and what the server answers. */
#ifndef BENCH_OPENING_HANDSHAKE_H
#define BENCH_OPENING_HANDSHAKE_H

#include <stddef.h>

struct peer;

/* Valid until the loop has sent it: the same for all of a path. */
const char *opening_request(const struct peer *peer, size_t *length);

/* Returns the length of the head, or 0 when there is more to come; what is no acceptance is a failure of the peer. */
size_t opening_read_answer(struct peer *peer, const char *bytes, size_t length);

#endif
