#include "http1/chunked.h"

#include "http/byte_class.h"

#define SIZE_DIGITS_MAX 16
#define CREDIT_MAX ((uint32_t)UW_CHUNK_EXTENSION_BYTES_MAX * UW_CHUNK_DATA_BYTES_PER_EXTENSION_BYTE)

enum state {
    SIZE,         /* in the digits */
    EXTENSION,    /* after ";" or "=": in a name or an unquoted value */
    QUOTED,       /* in a quoted value */
    QUOTED_PAIR,  /* after a backslash in a quoted value */
    AFTER_QUOTED, /* only ";" or the end of the line may follow */
    BLANK,        /* in bad white space: ";" must follow, or "=" after a name */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, /* at the start of a line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF,
};

void uw_http_chunked_init(struct uw_http_chunked *chunked)
{
    *chunked = (struct uw_http_chunked){.state = SIZE, .extension_credit = CREDIT_MAX};
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int expect(struct uw_http_chunked *chunked, char c, char expected, enum state next)
{
    chunked->state = (uint8_t)next;
    return c == expected ? 0 : -400;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ";" begins another extension, and CR ends the line. White space may precede only ";". At the end of the line it would
 * be another form that two parsers read differently. */
static int end_part(struct uw_http_chunked *chunked, char c)
{
    if (is_blank(c)) {
        chunked->state = BLANK;
        return 0;
    }
    chunked->part_begun = chunked->in_value = false;
    chunked->state = c == ';' ? EXTENSION : SIZE_LF;
    return c == ';' || c == '\r' ? 0 : -400;
}

static int read_size(struct uw_http_chunked *chunked, char c)
{
    int value = digit(c);

    if (value < 0)
        return chunked->digits ? end_part(chunked, c) : -400;
    if (chunked->digits++ >= SIZE_DIGITS_MAX || chunked->left > UINT64_MAX >> 5)
        return -400;
    chunked->left = chunked->left << 4 | (uint64_t)value;
    return 0;
}

static int begin_value(struct uw_http_chunked *chunked)
{
    chunked->in_value = true;
    chunked->part_begun = false;
    chunked->state = EXTENSION;
    return 0;
}

/* Reads chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] ): RFC 9112, section 7.1.1. */
static int read_extension(struct uw_http_chunked *chunked, char c)
{
    if (uw_http_byte_is(c, UW_BYTE_TOKEN)) {
        chunked->part_begun = true;
        return 0;
    }
    if (c == '"' && chunked->in_value && !chunked->part_begun)
        return expect(chunked, c, '"', QUOTED);
    if (!chunked->part_begun)
        return is_blank(c) ? 0 : -400;
    if (c == '=' && !chunked->in_value)
        return begin_value(chunked);
    return end_part(chunked, c);
}

static int read_blank(struct uw_http_chunked *chunked, char c)
{
    if (c == '=' && chunked->part_begun && !chunked->in_value)
        return begin_value(chunked);
    return c == '\r' ? -400 : end_part(chunked, c);
}

static int read_quoted(struct uw_http_chunked *chunked, char c)
{
    if (!uw_http_byte_is(c, UW_BYTE_VALUE))
        return -400;
    if (chunked->state == QUOTED_PAIR)
        chunked->state = QUOTED;
    else if (c == '\\')
        chunked->state = QUOTED_PAIR;
    else if (c == '"')
        chunked->state = AFTER_QUOTED;
    return 0;
}

/* Reads the rest of the size line. */
static int read_extensions(struct uw_http_chunked *chunked, char c)
{
    if (chunked->extension_credit < UW_CHUNK_DATA_BYTES_PER_EXTENSION_BYTE)
        return -400;
    chunked->extension_credit -= UW_CHUNK_DATA_BYTES_PER_EXTENSION_BYTE;
    if (chunked->state == EXTENSION)
        return read_extension(chunked, c);
    if (chunked->state == BLANK)
        return read_blank(chunked, c);
    return chunked->state == AFTER_QUOTED ? end_part(chunked, c) : read_quoted(chunked, c);
}

static int next_chunk(struct uw_http_chunked *chunked, char c)
{
    chunked->digits = 0;
    chunked->left = 0;
    return expect(chunked, c, '\n', SIZE);
}

/* Reads a name or a value, up to the byte `end`. */
static int read_trailer_part(struct uw_http_chunked *chunked, char c, uint8_t class, char end, enum state next)
{
    if (c == end)
        chunked->state = (uint8_t)next;
    return c == end || uw_http_byte_is(c, class) ? 0 : -400;
}

static int read_trailer(struct uw_http_chunked *chunked, char c)
{
    if (chunked->trailer_bytes++ >= UW_CHUNK_TRAILER_BYTES_MAX)
        return -431;
    switch (chunked->state) {
    case TRAILER:
        chunked->state = c == '\r' ? END_LF : TRAILER_NAME;
        return c == '\r' || uw_http_byte_is(c, UW_BYTE_TOKEN) ? 0 : -400;
    case TRAILER_NAME:
        return read_trailer_part(chunked, c, UW_BYTE_TOKEN, ':', TRAILER_VALUE);
    case TRAILER_VALUE:
        return read_trailer_part(chunked, c, UW_BYTE_VALUE, '\r', TRAILER_LF);
    case TRAILER_LF:
        return expect(chunked, c, '\n', TRAILER);
    default: /* END_LF */
        chunked->done = c == '\n';
        return chunked->done ? 0 : -400;
    }
}

/* Reads one byte of everything but data. */
static int read_byte(struct uw_http_chunked *chunked, char c)
{
    switch (chunked->state) {
    case SIZE:
        return read_size(chunked, c);
    case EXTENSION:
    case QUOTED:
    case QUOTED_PAIR:
    case AFTER_QUOTED:
    case BLANK:
        return read_extensions(chunked, c);
    case SIZE_LF: /* the last chunk has the size 0 */
        return expect(chunked, c, '\n', chunked->left ? DATA : TRAILER);
    case DATA_CR:
        return expect(chunked, c, '\r', DATA_LF);
    case DATA_LF:
        return next_chunk(chunked, c);
    default:
        return read_trailer(chunked, c);
    }
}

static void earn_extensions(struct uw_http_chunked *chunked, size_t data_length)
{
    uint32_t missing = CREDIT_MAX - chunked->extension_credit;

    chunked->extension_credit += data_length < missing ? (uint32_t)data_length : missing;
}

static void read_data(struct uw_http_chunked *chunked, size_t length)
{
    earn_extensions(chunked, length);
    chunked->left -= length;
    if (chunked->left == 0)
        chunked->state = DATA_CR;
}

int64_t uw_http_chunked_read(struct uw_http_chunked *chunked, const char *bytes, size_t length, const char **data,
                             size_t *data_length)
{
    size_t used = 0;

    *data = bytes;
    *data_length = 0;
    while (used < length && !chunked->done && chunked->state != DATA) {
        int error = read_byte(chunked, bytes[used++]);

        if (error)
            return error;
    }
    if (chunked->state == DATA && used < length) {
        *data = bytes + used;
        *data_length = length - used < chunked->left ? length - used : (size_t)chunked->left;
        read_data(chunked, *data_length);
        used += *data_length;
    }
    return (int64_t)used;
}
