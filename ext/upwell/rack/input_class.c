#include "rack/input_class.h"

#include <errno.h>
#include <ruby/encoding.h>
#include <string.h>
#include <unistd.h>

#include "base/module.h"
#include "server/request.h"

struct input {
    struct uw_request *request; /* NULL once the response is finished, or closed */
    uint64_t position;
    bool closed;
};

static VALUE cInput;

static size_t input_memsize(const void *data)
{
    (void)data;
    return sizeof(struct input);
}

static const rb_data_type_t input_type = {
    .wrap_struct_name = "Upwell::Input",
    .function = {.dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = input_memsize},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE rb_uw_input_new(struct uw_request *core)
{
    struct input *input;
    VALUE self = TypedData_Make_Struct(cInput, struct input, &input_type, input);

    input->request = core;
    return self;
}

VALUE rb_uw_input_empty(void)
{
    return TypedData_Wrap_Struct(cInput, &input_type, NULL);
}

bool rb_uw_input_is_unmarked(VALUE self)
{
    return CLASS_OF(self) == cInput && !OBJ_FROZEN(self) && rb_ivar_count(self) == 0;
}

/* NULL of an empty one. */
static struct input *get(VALUE self)
{
    struct input *input;

    TypedData_Get_Struct(self, struct input, &input_type, input);
    return input;
}

void rb_uw_input_end(VALUE self)
{
    if (get(self))
        get(self)->request = NULL;
}

void rb_uw_input_close(VALUE self)
{
    if (get(self))
        get(self)->closed = true;
    rb_uw_input_end(self);
}

/* The body, or NULL of an empty input. */
static const struct uw_spooled_body *body_of(VALUE self)
{
    if (!get(self))
        return NULL;
    if (!get(self)->request)
        rb_raise(rb_eIOError, get(self)->closed
                                  ? "rack.input is closed; read it before you close it"
                                  : "rack.input was read after the end of its request; read it during the request");
    return &get(self)->request->body;
}

static uint64_t left(VALUE self)
{
    const struct uw_spooled_body *body = body_of(self);

    return body ? body->length - get(self)->position : 0;
}

/* `buffer` is a String or nil. */
static VALUE binary_buffer(VALUE buffer, long capacity)
{
    if (NIL_P(buffer)) {
        buffer = rb_str_buf_new(capacity);
    } else {
        rb_str_modify(buffer);
        rb_str_set_len(buffer, 0);
        rb_str_modify_expand(buffer, capacity);
    }
    rb_enc_associate(buffer, rb_ascii8bit_encoding());
    return buffer;
}

static void read_file(const struct uw_spooled_body *body, uint64_t position, char *bytes, size_t length)
{
    while (length) {
        ssize_t count = pread(body->fd, bytes, length, (off_t)position);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            rb_sys_fail("cannot read the request content from its temporary file");
        bytes += count;
        position += (uint64_t)count;
        length -= (size_t)count;
    }
}

/* Reads `length` bytes, which are known to be there. */
static VALUE take(VALUE self, uint64_t length, VALUE buffer)
{
    const struct uw_spooled_body *body = body_of(self);

    buffer = binary_buffer(buffer, (long)length);
    if (length == 0)
        return buffer;
    if (body->fd >= 0)
        read_file(body, get(self)->position, RSTRING_PTR(buffer), length);
    else
        memcpy(RSTRING_PTR(buffer), body->memory + get(self)->position, length);
    rb_str_set_len(buffer, (long)length);
    get(self)->position += length;
    return buffer;
}

/*
 * Reads bytes of the request body.
 *
 * @overload read(length = nil, buffer = nil)
 *   @param length [Integer, nil] bytes to read at most; nil for the rest
 *   @param buffer [String, nil] receives the bytes read
 *   @return [String, nil] binary; nil at the end if a positive length was given
 *   @raise [IOError] after the end of the request, or when closed
 *   @raise [ArgumentError] for a negative length
 */
static VALUE input_read(int argc, VALUE *argv, VALUE self)
{
    VALUE length, buffer;
    uint64_t available;
    long wanted;

    rb_scan_args(argc, argv, "02", &length, &buffer);
    /* The calls to Ruby come first, since they may read, too. */
    wanted = NIL_P(length) ? 0 : NUM2LONG(length);
    if (!NIL_P(buffer))
        StringValue(buffer);
    available = left(self);
    if (NIL_P(length))
        return take(self, available, buffer);
    if (wanted < 0)
        rb_raise(rb_eArgError, "the length must be 0 or more, not %ld", wanted);
    if (available == 0 && wanted > 0) {
        if (!NIL_P(buffer))
            binary_buffer(buffer, 0);
        return Qnil;
    }
    return take(self, (uint64_t)wanted < available ? (uint64_t)wanted : available, buffer);
}

#define LINE_PIECE_BYTES 4096

/* Bytes up to and including the next newline. */
static uint64_t line_length(VALUE self)
{
    const struct uw_spooled_body *body = body_of(self);
    uint64_t available = left(self), position = get(self)->position, seen = 0;
    char piece[LINE_PIECE_BYTES];

    while (seen < available) {
        size_t length = available - seen < sizeof piece ? (size_t)(available - seen) : sizeof piece;
        const char *bytes = piece, *newline;

        if (body->fd >= 0)
            read_file(body, position + seen, piece, length);
        else
            bytes = body->memory + position + seen;
        newline = memchr(bytes, '\n', length);
        if (newline)
            return seen + (uint64_t)(newline - bytes) + 1;
        seen += length;
    }
    return available;
}

/*
 * @return [String, nil] the next line with its newline, binary; nil at the end
 * @raise [IOError] after the end of the request, or when closed
 */
static VALUE input_gets(VALUE self)
{
    return left(self) ? take(self, line_length(self), Qnil) : Qnil;
}

/*
 * Yields every remaining line.
 *
 * @yieldparam line [String]
 * @return [self]
 */
static VALUE input_each(VALUE self)
{
    VALUE line;

    RETURN_ENUMERATOR(self, 0, 0);
    while (!NIL_P(line = input_gets(self)))
        rb_yield(line);
    return self;
}

/*
 * Rewinds to the beginning (Rack 2).
 *
 * @return [0]
 */
static VALUE input_rewind(VALUE self)
{
    if (body_of(self))
        get(self)->position = 0;
    return INT2FIX(0);
}

/*
 * @return [Integer] bytes of the whole body
 */
static VALUE input_size(VALUE self)
{
    const struct uw_spooled_body *body = body_of(self);

    return ULL2NUM(body ? body->length : 0);
}

/*
 * Discards the rest of the body; further reads raise IOError.
 *
 * @return [nil]
 */
static VALUE input_close(VALUE self)
{
    rb_uw_input_close(self);
    return Qnil;
}

/*
 * @return [Encoding] always binary
 */
static VALUE input_encoding(VALUE self)
{
    (void)self;
    return rb_enc_from_encoding(rb_ascii8bit_encoding());
}

void rb_uw_init_input(void)
{
    /* Document-class: Upwell::Input
     * The content of a request, +rack.input+: in memory or in a temporary file, complete before the application is
     * called. */
    cInput = rb_define_class_under(rb_mUpwell, "Input", rb_cObject);
    rb_undef_alloc_func(cInput);
    rb_include_module(cInput, rb_mEnumerable);
    rb_define_method(cInput, "read", input_read, -1);
    rb_define_method(cInput, "gets", input_gets, 0);
    rb_define_method(cInput, "each", input_each, 0);
    rb_define_method(cInput, "rewind", input_rewind, 0);
    rb_define_method(cInput, "size", input_size, 0);
    rb_define_method(cInput, "close", input_close, 0);
    rb_define_method(cInput, "external_encoding", input_encoding, 0);
}
