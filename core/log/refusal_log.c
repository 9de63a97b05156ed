#include "log/refusal_log.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/list.h"
#include "base/nonblocking_write.h"

/* Writes the waiting lines. Returns true if lines remain because the file is blocked. An error drops the lines, because
 * no other log could report the error. */
static bool write_until_blocked(struct uw_refusal_log *log)
{
    while (log->waiting_bytes > 0) {
        ssize_t count = uw_nonblocking_write(log->writable.fd, log->waiting, log->waiting_bytes);

        if (count == -EAGAIN)
            return true;
        log->waiting_bytes -= count < 0 ? log->waiting_bytes : (size_t)count;
        memmove(log->waiting, log->waiting + (count < 0 ? 0 : count), log->waiting_bytes);
    }
    return false;
}

static void write_or_wait(struct uw_refusal_log *log)
{
    if (!log->writable.pending && write_until_blocked(log))
        uw_submit(log->loop, &log->writable);
}

static void handle_writable(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_refusal_log *log = uw_container_of(operation, struct uw_refusal_log, writable);

    (void)loop;
    if (result < 0)
        log->waiting_bytes = 0;
    write_or_wait(log);
}

static bool append_line(struct uw_refusal_log *log, const char *line, size_t length)
{
    if (length > sizeof log->waiting - log->waiting_bytes)
        return false;
    memcpy(log->waiting + log->waiting_bytes, line, length);
    log->waiting_bytes += length;
    write_or_wait(log);
    return true;
}

static void begin_second(struct uw_refusal_log *log)
{
    log->lines = 0;
    uw_timer_start(log->loop, &log->timer, log->loop->now_ns + UW_NS_PER_SECOND);
}

/* A line that does not fit into the buffer is tried again a second later. */
static void end_second(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_refusal_log *log = uw_container_of(timer, struct uw_refusal_log, timer);
    char line[UW_LOG_LINE_BYTES_MAX];

    (void)loop;
    if (!log->suppressed)
        return;
    if (append_line(log, line, uw_refusals_suppressed_line(line, log->form, time(NULL), log->suppressed)))
        log->suppressed = 0;
    begin_second(log);
}

void uw_refusal_log_init(struct uw_refusal_log *log, struct uw_loop *loop, int fd, enum uw_log_form form)
{
    memset(log, 0, sizeof *log);
    log->loop = loop;
    log->form = form;
    log->timer.expire = end_second;
    log->writable = (struct uw_operation){.opcode = UW_POLL, .fd = fd, .length = POLLOUT, .complete = handle_writable};
}

void uw_refusal_log_add(struct uw_refusal_log *log, const struct uw_access_record *refusal)
{
    char line[UW_LOG_LINE_BYTES_MAX];

    if (!log->timer.active)
        begin_second(log);
    if (log->lines < UW_REFUSAL_LINES_PER_SECOND && append_line(log, line, uw_refused_line(line, log->form, refusal)))
        log->lines++;
    else
        log->suppressed++;
}

void uw_refusal_log_trouble(struct uw_refusal_log *log, enum uw_system_error trouble, const char *where, int error)
{
    char line[UW_LOG_LINE_BYTES_MAX];
    int64_t *reported_ns = &log->reported_ns[trouble];

    if (*reported_ns && log->loop->now_ns - *reported_ns < UW_SYSTEM_ERROR_NS)
        return;
    if (append_line(log, line, uw_system_error_line(line, log->form, time(NULL), trouble, where, error)))
        *reported_ns = log->loop->now_ns;
}
