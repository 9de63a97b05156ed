/* HTTP/1.1 on a connection (RFC 9112): one request at a time. What a client sends ahead (pipelining, section 9.3.2) is
 * kept until its turn, up to a limit, after which the connection is not read until the requests before have been
 * answered. */
#ifndef UW_HTTP1_HTTP1_H
#define UW_HTTP1_HTTP1_H

#include "http1/pending.h"
#include "http1/reader.h"
#include "server/connection.h"

/* Received ahead of its turn; then the connection is not read for a while. The last result goes beyond it by less than
 * UW_RECEIVE_BYTES_MAX; io_uring may, the first time, have taken all that the kernel held for the connection. */
#define UW_PENDING_BYTES_MAX 65536

/* A content's bytes extend body_timeout by the time that they take at this rate. */
#define UW_BODY_BYTES_PER_SECOND_MIN 1024

/* Changed by http1_connection.c, but for what concerns the detaching: http1_detach.c. */
enum uw_http1_state {
    UW_HTTP1_IDLE,      /* between requests */
    UW_HTTP1_HEAD,      /* part of a head has come */
    UW_HTTP1_CONTENT,   /* the head is complete, its content is not */
    UW_HTTP1_ANSWERING, /* the handler has the request */
    UW_HTTP1_DETACHING, /* likewise, and wants the descriptor */
    UW_HTTP1_UPGRADING, /* has been answered, and another protocol goes on as soon as nobody is in the midst of this one
                         */
};

struct uw_http1 {
    struct uw_stream stream;
    struct uw_http1_reader reader; /* with the request */
    uint8_t state;
    uint32_t requests; /* begun on this connection */
    int64_t content_start_ns;
    struct uw_pending pending; /* received ahead of its turn */
    struct uw_detached *detached;
    struct uw_client *client; /* who has the connection then */
};

_Static_assert(sizeof(struct uw_http1) <= UW_PROTOCOL_STATE_BYTES, "a connection has room for it");

extern const struct uw_protocol uw_protocol_http1;

static inline struct uw_http1 *uw_http1_of(const struct uw_connection *connection)
{
    return uw_connection_state(connection);
}

/* Whether the handler has the request. */
static inline bool uw_http1_is_handled(const struct uw_http1 *http1)
{
    return http1->reader.request && http1->state >= UW_HTTP1_ANSWERING;
}

#endif
