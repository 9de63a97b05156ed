/* One exchange of requests and responses on a connection. HTTP/1.1 has one stream a connection, protocols that
 * interleave have many; what is outgoing is counted for each. Its memory is the protocol's. */
#ifndef UW_SERVER_STREAM_H
#define UW_SERVER_STREAM_H

#include <stdatomic.h>

struct uw_connection;

struct uw_stream {
    struct uw_connection *connection;
    atomic_size_t outgoing_bytes; /* handed over by the handler and not sent yet */
};

#endif
