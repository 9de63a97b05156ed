/* A message for many clients, framed once for all who get it in the same way: as text or not, by one protocol,
 * compressed by one window. Long ones are lent to each client's chunk, short ones copied, so that several of them leave
 * in one piece. Belongs to the loop's thread. */
#ifndef UW_PUSH_SHARED_FRAME_H
#define UW_PUSH_SHARED_FRAME_H

#include "push/client.h"

/* Of one client's chunk, its header included: with a copy of a short frame, or a long one lent. As small as may be:
 * there is one for each client at once, and thousands of larger ones would be thousands of pages. */
#define UW_SHARED_CHUNK_BYTES 512

struct uw_shared_frame;

struct uw_shared_message {
    const char *bytes;
    size_t length;
    struct uw_shared_frame *frames; /* so far */
};

/* The message as `client` gets it, ready for uw_client_send_framed, in a chunk of `slab`, whose objects are of
 * UW_SHARED_CHUNK_BYTES; NULL when memory is exhausted. */
struct uw_chunk *uw_shared_chunk(struct uw_shared_message *message, struct uw_client *client, bool text,
                                 struct uw_slab *slab);

/* No more of its chunks are to be made; those that there are go on. */
void uw_shared_message_end(struct uw_shared_message *message);

#endif
