/* The argument of a callable response body (Rack SPEC, streaming body), and the way of `each`'s pieces. Reads return
 * the request's content. The application may keep the stream, and the block of `each`, beyond the response, and use
 * them on other threads. */
#include "rack/stream_class.h"

#include "base/module.h"
#include "rack/delivery_lock.h"
#include "rack/input_class.h"
#include "rack/response_stream.h"
#include "rack/spill_buffer.h"

struct stream {
    struct rb_uw_rack_response *response; /* NULL once the response is finished */
    VALUE input;
    VALUE thread; /* inline: only the loop's thread may write */
    VALUE lock;   /* others: the delivery's, locked during a write, which may take long */
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

VALUE rb_uw_stream_new(struct rb_uw_rack_response *response)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(cStream, struct stream, &stream_type, stream);

    stream->response = response;
    stream->thread = stream->lock = Qnil;
    RB_OBJ_WRITE(self, &stream->input, response->request->input);
    if (response->delivery->rack_context->one_thread)
        RB_OBJ_WRITE(self, &stream->thread, rb_thread_current());
    else
        RB_OBJ_WRITE(self, &stream->lock, rb_uw_delivery_lock(response->delivery));
    return self;
}

static VALUE forget_response(VALUE self)
{
    get(self)->response = NULL;
    return Qnil;
}

void rb_uw_stream_end(VALUE self)
{
    get(self)->closed = true;
    rb_ensure(rb_uw_await_users, get(self)->lock, forget_response, self);
}

static struct rb_uw_rack_response *open_response(VALUE self)
{
    struct stream *stream = get(self);

    if (stream->closed)
        rb_raise(rb_eIOError, "the response stream is closed, so nothing more can be written");
    rb_uw_refuse_broken(stream->response->delivery);
    return stream->response;
}

struct writing {
    VALUE self, piece; /* nil: flushes */
};

static VALUE write_piece(VALUE argument)
{
    struct writing *writing = (struct writing *)argument;
    struct rb_uw_rack_response *response = open_response(writing->self);

    if (!NIL_P(writing->piece))
        rb_uw_write(response, writing->piece);
    rb_uw_flush(response->delivery, NIL_P(writing->piece));
    return Qnil;
}

static void refuse_other_threads(const struct stream *stream)
{
    if (stream->thread != rb_thread_current())
        rb_raise(rb_eIOError, "in mode inline only the thread that runs the request can write its response; use mode "
                              "fibers or threads:N to write from other threads");
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
 * millisecond; see also #flush. Waits while the client is slow. In mode +inline+ it waits at most 20 ms; later
 * output is buffered until the client catches up. Except in mode +inline+, any thread and request may write.
 *
 * @param pieces [Array<String>]
 * @return [Integer] bytes written
 * @raise [IOError] when closed; in mode +inline+ when another thread than the one that runs the request calls it, when
 * the client is too far behind, or after such a failure: the response is aborted
 * @raise [SystemCallError] in mode +inline+ when output for a slow client cannot be buffered, as on a full disk: the
 * response is aborted
 * @raise [Errno::EPIPE] when the client disconnected
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
 * Sends written data, and the head of the response, before it returns, as far as the client takes them. On threads
 * other than the server's own, the data is queued for sending by then. Waits as #write does.
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
 * Reads the request's content.
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
    rb_uw_input_close(get(self)->input);
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
     * The argument of a callable response body: writes are sent at once, reads return the request's content. */
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
