#include "log/refusal_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/list.h"

static void write_on(struct uw_refusal_log *log)
{
    if (log->write.pending || !log->waiting_bytes)
        return;
    memcpy(log->writing, log->waiting, log->waiting_bytes);
    log->write.data = log->writing;
    log->write.length = (uint32_t)log->waiting_bytes;
    log->waiting_bytes = 0;
    uw_submit(log->loop, &log->write);
}

/* What cannot be written is dropped: there is nobody to tell. */
static void written(struct uw_loop *loop, struct uw_operation *operation, int32_t result)
{
    struct uw_refusal_log *log = uw_owner(operation, struct uw_refusal_log, write);

    if (result > 0 && (uint32_t)result < operation->length) {
        operation->data = (char *)operation->data + result;
        operation->length -= (uint32_t)result;
        uw_submit(loop, operation);
    } else {
        write_on(log);
    }
}

static bool put(struct uw_refusal_log *log, const char *line, size_t length)
{
    if (length > sizeof log->waiting - log->waiting_bytes)
        return false;
    memcpy(log->waiting + log->waiting_bytes, line, length);
    log->waiting_bytes += length;
    write_on(log);
    return true;
}

static void begin_second(struct uw_refusal_log *log)
{
    log->lines = 0;
    uw_timer_start(log->loop, &log->timer, log->loop->now_ns + UW_NS_PER_SECOND);
}

/* A line that finds no room is tried again a second later. */
static void end_second(struct uw_loop *loop, struct uw_timer *timer)
{
    struct uw_refusal_log *log = uw_owner(timer, struct uw_refusal_log, timer);
    char line[UW_ACCESS_LINE_BYTES_MAX];

    (void)loop;
    if (!log->left_out)
        return;
    if (put(log, line, uw_refusals_left_out_line(line, time(NULL), log->left_out)))
        log->left_out = 0;
    begin_second(log);
}

void uw_refusal_log_init(struct uw_refusal_log *log, struct uw_loop *loop, int fd)
{
    memset(log, 0, sizeof *log);
    log->loop = loop;
    log->timer.expire = end_second;
    log->write = (struct uw_operation){.verb = UW_WRITE, .fd = fd, .offset = -1, .complete = written};
}

void uw_refusal_log_add(struct uw_refusal_log *log, const struct uw_access *refusal)
{
    char line[UW_ACCESS_LINE_BYTES_MAX];

    if (!log->timer.active)
        begin_second(log);
    if (log->lines < UW_REFUSAL_LINES_PER_SECOND && put(log, line, uw_access_line(line, UW_ACCESS_REFUSED, refusal)))
        log->lines++;
    else
        log->left_out++;
}
