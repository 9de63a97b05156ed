/* Upwell::Stream: what a callable response body (Rack SPEC, streaming body) is called with. Reading gives the content
 * of the request. */
#include "reactor.h"

struct stream {
    struct rb_uw_exchange *exchange; /* NULL once the response is finished */
    VALUE input;
    bool closed;
};

static VALUE cStream;

static void stream_mark(void *data)
{
    rb_gc_mark_movable(((struct stream *)data)->input);
}

static void stream_compact(void *data)
{
    struct stream *stream = data;

    stream->input = rb_gc_location(stream->input);
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
    RB_OBJ_WRITE(self, &stream->input, exchange->input);
    return self;
}

void rb_uw_stream_end(VALUE self)
{
    get(self)->closed = true;
    get(self)->exchange = NULL;
}

static struct rb_uw_exchange *open_exchange(VALUE self)
{
    struct stream *stream = get(self);

    if (stream->closed)
        rb_raise(rb_eIOError, "the response stream is closed");
    return stream->exchange;
}

/*
 * Writes and sends. Waits while the client does not keep up.
 *
 * @param pieces [Array<String>]
 * @return [Integer] bytes written
 * @raise [IOError] when closed
 * @raise [Errno::EPIPE] when the client is gone
 */
static VALUE stream_write(int argc, VALUE *argv, VALUE self)
{
    size_t bytes = 0;

    for (int i = 0; i < argc; i++) {
        VALUE piece = rb_obj_as_string(argv[i]);

        bytes += (size_t)RSTRING_LEN(piece);
        rb_uw_write(open_exchange(self), piece);
        rb_uw_flush(open_exchange(self));
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
 * Sends the head of the response, if nothing has been sent yet.
 *
 * @return [self]
 * @raise [IOError] when closed
 */
static VALUE stream_flush(VALUE self)
{
    rb_uw_flush(open_exchange(self));
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
