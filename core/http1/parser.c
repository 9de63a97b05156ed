#include "http1/parser.h"

#include <string.h>

#include "http/authority.h"
#include "http/byte_class.h"
#include "http/field_cursor.h"

#define EMPTY_LINES_MAX 4 /* skipped before a request line (RFC 9112, section 2.2) */
#define LENGTH_DIGITS_MAX 19
#define VERSION_BYTES 8 /* "HTTP/1.1" */

/* Bits of the fields that decide about framing and the connection. */
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

/* Returns the first byte from `at` on that is outside the class. */
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

/* Loads eight bytes, the first into the low bits. */
static inline uint64_t load_word(const char *at)
{
    uint64_t word;

    memcpy(&word, at, WORD_BYTES);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Marks each byte below `bound`, at most 0x80, by its top bit. Marks above the lowest one may be false because of
 * borrows. */
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

/* Does the work of skip() for values, a word at a time. A tab is the only control byte that values may contain. */
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

/* Does the work of skip() for targets. */
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

/* Returns whether `text` begins with `word`, which is in lower case. Unlike strncasecmp this is independent of the
 * locale. */
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
    memset(head, 0, offsetof(struct uw_http_head, headers)); /* headers are valid only up to header_count */
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

static void split_path(struct uw_http_head *head, const char *bytes, const char *path, const char *end)
{
    const char *mark = memchr(path, '?', (size_t)(end - path));

    head->path = slice(bytes, path, mark ? mark : end);
    if (mark)
        head->query = slice(bytes, mark + 1, end);
}

/* Reads absolute-form: http://host[:port][/path][?query] */
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
    if (!uw_http_authority_is_valid(authority, (size_t)(authority_end - authority), false))
        return -400;
    head->form = UW_FORM_ABSOLUTE;
    head->host = slice(bytes, authority, authority_end);
    split_path(head, bytes, authority_end, end);
    return 0;
}

/* Reads a request target (RFC 9112, section 3.2). */
static int read_target(struct uw_http_head *head, const char *bytes, const char *target, const char *end)
{
    size_t length = (size_t)(end - target);

    head->target = slice(bytes, target, end);
    if (head->method == UW_METHOD_CONNECT) {
        head->form = UW_FORM_AUTHORITY;
        head->host = head->target;
        return uw_http_authority_is_valid(target, length, true) ? 0 : -400;
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

/* Checks `c`, the character at index `place` of "HTTP/1.1". */
static bool version_byte(size_t place, char c)
{
    static const char pattern[] = "HTTP/0.0";

    return place == 5 || place == 7 ? is(c, UW_BYTE_DIGIT) : c == pattern[place];
}

static int read_version(struct uw_http_head *head, const char *version)
{
    if (version[5] != '1')
        return -505;
    head->version = uw_http_1(version[7]);
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

/* Returns whether the list ends with "chunked", once, after other codings: a valid frame, but the server does not
 * decode these codings. */
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

/* A body whose last coding is not chunked has no certain end (RFC 9112, section 6.3). */
static int read_coding(struct uw_http_head *head, const char *value, size_t length)
{
    if (head->seen & SEEN_CODING || head->version < UW_HTTP_1_1)
        return -400;
    head->seen |= SEEN_CODING;
    head->chunked = equal(value, length, "chunked");
    if (head->chunked)
        return 0;
    return ends_chunked(value, length) ? -501 : -400;
}

static bool is_option(struct uw_http_cursor option, const char *name)
{
    return uw_http_skip_word(&option, name) && uw_http_end_element(&option);
}

static void read_connection_option(struct uw_http_head *head, struct uw_http_cursor option)
{
    if (is_option(option, "close"))
        head->seen |= SEEN_CLOSE;
    else if (is_option(option, "keep-alive"))
        head->seen |= SEEN_KEEP_ALIVE;
    else if (is_option(option, "upgrade"))
        head->seen |= SEEN_CONNECTION_UPGRADE;
}

/* Reads a list of options (RFC 9110, section 7.6.1). */
static void read_connection(struct uw_http_head *head, const char *value, size_t length)
{
    struct uw_http_cursor list = uw_http_cursor(value, length);

    for (; uw_http_next_element(&list); uw_http_skip_element(&list))
        read_connection_option(head, list);
}

static int read_host(struct uw_http_head *head, const struct uw_http_header *header, const char *bytes)
{
    size_t length = header->value.length;

    if (head->seen & SEEN_HOST || (length && !uw_http_authority_is_valid(bytes + header->value.offset, length, false)))
        return -400;
    head->seen |= SEEN_HOST;
    if (head->form == UW_FORM_ORIGIN || head->form == UW_FORM_ASTERISK)
        head->host = header->value; /* the host of an absolute target has precedence (RFC 9112, section 3.2.2) */
    return 0;
}

static int read_expect(struct uw_http_head *head, const char *value, size_t length)
{
    if (!equal(value, length, "100-continue"))
        return -417;
    head->expect_continue = head->version >= UW_HTTP_1_1;
    return 0;
}

/* Reads fields that concern the message itself. All others are for the application. */
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
    header = uw_http_head_next(head);
    if (!header)
        return -503;
    header->name = slice(bytes, name, end);
    header->field = uw_http_field_find(name, (size_t)(end - name));
    return 0;
}

static int add_value(struct uw_http_head *head, const char *bytes, const char *value, const char *end)
{
    struct uw_http_header *header = uw_http_head_next(head);

    head->header_count++;
    while (end > value && space(end[-1]))
        end--;
    header->value = slice(bytes, value, end);
    return read_header(head, header, bytes);
}

/* Checks and decides what needs the whole head. */
static int finish(struct uw_http_head *head)
{
    if (head->seen & SEEN_LENGTH && head->seen & SEEN_CODING)
        return -400; /* RFC 9112, section 6.1: an attempt at request smuggling */
    if (head->version >= UW_HTTP_1_1 && !(head->seen & SEEN_HOST))
        return -400;
    head->keep_alive = !(head->seen & SEEN_CLOSE) && (head->version >= UW_HTTP_1_1 || head->seen & SEEN_KEEP_ALIVE);
    head->upgrade = head->version >= UW_HTTP_1_1 && head->seen & SEEN_CONNECTION_UPGRADE && head->seen & SEEN_UPGRADE;
    return 0;
}

/* The bytes end within a token. This is an error once the token exceeds its limit. */
static int suspend(struct uw_http_head *head, const char *bytes, const char *at, size_t length)
{
    head->position = (uint32_t)(at - bytes);
    if (head->state == STATE_method && head->position - head->mark > UW_HTTP_METHOD_BYTES_MAX)
        return -501;
    if (head->state == STATE_target && head->position - head->mark > head->limits->target_bytes_max)
        return -414;
    return length >= head->limits->head_bytes_max ? -431 : 0;
}

/* Each state scans one token and names the next state. With labels as values each jump is separate, and the processor
 * predicts it better than one shared switch. */
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

    STATE(name): /* a line that begins with a space is obs-fold, an error */
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
