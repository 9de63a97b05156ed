/* Upwell::Client: the argument of a handler's callbacks. Any thread may use a client, for any time. After the end of
 * its connection or server, or in the child of a fork, the client is simply closed. */
#include "rack/client_class.h"

#include <ruby/encoding.h>

#include "base/module.h"
#include "pub_sub/process_subscriber.h"
#include "push/event_stream.h"
#include "push/event_stream_frame.h"
#include "rack/client_channels.h"
#include "rack/client_handler.h"
#include "rack/client_registry.h"
#include "rack/cross_thread_backpressure.h"
#include "websocket/frame.h"

#define SECONDS_MAX 1000000000

static VALUE cClient, key_kind, key_handler;
static ID id_on_drained, event_options[3];

static void client_mark(void *data)
{
    struct rb_uw_push_client *client = data;

    rb_gc_mark(client->reactor);
    rb_gc_mark_movable(client->env);
    rb_gc_mark_movable(client->handler);
    rb_gc_mark_movable(client->callables);
    rb_gc_mark_movable(client->changes);
    rb_uw_push_client_mark_next(client);
}

static void client_compact(void *data)
{
    struct rb_uw_push_client *client = data;

    client->env = rb_gc_location(client->env);
    client->handler = rb_gc_location(client->handler);
    client->callables = rb_gc_location(client->callables);
    client->changes = rb_gc_location(client->changes);
}

/* The client's list has been freed, too, since the owner of the list marks every client in it. */
static void client_free(void *data)
{
    struct rb_uw_push_client *client = data;

    if (client->core)
        uw_push_client_release(client->core);
    xfree(client);
}

static size_t client_memsize(const void *data)
{
    (void)data;
    return sizeof(struct rb_uw_push_client) + sizeof(struct uw_push_client);
}

static const rb_data_type_t client_type = {
    .wrap_struct_name = "Upwell::Client",
    .function = {.dmark = client_mark, .dfree = client_free, .dsize = client_memsize, .dcompact = client_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

struct rb_uw_push_client *rb_uw_push_client(VALUE self)
{
    struct rb_uw_push_client *client;

    TypedData_Get_Struct(self, struct rb_uw_push_client, &client_type, client);
    return client;
}

/* Returns the former handler. `respond_to?` may run Ruby code, and so another thread that sets a handler. So it comes
 * first, and no Ruby code runs between the read of the former handler and the write of the new one. */
static VALUE set_handler(struct rb_uw_push_client *client, VALUE self, VALUE handler)
{
    bool wants_drained = rb_respond_to(handler, id_on_drained);
    VALUE former = client->handler;

    atomic_store(&client->core->wants_drained, wants_drained);
    RB_OBJ_WRITE(self, &client->handler, handler);
    return former;
}

/* A client that the loop does not know yet. */
static struct rb_uw_push_client *make(struct rb_uw_rack_context *rack_context, VALUE env)
{
    struct rb_uw_push_client *client;
    VALUE self = TypedData_Make_Struct(cClient, struct rb_uw_push_client, &client_type, client);

    uw_list_init(&client->link);
    client->self = self;
    client->rack_context = rack_context;
    client->env = client->handler = client->reactor = client->callables = client->changes = Qnil;
    RB_OBJ_WRITE(self, &client->reactor, rack_context->self);
    RB_OBJ_WRITE(self, &client->env, env);
    return client;
}

VALUE rb_uw_push_client_new(const struct rb_uw_rack_request *request, VALUE handler)
{
    struct rb_uw_push_client *client = make(request->delivery->rack_context, request->env);

    client->core = uw_push_client_new(request->delivery->core->server_context, request->upgrade->client_kind, client);
    if (!client->core)
        rb_memerror();
    set_handler(client, client->self, handler);
    return client->self;
}

VALUE rb_uw_process_subscriber_new(struct rb_uw_rack_context *rack_context)
{
    struct rb_uw_push_client *client = make(rack_context, rb_hash_new());

    client->core = uw_process_subscriber_new(&rack_context->server->server_context, client);
    if (!client->core)
        rb_memerror();
    return client->self;
}

/* Posts made with the interpreter's lock, before the server is closed, still arrive. */
static bool has_loop(const struct rb_uw_push_client *client)
{
    return !client->rack_context->closed && !rb_uw_rack_context_is_copy(client->rack_context);
}

bool rb_uw_push_client_is_open(const struct rb_uw_push_client *client)
{
    return has_loop(client) && uw_push_client_is_open(client->core) && !atomic_load(&client->core->end_posted);
}

static void end_client(struct rb_uw_push_client *client, unsigned code, const char *reason, size_t length)
{
    if (rb_uw_rack_context_turns_here(client->rack_context))
        uw_push_client_end(client->core, code, reason, length);
    else
        uw_push_client_post_end(client->core, code, reason, length);
}

static void send_from_here(struct rb_uw_push_client *client, struct uw_chunk *chunk)
{
    (void)uw_push_client_send(client->core, chunk);
    if (rb_uw_rack_context_is_late(client->rack_context))
        rb_uw_rack_context_flush(client->rack_context);
}

bool rb_uw_push_client_send(struct rb_uw_push_client *client, rb_uw_push_client_frame *frame, const void *data)
{
    struct uw_push_client *core = client->core;
    bool here = rb_uw_rack_context_turns_here(client->rack_context);
    struct uw_chunk *chunk;

    if (!rb_uw_push_client_is_open(client))
        return false;
    if (uw_push_client_is_behind(core)) {
        end_client(client, UW_CLOSE_POLICY, "", 0);
        return false;
    }
    chunk = frame(client, here ? &core->server_context->chunks : NULL, data);
    if (!chunk)
        rb_memerror();
    if (here)
        send_from_here(client, chunk);
    else
        uw_push_client_post(core, chunk);
    return true;
}

struct message {
    bool text;
    const char *bytes;
    size_t length;
};

static struct uw_chunk *frame_message(const struct rb_uw_push_client *client, struct uw_slab *slab, const void *data)
{
    const struct message *message = data;

    return client->core->kind->frame(slab, message->text, message->bytes, message->length);
}

NORETURN(static void refuse_text(VALUE data));

static void refuse_text(VALUE data)
{
    if (rb_enc_get(data) == rb_ascii8bit_encoding())
        rb_raise(
            rb_eArgError,
            "a text must be UTF-8, but this String has bytes beyond ASCII in the encoding BINARY; convert it to UTF-8");
    rb_raise(rb_eArgError,
             "a text message must be valid in its encoding, %s; send other bytes in the encoding BINARY (String#b)",
             rb_enc_name(rb_enc_get(data)));
}

/* Binary strings are bytes. Any other string is text, and is sent as UTF-8. */
VALUE rb_uw_text_of(VALUE data)
{
    VALUE text = rb_str_export_to_enc(data, rb_utf8_encoding());
    int range = rb_enc_str_coderange(text);

    if (range == ENC_CODERANGE_BROKEN || !rb_enc_asciicompat(rb_enc_get(text)) ||
        (range != ENC_CODERANGE_7BIT && rb_enc_get(text) != rb_utf8_encoding()))
        refuse_text(data);
    return text;
}

/*
 * Sends a message to a WebSocket client, or the data of an event to a client of server-sent events. Returns without
 * waiting for the client: the message is queued. When more than +client_bytes_max+ bytes are queued already, the server
 * closes the client with 1008. Any thread may write.
 *
 * @param data [String] a text, sent as UTF-8; or, in the encoding BINARY, bytes
 * @return [Boolean] false when the client is closed, or is closed by this call
 * @raise [ArgumentError] for a text that is not valid in its encoding
 * @raise [TypeError] when it is not a String
 */
static VALUE client_write(VALUE self, VALUE data)
{
    struct message message;
    bool taken;

    StringValue(data);
    message.text = rb_enc_get(data) != rb_ascii8bit_encoding();
    if (message.text)
        data = rb_uw_text_of(data);
    message.bytes = RSTRING_PTR(data);
    message.length = (size_t)RSTRING_LEN(data);
    taken = rb_uw_push_client_send(rb_uw_push_client(self), frame_message, &message);
    RB_GC_GUARD(data);
    return taken ? Qtrue : Qfalse;
}

static struct uw_chunk *frame_event(const struct rb_uw_push_client *client, struct uw_slab *slab, const void *data)
{
    (void)client;
    return uw_event_stream_frame(slab, data);
}

/* A text, or nil. */
static VALUE optional_text(VALUE value)
{
    return NIL_P(value) ? Qnil : rb_uw_text_of(rb_obj_as_string(value));
}

static const char *bytes_of(VALUE text, size_t *length)
{
    *length = NIL_P(text) ? 0 : (size_t)RSTRING_LEN(text);
    return NIL_P(text) ? NULL : RSTRING_PTR(text);
}

static VALUE optional_line(VALUE value, const char *what)
{
    VALUE line = optional_text(value);

    if (!NIL_P(line) && !uw_event_stream_is_line(RSTRING_PTR(line), (size_t)RSTRING_LEN(line)))
        rb_raise(rb_eArgError, "the event's %s is %+" PRIsVALUE ", but must be a single line without NUL", what, line);
    return line;
}

static int64_t retry_ms(VALUE value)
{
    long long number = NIL_P(value) ? -1 : NUM2LL(value);

    if (!NIL_P(value) && number < 0)
        rb_raise(rb_eArgError, "retry must be a number of milliseconds, 0 or more, not %lld", number);
    return number;
}

/*
 * Sends a server-sent event. Any thread may call it.
 *
 * @overload event(data, event: nil, id: nil, retry: nil)
 *   @param data [String, #to_s, nil] text of any number of lines; nil: none, so that the client notes the other
 *     fields but calls no listener
 *   @param event [String, #to_s, nil] its name, which selects the client's listeners; nil means "message"
 *   @param id [String, #to_s, nil] the Last-Event-ID of the client's reconnect; "" deletes the last one
 *   @param retry [Integer, nil] the client's delay in milliseconds before it reconnects
 * @return [Boolean] as {#write} does
 * @raise [Upwell::Error] for a WebSocket client
 * @raise [ArgumentError] for a text that is not valid in its encoding, a name or id of several lines, a negative retry
 */
static VALUE client_event(int argc, VALUE *argv, VALUE self)
{
    struct uw_sent_event event;
    VALUE data, options, values[3], name, id;
    bool taken;

    rb_scan_args(argc, argv, "1:", &data, &options);
    rb_get_kwargs(NIL_P(options) ? rb_hash_new() : options, event_options, 0, 3, values);
    if (rb_uw_push_client(self)->core->kind != &uw_push_client_event_stream)
        rb_raise(rb_eUpwellError,
                 "event is only for clients of server-sent events; send to a WebSocket client with write");
    data = optional_text(data);
    name = optional_line(values[0] == Qundef ? Qnil : values[0], "name");
    id = optional_line(values[1] == Qundef ? Qnil : values[1], "id");
    event.retry_ms = retry_ms(values[2] == Qundef ? Qnil : values[2]);
    event.data = bytes_of(data, &event.data_length);
    event.name = bytes_of(name, &event.name_length);
    event.id = bytes_of(id, &event.id_length);
    taken = rb_uw_push_client_send(rb_uw_push_client(self), frame_event, &event);
    RB_GC_GUARD(data);
    RB_GC_GUARD(name);
    RB_GC_GUARD(id);
    return taken ? Qtrue : Qfalse;
}

static unsigned close_code(VALUE value)
{
    int code = NUM2INT(value);

    if (code < 0 || !uw_close_code_is_valid((unsigned)code))
        rb_raise(rb_eArgError, "the close code %d is not valid; use 1000, or 3000 to 4999", code);
    return (unsigned)code;
}

/*
 * Ends the connection after all written data has been sent; +on_close+ follows at its end. A second call does nothing.
 * Any thread may call it.
 *
 * @overload close(code = 1000, reason = "")
 *   @param code [Integer] of RFC 6455, section 7.4; server-sent events do not transmit it
 *   @param reason [String] in UTF-8; cut to at most 123 bytes of whole characters
 * @return [nil]
 * @raise [ArgumentError] for a code that must not be sent
 */
static VALUE client_close(int argc, VALUE *argv, VALUE self)
{
    VALUE code, reason;
    unsigned number;

    rb_scan_args(argc, argv, "02", &code, &reason);
    number = NIL_P(code) ? UW_CLOSE_NORMAL : close_code(code);
    reason = NIL_P(reason) ? rb_utf8_str_new("", 0) : rb_obj_as_string(reason);
    if (rb_uw_push_client_is_open(rb_uw_push_client(self)))
        end_client(rb_uw_push_client(self), number, RSTRING_PTR(reason), (size_t)RSTRING_LEN(reason));
    RB_GC_GUARD(reason);
    return Qnil;
}

/*
 * @return [Boolean] whether the application may still write
 */
static VALUE client_is_open(VALUE self)
{
    return rb_uw_push_client_is_open(rb_uw_push_client(self)) ? Qtrue : Qfalse;
}

/*
 * @return [Integer] written bytes that have not been sent yet; -1 when closed
 */
static VALUE client_pending(VALUE self)
{
    const struct rb_uw_push_client *client = rb_uw_push_client(self);

    return rb_uw_push_client_is_open(client) ? SIZET2NUM(atomic_load(&client->core->stream.outgoing_bytes))
                                             : INT2FIX(-1);
}

/*
 * @return [Hash] the env of the client's request
 */
static VALUE client_env(VALUE self)
{
    return rb_uw_push_client(self)->env;
}

/*
 * @return [Object] the object with the callbacks
 */
static VALUE client_handler(VALUE self)
{
    return rb_uw_push_client(self)->handler;
}

/* The application may have frozen its env, or taken the handler out of it. */
static void note_handler(VALUE env, VALUE handler)
{
    if (!OBJ_FROZEN(env) && rb_hash_lookup2(env, key_handler, Qundef) != Qundef)
        rb_hash_aset(env, key_handler, handler);
}

/*
 * Replaces the object with the callbacks. After the running callback, and before the client's next event, +on_close+ of
 * the former object is called, then +on_open+ of the new one. This call checks whether the new object has +on_drained+.
 * Any thread may call it.
 *
 * @param handler [Object]
 * @return [Object]
 */
static VALUE client_set_handler(VALUE self, VALUE handler)
{
    struct rb_uw_push_client *client = rb_uw_push_client(self);
    VALUE former;

    rb_check_frozen(self);
    former = set_handler(client, self, handler);
    if (former == handler)
        return handler;
    note_handler(client->env, handler);
    if (has_loop(client) && !client->ended)
        rb_uw_push_client_note_change(client, former, handler);
    return handler;
}

/*
 * @return [Symbol] +:websocket+ or +:sse+, as <tt>env["rack.upgrade?"]</tt> was
 */
static VALUE client_protocol(VALUE self)
{
    return ID2SYM(rb_intern(rb_uw_push_client(self)->core->kind == &uw_push_client_event_stream ? "sse" : "websocket"));
}

/*
 * @return [Float] the idle time-out in seconds, after which the server checks the client; 0: never
 */
static VALUE client_timeout(VALUE self)
{
    return DBL2NUM((double)atomic_load(&rb_uw_push_client(self)->core->idle_timeout_ns) / (double)UW_NS_PER_SECOND);
}

/*
 * Any thread may call it.
 *
 * @param seconds [Numeric] counted from this call; 0: never
 * @return [Numeric]
 * @raise [ArgumentError] for a negative number
 */
static VALUE client_set_timeout(VALUE self, VALUE seconds)
{
    struct rb_uw_push_client *client = rb_uw_push_client(self);
    double value = NUM2DBL(seconds);
    int64_t idle_timeout_ns;

    if (!(value >= 0) || value > SECONDS_MAX)
        rb_raise(rb_eArgError, "the timeout of a client must be a number of seconds from 0 to %d, not %" PRIsVALUE,
                 SECONDS_MAX, seconds);
    idle_timeout_ns = (int64_t)(value * (double)UW_NS_PER_SECOND);
    if (!has_loop(client))
        return seconds;
    if (rb_uw_rack_context_turns_here(client->rack_context))
        uw_push_client_set_idle_timeout(client->core, idle_timeout_ns);
    else
        uw_push_client_post_idle_timeout(client->core, idle_timeout_ns);
    return seconds;
}

/*
 * @return [String]
 */
static VALUE client_inspect(VALUE self)
{
    const struct rb_uw_push_client *client = rb_uw_push_client(self);

    return rb_sprintf("#<%" PRIsVALUE " %" PRIsVALUE " %s>", rb_obj_class(self), rb_hash_lookup(client->env, key_kind),
                      rb_uw_push_client_is_open(client) ? "open" : "closed");
}

void rb_uw_init_client_class(void)
{
    id_on_drained = rb_intern("on_drained");
    event_options[0] = rb_intern("event");
    event_options[1] = rb_intern("id");
    event_options[2] = rb_intern("retry");
    rb_gc_register_mark_object(key_kind = rb_interned_str_cstr("rack.upgrade?"));
    rb_gc_register_mark_object(key_handler = rb_interned_str_cstr("rack.upgrade"));

    /* Document-class: Upwell::Client
     * A long-lived client, connected by WebSocket or server-sent events. The application may write to it at any time.
     * It is the argument of the callbacks of the handler in <tt>env["rack.upgrade"]</tt>. Each callback is optional:
     * <tt>on_open(client)</tt>, <tt>on_message(client, data)</tt>, <tt>on_drained(client)</tt> when all written data
     * has been sent, <tt>on_shutdown(client)</tt> before the server ends, and <tt>on_close(client)</tt>, the last. They
     * are called one after another, as requests are served. */
    cClient = rb_define_class_under(rb_mUpwell, "Client", rb_cObject);
    rb_undef_alloc_func(cClient);
    rb_define_method(cClient, "write", client_write, 1);
    rb_define_method(cClient, "event", client_event, -1);
    rb_define_method(cClient, "close", client_close, -1);
    rb_define_method(cClient, "open?", client_is_open, 0);
    rb_define_method(cClient, "pending", client_pending, 0);
    rb_define_method(cClient, "env", client_env, 0);
    rb_define_method(cClient, "handler", client_handler, 0);
    rb_define_method(cClient, "handler=", client_set_handler, 1);
    rb_define_method(cClient, "protocol", client_protocol, 0);
    rb_define_method(cClient, "timeout", client_timeout, 0);
    rb_define_method(cClient, "timeout=", client_set_timeout, 1);
    rb_define_method(cClient, "inspect", client_inspect, 0);
}
