/* Sends chunks without encryption: bytes and borrowed memory of several chunks together, files by the kernel. */
#ifndef UW_TRANSPORT_CHUNK_SEND_H
#define UW_TRANSPORT_CHUNK_SEND_H

#include "transport/transport.h"

/* Prepares the endpoint's operation `send` for the chunks from `first` on. The caller sets `complete` and submits. */
void uw_chunk_prepare_send(struct uw_endpoint *endpoint, const struct uw_chunk *first);

#endif
