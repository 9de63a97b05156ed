/* One exchange of requests and responses on a connection. HTTP/1.1 has one stream per connection; multiplexing
 * protocols have many. Outgoing bytes are counted per stream. The protocol owns the memory. */
#ifndef UW_SERVER_STREAM_H
#define UW_SERVER_STREAM_H

#include <stdatomic.h>

struct uw_connection;

struct uw_stream {
    struct uw_connection *connection;
    atomic_size_t outgoing_bytes; /* handed over by the handler and not sent yet */
};

#endif
