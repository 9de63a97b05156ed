/* Publishing to clients and others, on the loop's thread. */
#include "pub_sub/channels.h"

#include "pub_sub/process_subscriber.h"
#include "pub_sub_server_fixture.h"

static uint64_t count_of(_Atomic uint64_t *number)
{
    return atomic_load(number);
}

/* Clients */

static void each_form(const char *backend)
{
    begin(backend, 4);
    CHECK_EQUAL(0, subscribe(0, "news", false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(1, "news", false, UW_SUBSCRIBED_TEXT, 1));
    CHECK_EQUAL(0, subscribe(2, "news", false, UW_SUBSCRIBED_BINARY, 1));
    CHECK_EQUAL(0, subscribe(3, "news", false, UW_SUBSCRIBED_EVENT, 7));
    CHECK_EQUAL(4, publish("news", "hi"));
    CHECK_EQUAL(4, publish_bytes("news", "ho", 2, false));
    CHECK_EQUAL(4, publish_bytes("news", "\xff", 1, false));
    CHECK_EQUAL(0, publish("new", "nobody's"));
    expect_message(0, UW_OPCODE_TEXT, "hi", 2);
    expect_message(0, UW_OPCODE_BINARY, "ho", 2);
    expect_message(0, UW_OPCODE_BINARY, "\xff", 1);
    expect_message(1, UW_OPCODE_TEXT, "hi", 2);
    expect_message(1, UW_OPCODE_TEXT, "ho", 2);
    expect_message(1, UW_OPCODE_BINARY, "\xff", 1);
    expect_message(2, UW_OPCODE_BINARY, "hi", 2);
    expect_message(2, UW_OPCODE_BINARY, "ho", 2);
    expect_message(2, UW_OPCODE_BINARY, "\xff", 1);
    expect_events("7\"news=hi 7'news=ho 7'news=\xff ");
    CHECK_EQUAL(4, count_of(&channels_of_server()->counts.published));
    CHECK_EQUAL(12, count_of(&channels_of_server()->counts.delivered));
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.dropped));
    end();
}

TEST(each_form_of_a_message)
{
    on_each_backend(each_form);
}

/* Lent to all of them, and given back when the last of them has it, or is gone. */
static void long_messages(const char *backend)
{
    size_t length = 100000;
    char *message = malloc(length);

    begin(backend, 3);
    memset(message, 'x', length);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(0, subscribe(i, "long", false, UW_SUBSCRIBED_AS_IS, 1));
    for (int times = 0; times < 2; times++)
        CHECK_EQUAL(3, publish_bytes("long", message, length, true));
    CHECK_EQUAL(6, channels_of_server()->chunks.taken);
    for (int i = 0; i < 2; i++)
        for (int times = 0; times < 2; times++)
            expect_message(i, UW_OPCODE_TEXT, message, length);
    leave(2);
    CHECK_EQUAL(0, channels_of_server()->chunks.taken);
    CHECK_EQUAL(2, publish_bytes("long", message, length, true)); /* which nobody will read */
    free(message);
    end();
}

TEST(long_messages_are_lent)
{
    on_each_backend(long_messages);
}

static void patterns(const char *backend)
{
    begin(backend, 2);
    CHECK_EQUAL(0, subscribe(0, "news.*", true, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(0, "news.a", false, UW_SUBSCRIBED_AS_IS, 2));
    CHECK_EQUAL(0, subscribe(1, "news.[ab]", true, UW_SUBSCRIBED_EVENT, 3));
    CHECK_EQUAL(0, subscribe(1, "news.*", false, UW_SUBSCRIBED_EVENT, 4));
    CHECK_EQUAL(3, publish("news.a", "1"));
    CHECK_EQUAL(2, publish("news.b", "2"));
    CHECK_EQUAL(2, publish("news.*", "3"));
    CHECK_EQUAL(0, publish("olds", "4"));
    expect_text(0, "1");
    expect_text(0, "1");
    expect_text(0, "2");
    expect_text(0, "3");
    expect_events("3\"news.a=1 3\"news.b=2 4\"news.*=3 ");
    uw_push_client_unsubscribe_topic(clients[1], &(struct uw_topic){"news.*", 6, true}); /* the other client's */
    CHECK_EQUAL(2, publish("news.*", "still"));
    expect_events("4\"news.*=still ");
    uw_push_client_unsubscribe_topic(clients[1], &(struct uw_topic){"news.*", 6, false});
    CHECK_EQUAL(1, publish("news.*", "pattern"));
    uw_push_client_unsubscribe(clients[1], 3);
    CHECK_EQUAL(2, publish("news.a", "5"));
    CHECK_EQUAL(1, count_of(&channels_of_server()->counts.patterns));
    CHECK_EQUAL(1, count_of(&channels_of_server()->counts.channels));
    end();
}

TEST(channels_by_patterns)
{
    on_each_backend(patterns);
}

TEST(subscribing_twice)
{
    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_BINARY, 2));
    CHECK_EQUAL(1, publish("a", "once"));
    expect_message(0, UW_OPCODE_BINARY, "once", 4);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 3));
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 4));
    CHECK_EQUAL(3, publish("a", "x"));
    expect_events("3\"a=x 4\"a=x ");
    CHECK_EQUAL(3, atomic_load(&clients[0]->subscribed));
    uw_push_client_unsubscribe(clients[0], 1); /* whose place another has taken */
    CHECK_EQUAL(3, publish("a", "y"));
    uw_push_client_unsubscribe_topic(clients[0], &(struct uw_topic){"a", 1, false});
    CHECK_EQUAL(0, publish("a", "z"));
    CHECK_EQUAL(0, atomic_load(&clients[0]->subscribed));
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.channels));
    end();
}

TEST(subscriptions_end_with_the_client)
{
    begin(NULL, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(0, subscribe(i, "a", false, UW_SUBSCRIBED_AS_IS, 1));
        CHECK_EQUAL(0, subscribe(i, "*", true, UW_SUBSCRIBED_EVENT, 2));
    }
    leave(0);
    CHECK_EQUAL(2, publish("a", "x"));
    CHECK_EQUAL(2, count_of(&channels_of_server()->counts.subscribers));
    CHECK(!uw_push_client_may_subscribe(clients[0]) || subscribe(0, "a", false, UW_SUBSCRIBED_AS_IS, 1) == -EPIPE);
    leave(1);
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.channels));
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.patterns));
    CHECK_EQUAL(0, publish("a", "x"));
    end();
}

TEST(limits)
{
    char name[UW_CHANNEL_BYTES_MAX + 2];

    begin(NULL, 2);
    memset(name, 'n', sizeof name);
    name[UW_CHANNEL_BYTES_MAX + 1] = 0;
    CHECK_EQUAL(-EINVAL, subscribe(0, name, false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, publish(name, "x"));
    name[UW_CHANNEL_BYTES_MAX] = 0;
    CHECK_EQUAL(0, subscribe(0, name, false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(1, publish(name, "x"));
    name[UW_CHANNEL_PATTERN_BYTES_MAX + 1] = 0;
    CHECK_EQUAL(-EINVAL, subscribe(0, name, true, UW_SUBSCRIBED_AS_IS, 1));
    uw_push_client_unsubscribe(clients[0], 1);
    for (unsigned i = 0; i < UW_SUBSCRIPTIONS_MAX; i++) {
        (void)snprintf(name, sizeof name, "%u*", i);
        CHECK_EQUAL(0, subscribe(0, name, true, UW_SUBSCRIBED_AS_IS, i));
    }
    CHECK(!uw_push_client_may_subscribe(clients[0]));
    CHECK_EQUAL(UW_PATTERNS_MAX, count_of(&channels_of_server()->counts.patterns));
    CHECK_EQUAL(-ENOSPC, subscribe(1, "one too many", true, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(1, "0*", true, UW_SUBSCRIBED_AS_IS, 1)); /* which there is */
    CHECK_EQUAL(1, atomic_load(&clients[1]->subscribed));
    end();
}

/* Slow ones */

TEST(who_is_behind_gets_nothing_more)
{
    size_t length = 100000, delivered = 0;
    char *message = malloc(length);

    begin(NULL, 2);
    memset(message, 'x', length);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(1, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    for (int i = 0; i < 300; i++) { /* more than sockets hold: the first reads, the second does not */
        delivered += publish_bytes("a", message, length, false);
        expect_message(0, UW_OPCODE_BINARY, message, length);
    }
    CHECK(delivered > 300 && delivered < 600);
    CHECK_EQUAL(delivered, count_of(&channels_of_server()->counts.delivered));
    CHECK_EQUAL(600 - delivered, count_of(&channels_of_server()->counts.dropped));
    CHECK(atomic_load(&clients[1]->stream.outgoing_bytes) < settings.client_bytes_max + length + 100);
    for (size_t i = 300; i < delivered; i++)
        expect_message(1, UW_OPCODE_BINARY, message, length);
    expect_nothing_for(1);
    CHECK_EQUAL(2, publish("a", "again"));
    expect_text(1, "again");
    free(message);
    end();
}

TEST(a_handler_that_is_behind)
{
    int taken = UW_PUBLISHED_WAITING_MAX + 1;

    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 1));
    keeps = true;
    for (int i = 0; i < taken; i++) {
        CHECK_EQUAL(i > UW_PUBLISHED_WAITING_MAX / 2, count_of(&channels_of_server()->counts.behind));
        CHECK_EQUAL(1, publish("a", "x"));
    }
    CHECK_EQUAL(0, publish("a", "y"));
    CHECK_EQUAL(1, count_of(&channels_of_server()->counts.dropped));
    finish_kept();
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.behind));
    CHECK_EQUAL(taken * strlen("1\"a=x "), strlen(events));
    CHECK_EQUAL(1, publish("a", "z"));
    end();
}

TEST(a_handler_that_is_behind_with_long_messages)
{
    size_t length = UW_PUBLISHED_BYTES_MAX + 1;
    char *message = calloc(1, length);

    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 1));
    keeps = true;
    CHECK_EQUAL(1, publish("a", "first"));
    CHECK_EQUAL(1, publish_bytes("a", message, length, false));
    CHECK_EQUAL(0, publish("a", "third"));
    CHECK_EQUAL(1, count_of(&channels_of_server()->counts.behind));
    uw_push_client_end(clients[0], 1000, "", 0);
    finish_kept(); /* what waits is not told any more */
    expect_events("1\"a=first ");
    free(message);
    end();
}

/* A client's other events have their turn between. */
TEST(other_events_between_messages)
{
    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 1));
    keeps = true;
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(1, publish("a", "x"));
    CHECK_EQUAL(0, clients[0]->waiting);
    CHECK_EQUAL(2, clients[0]->published_waiting);
    finish_kept();
    CHECK_EQUAL(0, clients[0]->published_waiting);
    expect_events("1\"a=x 1\"a=x 1\"a=x ");
    end();
}

static void cause_an_event(struct uw_push_client *client, const struct uw_published *published)
{
    if (published->message[0] == '2')
        CHECK(uw_push_client_notify_plain(client, UW_PUSH_DRAINED));
}

static void publish_one_more(struct uw_push_client *client)
{
    (void)client;
    CHECK_EQUAL(1, publish("a", "4"));
}

/* Also when the handler serves at once, and is served another event before the next message. */
TEST(messages_come_in_order_whatever_is_published_between_them)
{
    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 1));
    on_published = cause_an_event;
    on_drained = publish_one_more;
    keeps = true;
    for (const char *number = "1\0002\0003\000"; *number; number += 2)
        CHECK_EQUAL(1, publish("a", number));
    finish_kept();
    expect_events("1\"a=1 1\"a=2 1\"a=3 1\"a=4 ");
    end();
}

#define ROUNDS_MAX 100

/* The handler is always behind, one message after another. */
static void take_leave(const char *bytes, size_t length, bool half_closes)
{
    begin(NULL, 1);
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 1));
    keeps = true;
    publish("a", "x");
    CHECK_EQUAL(length, send(fds[0], bytes, length, MSG_NOSIGNAL));
    if (half_closes)
        CHECK_EQUAL(0, shutdown(fds[0], SHUT_WR));
    for (int i = 0; i < ROUNDS_MAX && uw_push_client_is_open(clients[0]); i++) {
        struct uw_request *request = kept;

        publish("a", "x");
        turn();
        kept = NULL;
        if (request)
            finish(request);
    }
    CHECK(!uw_push_client_is_open(clients[0]));
    if (kept)
        finish_kept();
}

/* Who says that it ends does not wait until others say nothing. */
TEST(a_client_that_leaves_a_busy_channel)
{
    take_leave("\x88\x82\0\0\0\0\x03\xe8", 8, false);
    expect_from(fds[0], "\x88\x02\x03\xe8", 4);
    end();
    take_leave("\x83\x80\0\0\0\0", 6, false); /* a breach */
    expect_from(fds[0], "\x88\x02\x03\xea", 4);
    end();
    take_leave("\x81\x82\0", 3, true); /* amid a frame */
    end();
}

/* Within a delivery */

struct hearer {
    struct uw_subscriber subscriber;
    const char *name;
    void (*act)(struct hearer *hearer);
};

static char heard[200];
static struct hearer hearers[4];

static bool hear(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    struct hearer *hearer = uw_container_of(subscriber, struct hearer, subscriber);

    strcat(heard, hearer->name);
    strncat(heard, publication->message.bytes, publication->message.length);
    if (hearer->act)
        hearer->act(hearer);
    return true;
}

static void listen_to(struct hearer *hearer, const char *channel)
{
    struct uw_topic topic = {channel, strlen(channel), strchr(channel, '*') != NULL};

    CHECK_EQUAL(0, uw_subscribe(channels_of_server(), &hearer->subscriber, &topic));
}

static void begin_to_listen(void (*act)(struct hearer *hearer), const char *const names[4])
{
    static const char *const own_names[] = {"A", "B", "C", "D"};

    begin(NULL, 1);
    memset(heard, 0, sizeof heard);
    for (int i = 0; i < 4; i++) {
        hearers[i] = (struct hearer){.subscriber = {.deliver = hear}, .name = own_names[i]};
        if (names[i])
            listen_to(&hearers[i], names[i]);
    }
    hearers[0].act = act;
}

static void expect_heard(const char *expected)
{
    CHECK(strcmp(expected, heard) == 0);
    if (strcmp(expected, heard) != 0)
        printf("%s instead of %s\n", heard, expected);
    memset(heard, 0, sizeof heard);
}

static void end_all(struct hearer *hearer)
{
    (void)hearer;
    for (int i = 0; i < 4; i++)
        uw_unsubscribe(channels_of_server(), &hearers[i].subscriber);
}

TEST(unsubscribing_all_within_a_delivery)
{
    begin_to_listen(end_all, (const char *const[4]){"a", "a", "a*", "*"});
    CHECK_EQUAL(1, publish("a", "1"));
    CHECK_EQUAL(0, publish("a", "2"));
    expect_heard("A1");
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.channels));
    CHECK_EQUAL(0, count_of(&channels_of_server()->counts.patterns));
    end();
}

static void end_others(struct hearer *hearer)
{
    (void)hearer;
    uw_unsubscribe(channels_of_server(), &hearers[1].subscriber);
    uw_unsubscribe(channels_of_server(), &hearers[3].subscriber);
}

TEST(unsubscribing_others_within_a_delivery)
{
    begin_to_listen(end_others, (const char *const[4]){"*", "*", "*", "?*"});
    CHECK_EQUAL(2, publish("a", "1"));
    expect_heard("A1C1");
    CHECK_EQUAL(1, count_of(&channels_of_server()->counts.patterns));
    end();
}

static void come_back(struct hearer *hearer)
{
    uw_unsubscribe(channels_of_server(), &hearer->subscriber);
    listen_to(hearer, "a");
    if (!hearers[3].subscriber.channel)
        listen_to(&hearers[3], "a*");
}

TEST(subscribing_within_a_delivery)
{
    begin_to_listen(come_back, (const char *const[4]){"a", "a", NULL, NULL});
    CHECK_EQUAL(2, publish("a", "1"));
    expect_heard("A1B1");
    CHECK_EQUAL(3, publish("a", "2"));
    expect_heard("B2A2D2");
    end();
}

static void publish_more(struct hearer *hearer)
{
    hearer->act = NULL;
    CHECK_EQUAL(2, publish("a", "2"));
    uw_unsubscribe(channels_of_server(), &hearers[1].subscriber);
    CHECK_EQUAL(1, publish("b", "3"));
}

TEST(publishing_within_a_delivery)
{
    begin_to_listen(publish_more, (const char *const[4]){"a", "a", "b", NULL});
    CHECK_EQUAL(1, publish("a", "1"));
    expect_heard("A1A2B2C3");
    end();
}

static void publish_for_ever(struct hearer *hearer)
{
    (void)hearer;
    (void)publish("a", "1");
}

TEST(publishing_within_a_delivery_ends_at_a_depth)
{
    begin_to_listen(publish_for_ever, (const char *const[4]){"a", NULL, NULL, NULL});
    CHECK_EQUAL(1, publish("a", "1"));
    CHECK_EQUAL(2 * UW_PUBLISH_DEPTH_MAX, strlen(heard));
    end();
}

static void close_client(struct hearer *hearer)
{
    (void)hearer;
    uw_stream_close(&clients[0]->stream);
}

TEST(closing_a_client_within_a_delivery)
{
    begin_to_listen(close_client, (const char *const[4]){"a", NULL, NULL, NULL});
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, 2));
    listen_to(&hearers[1], "a");
    CHECK_EQUAL(2, publish("a", "1"));
    expect_heard("A1B1");
    end();
}

static void unsubscribe_it(struct uw_push_client *client, const struct uw_published *published)
{
    uw_push_client_unsubscribe(client, published->subscription);
}

TEST(unsubscribing_in_the_handler)
{
    begin(NULL, 1);
    on_published = unsubscribe_it;
    for (uint64_t number = 1; number <= 3; number++)
        CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_EVENT, number));
    CHECK_EQUAL(3, publish("a", "x"));
    CHECK_EQUAL(0, publish("a", "y"));
    expect_events("1\"a=x 2\"a=x 3\"a=x ");
    end();
}

/* The table */

static char changes[1000];

static void note_change(void *context, const struct uw_topic *topic, bool has_subscribers)
{
    CHECK(context == changes);
    (void)snprintf(changes + strlen(changes), sizeof changes - strlen(changes), "%c%.*s%s ",
                   has_subscribers ? '+' : '-', (int)topic->length, topic->name, topic->pattern ? "?" : "");
}

TEST(changes_are_told)
{
    begin(NULL, 2);
    memset(changes, 0, sizeof changes);
    channels_of_server()->changed = note_change;
    channels_of_server()->context = changes;
    CHECK_EQUAL(0, subscribe(0, "a", false, UW_SUBSCRIBED_AS_IS, 1));
    CHECK_EQUAL(0, subscribe(1, "a", false, UW_SUBSCRIBED_EVENT, 1));
    CHECK_EQUAL(0, subscribe(1, "a*", true, UW_SUBSCRIBED_EVENT, 2));
    uw_push_client_unsubscribe(clients[0], 1);
    CHECK(strcmp(changes, "+a +a*? ") == 0);
    leave(1);
    CHECK(strcmp(changes, "+a +a*? -a -a*? ") == 0);
    end();
}

/* What was told of before it was asked for. */
TEST(what_is_refused_is_told_to_be_gone)
{
    static struct uw_subscriber all[UW_PATTERNS_MAX];
    struct uw_topic refused = {"refused*", 8, true};
    struct uw_push_client *subscriber;
    char name[20];

    begin(NULL, 0);
    for (int i = 0; i < UW_PATTERNS_MAX; i++) {
        struct uw_topic topic = {name, (size_t)snprintf(name, sizeof name, "%d*", i), true};

        all[i] = (struct uw_subscriber){0};
        CHECK_EQUAL(0, uw_subscribe(channels_of_server(), &all[i], &topic));
    }
    memset(changes, 0, sizeof changes);
    channels_of_server()->changed = note_change;
    channels_of_server()->context = changes;
    subscriber = uw_process_subscriber_new(&server.server_context, NULL);
    CHECK_EQUAL(-ENOSPC, uw_process_subscriber_open(subscriber, &refused, 1));
    CHECK(strcmp(changes, "-refused*? ") == 0);
    uw_push_client_release(subscriber);
    for (int i = 0; i < UW_PATTERNS_MAX; i++)
        uw_unsubscribe(channels_of_server(), &all[i]);
    channels_of_server()->changed = NULL;
    end();
}

#define MANY 20000

TEST(many_channels)
{
    static struct uw_subscriber many[MANY];
    char name[20];

    begin(NULL, 0);
    memset(heard, 0, sizeof heard);
    for (int i = 0; i < MANY; i++) {
        struct uw_topic topic = {name, (size_t)snprintf(name, sizeof name, "channel %d", i), false};

        CHECK_EQUAL(0, uw_subscribe(channels_of_server(), &many[i], &topic));
    }
    CHECK(channels_of_server()->bucket_mask >= MANY - 1);
    CHECK_EQUAL(MANY, count_of(&channels_of_server()->counts.channels));
    many[777].deliver = hear;
    hearers[0] = (struct hearer){.subscriber = {.deliver = hear}, .name = "A"};
    listen_to(&hearers[0], "channel 777");
    uw_unsubscribe(channels_of_server(), &many[777]);
    CHECK_EQUAL(1, publish("channel 777", "x"));
    CHECK_EQUAL(0, publish("channel 20000", "x"));
    for (int i = 0; i < MANY; i++)
        uw_unsubscribe(channels_of_server(), &many[i]);
    CHECK_EQUAL(1, count_of(&channels_of_server()->counts.channels));
    CHECK_EQUAL(UW_CHANNELS_BUCKETS_MIN - 1, channels_of_server()->bucket_mask);
    expect_heard("Ax");
    end();
}

TEST_MAIN
