/* Reports refused requests on standard error. A client can provoke any number of refusals. So each second has few
 * lines, and a last line with the number of the others. The loop's thread writes without waiting and without
 * SIGPIPE. */
#ifndef UW_LOG_REFUSAL_LOG_H
#define UW_LOG_REFUSAL_LOG_H

#include "io/loop.h"
#include "log/server_line.h"
#include "log/system_error.h"

#define UW_REFUSAL_LINES_PER_SECOND 10             /* lines of one loop */
#define UW_SYSTEM_ERROR_NS (60 * UW_NS_PER_SECOND) /* minimum time between two lines of the same kind */
#define UW_REFUSAL_LOG_BYTES 4096                  /* maximum bytes of waiting lines: PIPE_BUF of Linux */

struct uw_refusal_log {
    struct uw_loop *loop;
    enum uw_log_form form;
    struct uw_operation writable; /* POLLOUT, pending while the file is blocked */
    struct uw_timer timer;        /* expires a second after the first line */
    int lines;                    /* number of lines in this second */
    uint64_t suppressed;
    int64_t reported_ns[UW_SYSTEM_ERRORS]; /* time of the last line of each kind. 0: never */
    size_t waiting_bytes;
    char waiting[UW_REFUSAL_LOG_BYTES];
};

/* The log must not move. It must live as long as the loop. */
void uw_refusal_log_init(struct uw_refusal_log *log, struct uw_loop *loop, int fd, enum uw_log_form form);

/* Called by the loop's thread only. */
void uw_refusal_log_add(struct uw_refusal_log *log, const struct uw_access_record *refusal);

/* Called by the loop's thread only. Adds a line about a system error: see uw_system_error_line. */
void uw_refusal_log_trouble(struct uw_refusal_log *log, enum uw_system_error trouble, const char *where, int error);

#endif
