#include "rack/rack_body.h"

#include "base/unwinding.h"
#include "rack/hijack_detach.h"
#include "rack/object_description.h"
#include "rack/outcome.h"
#include "rack/response_stream.h"
#include "rack/stream_class.h"
#include "rack/to_path_file.h"

static ID id_each, id_call, id_close, id_to_ary;

void rb_uw_init_body(void)
{
    id_each = rb_intern("each");
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_to_ary = rb_intern("to_ary");
}

bool rb_uw_body_is_callable(const struct rb_uw_rack_response *response)
{
    return !RB_TYPE_P(response->body, T_ARRAY) && !rb_respond_to(response->body, id_each) &&
           rb_respond_to(response->body, id_call);
}

/* After 101 the connection uses another protocol in both directions (RFC 9110, section 15.2.2): a callable body
 * implements it. */
static bool takes_connection(const struct rb_uw_rack_response *response)
{
    return response->status == INT2FIX(101) && rb_uw_body_is_callable(response);
}

/* The Rack SPEC has `to_ary` give an Array; that of Rails 7 gives an Enumerator where the body streams, which `each`
 * sends. */
static void try_array(struct rb_uw_rack_response *response)
{
    VALUE array = rb_funcallv(response->body, id_to_ary, 0, NULL);

    if (RB_TYPE_P(array, T_ARRAY))
        response->body = array;
}

void rb_uw_body_prepare(struct rb_uw_rack_response *response)
{
    VALUE body = response->body;

    /* Closing remains due for the body itself. */
    response->closer = body;
    if (!RB_TYPE_P(body, T_ARRAY) && rb_respond_to(body, id_to_ary))
        try_array(response);
    else if (NIL_P(response->hijacker) && takes_connection(response))
        response->hijacker = body;
}

void rb_uw_body_close(struct rb_uw_rack_response *response)
{
    VALUE closer = response->closer;

    response->closer = Qnil;
    /* Most bodies are plain Arrays without a close; an Array with own methods may have one. */
    if (!NIL_P(closer) && rb_class_of(closer) != rb_cArray && rb_respond_to(closer, id_close))
        rb_funcall(closer, id_close, 0);
}

static void send_array(struct rb_uw_rack_response *response)
{
    for (long i = 0; i < RARRAY_LEN(response->body); i++)
        rb_uw_write(response, RARRAY_AREF(response->body, i));
    rb_uw_finish_whole(response);
}

/* The application may keep the block and call it after `each` has returned: it refers to the stream, which is closed
 * then. */
static VALUE each_piece(RB_BLOCK_CALL_FUNC_ARGLIST(piece, stream))
{
    (void)argc, (void)argv, (void)blockarg;
    rb_uw_stream_write(stream, piece);
    return Qnil;
}

struct production {
    VALUE body, stream;
};

static VALUE call_each(VALUE argument)
{
    struct production *production = (struct production *)argument;

    return rb_block_call(production->body, id_each, 0, NULL, each_piece, production->stream);
}

static VALUE call_body(VALUE argument)
{
    struct production *production = (struct production *)argument;

    return rb_funcall(production->body, id_call, 1, production->stream);
}

static VALUE end_stream(VALUE stream)
{
    rb_uw_stream_end(stream);
    return Qnil;
}

static void produce(struct rb_uw_rack_response *response, VALUE (*producer)(VALUE))
{
    struct production production = {response->body, rb_uw_stream_new(response)};

    rb_ensure(producer, (VALUE)&production, end_stream, production.stream);
    rb_uw_finish_whole(response);
}

/* The core sends the file after the head, without the interpreter's lock: no byte passes through Ruby. A file that has
 * become shorter by then ends the connection. */
static bool send_file(struct rb_uw_rack_response *response)
{
    struct rb_uw_delivery *delivery = response->delivery;
    uint64_t length = response->head.length;
    int fd = -1;

    if (response->head.framing == UW_FRAMING_SIZED)
        fd = rb_uw_body_file_open(delivery->rack_context, response->body, length);
    if (fd < 0)
        return false;
    uw_chunk_add_file(delivery->chunk, fd, 0, (int64_t)length);
    response->head.written = length;
    rb_uw_finish(response, 0);
    return true;
}

struct hijack {
    VALUE callable, io;
};

static VALUE call_hijacker(VALUE argument)
{
    struct hijack *hijack = (struct hijack *)argument;

    return rb_funcall(hijack->callable, id_call, 1, hijack->io);
}

/* When an application fails after it hijacked the connection, the client must not wait for more. */
static void give_connection(const struct rb_uw_rack_response *response, VALUE io)
{
    struct hijack hijack = {response->hijacker, io};
    int state = 0;

    rb_protect(call_hijacker, (VALUE)&hijack, &state);
    if (state) {
        VALUE error = rb_errinfo();

        rb_uw_detached_close(response->delivery->rack_context, io);
        rb_uw_unwind(state, error);
    }
    RB_GC_GUARD(hijack.io);
}

/* Partial hijack (Rack SPEC): after the head the connection is the application's. */
static void send_hijack(struct rb_uw_rack_response *response)
{
    struct rb_uw_delivery *delivery = response->delivery;
    struct uw_chunk *head = delivery->chunk;
    VALUE io;

    response->head.keep_alive = false;
    delivery->chunk = NULL;
    rb_uw_outcome_note(response, false);
    io = rb_uw_detach(delivery, head);
    if (NIL_P(io))
        rb_uw_refuse_hijack();
    delivery->hijacked = true;
    give_connection(response, io);
}

void rb_uw_body_send(struct rb_uw_rack_response *response)
{
    if (!NIL_P(response->hijacker))
        send_hijack(response);
    else if (response->head.framing == UW_FRAMING_NONE)
        rb_uw_finish(response, 0);
    else if (RB_TYPE_P(response->body, T_ARRAY))
        send_array(response);
    else if (send_file(response))
        return;
    else if (rb_respond_to(response->body, id_each))
        produce(response, call_each);
    else if (rb_respond_to(response->body, id_call))
        produce(response, call_body);
    else
        rb_raise(rb_eTypeError, "the response body is %" PRIsVALUE ", but must be an Array, or respond to each or call",
                 rb_uw_described(response->body));
}
