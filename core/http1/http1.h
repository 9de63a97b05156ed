/* HTTP/1.1 on a connection (RFC 9112) handles one request at a time. Pipelined bytes (section 9.3.2) are kept up to a
 * limit. Beyond it the server stops reading until the requests before have their responses. */
#ifndef UW_HTTP1_HTTP1_H
#define UW_HTTP1_HTTP1_H

#include "base/pipelined_input.h"
#include "http1/request_reader.h"
#include "server/connection.h"

/* The limit of pipelined bytes. The last result exceeds it by less than UW_RECEIVE_BYTES_MAX. The first time, io_uring
 * may have received everything that the kernel had for the connection. */
#define UW_PENDING_BYTES_MAX 65536

/* body_timeout grows by the time that the content's bytes take at this rate. */
#define UW_SPOOLED_BODY_BYTES_PER_SECOND_MIN 1024

/* http1_connection.c changes the state; http1_detach.c changes it for the detaching. */
enum uw_http1_state {
    UW_HTTP1_IDLE,      /* between requests */
    UW_HTTP1_HEAD,      /* a part of a head has arrived */
    UW_HTTP1_CONTENT,   /* the head is complete, its content is incomplete */
    UW_HTTP1_ANSWERING, /* the handler has the request */
    UW_HTTP1_DETACHING, /* the handler has the request and wants the descriptor */
    UW_HTTP1_UPGRADING, /* the response is queued; another protocol takes over once no code of this protocol runs */
};

struct uw_http1 {
    struct uw_stream stream;
    struct uw_http1_reader reader; /* reads the request and refers to it */
    uint8_t state;
    uint32_t requests; /* requests begun on this connection */
    int64_t content_start_ns;
    struct uw_pipelined_input pending; /* pipelined bytes */
    struct uw_detached *detached;
    struct uw_push_client *client; /* the owner of the connection after an upgrade */
};

_Static_assert(sizeof(struct uw_http1) <= UW_PROTOCOL_STATE_BYTES, "a connection has room for it");

extern const struct uw_protocol uw_protocol_http1;

static inline struct uw_http1 *uw_http1_of(const struct uw_connection *connection)
{
    return uw_connection_state(connection);
}

/* Returns whether the handler has the request. */
static inline bool uw_http1_is_handled(const struct uw_http1 *http1)
{
    return http1->reader.request && http1->state >= UW_HTTP1_ANSWERING;
}

#endif
