/* The access log of a server, by its settings. */
#ifndef RB_UPWELL_ACCESS_LOGGING_H
#define RB_UPWELL_ACCESS_LOGGING_H

#include <ruby.h>

#include "log/access_log.h"
#include "log/refusal_log.h"
#include "server/request.h"

#define RB_UW_WORKER_BYTES 12

struct rb_uw_access_logging {
    VALUE io; /* nil: no log */
    enum uw_access_format format;
    struct uw_access_text *except; /* paths whose requests get no line */
    size_t except_count;
    char worker[RB_UW_WORKER_BYTES]; /* the worker's number; empty without workers */
    struct uw_access_log *log;       /* NULL: not open */
    struct uw_refusal_log *errors;   /* gets the errors of the log */
    uint64_t lines_lost;
};

void rb_uw_init_access_logging(void);
void rb_uw_access_logging_mark(const struct rb_uw_access_logging *logging);
void rb_uw_access_logging_compact(struct rb_uw_access_logging *logging);
void rb_uw_access_logging_free(struct rb_uw_access_logging *logging);

/* Reads access_log, access_log_format, access_log_except and worker. Raises KeyError, ArgumentError and TypeError. */
void rb_uw_access_logging_read(struct rb_uw_access_logging *logging, VALUE self, VALUE settings);

/* Opens the log, if the settings have one. Raises SystemCallError. */
void rb_uw_access_logging_open(struct rb_uw_access_logging *logging, struct uw_refusal_log *errors);

/* Add a line, on the loop's thread. The log is open. */
void rb_uw_access_logging_add(struct rb_uw_access_logging *logging, const struct uw_request *request,
                              const struct uw_access_record *record);
void rb_uw_access_logging_add_refusal(struct rb_uw_access_logging *logging, const struct uw_access_record *refusal);

/* Writes the remaining lines and closes the log, if it is open. Releases the interpreter's lock: the log may wait for a
 * reader. */
void rb_uw_access_logging_close(struct rb_uw_access_logging *logging);

#endif
