#include "http/conditional.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "http/date.h"
#include "http/field_cursor.h"

#define WEAK "W/"
#define TRUSTED_DATE_MIN 347155200 /* 1981-01-01 */
#define CLOCK_STEP_NS 100000000    /* greater than the delay of the kernel's clock for files */

/* Result of one condition */
enum condition {
    ABSENT, /* the condition is absent or ignored */
    FALSE,
    TRUE,
};

/* RFC 9110, section 8.8.2.1: a modification time must not be in the future. */
static time_t limit_to_now(time_t modified)
{
    time_t now = time(NULL);

    if (modified < UW_HTTP_DATE_MIN)
        return UW_HTTP_DATE_MIN;
    return modified < now ? modified : now;
}

bool uw_http_is_dated(time_t modified)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (modified < TRUSTED_DATE_MIN || modified >= now.tv_sec)
        return false;
    return modified < now.tv_sec - 1 || now.tv_nsec >= CLOCK_STEP_NS;
}

void uw_http_validators_make(struct uw_http_validators *validators, bool weak, uint64_t hash, uint64_t size,
                             time_t modified, enum uw_http_coding coding)
{
    const char *name = uw_http_coding_name(coding);

    validators->weak = weak;
    validators->etag_length =
        (uint32_t)snprintf(validators->etag, sizeof validators->etag, "%s\"%" PRIx64 "-%016" PRIx64 "%s%s\"",
                           weak ? WEAK : "", size, hash, *name ? "-" : "", name);
    validators->modified = limit_to_now(modified);
    validators->dated = uw_http_is_dated(modified);
}

static struct uw_http_cursor field_value(const struct uw_http_header *header, const char *bytes)
{
    return uw_http_cursor(bytes + header->value.offset, header->value.length);
}

/* Reads an opaque-tag including its quotes. */
static bool read_opaque_tag(struct uw_http_cursor *cursor, struct uw_http_cursor *tag)
{
    const char *quote;

    tag->at = cursor->at;
    if (!uw_http_skip_text(cursor, "\""))
        return false;
    quote = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));
    if (!quote)
        return false;
    cursor->at = tag->end = quote + 1;
    return true;
}

/* Weak comparison (RFC 9110, section 8.8.3.2). `tag` is an opaque-tag. */
static bool etag_matches(struct uw_http_cursor tag, const struct uw_http_validators *validators)
{
    size_t skipped = validators->weak ? sizeof WEAK - 1 : 0, length = validators->etag_length - skipped;

    return (size_t)(tag.end - tag.at) == length && memcmp(tag.at, validators->etag + skipped, length) == 0;
}

/* Returns true if `list`, which is a list of entity tags or "*", contains the representation's tag. In a malformed list
 * the part before the error counts. */
static bool list_has_etag(struct uw_http_cursor list, const struct uw_http_validators *validators, bool weak_too)
{
    struct uw_http_cursor tag;

    if (uw_http_skip_text(&list, "*"))
        return list.at == list.end;
    while (uw_http_next_element(&list)) {
        bool weak = uw_http_skip_text(&list, WEAK) || validators->weak;

        if (!read_opaque_tag(&list, &tag) || !uw_http_end_element(&list))
            return false;
        if (etag_matches(tag, validators) && (weak_too || !weak))
            return true;
    }
    return false;
}

/* Evaluates If-Match (strong comparison) or If-None-Match (weak comparison). */
static enum condition etag_condition(const struct uw_http_head *head, const char *bytes,
                                     const struct uw_http_validators *validators, enum uw_http_field field)
{
    enum condition condition = ABSENT;

    for (uint32_t i = 0; i < head->header_count && condition != TRUE; i++)
        if (uw_http_header(head, i)->field == field)
            condition =
                list_has_etag(field_value(uw_http_header(head, i), bytes), validators, field == UW_FIELD_IF_NONE_MATCH)
                    ? TRUE
                    : FALSE;
    return condition;
}

/* Returns the number of lines of the field. Stores the last line in `*header`. */
static int find_field(const struct uw_http_head *head, enum uw_http_field field, const struct uw_http_header **header)
{
    int count = 0;

    for (uint32_t i = 0; i < head->header_count; i++)
        if (uw_http_header(head, i)->field == field) {
            *header = uw_http_header(head, i);
            count++;
        }
    return count;
}

static bool read_date(const struct uw_http_header *header, const char *bytes, time_t *date)
{
    return uw_http_date_parse(bytes + header->value.offset, header->value.length, date);
}

static bool has_date(const struct uw_http_head *head, const char *bytes, enum uw_http_field field, time_t *date)
{
    const struct uw_http_header *header;

    return find_field(head, field, &header) == 1 && read_date(header, bytes, date);
}

/* Evaluates If-Unmodified-Since: true if the content is not newer than the date. */
static enum condition unmodified_condition(const struct uw_http_head *head, const char *bytes,
                                           const struct uw_http_validators *validators)
{
    time_t date;

    if (!has_date(head, bytes, UW_FIELD_IF_UNMODIFIED_SINCE, &date))
        return ABSENT;
    return validators->modified <= date ? TRUE : FALSE;
}

/* Evaluates If-Modified-Since as "not modified": true if the client has this version. The dates must be equal, because
 * an older file may have replaced a newer file. */
static enum condition same_date_condition(const struct uw_http_head *head, const char *bytes,
                                          const struct uw_http_validators *validators)
{
    time_t date;

    if (!has_date(head, bytes, UW_FIELD_IF_MODIFIED_SINCE, &date))
        return ABSENT;
    return validators->dated && validators->modified == date ? TRUE : FALSE;
}

int uw_http_precondition(const struct uw_http_head *head, const char *bytes,
                         const struct uw_http_validators *validators)
{
    enum condition condition = etag_condition(head, bytes, validators, UW_FIELD_IF_MATCH);

    if (condition == ABSENT)
        condition = unmodified_condition(head, bytes, validators);
    if (condition == FALSE)
        return 412;
    condition = etag_condition(head, bytes, validators, UW_FIELD_IF_NONE_MATCH);
    if (condition == ABSENT)
        condition = same_date_condition(head, bytes, validators);
    return condition == TRUE ? 304 : 0;
}

bool uw_http_if_range(const struct uw_http_head *head, const char *bytes, const struct uw_http_validators *validators)
{
    const struct uw_http_header *header;
    int count = find_field(head, UW_FIELD_IF_RANGE, &header);
    time_t date;

    if (count != 1)
        return count == 0;
    if (read_date(header, bytes, &date))
        return validators->dated && date == validators->modified;
    return !validators->weak && etag_matches(field_value(header, bytes), validators);
}
