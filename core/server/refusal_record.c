#include "server/refusal_record.h"

#include <string.h>

#define VERSION "HTTP/1."

static bool ends_line(char c)
{
    return c == '\r' || c == '\n';
}

/* The first line that is not empty, as far as it came. */
static struct uw_access_text first_line(const char *bytes, size_t length)
{
    size_t begin = 0, end;

    while (begin < length && ends_line(bytes[begin]))
        begin++;
    for (end = begin; end < length && !ends_line(bytes[end]);)
        end++;
    return (struct uw_access_text){bytes + begin, end - begin};
}

/* Removes the first word and the following space from `line`. */
static struct uw_access_text take_word(struct uw_access_text *line)
{
    const char *space = memchr(line->bytes, ' ', line->length);
    size_t length = space ? (size_t)(space - line->bytes) : line->length;
    struct uw_access_text word = {line->bytes, length};

    line->bytes += length + (space != NULL);
    line->length -= length + (space != NULL);
    return word;
}

static enum uw_http_version version_of(struct uw_access_text rest)
{
    bool known = rest.length == sizeof VERSION && !memcmp(rest.bytes, VERSION, sizeof VERSION - 1) &&
                 rest.bytes[rest.length - 1] >= '0' && rest.bytes[rest.length - 1] <= '9';

    return known ? uw_http_1(rest.bytes[rest.length - 1]) : UW_HTTP_UNKNOWN;
}

struct uw_access_record uw_refusal_record(const struct uw_request *request, int status, int64_t bytes)
{
    struct uw_access_text line = first_line(request->bytes, request->bytes_length);
    struct uw_access_text method = take_word(&line), target = take_word(&line);

    return (struct uw_access_record){
        .time = time(NULL),
        .remote = uw_request_remote(request),
        .method = method,
        .target = target,
        .version = version_of(line),
        .status = status,
        .bytes = bytes,
        .tls = uw_request_tls_version(request),
    };
}
