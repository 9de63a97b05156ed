/* The bodies of responses: an Array, a file (`to_path`), an enumerable (`each`), a callable, a partial hijack. */
#include "rack/rack.h"

static ID id_each, id_call, id_close, id_to_ary;

void rb_uw_init_body(void)
{
    id_each = rb_intern("each");
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_to_ary = rb_intern("to_ary");
}

bool rb_uw_body_is_callable(const struct rb_uw_exchange *exchange)
{
    return !RB_TYPE_P(exchange->body, T_ARRAY) && !rb_respond_to(exchange->body, id_each) &&
           rb_respond_to(exchange->body, id_call);
}

/* After 101 the connection uses another protocol in both directions (RFC 9110, section 15.2.2): a callable body
 * implements it. */
static bool takes_connection(const struct rb_uw_exchange *exchange)
{
    return exchange->status == INT2FIX(101) && rb_uw_body_is_callable(exchange);
}

/* The Rack SPEC has `to_ary` give an Array; that of Rails 7 gives an Enumerator where the body streams, which `each`
 * sends. */
static void try_array(struct rb_uw_exchange *exchange)
{
    VALUE array = rb_funcallv(exchange->body, id_to_ary, 0, NULL);

    if (RB_TYPE_P(array, T_ARRAY))
        exchange->body = array;
}

void rb_uw_body_prepare(struct rb_uw_exchange *exchange)
{
    VALUE body = exchange->body;

    /* Closing remains due for the body itself. */
    exchange->closer = body;
    if (!RB_TYPE_P(body, T_ARRAY) && rb_respond_to(body, id_to_ary))
        try_array(exchange);
    else if (NIL_P(exchange->hijacker) && takes_connection(exchange))
        exchange->hijacker = body;
}

void rb_uw_body_close(struct rb_uw_exchange *exchange)
{
    VALUE closer = exchange->closer;

    exchange->closer = Qnil;
    /* Most bodies are plain Arrays without a close; an Array with own methods may have one. */
    if (!NIL_P(closer) && rb_class_of(closer) != rb_cArray && rb_respond_to(closer, id_close))
        rb_funcall(closer, id_close, 0);
}

static void send_array(struct rb_uw_exchange *exchange)
{
    for (long i = 0; i < RARRAY_LEN(exchange->body); i++)
        rb_uw_write(exchange, RARRAY_AREF(exchange->body, i));
    rb_uw_finish_whole(exchange);
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

static void produce(struct rb_uw_exchange *exchange, VALUE (*producer)(VALUE))
{
    struct production production = {exchange->body, rb_uw_stream_new(exchange)};

    rb_ensure(producer, (VALUE)&production, end_stream, production.stream);
    rb_uw_finish_whole(exchange);
}

/* The core sends the file after the head, without the interpreter's lock: no byte passes through Ruby. A file that has
 * become shorter by then ends the connection. */
static bool send_file(struct rb_uw_exchange *exchange)
{
    int fd = exchange->response.framing == UW_FRAMING_SIZED ? rb_uw_body_file_open(exchange) : -1;

    if (fd < 0)
        return false;
    uw_chunk_add_file(exchange->chunk, fd, 0, (int64_t)exchange->response.length);
    exchange->response.written = exchange->response.length;
    rb_uw_finish(exchange, 0);
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
static void give_connection(const struct rb_uw_exchange *exchange, VALUE io)
{
    struct hijack hijack = {exchange->hijacker, io};
    int state = 0;

    rb_protect(call_hijacker, (VALUE)&hijack, &state);
    if (state) {
        VALUE error = rb_errinfo();

        rb_uw_detached_close(exchange->rack_context, io);
        rb_uw_unwind(state, error);
    }
    RB_GC_GUARD(hijack.io);
}

/* Partial hijack (Rack SPEC): after the head the connection is the application's. */
static void send_hijack(struct rb_uw_exchange *exchange)
{
    struct uw_chunk *head = exchange->chunk;
    VALUE io;

    exchange->response.keep_alive = false;
    exchange->chunk = NULL;
    io = rb_uw_detach(exchange, head);
    if (NIL_P(io))
        rb_uw_refuse_hijack();
    exchange->hijacked = true;
    give_connection(exchange, io);
}

void rb_uw_body_send(struct rb_uw_exchange *exchange)
{
    if (!NIL_P(exchange->hijacker))
        send_hijack(exchange);
    else if (exchange->response.framing == UW_FRAMING_NONE)
        rb_uw_finish(exchange, 0);
    else if (RB_TYPE_P(exchange->body, T_ARRAY))
        send_array(exchange);
    else if (send_file(exchange))
        return;
    else if (rb_respond_to(exchange->body, id_each))
        produce(exchange, call_each);
    else if (rb_respond_to(exchange->body, id_call))
        produce(exchange, call_body);
    else
        rb_raise(rb_eTypeError, "the response body is a %" PRIsVALUE ", but must respond to each or call",
                 rb_obj_class(exchange->body));
}
