#include "rack/client_channels.h"

#include <errno.h>
#include <ruby/encoding.h>
#include <string.h>

#include "base/module.h"
#include "pub_sub/cross_thread.h"
#include "pub_sub/process_subscriber.h"
#include "rack/cross_thread_backpressure.h"

#define PUBSUB_VERSION 0 /* of Iodine's draft, which is in development */

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
        rb_raise(rb_eArgError, "the name of the %s has %zu bytes; use at most %d",
                 topic.pattern ? "pattern" : "channel", topic.length,
                 topic.pattern ? UW_CHANNEL_PATTERN_BYTES_MAX : UW_CHANNEL_BYTES_MAX);
    return topic;
}

uint64_t rb_uw_subscription_number(void)
{
    static uint64_t last; /* with the interpreter's lock */

    return ++last;
}

/* Callables */

void rb_uw_push_client_keep_callable(struct rb_uw_push_client *client, uint64_t number, VALUE name, VALUE match,
                                     VALUE callable)
{
    if (NIL_P(client->callables))
        RB_OBJ_WRITE(client->self, &client->callables, rb_hash_new());
    rb_hash_aset(client->callables, ULL2NUM(number), rb_ary_new_from_args(3, name, match, callable));
}

static void forget_callable(const struct rb_uw_push_client *client, uint64_t number)
{
    if (!NIL_P(client->callables))
        rb_hash_delete(client->callables, ULL2NUM(number));
}

/* Compares names as the core does: by bytes, whatever their encodings. */
static bool is_same_name(VALUE one, VALUE other)
{
    return RSTRING_LEN(one) == RSTRING_LEN(other) &&
           memcmp(RSTRING_PTR(one), RSTRING_PTR(other), (size_t)RSTRING_LEN(one)) == 0;
}

static int forget_same(VALUE number, VALUE entry, VALUE topic)
{
    (void)number;
    return is_same_name(RARRAY_AREF(entry, 0), RARRAY_AREF(topic, 0)) && RARRAY_AREF(entry, 1) == RARRAY_AREF(topic, 1)
               ? ST_DELETE
               : ST_CONTINUE;
}

static void forget_callables(const struct rb_uw_push_client *client, VALUE name, VALUE match)
{
    if (!NIL_P(client->callables))
        rb_hash_foreach(client->callables, forget_same, rb_assoc_new(name, match));
}

/* UTF-8 if it can be. */
static VALUE text_or_bytes(const char *bytes, size_t length, bool text)
{
    VALUE string = rb_utf8_str_new(bytes, (long)length);

    if (!text || rb_enc_str_coderange(string) == ENC_CODERANGE_BROKEN)
        rb_enc_associate(string, rb_ascii8bit_encoding());
    return string;
}

void rb_uw_push_client_tell_published(const struct rb_uw_push_client *client, const struct uw_request *request)
{
    struct uw_published published = uw_published_of(request);
    VALUE number = ULL2NUM(published.subscription), arguments[2];
    VALUE entry = NIL_P(client->callables) ? Qnil : rb_hash_lookup(client->callables, number);

    if (NIL_P(entry)) /* it has ended */
        return;
    arguments[0] = text_or_bytes(published.channel, published.channel_length, true);
    arguments[1] = text_or_bytes(published.message, published.length, published.text);
    rb_funcallv(RARRAY_AREF(entry, 2), id_call, 2, arguments);
}

/* Subscribing */

struct wish {
    struct uw_push_client *client;
    struct uw_topic topic;
    enum uw_subscription_form form;
    uint64_t number;
};

static int post_subscribe(const void *argument)
{
    const struct wish *wish = argument;

    return uw_push_client_post_subscribe(wish->client, &wish->topic, wish->form, wish->number);
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
    struct rb_uw_push_client *client;
    const struct wish *wish;
    int error; /* also before the request was made */
};

static VALUE ask(VALUE argument)
{
    struct asking *asking = (struct asking *)argument;

    asking->error =
        rb_uw_post_or_wait(asking->client->rack_context, post_subscribe, asking->wish, asking->wish->topic.length);
    return Qnil;
}

/* Runs, too, when the wait for quota was interrupted. */
static VALUE take_back(VALUE argument)
{
    const struct asking *asking = (const struct asking *)argument;

    if (!asking->error)
        return Qnil;
    atomic_fetch_sub(&asking->client->core->subscribed, 1);
    forget_callable(asking->client, asking->wish->number);
    return Qnil;
}

static int subscribe_here(struct rb_uw_push_client *client, const struct wish *wish)
{
    int error = uw_push_client_subscribe(client->core, &wish->topic, wish->form, wish->number);

    if (error)
        forget_callable(client, wish->number);
    return error;
}

static int subscribe_elsewhere(struct rb_uw_push_client *client, const struct wish *wish)
{
    struct asking asking = {.client = client, .wish = wish, .error = -EINTR};

    rb_ensure(ask, (VALUE)&asking, take_back, (VALUE)&asking);
    return asking.error;
}

/* Returns false when the client is closed by now. */
static bool subscribe(struct rb_uw_push_client *client, const struct wish *wish)
{
    int error;

    if (!uw_push_client_may_subscribe(client->core)) {
        forget_callable(client, wish->number);
        rb_raise(rb_eUpwellError, "this client already has %d subscriptions, the maximum; unsubscribe from one first",
                 UW_SUBSCRIPTIONS_MAX);
    }
    error = (rb_uw_rack_context_turns_here(client->rack_context) ? subscribe_here : subscribe_elsewhere)(client, wish);
    if (error == -ENOSPC)
        rb_raise(rb_eUpwellError, "this process already has %d patterns, the maximum; unsubscribe from one first",
                 UW_PATTERNS_MAX);
    if (error == -EAGAIN)
        rb_raise(rb_eUpwellError,
                 "cannot subscribe: the application occupies the server's thread, and too many calls wait for it; "
                 "make this code faster, or use --mode threads:N");
    if (error == -ENOMEM)
        rb_memerror();
    return !error;
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

/* The pattern may be requested by the argument or by the keyword. */
static VALUE match_of(VALUE is_pattern, VALUE match)
{
    return NIL_P(match) && RTEST(is_pattern) ? sym_redis : match;
}

/*
 * Subscribes to a channel, or to all channels whose names match a pattern, until the client is closed. Without a block
 * the server itself sends the messages to the client, unchanged. A second such subscription to the same channel
 * replaces the first. A client with +client_bytes_max+ or more outgoing bytes gets no messages. Any thread may call it.
 *
 * @overload subscribe(channel, is_pattern = false, as: nil, match: nil, handler: nil)
 *   @param channel [String, Symbol, #to_s] of at most 1024 bytes; a pattern of at most 255
 *   @param is_pattern [Boolean] true: the same as <tt>match: :redis</tt>
 *   @param as [Symbol, nil] :text or :binary, the type of the sent messages; nil: the publisher's type
 *   @param match [Symbol, nil] :redis for a pattern with <tt>* ? [a-c] [^x]</tt> and the backslash
 *   @param handler [#call, nil] instead of a block
 *   @yield each message, in order with the client's other events; at most 1024 messages and 1 MiB wait, further
 *     messages are dropped
 *   @yieldparam channel [String]
 *   @yieldparam message [String] a text in UTF-8, or bytes in BINARY
 * @return [Upwell::Subscription, nil] nil: the client is closed
 * @raise [ArgumentError] for an unknown option, or a name that is too long
 * @raise [Upwell::Error] when the client has 1024 subscriptions, or 1024 patterns exist. On another thread than the
 *   loop's, as in mode threads, the client is then closed with 1011, and the log gives the reason. Also raised when the
 *   application has occupied the loop's thread for 5 seconds, and too many calls wait
 */
static VALUE client_subscribe(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_push_client *client = rb_uw_push_client(self);
    VALUE channel, is_pattern, options, block, values[3], match;
    struct wish wish = {.client = client->core};
    bool subscribed = false;

    rb_scan_args(argc, argv, "11:&", &channel, &is_pattern, &options, &block);
    rb_get_kwargs(NIL_P(options) ? rb_hash_new() : options, subscribe_options, 0, 3, values);
    if (NIL_P(block))
        block = option(values[2]);
    match = match_of(is_pattern, option(values[1]));
    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    wish.topic = rb_uw_topic(channel, match);
    wish.form = form_of(option(values[0]), block);
    wish.number = rb_uw_subscription_number();
    if (rb_uw_push_client_is_open(client)) {
        if (!NIL_P(block))
            rb_uw_push_client_keep_callable(client, wish.number, channel, match, block);
        subscribed = subscribe(client, &wish);
    }
    RB_GC_GUARD(channel);
    return subscribed ? new_subscription(self, wish.number, channel, match) : Qnil;
}

static int post_unsubscribe(const void *argument)
{
    const struct wish *wish = argument;

    return uw_push_client_post_unsubscribe(wish->client, wish->number);
}

/* @!visibility private
 * For {Subscription#close}. */
static VALUE client_end_subscription(VALUE self, VALUE number)
{
    struct rb_uw_push_client *client = rb_uw_push_client(self);
    struct wish wish = {.client = client->core, .number = NUM2ULL(number)};

    forget_callable(client, wish.number);
    if (!rb_uw_push_client_is_open(client))
        return Qnil;
    if (rb_uw_rack_context_turns_here(client->rack_context))
        uw_push_client_unsubscribe(wish.client, wish.number);
    else
        (void)rb_uw_post_or_wait(client->rack_context, post_unsubscribe, &wish, 0);
    return Qnil;
}

static int post_unsubscribe_topic(const void *argument)
{
    const struct wish *wish = argument;

    return uw_push_client_post_unsubscribe_topic(wish->client, &wish->topic);
}

static void unsubscribe_topic(struct rb_uw_push_client *client, VALUE name, VALUE match)
{
    struct wish wish = {.client = client->core,
                        .topic = {RSTRING_PTR(name), (size_t)RSTRING_LEN(name), match == sym_redis}};

    forget_callables(client, name, match);
    if (!rb_uw_push_client_is_open(client))
        return;
    if (rb_uw_rack_context_turns_here(client->rack_context))
        uw_push_client_unsubscribe_topic(wish.client, &wish.topic);
    else
        (void)rb_uw_post_or_wait(client->rack_context, post_unsubscribe_topic, &wish, wish.topic.length);
}

/*
 * Ends the client's subscriptions of that name; their blocks are not called again. Any thread may call it.
 *
 * @overload unsubscribe(channel, is_pattern = nil)
 *   @param channel [String, Symbol, #to_s]
 *   @param is_pattern [Boolean, nil] true: of the pattern alone; false: of the channel alone; nil: of both
 * @return [nil]
 */
static VALUE client_unsubscribe(int argc, VALUE *argv, VALUE self)
{
    struct rb_uw_push_client *client = rb_uw_push_client(self);
    VALUE channel, is_pattern;

    rb_scan_args(argc, argv, "11", &channel, &is_pattern);
    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    (void)rb_uw_topic(channel, Qnil);
    if (!RTEST(is_pattern))
        unsubscribe_topic(client, channel, Qnil);
    if (NIL_P(is_pattern) || RTEST(is_pattern))
        unsubscribe_topic(client, channel, sym_redis);
    RB_GC_GUARD(channel);
    return Qnil;
}

/*
 * @return [Integer] the version of the draft that defines publish and subscribe
 */
static VALUE client_pubsub_version(VALUE self)
{
    (void)self;
    return INT2FIX(PUBSUB_VERSION);
}

/*
 * @overload publish(channel, message, engine = nil)
 *   @see Upwell.publish
 * @return [Boolean] whether the message was accepted
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
    rb_define_method(class, "unsubscribe", client_unsubscribe, -1);
    rb_define_method(class, "pubsub?", client_pubsub_version, 0);
    rb_define_method(class, "publish", client_publish, -1);
    rb_define_method(class, "end_subscription", client_end_subscription, 1);
}
