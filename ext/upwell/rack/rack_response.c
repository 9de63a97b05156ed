/* The head of a response: status line and header lines, checked, and the framing that follows from them (RFC 9112,
 * section 6). */
#include <string.h>
#include <strings.h>

#include "http/date.h"
#include "http/status.h"
#include "http/token.h"
#include "rack/rack.h"

#define HEAD_BYTES_USUAL 512
#define STATUS_MIN 100
#define STATUS_MAX 999
#define EARLY_HINTS 103

static ID id_to_i, id_each, id_call;
static VALUE key_hijack;

/* A head in the making, and what the application's headers said. */
struct head {
    struct rb_uw_exchange *exchange;
    struct uw_chunk **chunk;
    bool newline_values; /* see rb_uw_host */
    int status;
    bool tunnel; /* the answer that makes a tunnel of the connection (RFC 9110, section 9.3.6) */
    bool has_date, has_length, has_coding, close, upgrade;
    uint64_t length;
};

void rb_uw_init_response(void)
{
    id_to_i = rb_intern("to_i");
    id_each = rb_intern("each");
    id_call = rb_intern("call");
    rb_gc_register_mark_object(key_hijack = rb_interned_str_cstr("rack.hijack"));
}

static void grow(struct uw_chunk **chunk, size_t length)
{
    struct uw_chunk *old = *chunk, *larger = uw_chunk_new(2 * (old ? old->capacity : 0) + length);

    if (!larger)
        rb_memerror();
    if (old) {
        memcpy(larger->bytes, old->bytes, old->length);
        larger->length = old->length;
        uw_chunk_free(old);
    }
    *chunk = larger;
}

void rb_uw_reserve(struct uw_chunk **chunk, size_t length)
{
    if (!*chunk || (*chunk)->capacity - (*chunk)->length < length)
        grow(chunk, length);
}

void rb_uw_append(struct uw_chunk **chunk, const char *bytes, size_t length)
{
    rb_uw_reserve(chunk, length);
    memcpy((*chunk)->bytes + (*chunk)->length, bytes, length);
    (*chunk)->length += length;
}

static void append_text(struct uw_chunk **chunk, const char *text)
{
    rb_uw_append(chunk, text, strlen(text));
}

static bool all(const char *bytes, size_t length, uint8_t class)
{
    for (size_t i = 0; i < length; i++)
        if (!uw_http_byte_is(bytes[i], class))
            return false;
    return true;
}

static void append_line(struct uw_chunk **chunk, const char *name, size_t name_length, const char *value,
                        size_t value_length)
{
    char *end;

    if (name_length == 0 || !all(name, name_length, UW_BYTE_TOKEN))
        rb_raise(rb_eArgError, "response header name %+" PRIsVALUE " is not a token; it was not sent",
                 rb_str_new(name, (long)name_length));
    /* A line's end in a value would let it write headers or responses of its own. */
    if (!all(value, value_length, UW_BYTE_VALUE))
        rb_raise(rb_eArgError,
                 "value of response header %.*s contains CR, LF, NUL or another control byte; it was not sent",
                 (int)name_length, name);
    rb_uw_reserve(chunk, name_length + value_length + 4);
    end = (*chunk)->bytes + (*chunk)->length;
    memcpy(end, name, name_length);
    end += name_length;
    *end++ = ':';
    *end++ = ' ';
    memcpy(end, value, value_length);
    end += value_length;
    *end++ = '\r';
    *end++ = '\n';
    (*chunk)->length = (size_t)(end - (*chunk)->bytes);
}

/* A value of Rack 2 may hold several lines, each a header of its own. */
static void append_lines(struct head *head, VALUE name, VALUE value)
{
    const char *start = RSTRING_PTR(value), *end = start + RSTRING_LEN(value), *newline;

    while (head->newline_values && (newline = memchr(start, '\n', (size_t)(end - start)))) {
        append_line(head->chunk, RSTRING_PTR(name), (size_t)RSTRING_LEN(name), start, (size_t)(newline - start));
        start = newline + 1;
    }
    append_line(head->chunk, RSTRING_PTR(name), (size_t)RSTRING_LEN(name), start, (size_t)(end - start));
}

static void append_header(struct head *head, VALUE name, VALUE value)
{
    if (RB_TYPE_P(value, T_ARRAY)) {
        for (long i = 0; i < RARRAY_LEN(value); i++)
            append_lines(head, name, rb_obj_as_string(RARRAY_AREF(value, i)));
    } else {
        append_lines(head, name, rb_obj_as_string(value));
    }
}

static bool is(VALUE name, const char *text, size_t length)
{
    return (size_t)RSTRING_LEN(name) == length && strncasecmp(RSTRING_PTR(name), text, length) == 0;
}

#define IS(name, text) is(name, text, sizeof text - 1)

/* A value as one list, however many lines it comes in (RFC 9110, section 5.3). */
static VALUE listed(VALUE value)
{
    return RB_TYPE_P(value, T_ARRAY) ? rb_ary_join(value, rb_str_new_cstr(", ")) : rb_obj_as_string(value);
}

/* Whether a list of tokens has `token` among them. */
static bool names(VALUE list, const char *token, size_t length)
{
    const char *at = RSTRING_PTR(list), *end = at + RSTRING_LEN(list);

    while (at < end) {
        const char *start = at;

        while (at < end && uw_http_byte_is(*at, UW_BYTE_TOKEN))
            at++;
        if ((size_t)(at - start) == length && strncasecmp(start, token, length) == 0)
            return true;
        at += at < end;
    }
    return false;
}

#define NAMES(list, token) names(list, token, sizeof token - 1)

static uint64_t parse_length(VALUE value)
{
    VALUE string = listed(value);
    uint64_t length = 0;

    for (long i = 0; i < RSTRING_LEN(string); i++) {
        char digit = RSTRING_PTR(string)[i];

        if (digit < '0' || digit > '9' || length > (UINT64_MAX - 9) / 10)
            rb_raise(rb_eArgError, "content-length %+" PRIsVALUE " of the response is not a length", string);
        length = length * 10 + (uint64_t)(digit - '0');
    }
    if (RSTRING_LEN(string) == 0)
        rb_raise(rb_eArgError, "content-length of the response is empty");
    return length;
}

/* Whether the connection goes on is the server's to tell, in one line; "upgrade" belongs to an Upgrade header of the
 * application's (RFC 9110, section 7.8). */
static void note_connection(struct head *head, VALUE value)
{
    VALUE list = listed(value);

    head->close |= NAMES(list, "close");
    head->upgrade |= NAMES(list, "upgrade");
}

/* The application frames its body itself. A response that cannot have one has no coding either (RFC 9112, section 6.1).
 * Returns whether the line is dealt with. */
static bool note_coding(struct head *head)
{
    if (head->status < 200 || head->status == 204 || head->tunnel)
        return true;
    if (head->exchange->request->head.version_minor == 0)
        rb_raise(rb_eArgError, "the response has a transfer-encoding, which a client of HTTP/1.0 does not understand");
    head->has_coding = true;
    return false;
}

static void note_length(struct head *head, VALUE value)
{
    head->has_length = true;
    head->length = parse_length(value);
}

/* Headers that concern the connection are the server's to write; the rest are sent as they are. Returns whether `name`
 * was dealt with. */
static bool note_header(struct head *head, VALUE name, VALUE value)
{
    switch (RSTRING_LEN(name)) {
    case 4:
        head->has_date |= IS(name, "date");
        return false;
    case 10:
        if (!IS(name, "connection"))
            return false;
        note_connection(head, value);
        return true;
    case 14:
        if (!IS(name, "content-length"))
            return false;
        note_length(head, value);
        return true;
    case 17:
        return IS(name, "transfer-encoding") && note_coding(head);
    default:
        return false;
    }
}

static int each_header(VALUE name, VALUE value, VALUE argument)
{
    struct head *head = (struct head *)argument;

    if (!RB_TYPE_P(name, T_STRING))
        name = rb_obj_as_string(name);
    /* "rack." names are meant for the server, never for the client. */
    if (RSTRING_LEN(name) > 5 && memcmp(RSTRING_PTR(name), "rack.", 5) == 0)
        return ST_CONTINUE;
    if (!NIL_P(value) && !note_header(head, name, value))
        append_header(head, name, value);
    return ST_CONTINUE;
}

static VALUE yielded_header(RB_BLOCK_CALL_FUNC_ARGLIST(pair, argument))
{
    (void)pair;
    rb_check_arity(argc, 1, 2);
    if (argc == 2)
        each_header(argv[0], argv[1], argument);
    else
        each_header(rb_ary_entry(argv[0], 0), rb_ary_entry(argv[0], 1), argument);
    return Qnil;
}

static void each_pair(VALUE headers, struct head *head)
{
    if (RB_TYPE_P(headers, T_HASH))
        rb_hash_foreach(headers, each_header, (VALUE)head);
    else
        rb_block_call(headers, id_each, 0, NULL, yielded_header, (VALUE)head);
}

/* An empty chunk: a head that failed may have left a part of itself. */
static void begin(struct uw_chunk **chunk)
{
    rb_uw_reserve(chunk, HEAD_BYTES_USUAL);
    (*chunk)->length = 0;
}

static void append_number(struct uw_chunk **chunk, const char *name, uint64_t number)
{
    char digits[24], *start = digits + sizeof digits;

    *--start = '\n';
    *--start = '\r';
    do {
        *--start = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    append_text(chunk, name);
    rb_uw_append(chunk, start, (size_t)(digits + sizeof digits - start));
}

static int status_of(struct rb_uw_exchange *exchange)
{
    VALUE status = exchange->status;
    int number;

    if (!RB_INTEGER_TYPE_P(status))
        status = rb_funcall(status, id_to_i, 0);
    number = NUM2INT(status);
    if (number < STATUS_MIN || number > STATUS_MAX)
        rb_raise(rb_eArgError, "the application answered with status %d; a status is a number from %d to %d", number,
                 STATUS_MIN, STATUS_MAX);
    if (number < 200 && number != 101)
        rb_raise(rb_eArgError, "the application answered with status %d, after which the client waits for another",
                 number);
    return number;
}

static void append_status(struct uw_chunk **chunk, int status)
{
    char digits[4] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10), (char)('0' + status % 10), ' '};

    rb_uw_append(chunk, "HTTP/1.1 ", 9);
    rb_uw_append(chunk, digits, sizeof digits);
    append_text(chunk, uw_http_reason(status));
    rb_uw_append(chunk, "\r\n", 2);
}

/* The length of a body that is an Array of Strings; they are checked, so that nothing is sent of a body that cannot be.
 */
static uint64_t array_length(VALUE body)
{
    uint64_t length = 0;

    for (long i = 0; i < RARRAY_LEN(body); i++) {
        VALUE piece = RARRAY_AREF(body, i);

        Check_Type(piece, T_STRING);
        length += (uint64_t)RSTRING_LEN(piece);
    }
    return length;
}

/* The length is known from the body itself: the application's own claim must agree. */
static void use_known_length(struct head *head, uint64_t known)
{
    if (head->has_length && head->length != known && head->exchange->framing != RB_UW_NO_BODY)
        rb_raise(rb_eArgError, "the response says content-length %llu, but its body has %llu bytes",
                 (unsigned long long)head->length, (unsigned long long)known);
    if (!head->has_length) {
        head->has_length = true;
        head->length = known;
    }
}

/* Whether the length of an Array body is that of the response. To HEAD many applications answer with an empty body. */
static bool knows_length(const struct head *head)
{
    const struct rb_uw_exchange *exchange = head->exchange;

    return exchange->framing == RB_UW_SIZED ||
           (exchange->request->head.method == UW_METHOD_HEAD && RARRAY_LEN(exchange->body) && !head->has_coding);
}

/* A 205 has no content, and says so by its length (RFC 9110, section 15.3.6). */
static bool bodiless(const struct head *head)
{
    return head->tunnel || head->exchange->request->head.method == UW_METHOD_HEAD || uw_http_bodiless(head->status) ||
           head->status == 205;
}

/* A file that the application gave no length of. */
static bool note_file(struct head *head)
{
    int64_t length = rb_uw_body_file_bytes(head->exchange);

    if (length < 0)
        return false;
    head->has_length = true;
    head->length = (uint64_t)length;
    return true;
}

static void choose_framing(struct head *head)
{
    struct rb_uw_exchange *exchange = head->exchange;
    bool array = RB_TYPE_P(exchange->body, T_ARRAY);

    if (head->status == 205) {
        head->has_length = true;
        head->length = 0;
    }
    if (bodiless(head))
        exchange->framing = RB_UW_NO_BODY;
    else if (head->has_coding || !NIL_P(exchange->hijacker))
        exchange->framing = RB_UW_UNTOUCHED;
    else if (head->has_length || array || note_file(head))
        exchange->framing = RB_UW_SIZED;
    else
        exchange->framing = exchange->request->head.version_minor ? RB_UW_CHUNKED : RB_UW_TO_CLOSE;
    if (array && knows_length(head))
        use_known_length(head, array_length(exchange->body));
    exchange->body_length = head->length;
}

/* A 1xx, a 204 and a tunnel have no Content-Length (RFC 9110, section 8.6). */
static bool tells_length(const struct head *head)
{
    bool allowed = head->status >= 200 && head->status != 204 && !head->has_coding && !head->tunnel;

    return allowed && head->has_length;
}

/* What ends with the response: the client cannot tell its end otherwise, or, of a body that the application framed,
 * might see it elsewhere. */
static bool ends_connection(const struct head *head)
{
    const struct rb_uw_exchange *exchange = head->exchange;

    return head->close || head->tunnel || head->status == 101 || exchange->framing == RB_UW_TO_CLOSE ||
           exchange->framing == RB_UW_UNTOUCHED || !NIL_P(exchange->hijacker);
}

static void append_connection(struct head *head)
{
    struct rb_uw_exchange *exchange = head->exchange;
    bool one_point_zero = exchange->request->head.version_minor == 0;
    const char *option = "";

    exchange->keep_alive = uw_request_keeps_alive(exchange->request) && !ends_connection(head);
    if (!exchange->keep_alive && head->status != 101)
        option = "close";
    else if (one_point_zero && exchange->keep_alive)
        option = "keep-alive";
    if (!head->upgrade && !*option)
        return;
    append_text(head->chunk, "Connection: ");
    append_text(head->chunk, head->upgrade ? "upgrade" : "");
    append_text(head->chunk, head->upgrade && *option ? ", " : "");
    append_text(head->chunk, option);
    append_text(head->chunk, "\r\n");
}

static void append_date(struct uw_chunk **chunk)
{
    rb_uw_append(chunk, "Date: ", 6);
    rb_uw_append(chunk, uw_http_date_now(), UW_HTTP_DATE_BYTES);
    rb_uw_append(chunk, "\r\n", 2);
}

static bool makes_tunnel(const struct rb_uw_exchange *exchange, int status)
{
    return exchange->request->head.method == UW_METHOD_CONNECT && status / 100 == 2;
}

void rb_uw_response_head(struct rb_uw_exchange *exchange)
{
    struct head head = {
        .exchange = exchange,
        .chunk = &exchange->chunk,
        .newline_values = exchange->host->newline_values,
        .status = status_of(exchange),
    };

    head.tunnel = makes_tunnel(exchange, head.status);
    begin(head.chunk);
    append_status(head.chunk, head.status);
    each_pair(exchange->headers, &head);
    choose_framing(&head);
    if (!head.has_date)
        append_date(head.chunk);
    if (tells_length(&head))
        append_number(head.chunk, "Content-Length: ", head.length);
    else if (exchange->framing == RB_UW_CHUNKED)
        append_text(head.chunk, "Transfer-Encoding: chunked\r\n");
    append_connection(&head);
    rb_uw_append(head.chunk, "\r\n", 2);
}

struct hints {
    struct head head;
    VALUE headers;
};

static VALUE write_hints(VALUE argument)
{
    struct hints *hints = (struct hints *)argument;
    struct uw_chunk **chunk = hints->head.chunk;

    begin(chunk);
    append_status(chunk, EARLY_HINTS);
    each_pair(hints->headers, &hints->head);
    rb_uw_append(chunk, "\r\n", 2);
    return Qnil;
}

struct uw_chunk *rb_uw_response_early_hints(bool newline_values, VALUE headers)
{
    struct uw_chunk *chunk = NULL;
    struct hints hints = {{.chunk = &chunk, .newline_values = newline_values, .status = EARLY_HINTS}, headers};
    int state = 0;

    rb_protect(write_hints, (VALUE)&hints, &state);
    if (state) {
        if (chunk)
            uw_chunk_free(chunk);
        rb_jump_tag(state);
    }
    return chunk;
}
