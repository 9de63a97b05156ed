/* A message for many clients, framed once for all clients with the same type, protocol and compression window. Long
 * frames are lent to each client's chunk. Short ones are copied, so that several are sent in one piece. Belongs to the
 * loop's thread. */
#ifndef UW_PUSH_SHARED_FRAME_H
#define UW_PUSH_SHARED_FRAME_H

#include "push/push_client.h"

/* The size of one client's chunk, its header included, with a copy of a short frame or a long one lent. The size is
 * small, since every client has a chunk at once: larger chunks would take thousands of pages. */
#define UW_SHARED_CHUNK_BYTES 512

struct uw_shared_frame;

struct uw_shared_message {
    const char *bytes;
    size_t length;
    struct uw_shared_frame *frames; /* so far */
};

/* Returns the message framed for `client`, ready for uw_push_client_send_framed, in a chunk of `slab`, whose objects
 * have UW_SHARED_CHUNK_BYTES. Returns NULL when memory is exhausted. */
struct uw_chunk *uw_shared_chunk(struct uw_shared_message *message, struct uw_push_client *client, bool text,
                                 struct uw_slab *slab);

/* The caller makes no more chunks of the message; existing chunks remain valid. */
void uw_shared_message_end(struct uw_shared_message *message);

#endif
