/* Upwell::Client: what it has subscribed to. */
#include <errno.h>
#include <string.h>

#include "push/ear.h"
#include "push/from_afar.h"
#include "rack/client_class.h"

static ID id_call, id_publish, subscribe_options[3];
static VALUE sym_redis, sym_text, sym_binary;

/* Topics */

VALUE rb_uw_channel_name(VALUE channel)
{
    return RB_SYMBOL_P(channel) ? rb_sym2str(channel) : rb_obj_as_string(channel);
}

struct uw_topic rb_uw_topic(VALUE name, VALUE match)
{
    struct uw_topic topic = {
        .name = RSTRING_PTR(name), .length = (size_t)RSTRING_LEN(name), .pattern = match == sym_redis};

    if (!NIL_P(match) && !topic.pattern)
        rb_raise(rb_eArgError, "match must be nil or :redis, not %+" PRIsVALUE, match);
    if (!uw_topic_is_valid(&topic))
        rb_raise(rb_eArgError, "a channel's name has at most %d bytes, a pattern %d", UW_CHANNEL_BYTES_MAX,
                 UW_GLOB_BYTES_MAX);
    return topic;
}

uint64_t rb_uw_subscription_number(void)
{
    static uint64_t last; /* with the interpreter's lock held */

    return ++last;
}

/* Callables */

void rb_uw_client_keep_callable(struct rb_uw_client *client, uint64_t number, VALUE name, VALUE callable)
{
    if (NIL_P(client->callables))
        RB_OBJ_WRITE(client->self, &client->callables, rb_hash_new());
    rb_hash_aset(client->callables, ULL2NUM(number), rb_assoc_new(name, callable));
}

static void forget_callable(const struct rb_uw_client *client, uint64_t number)
{
    if (!NIL_P(client->callables))
        rb_hash_delete(client->callables, ULL2NUM(number));
}

/* As the core compares names: whatever their encodings. */
static bool is_same_name(VALUE one, VALUE other)
{
    return RSTRING_LEN(one) == RSTRING_LEN(other) &&
           memcmp(RSTRING_PTR(one), RSTRING_PTR(other), (size_t)RSTRING_LEN(one)) == 0;
}

static int forget_named(VALUE number, VALUE entry, VALUE name)
{
    (void)number;
    return is_same_name(RARRAY_AREF(entry, 0), name) ? ST_DELETE : ST_CONTINUE;
}

static void forget_callables(const struct rb_uw_client *client, VALUE name)
{
    if (!NIL_P(client->callables))
        rb_hash_foreach(client->callables, forget_named, name);
}

/* UTF-8 if it can be. */
static VALUE text_or_bytes(const char *bytes, size_t length, bool text)
{
    VALUE string = rb_utf8_str_new(bytes, (long)length);

    if (!text || rb_enc_str_coderange(string) == ENC_CODERANGE_BROKEN)
        rb_enc_associate(string, rb_ascii8bit_encoding());
    return string;
}

void rb_uw_client_tell_published(const struct rb_uw_client *client, const struct uw_request *request)
{
    struct uw_published published = uw_published_of(request);
    VALUE number = ULL2NUM(published.subscription), arguments[2];
    VALUE entry = NIL_P(client->callables) ? Qnil : rb_hash_lookup(client->callables, number);

    if (NIL_P(entry)) /* it has ended */
        return;
    arguments[0] = text_or_bytes(published.channel, published.channel_length, true);
    arguments[1] = text_or_bytes(published.message, published.length, published.text);
    rb_funcallv(RARRAY_AREF(entry, 1), id_call, 2, arguments);
}

/* Subscribing */

struct wish {
    struct uw_client *client;
    struct uw_topic topic;
    enum uw_subscription_form form;
    uint64_t number;
};

static int subscribe_from_afar(const void *argument)
{
    const struct wish *wish = argument;

    return uw_afar_client_subscribe(wish->client, &wish->topic, wish->form, wish->number);
}

static enum uw_subscription_form form_of(VALUE as, VALUE callable)
{
    if (!NIL_P(callable))
        return UW_SUBSCRIBED_EVENT;
    if (NIL_P(as))
        return UW_SUBSCRIBED_AS_IS;
    if (as != sym_text && as != sym_binary)
        rb_raise(rb_eArgError, "as must be nil, :text or :binary, not %+" PRIsVALUE, as);
    return as == sym_text ? UW_SUBSCRIBED_TEXT : UW_SUBSCRIBED_BINARY;
}

struct asking {
    struct rb_uw_client *client;
    const struct wish *wish;
    int error; /* also as long as it has not been asked for */
};

static VALUE ask(VALUE argument)
{
    struct asking *asking = (struct asking *)argument;

    asking->error = rb_uw_ask(asking->client->host, subscribe_from_afar, asking->wish, asking->wish->topic.length);
    return Qnil;
}

/* Also when the wait for room was interrupted. */
static VALUE take_back(VALUE argument)
{
    const struct asking *asking = (const struct asking *)argument;

    if (!asking->error)
        return Qnil;
    atomic_fetch_sub(&asking->client->core->subscribed, 1);
    forget_callable(asking->client, asking->wish->number);
    return Qnil;
}

static int subscribe_here(struct rb_uw_client *client, const struct wish *wish)
{
    int error = uw_client_subscribe(client->core, &wish->topic, wish->form, wish->number);

    if (error)
        forget_callable(client, wish->number);
    return error;
}

static int subscribe_elsewhere(struct rb_uw_client *client, const struct wish *wish)
{
    struct asking asking = {.client = client, .wish = wish, .error = -EINTR};

    rb_ensure(ask, (VALUE)&asking, take_back, (VALUE)&asking);
    return asking.error;
}

static void subscribe(struct rb_uw_client *client, const struct wish *wish)
{
    int error;

    if (!uw_client_may_subscribe(client->core)) {
        forget_callable(client, wish->number);
        rb_raise(rb_eUpwellError, "a client has at most %d subscriptions", UW_SUBSCRIPTIONS_MAX);
    }
    error = (rb_uw_host_turns_here(client->host) ? subscribe_here : subscribe_elsewhere)(client, wish);
    if (error == -ENOSPC)
        rb_raise(rb_eUpwellError, "there are %d patterns already", UW_PATTERNS_MAX);
    if (error == -EAGAIN)
        rb_raise(rb_eUpwellError, "the loop stands still");
    if (error == -ENOMEM)
        rb_memerror();
}

static VALUE option(VALUE value)
{
    return value == Qundef ? Qnil : value;
}

static VALUE new_subscription(VALUE owner, uint64_t number, VALUE name, VALUE match)
{
    VALUE class = rb_const_get(rb_mUpwell, rb_intern("Subscription"));
    VALUE arguments[] = {owner, ULL2NUM(number), name, match};

    return rb_class_new_instance(4, arguments, class);
}

/*
 * Subscribes to a channel, or to all whose names match a pattern: until it is closed. Without a block the messages are
 * sent to the client as they are, by the server itself; a second such subscription to the same channel takes the
 * place of the first. A client that is behind by +client_bytes_max+ or more gets none. Any thread may call it.
 *
 * @overload subscribe(channel, as: nil, match: nil, handler: nil)
 *   @param channel [String, Symbol, #to_s] of at most 1024 bytes; a pattern of at most 255
 *   @param as [Symbol, nil] :text or :binary, what the messages are sent as; nil: what their publisher has them
 *   @param match [Symbol, nil] :redis for a pattern with <tt>* ? [a-c] [^x]</tt> and the backslash
 *   @param handler [#call, nil] in the place of a block
 *   @yield to be called with each message in the client's turn, as other events are; of those that wait for it 1024 are
 *     kept, and of 1 MiB, and the rest dropped
 *   @yieldparam channel [String]
 *   @yieldparam message [String] a text in UTF-8, or bytes in BINARY
 * @return [Upwell::Subscription] of a client that is closed, one that gets nothing
 * @raise [ArgumentError] for options that are none, or too long a name
 * @raise [Upwell::Error] when the client has 1024 subscriptions, or there are 1024 patterns: on another thread than the
 *   loop's, as in mode threads, the client is ended with 1011 then, and the log says why; when the application has kept
 *   the loop's thread for 5 seconds, and too much waits for it
 */
static VALUE client_subscribe(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_client *client = rb_uw_client(self);
    VALUE channel, options, block, values[3], match;
    struct wish wish = {.client = client->core};

    rb_scan_args(argc, argv, "1:&", &channel, &options, &block);
    rb_get_kwargs(NIL_P(options) ? rb_hash_new() : options, subscribe_options, 0, 3, values);
    if (NIL_P(block))
        block = option(values[2]);
    match = option(values[1]);
    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    wish.topic = rb_uw_topic(channel, match);
    wish.form = form_of(option(values[0]), block);
    wish.number = rb_uw_subscription_number();
    if (rb_uw_client_is_open(client)) {
        if (!NIL_P(block))
            rb_uw_client_keep_callable(client, wish.number, channel, block);
        subscribe(client, &wish);
    }
    RB_GC_GUARD(channel);
    return new_subscription(self, wish.number, channel, match);
}

static int unsubscribe_from_afar(const void *argument)
{
    const struct wish *wish = argument;

    return uw_afar_client_unsubscribe(wish->client, wish->number);
}

/* @!visibility private
 * For {Subscription#close}. */
static VALUE client_end_subscription(VALUE self, VALUE number)
{
    struct rb_uw_client *client = rb_uw_client(self);
    struct wish wish = {.client = client->core, .number = NUM2ULL(number)};

    forget_callable(client, wish.number);
    if (!rb_uw_client_is_open(client))
        return Qnil;
    if (rb_uw_host_turns_here(client->host))
        uw_client_unsubscribe(wish.client, wish.number);
    else
        (void)rb_uw_ask(client->host, unsubscribe_from_afar, &wish, 0);
    return Qnil;
}

static int unsubscribe_all_from_afar(const void *argument)
{
    const struct wish *wish = argument;

    return uw_afar_client_unsubscribe_all(wish->client, wish->topic.name, wish->topic.length);
}

/*
 * Ends all subscriptions of the client to channels and patterns of that name: no block is called any more. Any thread
 * may call it.
 *
 * @param channel [String, Symbol, #to_s]
 * @return [nil]
 */
static VALUE client_unsubscribe(VALUE self, VALUE channel)
{
    struct rb_uw_client *client = rb_uw_client(self);
    struct wish wish = {.client = client->core};

    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    wish.topic = rb_uw_topic(channel, Qnil);
    forget_callables(client, channel);
    if (!rb_uw_client_is_open(client))
        return Qnil;
    if (rb_uw_host_turns_here(client->host))
        uw_client_unsubscribe_all(wish.client, wish.topic.name, wish.topic.length);
    else
        (void)rb_uw_ask(client->host, unsubscribe_all_from_afar, &wish, wish.topic.length);
    RB_GC_GUARD(channel);
    return Qnil;
}

/*
 * @overload publish(channel, message, engine = nil)
 *   @see Upwell.publish
 * @return [Boolean] whether it is on its way
 */
static VALUE client_publish(int argc, VALUE *argv, VALUE self)
{
    (void)self;
    rb_check_arity(argc, 2, 3);
    return rb_funcallv(rb_mUpwell, id_publish, argc, argv);
}

void rb_uw_init_client_channels(void)
{
    VALUE class = rb_path2class("Upwell::Client");

    id_call = rb_intern("call");
    id_publish = rb_intern("publish");
    subscribe_options[0] = rb_intern("as");
    subscribe_options[1] = rb_intern("match");
    subscribe_options[2] = rb_intern("handler");
    sym_redis = ID2SYM(rb_intern("redis"));
    sym_text = ID2SYM(rb_intern("text"));
    sym_binary = ID2SYM(rb_intern("binary"));
    rb_define_method(class, "subscribe", client_subscribe, -1);
    rb_define_method(class, "unsubscribe", client_unsubscribe, 1);
    rb_define_method(class, "publish", client_publish, -1);
    rb_define_method(class, "end_subscription", client_end_subscription, 1);
}
