#include "rack/rack_response.h"

#include <errno.h>
#include <ruby/encoding.h>
#include <string.h>

#include "composition/upgrade_kinds.h"
#include "http/response_writer.h"
#include "rack/to_path_file.h"

#define SWITCHING_PROTOCOLS 101
#define EARLY_HINTS 103

static ID id_to_i, id_each;

/* A head in the making. */
struct head {
    const struct uw_response_writer *writer;
    struct uw_http_response *response;
    struct uw_chunk **chunk;
    bool newline_values;                   /* see rb_uw_rack_context */
    bool switches;                         /* to a protocol that the application has chosen */
    const struct uw_upgrade_kind *upgrade; /* by which the client becomes long-lived, or NULL */
};

void rb_uw_init_response(void)
{
    id_to_i = rb_intern("to_i");
    id_each = rb_intern("each");
}

static VALUE error_text(const struct uw_http_response *response, int error, VALUE subject)
{
    const char *shown = StringValueCStr(subject);
    int length = uw_http_response_error_text(response, error, shown, NULL, 0);
    VALUE text = rb_str_new(NULL, length + 1); /* with the NUL */

    uw_http_response_error_text(response, error, shown, RSTRING_PTR(text), (size_t)length + 1);
    rb_str_set_len(text, length);
    return rb_enc_str_asciionly_p(subject) ? text : rb_enc_associate(text, rb_enc_get(subject));
}

NORETURN(static void refuse(const struct uw_http_response *response, int error, VALUE subject));

static void refuse(const struct uw_http_response *response, int error, VALUE subject)
{
    if (error == -ENOMEM)
        rb_memerror();
    rb_exc_raise(rb_exc_new_str(rb_eArgError, error_text(response, error, subject)));
}

void rb_uw_check_response(const struct uw_http_response *head, int error)
{
    if (error)
        refuse(head, error, rb_usascii_str_new_cstr(""));
}

NORETURN(static void refuse_field(const struct head *head, int error, VALUE name));

/* A name that is none is shown byte by byte. */
static void refuse_field(const struct head *head, int error, VALUE name)
{
    VALUE bytes = rb_str_new(RSTRING_PTR(name), RSTRING_LEN(name));

    refuse(head->response, error, error == -UW_EFIELD_NAME ? rb_inspect(bytes) : bytes);
}

static void write_line(struct head *head, VALUE name, const char *value, size_t length)
{
    int error = head->writer->field(head->chunk, RSTRING_PTR(name), (size_t)RSTRING_LEN(name), value, length);

    if (error)
        refuse_field(head, error, name);
}

/* In Rack 2 a value may hold several lines, each a header of its own. */
static void write_lines(struct head *head, VALUE name, VALUE value)
{
    const char *start = RSTRING_PTR(value), *end = start + RSTRING_LEN(value), *newline;

    while (head->newline_values && (newline = memchr(start, '\n', (size_t)(end - start)))) {
        write_line(head, name, start, (size_t)(newline - start));
        start = newline + 1;
    }
    write_line(head, name, start, (size_t)(end - start));
    RB_GC_GUARD(value);
}

static void write_header(struct head *head, VALUE name, VALUE value)
{
    if (RB_TYPE_P(value, T_ARRAY)) {
        for (long i = 0; i < RARRAY_LEN(value); i++)
            write_lines(head, name, rb_obj_as_string(RARRAY_AREF(value, i)));
    } else {
        write_lines(head, name, rb_obj_as_string(value));
    }
}

/* Joins the lines of a value into one list. */
static VALUE listed(VALUE value)
{
    return RB_TYPE_P(value, T_ARRAY) ? rb_ary_join(value, rb_str_new_cstr(", ")) : rb_obj_as_string(value);
}

/* Headers that concern the connection are the server's to write; the rest are sent as they are. Returns whether `name`
 * was dealt with. */
static bool note_header(struct head *head, VALUE name, VALUE value)
{
    enum uw_http_field field = uw_http_noted_field(RSTRING_PTR(name), (size_t)RSTRING_LEN(name));
    VALUE list;
    int result;

    if (field == UW_FIELD_OTHER)
        return false;
    list = listed(value);
    result = uw_http_response_note(head->response, field, RSTRING_PTR(list), (size_t)RSTRING_LEN(list));
    if (result < 0)
        refuse(head->response, result, rb_inspect(list));
    RB_GC_GUARD(list);
    return result;
}

/* Whether the server writes that field itself. */
static bool is_ours(const struct head *head, const char *name, size_t length)
{
    if (head->upgrade)
        return uw_upgrade_writes(name, length);
    return head->switches && uw_http_field_find(name, length) == UW_FIELD_UPGRADE;
}

static int each_header(VALUE name, VALUE value, VALUE argument)
{
    struct head *head = (struct head *)argument;

    if (!RB_TYPE_P(name, T_STRING))
        name = rb_obj_as_string(name);
    /* "rack." names are meant for the server, never for the client. */
    if (RSTRING_LEN(name) > 5 && memcmp(RSTRING_PTR(name), "rack.", 5) == 0)
        return ST_CONTINUE;
    if (is_ours(head, RSTRING_PTR(name), (size_t)RSTRING_LEN(name)))
        return ST_CONTINUE;
    if (!NIL_P(value) && !note_header(head, name, value))
        write_header(head, name, value);
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

int rb_uw_response_status(const struct rb_uw_rack_response *response)
{
    VALUE status = response->status;

    if (!RB_INTEGER_TYPE_P(status))
        status = rb_funcall(status, id_to_i, 0);
    return NUM2INT(status);
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

/* Many applications answer HEAD with an empty body, whose length is not the response's. */
static bool array_tells_length(const struct uw_http_response *response, VALUE body)
{
    return uw_http_frames_content(response) || (response->to_head && RARRAY_LEN(body) && !response->has_coding);
}

static bool file_tells_length(const struct uw_http_response *response)
{
    return uw_http_frames_content(response) || (response->to_head && !response->has_coding && !response->hijacked);
}

/* Notes the length that the body itself has: an Array, or a file without a length from the application. */
static void note_length(struct uw_http_response *response, VALUE body)
{
    bool array = RB_TYPE_P(body, T_ARRAY);
    int64_t length = -1;

    if (array && array_tells_length(response, body))
        length = (int64_t)array_length(body);
    else if (!array && !response->has_length && file_tells_length(response))
        length = rb_uw_body_file_bytes(body);
    if (length >= 0)
        rb_uw_check_response(response, uw_http_response_set_length(response, (uint64_t)length));
}

static int end_head(struct head *head)
{
    const struct uw_response_writer *writer = head->writer;
    int error = head->response->has_date ? 0 : writer->date(head->chunk);

    if (!error)
        error = writer->framing(head->chunk, head->response);
    if (!error)
        error = writer->connection(head->chunk, head->response);
    return error ? error : writer->end_head(head->chunk);
}

/* A head that failed may be in the chunk in part. */
static void begin(struct head *head)
{
    if (*head->chunk)
        (*head->chunk)->length = 0;
    rb_uw_check_response(head->response, head->writer->status(head->chunk, head->response));
}

/* The end of the connection alone may delimit the content. The framing after a hijack is unknown. */
static unsigned head_flags(enum uw_http_framing framing)
{
    return framing == UW_FRAMING_TO_CLOSE || framing == UW_FRAMING_UNTOUCHED ? UW_CHUNK_TO_CLOSE : 0;
}

static void write_protocol(struct head *head, VALUE protocol)
{
    write_header(head, rb_str_new_cstr(uw_http_field_name(UW_FIELD_UPGRADE)), protocol);
}

void rb_uw_response_head(struct rb_uw_rack_response *response)
{
    struct rb_uw_delivery *delivery = response->delivery;
    const struct uw_request *core = delivery->core;
    struct head head = {
        .writer = core->writer,
        .response = &response->head,
        .chunk = &delivery->chunk,
        .newline_values = delivery->rack_context->newline_values,
        .switches = !NIL_P(response->protocol),
    };
    int status = rb_uw_response_status(response);

    rb_uw_check_response(head.response, uw_http_response_begin(head.response, &core->head, status));
    head.response->hijacked = !NIL_P(response->hijacker);
    head.response->upgrade = head.switches;
    begin(&head);
    if (head.switches)
        write_protocol(&head, response->protocol);
    each_pair(response->headers, &head);
    note_length(head.response, response->body);
    uw_http_frame(head.response, uw_request_keeps_alive(core));
    delivery->head_flags = head_flags(head.response->framing);
    rb_uw_check_response(head.response, end_head(&head));
}

static int end_upgrade(struct head *head, const struct uw_request *core, struct uw_push_client *client)
{
    const struct uw_response_writer *writer = head->writer;
    int error = head->response->has_date ? 0 : writer->date(head->chunk);

    if (!error)
        error = head->upgrade->accept(writer, head->chunk, &core->head, core->bytes, client);
    if (!error)
        error = writer->connection(head->chunk, head->response);
    return error ? error : writer->end_head(head->chunk);
}

void rb_uw_response_upgrade(struct rb_uw_rack_response *response, struct uw_push_client *client)
{
    struct rb_uw_delivery *delivery = response->delivery;
    const struct uw_upgrade_kind *upgrade = response->request->upgrade;
    struct head head = {
        .writer = delivery->core->writer,
        .response = &response->head,
        .chunk = &delivery->chunk,
        .newline_values = delivery->rack_context->newline_values,
        .upgrade = upgrade,
    };
    int error;

    response->head = (struct uw_http_response){
        .status = (int)upgrade->status,
        .version = delivery->core->head.version,
        .upgrade = upgrade->status == SWITCHING_PROTOCOLS,
    };
    begin(&head);
    each_pair(response->headers, &head);
    error = end_upgrade(&head, delivery->core, client);
    if (error == -ENOSYS)
        rb_syserr_fail_str(ENOSYS, rb_sprintf("the upgrade to %s failed, because OpenSSL computes no SHA-1; check "
                                              "the providers in openssl.cnf",
                                              upgrade->name));
    rb_uw_check_response(&response->head, error);
}

struct hints {
    struct head head;
    VALUE headers;
};

static VALUE write_hints(VALUE argument)
{
    struct hints *hints = (struct hints *)argument;
    struct head *head = &hints->head;

    begin(head);
    each_pair(hints->headers, head);
    rb_uw_check_response(head->response, head->writer->end_head(head->chunk));
    return Qnil;
}

struct uw_chunk *rb_uw_response_early_hints(const struct uw_response_writer *writer, bool newline_values, VALUE headers)
{
    struct uw_http_response response = {.status = EARLY_HINTS, .version = UW_HTTP_1_1};
    struct uw_chunk *chunk = NULL;
    struct hints hints = {{writer, &response, &chunk, newline_values, false, NULL}, headers};
    int state = 0;

    rb_protect(write_hints, (VALUE)&hints, &state);
    if (state) {
        if (chunk)
            uw_chunk_free(chunk);
        rb_jump_tag(state);
    }
    return chunk;
}
