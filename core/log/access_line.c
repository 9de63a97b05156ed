#include "log/access_line.h"

#include "base/clock.h"

#define METHOD_BYTES_MAX 32
#define REQUEST_ID_BYTES_MAX 128
#define TRACEPARENT_BYTES_MAX 64
#define OTHER_BYTES_MAX 400 /* time, address, numbers, names and punctuation */

_Static_assert(METHOD_BYTES_MAX + UW_ACCESS_TARGET_BYTES_MAX + 2 * UW_ACCESS_FIELD_BYTES_MAX + REQUEST_ID_BYTES_MAX +
                       TRACEPARENT_BYTES_MAX + OTHER_BYTES_MAX <=
                   UW_LOG_LINE_BYTES_MAX,
               "the longest line fits");

void uw_line_append_request_line(struct uw_line *line, const struct uw_access_record *access, size_t target_bytes_max)
{
    if (access->method.length == 0)
        uw_line_append_text(line, "-");
    uw_line_append_escaped(line, access->method, METHOD_BYTES_MAX, uw_log_escape_text);
    if (access->target.length > 0)
        uw_line_append_text(line, " ");
    uw_line_append_escaped(line, access->target, target_bytes_max, uw_log_escape_text);
}

/* "-" stands for an absent value. */
static void append_combined_field(struct uw_line *line, struct uw_access_text value)
{
    uw_line_append_text(line, " \"");
    if (value.length > 0)
        uw_line_append_escaped(line, value, UW_ACCESS_FIELD_BYTES_MAX, uw_log_escape_text);
    else
        uw_line_append_text(line, "-");
    uw_line_append_text(line, "\"");
}

static void append_seconds(struct uw_line *line, const char *name, int64_t ns)
{
    uw_line_append_text(line, name);
    uw_line_append_seconds(line, ns);
}

static void append_word(struct uw_line *line, const char *name, struct uw_access_text value, size_t bytes_max)
{
    if (value.length == 0)
        return;
    uw_line_append_text(line, name);
    uw_line_append_escaped(line, value, bytes_max, uw_log_escape_text);
}

static void append_known(struct uw_line *line, const char *name, const char *value)
{
    if (!value)
        return;
    uw_line_append_text(line, name);
    uw_line_append_text(line, value);
}

/* The combined format has no place for these. */
static void append_extra_fields(struct uw_line *line, const struct uw_access_record *access)
{
    append_word(line, " request_id=", access->request_id, REQUEST_ID_BYTES_MAX);
    if (access->served) {
        append_seconds(line, " queue_time=", access->queue_ns);
        append_seconds(line, " application_time=", access->application_ns);
    }
    append_known(line, " worker=", access->worker);
    append_known(line, " tls=", access->tls);
    append_word(line, " traceparent=", access->traceparent, TRACEPARENT_BYTES_MAX);
}

static void append_combined(struct uw_line *line, const struct uw_access_record *access)
{
    const char *version = uw_http_version_digits(access->version);

    uw_line_append_text(line, access->remote);
    uw_line_append_text(line, " - - [");
    uw_line_append_time(line, access->time, UW_LOG_TIME_COMBINED);
    uw_line_append_text(line, "] \"");
    uw_line_append_request_line(line, access, UW_ACCESS_TARGET_BYTES_MAX);
    append_known(line, " HTTP/", version);
    uw_line_append_text(line, "\" ");
    uw_line_append_number(line, access->status, 3);
    uw_line_append_text(line, " ");
    uw_line_append_number(line, access->bytes, 1);
    append_combined_field(line, access->referer);
    append_combined_field(line, access->user_agent);
    append_extra_fields(line, access);
    uw_line_append_text(line, "\n");
}

/* An absent field is omitted. */
static void append_json_field(struct uw_line *line, const char *name, struct uw_access_text value, size_t bytes_max)
{
    if (value.length == 0)
        return;
    uw_line_append_text(line, name);
    uw_line_append_text(line, "\"");
    uw_line_append_escaped(line, value, bytes_max, uw_log_escape_json);
    uw_line_append_text(line, "\"");
}

static void append_json_known(struct uw_line *line, const char *name, const char *value)
{
    if (!value)
        return;
    append_known(line, name, "\"");
    uw_line_append_text(line, value);
    uw_line_append_text(line, "\"");
}

static void append_json(struct uw_line *line, const struct uw_access_record *access)
{
    uw_line_append_text(line, "{\"time\":\"");
    uw_line_append_time(line, access->time, UW_LOG_TIME_ISO);
    uw_line_append_text(line, "\"");
    append_json_known(line, ",\"remote\":", access->remote);
    append_json_field(line, ",\"method\":", access->method, METHOD_BYTES_MAX);
    append_json_field(line, ",\"target\":", access->target, UW_ACCESS_TARGET_BYTES_MAX);
    append_json_known(line, ",\"version\":", uw_http_version_digits(access->version));
    uw_line_append_text(line, ",\"status\":");
    uw_line_append_number(line, access->status, 1);
    uw_line_append_text(line, ",\"bytes\":");
    uw_line_append_number(line, access->bytes, 1);
    append_json_field(line, ",\"referer\":", access->referer, UW_ACCESS_FIELD_BYTES_MAX);
    append_json_field(line, ",\"user_agent\":", access->user_agent, UW_ACCESS_FIELD_BYTES_MAX);
    append_json_field(line, ",\"request_id\":", access->request_id, REQUEST_ID_BYTES_MAX);
    if (access->served) {
        append_seconds(line, ",\"queue_time\":", access->queue_ns);
        append_seconds(line, ",\"application_time\":", access->application_ns);
    }
    append_known(line, ",\"worker\":", access->worker);
    append_json_known(line, ",\"tls\":", access->tls);
    append_json_field(line, ",\"traceparent\":", access->traceparent, TRACEPARENT_BYTES_MAX);
    uw_line_append_text(line, "}\n");
}

#define COLOUR(number) "\x1b[" #number "m"

static const char *colour(int status)
{
    switch (status / 100) {
    case 2:
        return COLOUR(32); /* green */
    case 4:
        return COLOUR(33); /* yellow */
    case 5:
        return COLOUR(31); /* red */
    default:
        return COLOUR(36); /* cyan */
    }
}

static void append_milliseconds(struct uw_line *line, int64_t ns)
{
    uw_line_append_text(line, " ");
    uw_line_append_number(line, ns / UW_NS_PER_MS, 1);
    uw_line_append_text(line, ".");
    uw_line_append_number(line, ns % UW_NS_PER_MS / (UW_NS_PER_MS / 10), 1);
    uw_line_append_text(line, " ms");
}

/* "200 GET /posts 12.3 ms" */
static void append_terminal(struct uw_line *line, const struct uw_access_record *access)
{
    uw_line_append_text(line, colour(access->status));
    uw_line_append_number(line, access->status, 3);
    uw_line_append_text(line, COLOUR(0) " ");
    uw_line_append_request_line(line, access, UW_ACCESS_TERMINAL_BYTES_MAX);
    if (access->served)
        append_milliseconds(line, access->application_ns);
    uw_line_append_text(line, "\n");
}

size_t uw_access_line(char bytes[UW_LOG_LINE_BYTES_MAX], enum uw_access_format format,
                      const struct uw_access_record *access)
{
    struct uw_line line = {bytes, 0};

    if (format == UW_ACCESS_JSON)
        append_json(&line, access);
    else if (format == UW_ACCESS_TERMINAL)
        append_terminal(&line, access);
    else
        append_combined(&line, access);
    return line.length;
}
