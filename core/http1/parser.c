#include "http1/parser.h"

#include <string.h>

#include "http/token.h"

#define EMPTY_LINES_MAX 4 /* skipped before a request line (RFC 9112, section 2.2) */
#define LENGTH_DIGITS_MAX 19
#define PORT_DIGITS_MAX 5
#define PORT_MAX 65535
#define VERSION_BYTES 8 /* "HTTP/1.1" */

/* What has been seen of the fields that decide about framing and the connection. */
enum {
    SEEN_HOST = 1,
    SEEN_LENGTH = 2,
    SEEN_CODING = 4,
    SEEN_CLOSE = 8,
    SEEN_KEEP_ALIVE = 16,
    SEEN_CONNECTION_UPGRADE = 32,
    SEEN_UPGRADE = 64,
};

/* The states of the parser, in the order of the grammar. */
#define STATES(STATE) \
    STATE(start) \
    STATE(start_lf) \
    STATE(method) \
    STATE(target) \
    STATE(version) \
    STATE(version_cr) \
    STATE(line_lf) \
    STATE(line) \
    STATE(name) \
    STATE(value_start) \
    STATE(value) \
    STATE(end_lf)

enum state {
#define STATE_CONSTANT(name) STATE_##name,
    STATES(STATE_CONSTANT)
#undef STATE_CONSTANT
};

static inline bool is(char c, uint8_t class)
{
    return uw_http_byte_is(c, class);
}

/* The first byte from `at` on that is not of the class. */
static inline const char *skip(const char *at, const char *end, uint8_t class)
{
    while (end - at >= 4) {
        if (!is(at[0], class))
            return at;
        if (!is(at[1], class))
            return at + 1;
        if (!is(at[2], class))
            return at + 2;
        if (!is(at[3], class))
            return at + 3;
        at += 4;
    }
    while (at < end && is(*at, class))
        at++;
    return at;
}

#define WORD_BYTES 8
#define ALL_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes, the first of them in the low bits. */
static inline uint64_t load_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, WORD_BYTES);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The top bit of each byte below `bound`, at most 0x80. Bits above the lowest one may be false: a borrow makes them. */
static inline uint64_t bytes_below(uint64_t word, uint8_t bound)
{
    return (word - ALL_BYTES(bound)) & ~word & ALL_BYTES(0x80);
}

static inline uint64_t bytes_equal(uint64_t word, uint8_t byte)
{
    return bytes_below(word ^ ALL_BYTES(byte), 1);
}

static inline int first_byte(uint64_t marks)
{
    return __builtin_ctzll(marks) / 8;
}

/* skip() for values, word by word; a tab is the only control byte allowed in them. */
static inline const char *skip_value(const char *at, const char *end)
{
    while (end - at >= WORD_BYTES) {
        uint64_t word = load_word(at), controls = bytes_below(word, ' ') | bytes_equal(word, 0x7f);

        at += controls ? first_byte(controls) : WORD_BYTES;
        if (controls && *at++ != '\t')
            return at - 1;
    }
    return skip(at, end, UW_BYTE_VALUE);
}

/* skip() for targets. */
static inline const char *skip_target(const char *at, const char *end)
{
    while (end - at >= WORD_BYTES) {
        uint64_t word = load_word(at), controls = bytes_below(word, '!') | bytes_equal(word, 0x7f);
        uint64_t stops = controls | bytes_equal(word, '#') | (word & ALL_BYTES(0x80));

        if (stops)
            return at + first_byte(stops);
        at += WORD_BYTES;
    }
    return skip(at, end, UW_BYTE_TARGET);
}

static bool space(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether `text` begins with `word`, which is in lower case. Unlike strncasecmp it asks no locale. */
static bool begins(const char *text, size_t length, const char *word)
{
    for (size_t i = 0; word[i]; i++) {
        if (i == length || (text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i]) != word[i])
            return false;
    }
    return true;
}

static bool equal(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && begins(text, length, word);
}

static struct uw_http_slice slice(const char *bytes, const char *from, const char *to)
{
    return (struct uw_http_slice){(uint32_t)(from - bytes), (uint32_t)(to - from)};
}

void uw_http_head_init(struct uw_http_head *head, const struct uw_http_limits *limits)
{
    memset(head, 0, offsetof(struct uw_http_head, headers)); /* the headers are valid up to header_count only */
    head->limits = limits;
    head->position = head->mark = 0;
    head->state = STATE_start;
    head->seen = head->empty_lines = 0;
}

static enum uw_http_method method_of(const char *name, size_t length)
{
    static const char *const names[] = {"",       "GET",   "HEAD",    "POST",    "PUT",
                                        "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"};

    for (int method = UW_METHOD_GET; method <= UW_METHOD_TRACE; method++)
        if (names[method][0] == name[0] && strlen(names[method]) == length && memcmp(names[method], name, length) == 0)
            return (enum uw_http_method)method;
    return UW_METHOD_OTHER;
}

static bool valid_port(const char *port, size_t length)
{
    unsigned number = 0;

    if (length > PORT_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!is(port[i], UW_BYTE_DIGIT))
            return false;
        number = number * 10 + (unsigned)(port[i] - '0');
    }
    return number <= PORT_MAX;
}

static bool literal_byte(char c)
{
    return is(c, UW_BYTE_DIGIT) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

/* The end of an IP literal that begins with "[" (RFC 3986, section 3.2.2), or NULL. */
static const char *literal_end(const char *host, const char *end)
{
    const char *at = host + 1;

    while (at < end && literal_byte(*at))
        at++;
    return at < end && *at == ']' && at > host + 1 ? at + 1 : NULL;
}

/* host [":" port], without user information (RFC 9110, section 7.2). */
static bool valid_authority(const char *host, size_t length, bool port_required)
{
    const char *end = host + length, *host_end;

    if (length == 0)
        return false;
    host_end = *host == '[' ? literal_end(host, end) : skip(host, end, UW_BYTE_HOST);
    if (!host_end || host_end == host)
        return false;
    if (host_end == end)
        return !port_required;
    if (*host_end != ':' || (port_required && host_end + 1 == end))
        return false;
    return valid_port(host_end + 1, (size_t)(end - host_end - 1));
}

static void split_path(struct uw_http_head *head, const char *bytes, const char *path, const char *end)
{
    const char *mark = memchr(path, '?', (size_t)(end - path));

    head->path = slice(bytes, path, mark ? mark : end);
    if (mark)
        head->query = slice(bytes, mark + 1, end);
}

/* absolute-form: http://host[:port][/path][?query] */
static int read_absolute(struct uw_http_head *head, const char *bytes, const char *target, const char *end)
{
    size_t length = (size_t)(end - target);
    const char *authority, *authority_end;

    if (begins(target, length, "http://"))
        authority = target + strlen("http://");
    else if (begins(target, length, "https://"))
        authority = target + strlen("https://");
    else
        return -400;
    authority_end = authority;
    while (authority_end < end && *authority_end != '/' && *authority_end != '?')
        authority_end++;
    if (!valid_authority(authority, (size_t)(authority_end - authority), false))
        return -400;
    head->form = UW_FORM_ABSOLUTE;
    head->host = slice(bytes, authority, authority_end);
    split_path(head, bytes, authority_end, end);
    return 0;
}

/* RFC 9112, section 3.2. */
static int read_target(struct uw_http_head *head, const char *bytes, const char *target, const char *end)
{
    size_t length = (size_t)(end - target);

    head->target = slice(bytes, target, end);
    if (head->method == UW_METHOD_CONNECT) {
        head->form = UW_FORM_AUTHORITY;
        head->host = head->target;
        return valid_authority(target, length, true) ? 0 : -400;
    }
    if (*target == '/') {
        head->form = UW_FORM_ORIGIN;
        split_path(head, bytes, target, end);
        return 0;
    }
    if (length == 1 && *target == '*') {
        head->form = UW_FORM_ASTERISK;
        return head->method == UW_METHOD_OPTIONS ? 0 : -400;
    }
    return read_absolute(head, bytes, target, end);
}

/* Checks `c` as the byte at `place` of "HTTP/1.1". */
static bool version_byte(size_t place, char c)
{
    static const char pattern[] = "HTTP/0.0";

    return place == 5 || place == 7 ? is(c, UW_BYTE_DIGIT) : c == pattern[place];
}

static int read_version(struct uw_http_head *head, const char *version)
{
    if (version[5] != '1')
        return -505;
    head->version_minor = version[7] == '0' ? 0 : 1;
    return 0;
}

static int read_length(struct uw_http_head *head, const char *value, size_t length)
{
    uint64_t number = 0;

    if (head->seen & SEEN_LENGTH || length == 0 || length > LENGTH_DIGITS_MAX)
        return -400;
    for (size_t i = 0; i < length; i++) {
        if (!is(value[i], UW_BYTE_DIGIT))
            return -400;
        number = number * 10 + (uint64_t)(value[i] - '0');
    }
    head->seen |= SEEN_LENGTH;
    head->has_content_length = true;
    head->content_length = number;
    return 0;
}

/* Whether the list ends with "chunked", once, after other codings: well framed, but not understood here. */
static bool ends_chunked(const char *value, size_t length)
{
    size_t start = length;

    while (start > 0 && value[start - 1] != ',' && !space(value[start - 1]))
        start--;
    if (!equal(value + start, length - start, "chunked"))
        return false;
    while (start > 0 && space(value[start - 1]))
        start--;
    return start > 1 && value[start - 1] == ',' && !begins(value, length, "chunked");
}

/* What does not end with the chunked coding has no certain end (RFC 9112, section 6.3). */
static int read_coding(struct uw_http_head *head, const char *value, size_t length)
{
    if (head->seen & SEEN_CODING || head->version_minor == 0)
        return -400;
    head->seen |= SEEN_CODING;
    head->chunked = equal(value, length, "chunked");
    if (head->chunked)
        return 0;
    return ends_chunked(value, length) ? -501 : -400;
}

static void read_connection_option(struct uw_http_head *head, const char *option, size_t length)
{
    if (equal(option, length, "close"))
        head->seen |= SEEN_CLOSE;
    else if (equal(option, length, "keep-alive"))
        head->seen |= SEEN_KEEP_ALIVE;
    else if (equal(option, length, "upgrade"))
        head->seen |= SEEN_CONNECTION_UPGRADE;
}

/* A list of options (RFC 9110, section 7.6.1). */
static void read_connection(struct uw_http_head *head, const char *value, size_t length)
{
    const char *end = value + length;

    while (value < end) {
        const char *option_end = skip(value, end, UW_BYTE_TOKEN);

        read_connection_option(head, value, (size_t)(option_end - value));
        value = option_end < end ? option_end + 1 : end;
    }
}

static int read_host(struct uw_http_head *head, const struct uw_http_header *header, const char *bytes)
{
    size_t length = header->value.length;

    if (head->seen & SEEN_HOST || (length && !valid_authority(bytes + header->value.offset, length, false)))
        return -400;
    head->seen |= SEEN_HOST;
    if (head->form == UW_FORM_ORIGIN || head->form == UW_FORM_ASTERISK)
        head->host = header->value; /* an absolute target's own host counts (RFC 9112, section 3.2.2) */
    return 0;
}

static int read_expect(struct uw_http_head *head, const char *value, size_t length)
{
    if (!equal(value, length, "100-continue"))
        return -417;
    head->expect_continue = head->version_minor > 0;
    return 0;
}

/* The fields that concern the message itself; all others are the application's. */
static int read_header(struct uw_http_head *head, const struct uw_http_header *header, const char *bytes)
{
    const char *value = bytes + header->value.offset;
    size_t length = header->value.length;

    switch (header->field) {
    case UW_FIELD_HOST:
        return read_host(head, header, bytes);
    case UW_FIELD_CONTENT_LENGTH:
        return read_length(head, value, length);
    case UW_FIELD_TRANSFER_ENCODING:
        return read_coding(head, value, length);
    case UW_FIELD_EXPECT:
        return read_expect(head, value, length);
    case UW_FIELD_CONNECTION:
        read_connection(head, value, length);
        return 0;
    case UW_FIELD_UPGRADE:
        head->seen |= SEEN_UPGRADE;
        return 0;
    default:
        return 0;
    }
}

static int add_name(struct uw_http_head *head, const char *bytes, const char *name, const char *end)
{
    struct uw_http_header *header;

    if (head->header_count >= head->limits->headers_max)
        return -431;
    header = &head->headers[head->header_count];
    header->name = slice(bytes, name, end);
    header->field = uw_http_field_find(name, (size_t)(end - name));
    return 0;
}

static int add_value(struct uw_http_head *head, const char *bytes, const char *value, const char *end)
{
    struct uw_http_header *header = &head->headers[head->header_count++];

    while (end > value && space(end[-1]))
        end--;
    header->value = slice(bytes, value, end);
    return read_header(head, header, bytes);
}

/* What only the whole head tells. */
static int finish(struct uw_http_head *head)
{
    if (head->seen & SEEN_LENGTH && head->seen & SEEN_CODING)
        return -400; /* RFC 9112, section 6.1: an attempt at request smuggling */
    if (head->version_minor > 0 && !(head->seen & SEEN_HOST))
        return -400;
    head->keep_alive = !(head->seen & SEEN_CLOSE) && (head->version_minor > 0 || head->seen & SEEN_KEEP_ALIVE);
    head->upgrade = head->version_minor > 0 && head->seen & SEEN_CONNECTION_UPGRADE && head->seen & SEEN_UPGRADE;
    return 0;
}

/* The bytes ended within a token: an error as soon as the token cannot end in time any more. */
static int suspend(struct uw_http_head *head, const char *bytes, const char *at, size_t length)
{
    head->position = (uint32_t)(at - bytes);
    if (head->state == STATE_method && head->position - head->mark > UW_HTTP_METHOD_BYTES_MAX)
        return -501;
    if (head->state == STATE_target && head->position - head->mark > head->limits->target_bytes_max)
        return -414;
    return length >= head->limits->head_bytes_max ? -431 : 0;
}

/* Each state scans one token and names the next. With labels as values every jump is its own, which the processor
 * predicts better than one shared switch. */
#if defined(__GNUC__) && !defined(UW_PORTABLE_SWITCH)
#define STATE_LABEL(name) &&state_##name,
#define DISPATCH_BEGIN \
    { \
        static const void *const labels[] = {STATES(STATE_LABEL)}; \
        goto *labels[head->state]; \
    }
#define DISPATCH_END
#define STATE(name) state_##name
#define NEXT(name) \
    do { \
        head->state = STATE_##name; \
        goto state_##name; \
    } while (0)
#else
#define DISPATCH_BEGIN \
    dispatch: \
    switch (head->state) {
#define DISPATCH_END }
#define STATE(name) case STATE_##name
#define NEXT(name) \
    do { \
        head->state = STATE_##name; \
        goto dispatch; \
    } while (0)
#endif

#define MORE_IF_ENDED \
    do { \
        if (at == end) \
            return suspend(head, bytes, at, length); \
    } while (0)
#define FAIL_IF(condition, status) \
    do { \
        if (condition) \
            return -(status); \
    } while (0)
#define TRY(call) \
    do { \
        int error = (call); \
        if (error) \
            return error; \
    } while (0)
#define MARK() (head->mark = (uint32_t)(at - bytes))

int uw_http_parse(struct uw_http_head *head, const char *bytes, size_t length)
{
    size_t limit = length < head->limits->head_bytes_max ? length : head->limits->head_bytes_max;
    const char *at = bytes + head->position, *end = bytes + limit, *mark = bytes + head->mark;

    /* clang-format off */
    DISPATCH_BEGIN

    STATE(start):
        MORE_IF_ENDED;
        MARK();
        mark = at;
        if (*at != '\r')
            NEXT(method);
        FAIL_IF(head->empty_lines++ >= EMPTY_LINES_MAX, 400);
        at++;
        NEXT(start_lf);

    STATE(start_lf):
        MORE_IF_ENDED;
        FAIL_IF(*at++ != '\n', 400);
        NEXT(start);

    STATE(method):
        at = skip(at, end, UW_BYTE_TOKEN);
        MORE_IF_ENDED;
        FAIL_IF(at - mark > UW_HTTP_METHOD_BYTES_MAX, 501);
        FAIL_IF(*at != ' ' || at == mark, 400);
        head->method_name = slice(bytes, mark, at);
        head->method = method_of(mark, (size_t)(at - mark));
        mark = ++at;
        MARK();
        NEXT(target);

    STATE(target):
        at = skip_target(at, end);
        MORE_IF_ENDED;
        FAIL_IF((size_t)(at - mark) > head->limits->target_bytes_max, 414);
        FAIL_IF(*at != ' ' || at == mark, 400);
        TRY(read_target(head, bytes, mark, at));
        mark = ++at;
        MARK();
        NEXT(version);

    STATE(version):
        if (at == mark && end - at >= VERSION_BYTES && memcmp(at, "HTTP/1.1", VERSION_BYTES) == 0)
            at += VERSION_BYTES;
        for (; at < end && at - mark < VERSION_BYTES; at++)
            FAIL_IF(!version_byte((size_t)(at - mark), *at), 400);
        MORE_IF_ENDED;
        TRY(read_version(head, mark));
        NEXT(version_cr);

    STATE(version_cr):
        MORE_IF_ENDED;
        FAIL_IF(*at++ != '\r', 400);
        NEXT(line_lf);

    STATE(line_lf):
        MORE_IF_ENDED;
        FAIL_IF(*at++ != '\n', 400);
        NEXT(line);

    STATE(line):
        MORE_IF_ENDED;
        MARK();
        mark = at;
        if (*at != '\r')
            NEXT(name);
        at++;
        NEXT(end_lf);

    STATE(name): /* a line that begins with a space would be obs-fold */
        at = skip(at, end, UW_BYTE_TOKEN);
        MORE_IF_ENDED;
        FAIL_IF(*at != ':' || at == mark, 400);
        TRY(add_name(head, bytes, mark, at));
        at++;
        NEXT(value_start);

    STATE(value_start):
        while (at < end && space(*at))
            at++;
        MORE_IF_ENDED;
        MARK();
        mark = at;
        NEXT(value);

    STATE(value):
        at = skip_value(at, end);
        MORE_IF_ENDED;
        FAIL_IF(*at != '\r', 400);
        TRY(add_value(head, bytes, mark, at));
        at++;
        NEXT(line_lf);

    STATE(end_lf):
        MORE_IF_ENDED;
        FAIL_IF(*at++ != '\n', 400);
        TRY(finish(head));
        head->position = (uint32_t)(at - bytes);
        return (int)head->position;

    DISPATCH_END
    /* clang-format on */
    return -400; /* not reached: every state jumps or returns */
}
