/* What every kind of backend needs for sending: the rest of a vector, and a stretch of a file. */
#ifndef UW_IO_SEND_H
#define UW_IO_SEND_H

#include "io/loop.h"

#define UW_SEND_FILE_BYTES_PER_TRY (2 * 1024 * 1024) /* then others have their turn */

/* After `count` bytes of a UW_SEND_VECTOR have been sent: whether something is left. */
bool uw_send_vector_advance(struct uw_operation *operation, size_t count);

/* Tries once to send some of a UW_SEND_FILE, never waiting. Returns its final result; or -EAGAIN when
 * it is to be called again as soon as the socket is writable. Within a turn, uw_send_end_turn has to follow. */
int64_t uw_send_file_part(struct uw_loop *loop, struct uw_operation *operation);

/* No more files are sent in this turn: SIGPIPE may reach the thread again. */
void uw_send_end_turn(struct uw_loop *loop);

#endif
