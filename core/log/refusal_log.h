/* Reports refused requests on standard error. A client can provoke any number of refusals, so a second has few lines,
 * and a last line counts the rest. The loop's thread writes the lines without waiting and without SIGPIPE. */
#ifndef UW_LOG_REFUSAL_LOG_H
#define UW_LOG_REFUSAL_LOG_H

#include "io/loop.h"
#include "log/server_line.h"
#include "log/system_error.h"

#define UW_REFUSAL_LINES_PER_SECOND 10             /* for each loop */
#define UW_SYSTEM_ERROR_NS (60 * UW_NS_PER_SECOND) /* minimum between two lines of the same kind */
#define UW_REFUSAL_LOG_BYTES 4096 /* maximum of waiting lines; PIPE_BUF, so that a pipe takes a write as one */

struct uw_refusal_log {
    struct uw_loop *loop;
    enum uw_log_form form;
    struct uw_operation room; /* submitted while the file accepts nothing: POLLOUT */
    struct uw_timer timer;    /* expires a second after the first line */
    int lines;                /* lines since then */
    uint64_t left_out;
    int64_t told_ns[UW_SYSTEM_ERRORS]; /* time of the last line; 0: never */
    size_t waiting_bytes;
    char waiting[UW_REFUSAL_LOG_BYTES];
};

/* The log must not move. It lives as long as the loop. */
void uw_refusal_log_init(struct uw_refusal_log *log, struct uw_loop *loop, int fd, enum uw_log_form form);

/* The loop's thread calls this. */
void uw_refusal_log_add(struct uw_refusal_log *log, const struct uw_access_record *refusal);

/* The loop's thread calls this. Adds a line about an error of the system: see uw_system_error_line. */
void uw_refusal_log_trouble(struct uw_refusal_log *log, enum uw_system_error trouble, const char *where, int error);

#endif
