#include "server/reactor_channels.h"

#include <errno.h>
#include <ruby/encoding.h>

#include "base/object_counts.h"
#include "pub_sub/cross_thread.h"
#include "pub_sub/process_subscriber.h"
#include "rack/client_channels.h"
#include "rack/client_registry.h"
#include "rack/cross_thread_backpressure.h"
#include "server/reactor.h"

/* Publishing */

struct posted_publication {
    struct uw_channels *channels;
    bool here;
    struct uw_publication publication;
};

static int post_publish(const void *argument)
{
    const struct posted_publication *posted = argument;
    const struct uw_publication *publication = &posted->publication;

    return uw_post_publish(posted->channels, posted->here, publication->channel, publication->channel_length,
                           publication->message.bytes, publication->message.length, publication->text);
}

static int publish_now(struct rb_uw_reactor *reactor, const struct posted_publication *posted)
{
    (void)(posted->here ? uw_publish_here : uw_publish)(posted->channels, posted->publication);
    if (rb_uw_rack_context_is_late(&reactor->rack_context))
        rb_uw_rack_context_flush(&reactor->rack_context);
    return 0;
}

static VALUE publish(VALUE self, VALUE channel, VALUE message, bool here)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct posted_publication posted = {.here = here};
    struct uw_server *server;
    int error;

    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    message = rb_str_new_frozen(StringValue(message));
    (void)rb_uw_topic(channel, Qnil);
    posted.publication.text = rb_enc_get(message) != rb_ascii8bit_encoding();
    if (posted.publication.text)
        message = rb_str_new_frozen(rb_uw_text_of(message));
    server =
        rb_uw_shutdown_control_server(&reactor->base.control, &reactor->base.server); /* after all that may be Ruby's */
    if (!server)
        return Qfalse;
    posted.channels = server->server_context.channels;
    posted.publication.channel = RSTRING_PTR(channel);
    posted.publication.channel_length = (size_t)RSTRING_LEN(channel);
    posted.publication.message.bytes = RSTRING_PTR(message);
    posted.publication.message.length = (size_t)RSTRING_LEN(message);
    error = rb_uw_rack_context_turns_here(&reactor->rack_context)
                ? publish_now(reactor, &posted)
                : rb_uw_post_or_wait(&reactor->rack_context, post_publish, &posted, (size_t)RSTRING_LEN(message));
    RB_GC_GUARD(channel);
    RB_GC_GUARD(message);
    return error ? Qfalse : Qtrue;
}

/*
 * Publishes a message to all subscribers of the channel, in this process and in the server's other processes. Any
 * thread may call it. When too many messages wait, it waits for quota, but not on the loop's thread.
 *
 * @param channel [String, Symbol, #to_s] of at most 1024 bytes
 * @param message [String] a text; or, in the encoding BINARY, bytes
 * @return [Boolean] whether the message was accepted: false while no loop runs, or when too many messages wait and the
 *   application has occupied the loop's thread for 5 seconds
 * @raise [ArgumentError] for a text that is not valid in its encoding, or a name that is too long
 */
static VALUE reactor_publish(VALUE self, VALUE channel, VALUE message)
{
    return publish(self, channel, message, false);
}

/*
 * Publishes in this process alone: for messages that other processes have published.
 *
 * @see #publish
 */
static VALUE reactor_deliver(VALUE self, VALUE channel, VALUE message)
{
    return publish(self, channel, message, true);
}

/* Listening */

struct wish {
    struct uw_push_client *subscriber;
    struct uw_topic topic;
    uint64_t number;
};

static int post_open(const void *argument)
{
    const struct wish *wish = argument;

    return uw_process_subscriber_post_open(wish->subscriber, &wish->topic, wish->number);
}

/*
 * Calls an object with each published message, one after another, as the mode calls the application with requests. At
 * most 1024 messages, and at most 1 MiB, wait for the object; further messages are dropped. Any thread may call it,
 * also before {#run}.
 *
 * @param channel [String, Symbol, #to_s]
 * @param match [Symbol, nil] :redis for a pattern
 * @param callable [#call] with the channel and the message; its exceptions are logged
 * @return [Object, nil] for {#unlisten}; nil when the reactor has ended. The log reports one pattern too many
 * @raise [ArgumentError] for a name that is too long, or another `match`
 */
static VALUE reactor_listen(VALUE self, VALUE channel, VALUE match, VALUE callable)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct rb_uw_push_client *client;
    struct wish wish = {.number = rb_uw_subscription_number()};
    VALUE subscriber;
    int error = 0;

    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    wish.topic = rb_uw_topic(channel, match);
    if (reactor->base.ran && rb_uw_reactor_is_copy(reactor)) /* another thread may have had the lock at the fork */
        return Qnil;
    subscriber = rb_uw_process_subscriber_new(&reactor->rack_context);
    client = rb_uw_push_client(subscriber);
    wish.subscriber = client->core;
    rb_uw_push_client_begin(client);
    rb_uw_push_client_keep_callable(client, wish.number, channel, match, callable);
    if (!rb_uw_channels_listen_early(&reactor->channels, wish.subscriber, &wish.topic, wish.number)) {
        if (reactor->rack_context.closed || rb_uw_reactor_is_copy(reactor))
            error = -ESHUTDOWN;
        else if (rb_uw_rack_context_turns_here(&reactor->rack_context))
            (void)uw_process_subscriber_open(wish.subscriber, &wish.topic, wish.number); /* a failure gives an event */
        else
            error = rb_uw_post_or_wait(&reactor->rack_context, post_open, &wish, wish.topic.length);
    }
    if (error)
        rb_uw_push_client_end(client);
    RB_GC_GUARD(channel);
    return error ? Qnil : subscriber;
}

static int post_close(const void *argument)
{
    return uw_process_subscriber_post_close(((const struct wish *)argument)->subscriber);
}

/*
 * Ends the subscription of {#listen_to}: the object is not called again.
 *
 * @param subscriber [Object] the value that {#listen_to} returned
 * @return [nil]
 */
static VALUE reactor_unlisten(VALUE self, VALUE subscriber)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct rb_uw_push_client *client = rb_uw_push_client(subscriber);
    struct wish wish = {.subscriber = client->core};

    if (!NIL_P(client->callables))
        rb_hash_clear(client->callables);
    if (reactor->base.ran && rb_uw_reactor_is_copy(reactor)) /* another thread may have had the lock at the fork */
        return Qnil;
    if (rb_uw_channels_forget_early(&reactor->channels, client->core)) {
        rb_uw_push_client_end(client);
        return Qnil;
    }
    if (reactor->rack_context.closed || rb_uw_reactor_is_copy(reactor))
        return Qnil;
    if (rb_uw_rack_context_turns_here(&reactor->rack_context))
        uw_process_subscriber_close(wish.subscriber);
    else
        (void)rb_uw_post_or_wait(&reactor->rack_context, post_close, &wish, 0);
    RB_GC_GUARD(subscriber);
    return Qnil;
}

/* Inspection */

/*
 * @return [Hash{Symbol => Integer}] published [messages], and of these, for each subscriber, delivered and dropped;
 *   and present counts: channels, patterns, subscribers, slow subscribers (at least half of the allowed messages wait
 *   for a block), and peers, the other processes of the server that get published messages.
 *   peers_sent and peers_dropped [messages, once for each peer], and peers_received. All are 0 while not running
 */
static VALUE reactor_channel_stats(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct uw_server *server = rb_uw_shutdown_control_server(&reactor->base.control, &reactor->base.server);
    static struct uw_channel_counts none;
    struct uw_channel_counts *counts = server ? &server->server_context.channels->counts : &none;
    struct uw_bus_stats bus = server ? uw_bus_stats(&reactor->bus) : (struct uw_bus_stats){0};
    VALUE stats = rb_hash_new();

    rb_uw_stats_put(stats, "published", atomic_load(&counts->published));
    rb_uw_stats_put(stats, "delivered", atomic_load(&counts->delivered));
    rb_uw_stats_put(stats, "dropped", atomic_load(&counts->dropped));
    rb_uw_stats_put(stats, "channels", atomic_load(&counts->channels));
    rb_uw_stats_put(stats, "patterns", atomic_load(&counts->patterns));
    rb_uw_stats_put(stats, "subscribers", atomic_load(&counts->subscribers));
    rb_uw_stats_put(stats, "behind", atomic_load(&counts->behind));
    rb_uw_stats_put(stats, "peers", bus.peers);
    rb_uw_stats_put(stats, "peers_sent", bus.sent);
    rb_uw_stats_put(stats, "peers_dropped", bus.dropped);
    rb_uw_stats_put(stats, "peers_received", bus.received);
    return stats;
}

/*
 * Waits until channels or patterns get their first subscriber in this process, or lose their last one.
 *
 * @return [Array(Array<Array(String, Symbol, Boolean)>, Boolean), nil] of each its name, :redis or nil, and whether it
 *   has subscribers now; and whether too many have changed since the last call: then the list has every topic with
 *   subscribers. nil once the reactor has ended
 */
static VALUE reactor_await_channel_changes(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);

    return rb_uw_reactor_is_copy(reactor) ? Qnil : rb_uw_channels_await_changes(&reactor->channels);
}

void rb_uw_init_reactor_channels(VALUE class)
{
    rb_define_method(class, "publish", reactor_publish, 2);
    rb_define_method(class, "deliver", reactor_deliver, 2);
    rb_define_method(class, "listen_to", reactor_listen, 3);
    rb_define_method(class, "unlisten", reactor_unlisten, 1);
    rb_define_method(class, "channel_stats", reactor_channel_stats, 0);
    rb_define_method(class, "await_channel_changes", reactor_await_channel_changes, 0);
}
