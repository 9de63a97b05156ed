/* Sends chunks without encryption. Bytes and lent memory of several chunks are sent together. The kernel sends
 * files. */
#ifndef UW_TRANSPORT_CHUNK_SEND_H
#define UW_TRANSPORT_CHUNK_SEND_H

#include "transport/transport.h"

/* Prepares the endpoint's operation `send` for the chunks from `first` on. The caller sets `complete` and submits the
 * operation. */
void uw_chunk_prepare_send(struct uw_endpoint *endpoint, const struct uw_chunk *first);

#endif
