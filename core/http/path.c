#include "http/path.h"

#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes the percent-encoded byte at `text`, which begins with "%". Returns the byte or -400. */
static int decode_escape(const char *text, const char *end)
{
    int high, low;

    if (end - text < 3)
        return -400;
    high = hex_digit(text[1]);
    low = hex_digit(text[2]);
    if (high < 0 || low < 0)
        return -400;
    return high << 4 | low;
}

/* Control characters could forge lines in a log or text in a page. */
static bool is_control(int byte)
{
    return byte < ' ' || byte == 0x7f;
}

static int append_byte(struct uw_http_path *path, int byte)
{
    if (is_control(byte))
        return -400;
    if (path->length == UW_HTTP_PATH_BYTES_MAX)
        return -414;
    path->name[path->length++] = (char)byte;
    return 0;
}

/* Returns the start of the last segment of name[0 .. length). */
static uint32_t segment_start(const char *name, uint32_t length)
{
    while (length > 0 && name[length - 1] != '/')
        length--;
    return length;
}

static bool segment_is(const struct uw_http_path *path, uint32_t start, const char *text)
{
    return path->length - start == strlen(text) && memcmp(path->name + start, text, path->length - start) == 0;
}

/* Ends the last segment of path->name, which begins with a dot. */
static int end_dot_segment(struct uw_http_path *path, uint32_t start)
{
    if (start == 0 && segment_is(path, start, ".well-known"))
        return 0;
    if (segment_is(path, start, "..") && start > 0)
        start = segment_start(path->name, start - 1);
    else if (!segment_is(path, start, "."))
        return -404;
    path->length = start;
    return 0;
}

/* Before and after each segment the name is empty or ends in a slash. */
static int end_segment(struct uw_http_path *path)
{
    uint32_t start = segment_start(path->name, path->length);

    if (start == path->length || path->name[start] != '.')
        return 0;
    return end_dot_segment(path, start);
}

static bool at_segment_start(const struct uw_http_path *path)
{
    return path->length == 0 || path->name[path->length - 1] == '/';
}

static int begin_segment(struct uw_http_path *path)
{
    int error = end_segment(path);

    if (error || at_segment_start(path))
        return error;
    return append_byte(path, '/');
}

static int append_encoded(struct uw_http_path *path, const char *text, const char *end)
{
    int byte = decode_escape(text, end);

    if (byte < 0)
        return byte;
    return byte == '/' ? -404 : append_byte(path, byte);
}

static int read_segments(struct uw_http_path *path, const char *text, const char *end)
{
    int error = 0;

    while (text < end && *text != '?' && !error) {
        if (*text == '/') {
            error = begin_segment(path);
            text++;
        } else if (*text == '%') {
            error = append_encoded(path, text, end);
            text += 3;
        } else {
            error = append_byte(path, (unsigned char)*text++);
        }
    }
    return error ? error : end_segment(path);
}

int uw_http_path_resolve(struct uw_http_path *path, const char *target, size_t length)
{
    int error;

    path->length = 0;
    if (length > 0 && target[0] != '/' && target[0] != '?')
        return -400;
    error = read_segments(path, target, target + length);
    if (error)
        return error;
    path->folder = at_segment_start(path);
    if (path->folder && path->length > 0)
        path->length--;
    path->name[path->length] = '\0';
    return 0;
}

bool uw_http_name_is_servable(const char *name)
{
    if (*name == '.')
        return false;
    while (*name && !is_control((unsigned char)*name))
        name++;
    return !*name;
}
