/* Upwell::Stream: what a callable response body (Rack SPEC, streaming body) is called with, and what the pieces of
 * `each` go through. Reading gives the content of the request. An application may keep it, and the block of `each`, for
 * longer than the response lasts, and give it to other threads. */
#include "rack/rack.h"

struct stream {
    struct rb_uw_exchange *exchange; /* NULL once the response is finished */
    VALUE input;
    VALUE thread; /* inline: the only one that may write, since it is the loop's */
    VALUE lock;   /* others: the exchange's, of whoever writes, which may take long */
    bool closed;
};

static VALUE cStream;

static void stream_mark(void *data)
{
    struct stream *stream = data;

    rb_gc_mark_movable(stream->input);
    rb_gc_mark_movable(stream->thread);
    rb_gc_mark_movable(stream->lock);
}

static void stream_compact(void *data)
{
    struct stream *stream = data;

    stream->input = rb_gc_location(stream->input);
    stream->thread = rb_gc_location(stream->thread);
    stream->lock = rb_gc_location(stream->lock);
}

static size_t stream_memsize(const void *data)
{
    (void)data;
    return sizeof(struct stream);
}

static const rb_data_type_t stream_type = {
    .wrap_struct_name = "Upwell::Stream",
    .function = {.dmark = stream_mark,
                 .dfree = RUBY_TYPED_DEFAULT_FREE,
                 .dsize = stream_memsize,
                 .dcompact = stream_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static struct stream *get(VALUE self)
{
    struct stream *stream;

    TypedData_Get_Struct(self, struct stream, &stream_type, stream);
    return stream;
}

VALUE rb_uw_stream_new(struct rb_uw_exchange *exchange)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(cStream, struct stream, &stream_type, stream);

    stream->exchange = exchange;
    stream->thread = stream->lock = Qnil;
    RB_OBJ_WRITE(self, &stream->input, exchange->input);
    if (exchange->host->one_thread)
        RB_OBJ_WRITE(self, &stream->thread, rb_thread_current());
    else
        RB_OBJ_WRITE(self, &stream->lock, rb_uw_exchange_lock(exchange));
    return self;
}

static VALUE forget_exchange(VALUE self)
{
    get(self)->exchange = NULL;
    return Qnil;
}

void rb_uw_stream_end(VALUE self)
{
    get(self)->closed = true;
    rb_ensure(rb_uw_await_users, get(self)->lock, forget_exchange, self);
}

static struct rb_uw_exchange *open_exchange(VALUE self)
{
    struct stream *stream = get(self);

    if (stream->closed)
        rb_raise(rb_eIOError, "the response stream is closed");
    rb_uw_refuse_broken(stream->exchange);
    return stream->exchange;
}

struct writing {
    VALUE self, piece; /* nil: what has not been sent yet is, at once */
};

static VALUE write_piece(VALUE argument)
{
    struct writing *writing = (struct writing *)argument;
    struct rb_uw_exchange *exchange = open_exchange(writing->self);

    if (!NIL_P(writing->piece))
        rb_uw_write(exchange, writing->piece);
    rb_uw_flush(exchange, NIL_P(writing->piece));
    return Qnil;
}

static void refuse_other_threads(const struct stream *stream)
{
    if (stream->thread != rb_thread_current())
        rb_raise(rb_eIOError, "in mode inline only the thread that serves a request writes its response; use mode "
                              "fibers or threads:N to write from others");
}

static void write_alone(VALUE self, VALUE piece)
{
    struct writing writing = {self, piece};

    if (!NIL_P(get(self)->lock)) {
        rb_mutex_synchronize(get(self)->lock, write_piece, (VALUE)&writing);
        return;
    }
    refuse_other_threads(get(self));
    write_piece((VALUE)&writing);
}

void rb_uw_stream_write(VALUE self, VALUE piece)
{
    Check_Type(piece, T_STRING);
    write_alone(self, piece);
}

/*
 * Writes and sends: in mode +inline+ before this returns, in +fibers+ when the request waits next or after a
 * millisecond, or see #flush. Waits while the client does not keep up; in mode +inline+ for 20 ms, and what comes then
 * is held until it does. Any thread and request may write, but in mode +inline+.
 *
 * @param pieces [Array<String>]
 * @return [Integer] bytes written
 * @raise [IOError] when closed; in mode +inline+ when called by another thread than the one that serves, when the
 * client is too far behind, or after such a failure: the response is cut
 * @raise [SystemCallError] in mode +inline+ when what the response is ahead of its client cannot be held, as on a full
 * disk: the response is cut
 * @raise [Errno::EPIPE] when the client is gone
 */
static VALUE stream_write(int argc, VALUE *argv, VALUE self)
{
    size_t bytes = 0;

    for (int i = 0; i < argc; i++) {
        VALUE piece = rb_obj_as_string(argv[i]);

        bytes += (size_t)RSTRING_LEN(piece);
        write_alone(self, piece);
    }
    return SIZET2NUM(bytes);
}

/*
 * @param piece [String]
 * @return [self]
 * @see #write
 */
static VALUE stream_append(VALUE self, VALUE piece)
{
    stream_write(1, &piece, self);
    return self;
}

/*
 * Sends what has been written, and the head of the response, before it returns, whatever the request does next; as far
 * as the client takes it. From other threads than the server's own it is on its way by then. Waits as #write does.
 *
 * @return [self]
 * @raise [IOError, SystemCallError] as #write does
 */
static VALUE stream_flush(VALUE self)
{
    write_alone(self, Qnil);
    return self;
}

/*
 * Reads of the request's content.
 *
 * @see Upwell::Input#read
 */
static VALUE stream_read(int argc, VALUE *argv, VALUE self)
{
    return rb_funcallv(get(self)->input, rb_intern("read"), argc, argv);
}

/*
 * Ends the response.
 *
 * @return [nil]
 */
static VALUE stream_close(VALUE self)
{
    get(self)->closed = true;
    return Qnil;
}

/*
 * @return [nil]
 */
static VALUE stream_close_read(VALUE self)
{
    rb_uw_input_end(get(self)->input);
    return Qnil;
}

/*
 * @return [Boolean]
 */
static VALUE stream_is_closed(VALUE self)
{
    return get(self)->closed ? Qtrue : Qfalse;
}

void rb_uw_init_stream(void)
{
    /* Document-class: Upwell::Stream
     * What a callable response body is called with: writes are sent at once, reads give the content of the request. */
    cStream = rb_define_class_under(rb_mUpwell, "Stream", rb_cObject);
    rb_undef_alloc_func(cStream);
    rb_define_method(cStream, "write", stream_write, -1);
    rb_define_method(cStream, "<<", stream_append, 1);
    rb_define_method(cStream, "flush", stream_flush, 0);
    rb_define_method(cStream, "read", stream_read, -1);
    rb_define_method(cStream, "close", stream_close, 0);
    rb_define_method(cStream, "close_read", stream_close_read, 0);
    rb_define_method(cStream, "close_write", stream_close, 0);
    rb_define_method(cStream, "closed?", stream_is_closed, 0);
}
