/* Threads against the loop: clients that come, pipeline, stall, vanish and reset, and handlers that answer them from
 * the loop's thread and from others in turn. Under a sanitizer: make -C core test-stress SECONDS=20 SEED=1 */
#include <signal.h>

#include "checking_client.h"
#include "composition/composition.h"
#include "io/backend.h"
#include "multithreaded_handler.h"

#define BACKENDS_MAX 8
#define CLIENTS 8
#define WORKERS 3
#define ROUND_MS 1200
#define ALL_HAPPENS_NS (120 * UW_NS_PER_SECOND) /* whatever is rare, on a slow machine, too */

static struct uw_server_settings settings = {
    .http = {.head_bytes_max = 8192, .target_bytes_max = 4096, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = CONTENT_BYTES_MAX,
    .body_memory_bytes_max = 4096,
    .head_timeout_ns = PATIENCE_SECONDS * UW_NS_PER_SECOND,
    .body_timeout_ns = PATIENCE_SECONDS * UW_NS_PER_SECOND,
    .keep_alive_timeout_ns = PATIENCE_SECONDS * UW_NS_PER_SECOND,
    .write_timeout_ns = PATIENCE_SECONDS * UW_NS_PER_SECOND,
};

static pthread_barrier_t opened;
static const char *backend_name;
static bool drains; /* the round ends in order; else at once */

static void run_jobs_of_loop(void)
{
    struct job *job;

    while ((job = take_job(&for_loop)))
        go_on_with(job, true);
}

static bool goes_on(bool *draining)
{
    if (atomic_load(&now.stop))
        return false;
    if (atomic_load(&now.ending) && drains && !*draining) {
        *draining = true;
        uw_server_drain(&now.server);
    }
    return !*draining || !uw_server_drained(&now.server);
}

static void *run_loop(void *argument)
{
    bool draining = false;

    handler_dice.state = *(uint64_t *)argument;
    REQUIRE(uw_server_open(&now.server, &uw_composition, &settings, backend_name,
                           (struct uw_handler){.notify = notify}) == 0);
    REQUIRE(uw_server_listen(&now.server, now.listener) == 0);
    pthread_barrier_wait(&opened);
    while (goes_on(&draining)) {
        REQUIRE(uw_server_turn(&now.server, UW_NS_PER_SECOND) == 0);
        run_jobs_of_loop();
        if (one_in(&handler_dice, 8))
            uw_server_flush(&now.server);
    }
    if (!drains)
        uw_server_stop(&now.server);
    return NULL;
}

static void listen_on_loopback(void)
{
    socklen_t size = sizeof now.address;

    now.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    now.address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    REQUIRE(bind(now.listener, (struct sockaddr *)&now.address, size) == 0 && listen(now.listener, CLIENTS) == 0);
    REQUIRE(getsockname(now.listener, (struct sockaddr *)&now.address, &size) == 0);
}

static void start(pthread_t *thread, void *(*run)(void *), uint64_t *number)
{
    REQUIRE(pthread_create(thread, NULL, run, number) == 0);
}

static void stop_workers(pthread_t *workers)
{
    pthread_mutex_lock(&for_workers.lock);
    atomic_store(&now.stop, true);
    pthread_cond_broadcast(&for_workers.filled);
    pthread_mutex_unlock(&for_workers.lock);
    tell_drained();
    uw_loop_wake(&now.server.server_context.loop);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
}

/* In order: every request is answered, and nothing is left. At once: workers give up between two steps. */
static void end_round(pthread_t loop, pthread_t *workers)
{
    atomic_store(&now.cut, !drains);
    atomic_store(&now.ending, true);
    uw_loop_wake(&now.server.server_context.loop);
    if (drains) {
        pthread_join(loop, NULL);
        stop_workers(workers);
        REQUIRE(uw_list_empty(&all_jobs) && now.server.server_context.requests.taken == 0 &&
                now.server.server_context.connections.taken == 0);
        REQUIRE(now.server.server_context.chunks.taken == 0);
    } else {
        stop_workers(workers);
        pthread_join(loop, NULL);
    }
    uw_server_close(&now.server); /* on a thread that is not the loop's */
    close(now.listener);
    discard_jobs();
    REQUIRE(atomic_load(&counts.lent) == 0);
}

static void play_round(struct dice *dice)
{
    pthread_t loop, workers[WORKERS], clients[CLIENTS];
    uint64_t numbers[1 + WORKERS + CLIENTS];

    drains = one_in(dice, 2);
    atomic_store(&now.is_small, one_in(dice, 2)); /* accepting pauses, or never does */
    settings.connections_max = atomic_load(&now.is_small) ? CLIENTS - 2 : 2 * UW_BACKLOG_MAX;
    atomic_store(&now.ending, false);
    atomic_store(&now.cut, false);
    atomic_store(&now.stop, false);
    init_jobs(&for_loop);
    init_jobs(&for_workers);
    listen_on_loopback();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = roll(dice);
    start(&loop, run_loop, &numbers[0]);
    pthread_barrier_wait(&opened);
    for (int i = 0; i < WORKERS; i++)
        start(&workers[i], work, &numbers[1 + i]);
    for (int i = 0; i < CLIENTS; i++)
        start(&clients[i], be_clients, &numbers[1 + WORKERS + i]);
    usleep(ROUND_MS * 1000);
    end_round(loop, workers);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
}

/* argv[1] leaves all others out. */
static bool wanted(const struct uw_backend *backend, const char *only)
{
    int error = uw_backend_probe(backend);

    if (only && strcmp(only, backend->name))
        return false;
    if (error)
        printf("stress: %s is left out: %s\n", backend->name, strerror(-error));
    return !error;
}

static void print_counts(unsigned rounds)
{
    printf("stress: %s: %u rounds, %lu answers, %lu hijacks, %lu aborted, %lu left, %lu reset, %lu refused, "
           "%lu waits\n",
           backend_name, rounds, counts.answered, counts.hijacked, counts.aborted, counts.left, counts.reset,
           counts.refused, counts.drained);
}

static bool all_has_happened(void)
{
    return counts.answered && counts.hijacked && counts.aborted && counts.left && counts.reset && counts.refused &&
           counts.drained;
}

/* Everything has happened, or this tests less than it says. */
static void stress(const char *name, int64_t seconds, struct dice *dice)
{
    int64_t begin_ns = uw_clock_ns(), end_ns = begin_ns + seconds * UW_NS_PER_SECOND;
    unsigned rounds = 0;

    backend_name = name;
    memset(&counts, 0, sizeof counts);
    do {
        play_round(dice);
        rounds++;
    } while (uw_clock_ns() < end_ns || (!all_has_happened() && uw_clock_ns() < begin_ns + ALL_HAPPENS_NS));
    print_counts(rounds);
    REQUIRE(all_has_happened());
}

static int64_t number_from(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL, *names[BACKENDS_MAX];
    int64_t seconds = number_from("SECONDS", 20);
    int count = 0;
    struct dice dice;

    seed = (uint64_t)number_from("SEED", uw_clock_ns() / UW_NS_PER_US % 1000000);
    dice.state = seed;
    printf("stress: SEED=%" PRIu64 "\n", seed);
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN); /* sendfile(2) */
    REQUIRE(pthread_barrier_init(&opened, NULL, 2) == 0);
    for (int i = 0; uw_backends[i]; i++)
        if (wanted(uw_backends[i], only))
            names[count++] = uw_backends[i]->name;
    for (int i = 0; i < count; i++)
        stress(names[i], seconds / count, &dice);
    return count ? EXIT_SUCCESS : EXIT_FAILURE;
}
