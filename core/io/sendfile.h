/* Helps every backend to send: advances a vector, and sends a range of a file. */
#ifndef UW_IO_SENDFILE_H
#define UW_IO_SENDFILE_H

#include "io/loop.h"

#define UW_SEND_FILE_BYTES_PER_TRY (2 * 1024 * 1024) /* a limit, so that other connections get their turn */

/* Advances a UW_SEND_VECTOR by `count` sent bytes. Returns whether bytes remain. */
bool uw_send_vector_advance(struct uw_operation *operation, size_t count);

/* Tries once, without waiting, to send a part of a UW_SEND_FILE. Returns the final result, or -EAGAIN to be called
 * again when the socket is writable. In a turn, uw_send_end_turn must follow. */
int64_t uw_send_file_part(struct uw_loop *loop, struct uw_operation *operation);

/* Ends the sending of files in this turn: SIGPIPE may reach the thread again. */
void uw_send_end_turn(struct uw_loop *loop);

#endif
