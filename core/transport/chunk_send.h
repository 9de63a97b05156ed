/* How chunks leave as they are: bytes and borrowed memory of several together, files from the kernel's own memory. */
#ifndef UW_TRANSPORT_CHUNK_SEND_H
#define UW_TRANSPORT_CHUNK_SEND_H

#include "transport/transport.h"

/* Makes the endpoint's operation `send` the next one for the chunks from `first` on, all but submitted: `complete` is
 * the caller's. */
void uw_chunk_prepare_send(struct uw_endpoint *endpoint, const struct uw_chunk *first);

#endif
