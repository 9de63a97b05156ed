/* Lines about refused requests for whoever watches the server, on standard error. A client may be refused as often as
 * it likes: there are at most so many lines a second, and then one that counts what was left out. The loop writes them
 * and waits for nobody. */
#ifndef UW_LOG_REFUSAL_LOG_H
#define UW_LOG_REFUSAL_LOG_H

#include "io/loop.h"
#include "log/access_line.h"

#define UW_REFUSAL_LINES_PER_SECOND 10 /* of a loop */
#define UW_REFUSAL_LOG_BYTES 4096      /* that wait to be written; PIPE_BUF, so that a write is not torn */

struct uw_refusal_log {
    struct uw_loop *loop;
    struct uw_operation write;
    struct uw_timer timer; /* a second after the first line */
    int lines;             /* since then */
    uint64_t left_out;
    size_t waiting_bytes;
    char waiting[UW_REFUSAL_LOG_BYTES], writing[UW_REFUSAL_LOG_BYTES];
};

/* The log must not move, and ends with the loop. */
void uw_refusal_log_init(struct uw_refusal_log *log, struct uw_loop *loop, int fd);

/* On the loop's thread. */
void uw_refusal_log_add(struct uw_refusal_log *log, const struct uw_access *refusal);

#endif
