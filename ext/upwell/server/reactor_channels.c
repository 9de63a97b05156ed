/* Upwell::Reactor: publish and subscribe of the process. */
#include <errno.h>

#include "base/stats.h"
#include "push/ear.h"
#include "push/from_afar.h"
#include "rack/client_class.h"
#include "server/reactor.h"

/* Publishing */

struct letter {
    struct uw_channels *channels;
    bool here;
    struct uw_publication publication;
};

static int publish_from_afar(const void *argument)
{
    const struct letter *letter = argument;
    const struct uw_publication *publication = &letter->publication;

    return uw_afar_publish(letter->channels, letter->here, publication->channel, publication->channel_length,
                           publication->message.bytes, publication->message.length, publication->text);
}

static int publish_now(struct rb_uw_reactor *reactor, const struct letter *letter)
{
    (void)(letter->here ? uw_publish_here : uw_publish)(letter->channels, letter->publication);
    if (rb_uw_host_is_late(&reactor->host))
        rb_uw_host_flush(&reactor->host);
    return 0;
}

static VALUE publish(VALUE self, VALUE channel, VALUE message, bool here)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct letter letter = {.here = here};
    struct uw_server *server;
    int error;

    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    message = rb_str_new_frozen(rb_obj_as_string(message));
    (void)rb_uw_topic(channel, Qnil);
    letter.publication.text = rb_enc_get(message) != rb_ascii8bit_encoding();
    if (letter.publication.text)
        message = rb_str_new_frozen(rb_uw_text_of(message));
    server = rb_uw_control_server(&reactor->base.control, &reactor->base.server); /* after all that may be Ruby's */
    if (!server)
        return Qfalse;
    letter.channels = server->service.channels;
    letter.publication.channel = RSTRING_PTR(channel);
    letter.publication.channel_length = (size_t)RSTRING_LEN(channel);
    letter.publication.message.bytes = RSTRING_PTR(message);
    letter.publication.message.length = (size_t)RSTRING_LEN(message);
    error = rb_uw_host_turns_here(&reactor->host)
                ? publish_now(reactor, &letter)
                : rb_uw_ask(&reactor->host, publish_from_afar, &letter, (size_t)RSTRING_LEN(message));
    RB_GC_GUARD(channel);
    RB_GC_GUARD(message);
    return error ? Qfalse : Qtrue;
}

/*
 * Publishes a message to all that have subscribed to the channel, in this process and in the other processes of the
 * server. Any thread may call it; where too much is published already it waits for its turn, but not on the thread of
 * the loop.
 *
 * @param channel [String, Symbol, #to_s] of at most 1024 bytes
 * @param message [String, #to_s] a text; or, in the encoding BINARY, bytes
 * @return [Boolean] whether it is on its way: false while there is no loop, or too much waits for one whose thread the
 *   application has kept for 5 seconds
 * @raise [ArgumentError] for a text that is not valid in its encoding, or too long a name
 */
static VALUE reactor_publish(VALUE self, VALUE channel, VALUE message)
{
    return publish(self, channel, message, false);
}

/*
 * The same for this process alone: of what others have published.
 *
 * @see #publish
 */
static VALUE reactor_deliver(VALUE self, VALUE channel, VALUE message)
{
    return publish(self, channel, message, true);
}

/* Listening */

struct wish {
    struct uw_client *ear;
    struct uw_topic topic;
    uint64_t number;
};

static int open_from_afar(const void *argument)
{
    const struct wish *wish = argument;

    return uw_afar_ear_open(wish->ear, &wish->topic, wish->number);
}

/*
 * Has an object called with what is published, as the application is with requests: in the way of the mode, one message
 * after another. Of messages that wait for it 1024 are kept, and of 1 MiB, and the rest dropped. Any thread may call
 * it, also before {#run}.
 *
 * @param channel [String, Symbol, #to_s]
 * @param match [Symbol, nil] :redis for a pattern
 * @param callable [#call] with the channel and the message; what it raises is logged
 * @return [Object, nil] for {#unlisten}; nil when the reactor has ended. Of one pattern too many the log tells
 * @raise [ArgumentError] for too long a name, or another `match`
 */
static VALUE reactor_listen(VALUE self, VALUE channel, VALUE match, VALUE callable)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct rb_uw_client *client;
    struct wish wish = {.number = rb_uw_subscription_number()};
    VALUE ear;
    int error = 0;

    channel = rb_str_new_frozen(rb_uw_channel_name(channel));
    wish.topic = rb_uw_topic(channel, match);
    if (reactor->base.ran && rb_uw_reactor_is_copy(reactor)) /* whose lock somebody may have had */
        return Qnil;
    ear = rb_uw_ear_new(&reactor->host);
    client = rb_uw_client(ear);
    wish.ear = client->core;
    rb_uw_client_begin(client);
    rb_uw_client_keep_callable(client, wish.number, channel, callable);
    if (!rb_uw_channels_listen_early(&reactor->channels, wish.ear, &wish.topic, wish.number)) {
        if (reactor->host.closed || rb_uw_reactor_is_copy(reactor))
            error = -ESHUTDOWN;
        else if (rb_uw_host_turns_here(&reactor->host))
            (void)uw_ear_open(wish.ear, &wish.topic, wish.number); /* it is told of a failure */
        else
            error = rb_uw_ask(&reactor->host, open_from_afar, &wish, wish.topic.length);
    }
    if (error)
        rb_uw_client_end(client);
    RB_GC_GUARD(channel);
    return error ? Qnil : ear;
}

static int close_from_afar(const void *argument)
{
    return uw_afar_ear_close(((const struct wish *)argument)->ear);
}

/*
 * What {#listen_to} has begun ends: its object is not called any more.
 *
 * @param ear [Object] what it has returned
 * @return [nil]
 */
static VALUE reactor_unlisten(VALUE self, VALUE ear)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct rb_uw_client *client = rb_uw_client(ear);
    struct wish wish = {.ear = client->core};

    if (!NIL_P(client->callables))
        rb_hash_clear(client->callables);
    if (reactor->base.ran && rb_uw_reactor_is_copy(reactor)) /* whose lock somebody may have had */
        return Qnil;
    if (rb_uw_channels_forget_early(&reactor->channels, client->core)) {
        rb_uw_client_end(client);
        return Qnil;
    }
    if (reactor->host.closed || rb_uw_reactor_is_copy(reactor))
        return Qnil;
    if (rb_uw_host_turns_here(&reactor->host))
        uw_ear_close(wish.ear);
    else
        (void)rb_uw_ask(&reactor->host, close_from_afar, &wish, 0);
    RB_GC_GUARD(ear);
    return Qnil;
}

/* Inspection */

/*
 * @return [Hash{Symbol => Integer}] published [messages], and of these, for each subscriber, delivered and dropped;
 *   and what there is now: channels, patterns, subscribers, and peers, the other processes of the server that are told
 *   what is published. peers_sent and peers_dropped [messages, once for each of them], and peers_received. All are 0
 *   while not running
 */
static VALUE reactor_channel_stats(VALUE self)
{
    struct rb_uw_reactor *reactor = rb_uw_reactor(self);
    struct uw_server *server = rb_uw_control_server(&reactor->base.control, &reactor->base.server);
    static struct uw_channel_counts none;
    struct uw_channel_counts *counts = server ? &server->service.channels->counts : &none;
    struct uw_bus_stats bus = server ? uw_bus_stats(&reactor->bus) : (struct uw_bus_stats){0};
    VALUE stats = rb_hash_new();

    rb_uw_stats_put(stats, "published", atomic_load(&counts->published));
    rb_uw_stats_put(stats, "delivered", atomic_load(&counts->delivered));
    rb_uw_stats_put(stats, "dropped", atomic_load(&counts->dropped));
    rb_uw_stats_put(stats, "channels", atomic_load(&counts->channels));
    rb_uw_stats_put(stats, "patterns", atomic_load(&counts->patterns));
    rb_uw_stats_put(stats, "subscribers", atomic_load(&counts->subscribers));
    rb_uw_stats_put(stats, "peers", bus.peers);
    rb_uw_stats_put(stats, "peers_sent", bus.sent);
    rb_uw_stats_put(stats, "peers_dropped", bus.dropped);
    rb_uw_stats_put(stats, "peers_received", bus.received);
    return stats;
}

/*
 * Waits until channels or patterns have got their first subscriber in this process, or have none.
 *
 * @return [Array(Array<Array(String, Symbol, Boolean)>, Boolean), nil] of each its name, :redis or nil, and whether it
 *   has subscribers now; and whether too many have changed since this was last called: then all that have subscribers
 *   are among them. nil once the reactor has ended
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
