/* What belongs to a loop's thread ends the program when another thread, or a child process, uses it. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "composition/composition.h"
#include "http1/http1.h"
#include "server/server.h"

static struct uw_server server;
static struct uw_connection connection;
static struct uw_stream stream;
static struct uw_request request;
static struct uw_chunk chunk;
static struct uw_operation operation = {.fd = -1};
static struct uw_timer timer;
static struct uw_message message;

static void submit(void)
{
    uw_submit(&server.server_context.loop, &operation);
}

static void cancel(void)
{
    uw_cancel(&server.server_context.loop, &operation);
}

static void close_descriptor(void)
{
    (void)uw_close(&server.server_context.loop, -1);
}

static void start_timer(void)
{
    uw_timer_start(&server.server_context.loop, &timer, 0);
}

static void stop_timer(void)
{
    uw_timer_stop(&server.server_context.loop, &timer);
}

static void turn_loop(void)
{
    (void)uw_loop_turn(&server.server_context.loop, 0);
}

static void flush_loop(void)
{
    uw_loop_flush(&server.server_context.loop);
}

static void settle_loop(void)
{
    uw_loop_flush_sync(&server.server_context.loop);
}

static void turn_server(void)
{
    (void)uw_server_turn(&server, 0);
}

static void flush_server(void)
{
    uw_server_flush(&server);
}

static void drain_server(void)
{
    uw_server_drain(&server);
}

static void stop_server(void)
{
    uw_server_stop(&server);
}

static void listen_on(void)
{
    (void)uw_server_listen(&server, -1);
}

static void close_connection(void)
{
    uw_connection_close(&connection);
}

static void send_response(void)
{
    uw_request_send(&request, &chunk);
}

static void abort_response(void)
{
    uw_request_abort(&request);
}

static void free_request(void)
{
    uw_request_free(&request);
}

static void take_chunk(void)
{
    (void)uw_chunk_take(&server.server_context.chunks);
}

static void (*const owners[])(void) = {submit,       cancel,       close_descriptor, start_timer,   stop_timer,
                                       turn_loop,    flush_loop,   settle_loop,      turn_server,   flush_server,
                                       drain_server, listen_on,    close_connection, send_response, abort_response,
                                       stop_server,  free_request, take_chunk};

static void *run(void *use)
{
    (*(void (*const *)(void))use)();
    return NULL;
}

static void in_a_thread(void (*const *use)(void))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)use) || pthread_join(thread, NULL))
        _exit(EXIT_FAILURE);
}

static void open_server(void)
{
    static const struct uw_server_settings settings = {.connections_max = 1};

    if (uw_server_open(&server, &uw_composition, &settings, "poll", (struct uw_handler){0}))
        _exit(EXIT_FAILURE);
    connection.server_context = request.server_context = &server.server_context;
    connection.protocol = &uw_protocol_http1;
    connection.endpoint.transport = &uw_transport_plain;
    stream.connection = &connection;
    request.stream = &stream;
    request.bytes = request.inline_bytes;
    uw_spooled_body_init(&request.body);
    uw_list_init(&connection.work);
}

/* What the C library says of a failed assertion is no news here. */
static void be_silent(void)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (null < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(EXIT_FAILURE);
}

/* The status with which a child process ends that does `use` in `place`. */
static int outcome(void (*const *use)(void), void (*place)(void (*const *use)(void)))
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        be_silent();
        open_server();
        place(use);
        _exit(EXIT_SUCCESS);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static bool aborted(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void in_a_child(void (*const *use)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        (*use)();
        _exit(EXIT_SUCCESS);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        _exit(EXIT_FAILURE);
    if (aborted(status))
        abort();
}

static void wake_and_post(void)
{
    uw_loop_wake(&server.server_context.loop);
    uw_loop_post(&server.server_context.loop, &message);
}

static void close_server(void)
{
    uw_server_close(&server);
}

#ifdef UW_CHECK_OWNER
static const char *const not_checked = NULL;
#else
static const char *const not_checked = "ownership is not checked in this build";
#endif

TEST(another_thread_may_not_use_what_belongs_to_the_loop)
{
    if (not_checked)
        SKIP(not_checked);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        if (!aborted(outcome(&owners[i], in_a_thread)))
            printf("use %zu is not checked\n", i);
        CHECK(aborted(outcome(&owners[i], in_a_thread)));
    }
}

TEST(nor_may_a_child_process)
{
    if (not_checked)
        SKIP(not_checked);
    CHECK(aborted(outcome(&owners[0], in_a_child)));
}

TEST(another_thread_may_wake_and_post_and_close_in_the_end)
{
    static void (*const allowed[])(void) = {wake_and_post, close_server};

    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        CHECK_EQUAL(0, outcome(&allowed[i], in_a_thread));
}

TEST_MAIN
