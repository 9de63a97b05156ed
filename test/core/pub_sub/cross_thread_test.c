/* Other threads against the loop: what they publish, subscribe and write, in order and within bounds. */
#include "pub_sub/cross_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pub_sub/process_subscriber.h"
#include "pub_sub_server_fixture.h"

static int publish_afar(const char *channel, const char *message)
{
    return uw_post_publish(channels_of_server(), false, channel, strlen(channel), message, strlen(message), true);
}

static int subscribe_afar(int client, const char *name, uint64_t number)
{
    struct uw_topic topic = {name, strlen(name), false};

    CHECK(uw_push_client_may_subscribe(clients[client]));
    return uw_push_client_post_subscribe(clients[client], &topic, UW_SUBSCRIBED_AS_IS, number);
}

static void post(int client, const char *message)
{
    uw_push_client_post(clients[client], clients[client]->kind->frame(NULL, true, message, strlen(message)));
}

static void *do_all(void *argument)
{
    (void)argument;
    CHECK_EQUAL(0, subscribe_afar(0, "a", 1));
    CHECK_EQUAL(0, publish_afar("a", "1"));
    post(0, "2");
    CHECK_EQUAL(0, publish_afar("a", "3"));
    CHECK_EQUAL(0, uw_push_client_post_unsubscribe(clients[0], 1));
    CHECK_EQUAL(0, publish_afar("a", "nobody's"));
    CHECK_EQUAL(0, subscribe_afar(0, "a", 2));
    CHECK_EQUAL(0, subscribe_afar(0, "b", 3));
    CHECK_EQUAL(0, uw_push_client_post_unsubscribe_topic(clients[0], &(struct uw_topic){"a", 1, false}));
    CHECK_EQUAL(0, publish_afar("a", "nobody's"));
    CHECK_EQUAL(0, publish_afar("b", "4"));
    post(0, "5");
    uw_push_client_post_end(clients[0], 1000, "", 0);
    return NULL;
}

/* As it was asked for. */
static void order(const char *backend)
{
    pthread_t thread;

    begin(backend, 1);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, do_all, NULL));
    for (const char *number = "1\0002\0003\0004\0005\0"; *number; number += 2)
        expect_text(0, number);
    expect_from(fds[0], "\x88\x02\x03\xe8", 4);
    pthread_join(thread, NULL);
    end();
}

TEST(all_in_the_order_of_asking)
{
    on_each_backend(order);
}

/* Bounds */

static uint64_t bytes_heard;

static bool hear(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    (void)subscriber;
    bytes_heard += publication->message.length;
    return true;
}

static struct uw_subscriber hearer;

static void listen_to(const char *channel, bool (*deliver)(struct uw_subscriber *, struct uw_publication *))
{
    struct uw_topic topic = {channel, strlen(channel), false};

    bytes_heard = 0;
    hearer = (struct uw_subscriber){.deliver = deliver};
    CHECK_EQUAL(0, uw_subscribe(channels_of_server(), &hearer, &topic));
}

static bool interrupted;
static atomic_bool has_room;

static void *await_room(void *argument)
{
    uw_post_quota_await(channels_of_server()->quota, uw_post_bytes(*(size_t *)argument), uw_clock_ns() + LONG_NS,
                        &interrupted);
    atomic_store(&has_room, true);
    return NULL;
}

static pthread_t begin_to_wait(size_t *bytes)
{
    pthread_t thread;

    interrupted = false;
    atomic_store(&has_room, false);
    CHECK_EQUAL(0, pthread_create(&thread, NULL, await_room, bytes));
    return thread;
}

TEST(a_bound_of_errands)
{
    size_t bytes = 1;
    pthread_t thread;

    begin(NULL, 0);
    listen_to("a", hear);
    for (int i = 0; i < UW_POST_QUOTA_CALLS_MAX; i++)
        CHECK_EQUAL(0, publish_afar("a", "x"));
    CHECK_EQUAL(-EAGAIN, publish_afar("a", "x"));
    thread = begin_to_wait(&bytes);
    CHECK(!atomic_load(&has_room));
    AWAIT(atomic_load(&has_room));
    CHECK_EQUAL(0, publish_afar("a", "x"));
    AWAIT(bytes_heard == UW_POST_QUOTA_CALLS_MAX + 1);
    pthread_join(thread, NULL);
    end();
}

/* One that is longer than all that may wait is taken when nothing does. */
TEST(a_bound_of_bytes)
{
    size_t length = UW_POST_QUOTA_BYTES_MAX + 1;
    char *message = calloc(1, length);
    pthread_t thread;

    begin(NULL, 0);
    listen_to("a", hear);
    CHECK_EQUAL(0, publish_afar("a", "x"));
    CHECK_EQUAL(-EAGAIN, uw_post_publish(channels_of_server(), false, "a", 1, message, length, false));
    thread = begin_to_wait(&length);
    AWAIT(atomic_load(&has_room));
    pthread_join(thread, NULL);
    CHECK_EQUAL(0, uw_post_publish(channels_of_server(), false, "a", 1, message, length, false));
    CHECK_EQUAL(-EAGAIN, publish_afar("a", "x"));
    AWAIT(bytes_heard == length + 1);
    CHECK_EQUAL(-EINVAL, uw_post_publish(channels_of_server(), false, message, UW_CHANNEL_BYTES_MAX + 1, "", 0, false));
    free(message);
    end();
}

TEST(interrupting_who_waits)
{
    size_t bytes = UW_POST_QUOTA_BYTES_MAX;
    pthread_t thread;

    begin(NULL, 0);
    CHECK_EQUAL(0, publish_afar("a", "x"));
    thread = begin_to_wait(&bytes);
    uw_post_quota_interrupt(channels_of_server()->quota, &interrupted);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&has_room));
    end();
}

TEST(nothing_is_taken_after_the_end)
{
    size_t bytes = UW_POST_QUOTA_BYTES_MAX;
    pthread_t thread;

    begin(NULL, 0);
    CHECK_EQUAL(0, publish_afar("a", "x"));
    thread = begin_to_wait(&bytes);
    uw_server_stop(&server);
    pthread_join(thread, NULL);
    CHECK_EQUAL(-ESHUTDOWN, publish_afar("a", "x"));
    end();
}

static void spread(void *context, const struct uw_publication *publication)
{
    *(uint64_t *)context += publication->message.length;
}

/* And nobody here is told any more. */
TEST(other_processes_hear_what_was_published_before_the_end)
{
    uint64_t bytes_spread = 0;

    begin(NULL, 0);
    listen_to("a", hear);
    channels_of_server()->spread = spread;
    channels_of_server()->spread_context = &bytes_spread;
    CHECK_EQUAL(0, publish_afar("a", "x"));
    CHECK_EQUAL(0, uw_post_publish(channels_of_server(), true, "a", 1, "here", 4, true));
    uw_server_stop(&server);
    CHECK_EQUAL(1, bytes_spread);
    CHECK_EQUAL(0, bytes_heard);
    end();
}

/* Of a file that is empty at first: whoever copies from it waits within that. */
#define PAGE_BYTES 65536

static char *page;
static int page_file;
static atomic_bool copies, goes_on;

static void pause_within(int number)
{
    (void)number;
    atomic_store(&copies, true);
    while (!atomic_load(&goes_on))
        sched_yield();
    if (ftruncate(page_file, PAGE_BYTES))
        abort();
}

static void *publish_page(void *result)
{
    *(int *)result = uw_post_publish(channels_of_server(), false, "a", 1, page, PAGE_BYTES, false);
    return NULL;
}

/* What it would send off then nobody would receive. */
TEST(the_loop_ends_while_a_thread_publishes)
{
    struct sigaction action = {.sa_handler = pause_within}, before;
    pthread_t thread;
    FILE *file = tmpfile();
    int result = 0;

    begin(NULL, 0);
    page_file = fileno(file);
    page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, page_file, 0);
    CHECK(page != MAP_FAILED);
    CHECK_EQUAL(0, sigaction(SIGBUS, &action, &before));
    CHECK_EQUAL(0, pthread_create(&thread, NULL, publish_page, &result));
    while (!atomic_load(&copies))
        sched_yield();
    uw_server_stop(&server);
    atomic_store(&goes_on, true);
    pthread_join(thread, NULL);
    CHECK_EQUAL(-ESHUTDOWN, result);
    CHECK_EQUAL(0, channels_of_server()->quota->calls);
    CHECK_EQUAL(0, sigaction(SIGBUS, &before, NULL));
    CHECK_EQUAL(0, munmap(page, PAGE_BYTES));
    CHECK_EQUAL(0, fclose(file));
    end();
}

/* A flood */

static bool take_long(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    int64_t end_ns = uw_clock_ns() + UW_BULK_NS / 2;

    while (uw_clock_ns() < end_ns)
        continue;
    return hear(subscriber, publication);
}

TEST(a_flood_leaves_time_for_all_else)
{
    uint64_t before;

    begin(NULL, 0);
    listen_to("a", take_long);
    before = server.server_context.loop.turns;
    for (int i = 0; i < 100; i++)
        CHECK_EQUAL(0, publish_afar("a", "x"));
    AWAIT(bytes_heard == 100);
    CHECK(server.server_context.loop.turns - before >= 100 / 2);
    end();
}

static void open_ear(struct uw_push_client *subscriber, const char *name)
{
    struct uw_topic topic = {name, strlen(name), strchr(name, '*') != NULL};

    CHECK_EQUAL(0, uw_process_subscriber_post_open(subscriber, &topic, 9));
}

/* Served by the handler, and closed while it has something. */
TEST(process_subscribers)
{
    struct uw_push_client *subscriber, *other;

    begin(NULL, 0);
    subscriber = uw_process_subscriber_new(&server.server_context, NULL);
    other = uw_process_subscriber_new(&server.server_context, NULL);
    open_ear(subscriber, "a*");
    open_ear(other, "ab");
    CHECK_EQUAL(0, publish_afar("ab", "1"));
    AWAIT(atomic_load(&channels_of_server()->counts.published) == 1);
    expect_events("9\"ab=1 9\"ab=1 ");
    keeps = true;
    CHECK_EQUAL(0, publish_afar("ac", "2"));
    CHECK_EQUAL(0, publish_afar("ac", "never told"));
    CHECK_EQUAL(0, uw_process_subscriber_post_close(subscriber));
    CHECK_EQUAL(0, publish_afar("ab", "3"));
    AWAIT(atomic_load(&channels_of_server()->counts.published) == 4);
    expect_events("9\"ac=2 9\"ab=3 ");
    CHECK(!uw_list_empty(&subscriber->process_subscribers));
    finish_kept();
    CHECK(uw_list_empty(&subscriber->process_subscribers));
    keeps = true;
    CHECK_EQUAL(0, publish_afar("ab", "4"));
    CHECK_EQUAL(0, publish_afar("ab", "5"));
    AWAIT(atomic_load(&channels_of_server()->counts.published) == 6);
    CHECK_EQUAL(0, uw_process_subscriber_post_close(subscriber));
    uw_push_client_release(subscriber);
    end(); /* while the handler has something of the other */
    uw_push_client_release(other);
}

TEST(what_waits_when_the_server_is_closed)
{
    struct uw_topic too_long = {"", UW_CHANNEL_PATTERN_BYTES_MAX + 1, true};
    struct uw_push_client *subscriber;

    begin(NULL, 1);
    subscriber = uw_process_subscriber_new(&server.server_context, NULL);
    CHECK_EQUAL(-EINVAL, uw_process_subscriber_post_open(subscriber, &too_long, 9));
    CHECK_EQUAL(0, publish_afar("a", "x"));
    CHECK_EQUAL(0, subscribe_afar(0, "a", 1));
    open_ear(subscriber, "a");
    CHECK_EQUAL(0, uw_process_subscriber_post_close(subscriber));
    end();
    CHECK(uw_list_empty(&subscriber->process_subscribers));
    uw_push_client_release(subscriber);
}

/* A caller that needs one does not wait. */
TEST(ears_need_no_room)
{
    struct uw_push_client *subscriber;

    begin(NULL, 0);
    subscriber = uw_process_subscriber_new(&server.server_context, NULL);
    for (int i = 0; i < UW_POST_QUOTA_CALLS_MAX; i++)
        CHECK_EQUAL(0, publish_afar("a", "x"));
    CHECK_EQUAL(-EAGAIN, publish_afar("a", "x"));
    open_ear(subscriber, "a");
    CHECK_EQUAL(0, uw_process_subscriber_post_close(subscriber));
    AWAIT(channels_of_server()->quota->calls == 0);
    expect_events("");
    uw_push_client_release(subscriber);
    end();
}

/* Threads, all at once: each publishes and writes numbers that grow, and subscribes clients to and fro. */

#define THREADS 3
#define STEPS 3000
#define SWARM 5

static struct swarmer {
    pthread_t thread;
    unsigned char index;
    uint64_t dice;
} swarmers[THREADS];
static atomic_int running;
static uint32_t last_heard[THREADS], last_read[THREADS];

static unsigned roll(struct swarmer *swarmer)
{
    swarmer->dice = swarmer->dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(swarmer->dice >> 33);
}

static int act(struct swarmer *swarmer, uint32_t step)
{
    char bytes[1 + sizeof step];
    struct uw_topic topic = {"all", roll(swarmer) % 2 ? 3 : 2, false};
    struct uw_push_client *client = clients[1 + roll(swarmer) % (SWARM - 1)];
    uint64_t number = roll(swarmer) % 4;

    bytes[0] = (char)swarmer->index;
    memcpy(bytes + 1, &step, sizeof step);
    switch (roll(swarmer) % 8) {
    case 0:
        uw_push_client_post(clients[0], clients[0]->kind->frame(NULL, false, bytes, sizeof bytes));
        return 0;
    case 1:
        return uw_push_client_post_unsubscribe(client, number);
    case 2:
        return uw_push_client_post_unsubscribe_topic(client, &topic);
    case 3:
        if (!uw_push_client_may_subscribe(client))
            return 0;
        while (uw_push_client_post_subscribe(client, &topic, (enum uw_subscription_form)number, number) == -EAGAIN)
            uw_post_quota_await(channels_of_server()->quota, uw_post_bytes(topic.length), uw_clock_ns() + LONG_NS,
                                &interrupted);
        return 0;
    default:
        return uw_post_publish(channels_of_server(), false, "all", 3, bytes, sizeof bytes, false);
    }
}

static void *swarm(void *argument)
{
    struct swarmer *swarmer = argument;

    for (uint32_t step = 1; step <= STEPS; step++) {
        int error = act(swarmer, step);

        if (error == -EAGAIN)
            uw_post_quota_await(channels_of_server()->quota, uw_post_bytes(sizeof step), uw_clock_ns() + LONG_NS,
                                &interrupted);
        else if (error)
            abort();
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void take_number(uint32_t last[THREADS], const char *bytes, size_t length)
{
    uint32_t step;

    CHECK_EQUAL(1 + sizeof step, length);
    memcpy(&step, bytes + 1, sizeof step);
    CHECK(bytes[0] < THREADS && step > last[(int)bytes[0]]);
    last[(int)bytes[0]] = step;
}

static bool hear_number(struct uw_subscriber *subscriber, struct uw_publication *publication)
{
    (void)subscriber;
    take_number(last_heard, publication->message.bytes, publication->message.length);
    return true;
}

/* What the first client gets is published, or written to it alone: by each thread in order. */
static void read_numbers(void)
{
    static char bytes[65536];
    static size_t length;
    ssize_t count = recv(fds[0], bytes + length, sizeof bytes - length, MSG_DONTWAIT);
    size_t used = 0, frame = 2 + 1 + sizeof(uint32_t);

    length += count > 0 ? (size_t)count : 0;
    for (; length - used >= frame; used += frame)
        take_number(last_read, bytes + used + 2, frame - 2);
    memmove(bytes, bytes + used, length - used);
    length -= used;
}

/* Of what was published, of which there was much. */
static bool has_read_all(void)
{
    read_numbers();
    for (int i = 0; i < THREADS; i++)
        if (last_heard[i] < STEPS / 2 || last_read[i] < last_heard[i])
            return false;
    return true;
}

static void drop_input(int client)
{
    char bytes[65536];

    while (fds[client] >= 0 && recv(fds[client], bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        continue;
}

static void swarm_around(const char *backend)
{
    int turns = 0;

    begin(backend, SWARM);
    listen_to("all", hear_number);
    CHECK_EQUAL(0, subscribe(0, "all", false, UW_SUBSCRIBED_AS_IS, 1));
    memset(last_heard, 0, sizeof last_heard);
    memset(last_read, 0, sizeof last_read);
    interrupted = false;
    atomic_store(&running, THREADS);
    for (int i = 0; i < THREADS; i++) {
        swarmers[i].index = (unsigned char)i;
        swarmers[i].dice = (uint64_t)i;
        CHECK_EQUAL(0, pthread_create(&swarmers[i].thread, NULL, swarm, &swarmers[i]));
    }
    for (; atomic_load(&running) || channels_of_server()->quota->calls; turns++) {
        turn();
        read_numbers();
        for (int i = 1; i < SWARM - 1; i++)
            drop_input(i);
        if (turns == 20) {
            close(fds[1]); /* in the midst of it */
            fds[1] = -1;
        }
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(swarmers[i].thread, NULL);
    AWAIT(has_read_all());
    end();
}

TEST(threads_all_at_once)
{
    on_each_backend(swarm_around);
}

TEST_MAIN
