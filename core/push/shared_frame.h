/* A message for many clients, framed once for all who get it in the same way: as text or not, by one protocol,
 * compressed by one window. Long ones are lent to each client's chunk, short ones copied, so that several of them leave
 * in one piece. Belongs to the loop's thread. */
#ifndef UW_PUSH_SHARED_FRAME_H
#define UW_PUSH_SHARED_FRAME_H

#include "push/client.h"

#define UW_LENT_BYTES_MIN 512 /* shorter frames are copied */

struct uw_shared_frame;

struct uw_shared_message {
    const char *bytes;
    size_t length;
    struct uw_shared_frame *frames; /* so far */
};

/* The message as `client` gets it, ready for uw_client_send_framed, in a chunk of `lent`, a slab of chunks without
 * bytes, or of the service's; NULL when memory is exhausted. */
struct uw_chunk *uw_shared_chunk(struct uw_shared_message *message, struct uw_client *client, bool text,
                                 struct uw_slab *lent);

/* No more of its chunks are to be made; those that there are go on. */
void uw_shared_message_end(struct uw_shared_message *message);

#endif
