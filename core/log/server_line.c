#include "log/server_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "http/status.h"

#define TARGET_BYTES_MAX 200
#define REFUSED_BYTES_MAX (TARGET_BYTES_MAX + 300) /* of the whole message */
#define MORE_BYTES_MAX 128

static void append_text(struct uw_line *line, time_t time, struct uw_access_text message)
{
    uw_line_append_time(line, time, UW_LOG_TIME_ISO);
    uw_line_append_text(line, " upwell[");
    uw_line_append_number(line, getpid(), 1);
    uw_line_append_text(line, "]: ");
    uw_line_append_bytes(line, message.bytes,
                         message.length < UW_LOG_MESSAGE_BYTES_MAX ? message.length : UW_LOG_MESSAGE_BYTES_MAX);
    uw_line_append_text(line, "\n");
}

static void append_json(struct uw_line *line, time_t time, struct uw_access_text message)
{
    uw_line_append_text(line, "{\"time\":\"");
    uw_line_append_time(line, time, UW_LOG_TIME_ISO);
    uw_line_append_text(line, "\",\"pid\":");
    uw_line_append_number(line, getpid(), 1);
    uw_line_append_text(line, ",\"message\":\"");
    uw_line_append_escaped(line, message, UW_LOG_MESSAGE_BYTES_MAX, uw_log_escape_json);
    uw_line_append_text(line, "\"}\n");
}

size_t uw_server_line(char bytes[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, time_t time, const char *message)
{
    struct uw_line line = {bytes, 0};

    (form == UW_LOG_JSON ? append_json : append_text)(&line, time, (struct uw_access_text){message, strlen(message)});
    return line.length;
}

size_t uw_refused_line(char bytes[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, const struct uw_access_record *refusal)
{
    char text[REFUSED_BYTES_MAX];
    struct uw_line message = {text, 0};

    uw_line_append_text(&message, "refused ");
    uw_line_append_text(&message, refusal->remote);
    uw_line_append_text(&message, " \"");
    uw_line_append_request_line(&message, refusal, TARGET_BYTES_MAX);
    uw_line_append_text(&message, "\" ");
    uw_line_append_number(&message, refusal->status, 3);
    uw_line_append_text(&message, " ");
    uw_line_append_text(&message, uw_http_reason(refusal->status));
    text[message.length] = '\0';
    return uw_server_line(bytes, form, refusal->time, text);
}

size_t uw_refusals_suppressed_line(char bytes[UW_LOG_LINE_BYTES_MAX], enum uw_log_form form, time_t time,
                                   uint64_t count)
{
    char message[MORE_BYTES_MAX];

    snprintf(message, sizeof message,
             "refused %" PRIu64 " more requests; the log lists only the first ones of a second", count);
    return uw_server_line(bytes, form, time, message);
}
