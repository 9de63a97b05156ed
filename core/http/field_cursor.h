/* A cursor is a position in a field value. Parsers of field values consist of these functions. */
#ifndef UW_HTTP_FIELD_CURSOR_H
#define UW_HTTP_FIELD_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct uw_http_cursor {
    const char *at, *end;
};

static inline struct uw_http_cursor uw_http_cursor(const char *text, size_t length)
{
    return (struct uw_http_cursor){text, text + length};
}

static inline void uw_http_skip_space(struct uw_http_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

/* Skips `text` at the cursor, case-sensitively. Returns false if the cursor is at other text. */
static inline bool uw_http_skip_text(struct uw_http_cursor *cursor, const char *text)
{
    size_t length = strlen(text);

    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, text, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Skips `word` at the cursor, case-insensitively in ASCII. `word` is in lower case. Returns false if the cursor is at
 * other text. */
static inline bool uw_http_skip_word(struct uw_http_cursor *cursor, const char *word)
{
    const char *at = cursor->at;

    for (; *word; word++, at++)
        if (at == cursor->end || (*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at) != *word)
            return false;
    cursor->at = at;
    return true;
}

/* Reads decimal digits and returns their count. A number beyond INT64_MAX becomes INT64_MAX. */
static inline size_t uw_http_read_number(struct uw_http_cursor *cursor, int64_t *number)
{
    const char *start = cursor->at;

    *number = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        int digit = *cursor->at - '0';

        *number = *number > (INT64_MAX - digit) / 10 ? INT64_MAX : *number * 10 + digit;
    }
    return (size_t)(cursor->at - start);
}

/* Skips to the next element of a comma-separated list. Skips empty elements (RFC 9110, section 5.6.1). Returns false at
 * the end of the list. */
static inline bool uw_http_next_element(struct uw_http_cursor *cursor)
{
    do
        uw_http_skip_space(cursor);
    while (uw_http_skip_text(cursor, ","));
    return cursor->at < cursor->end;
}

/* Skips to the comma behind the element, or to the end of the list. */
static inline void uw_http_skip_element(struct uw_http_cursor *cursor)
{
    const char *comma = memchr(cursor->at, ',', (size_t)(cursor->end - cursor->at));

    cursor->at = comma ? comma : cursor->end;
}

/* Returns true if the element ends at the cursor: the list ends or a comma follows. */
static inline bool uw_http_end_element(struct uw_http_cursor *cursor)
{
    uw_http_skip_space(cursor);
    return cursor->at == cursor->end || *cursor->at == ',';
}

#endif
