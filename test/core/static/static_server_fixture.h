/* A static file server on a thread of its own, and a client: SERVED(name) { ... } as often as wanted, then SERVED_MAIN.
 * Each test runs on every backend, with a folder and a server of its own, which must leave no descriptor open. */
#ifndef UW_TEST_STATIC_STATIC_SERVER_FIXTURE_H
#define UW_TEST_STATIC_STATIC_SERVER_FIXTURE_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "composition/composition.h"
#include "io/backend.h"
#include "server/server.h"
#include "static/response_output.h"
#include "static/static.h"
#include "temporary_directory.h"

#define RESPONSE_BYTES_MAX (1024 * 1024)
#ifdef _WIN32 /* Wine takes its time */
#define PATIENCE_S 60
#else
#define PATIENCE_S 20
#endif
#define FILE_BYTES_MAX 4096 /* of what the server keeps in memory */
#define NOBODY 65534

static const struct uw_media_type serve_types[] = {{"css", "text/css"}, {"html", "text/html; charset=utf-8"}};

/* A test may change these in `configure`. */
static struct uw_static_settings serve_settings;
static int64_t serve_write_timeout_ns;
static struct uw_handler serve_handler; /* other than the static one */
static uid_t serve_user;                /* on whose behalf the server opens files, if the tests are root's */

static const char *backend_name;
static struct uw_server server;
static struct uw_static files;
static pthread_t server_thread;
static atomic_bool server_stops;
static struct sockaddr_in server_address;
static int server_listener;

struct serve_test {
    const char *name;
    void (*configure)(void);
    void (*run)(void);
};

static inline void *serve(void *argument)
{
    (void)argument;
    while (!atomic_load(&server_stops))
        if (uw_server_turn(&server, UW_FOREVER))
            break;
    CHECK(atomic_load(&server_stops));
    return NULL;
}

static inline void serve_listen(void)
{
    socklen_t size = sizeof server_address;
    int on = 1;

    server_address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    server_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQUAL(0, setsockopt(server_listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on)); /* clients' have it, too */
    CHECK_EQUAL(0, bind(server_listener, (struct sockaddr *)&server_address, size));
    CHECK_EQUAL(0, listen(server_listener, 1024));
    CHECK_EQUAL(0, getsockname(server_listener, (struct sockaddr *)&server_address, &size));
}

/* The ring belongs to the thread that opens it, so everything is opened there. */
static int serve_error;
static pthread_barrier_t serve_ready;

static inline void *open_and_serve(void *argument)
{
    const struct uw_server_settings settings = {
        .http = {.head_bytes_max = 65536, .target_bytes_max = 8192, .headers_max = UW_HTTP_HEADERS_INLINE},
        .body_bytes_max = 4096,
        .body_memory_bytes_max = 1024,
        .connections_max = 1000,
        .head_timeout_ns = PATIENCE_S * UW_NS_PER_SECOND,
        .body_timeout_ns = PATIENCE_S * UW_NS_PER_SECOND,
        .keep_alive_timeout_ns = PATIENCE_S * UW_NS_PER_SECOND,
        .write_timeout_ns = serve_write_timeout_ns,
    };
    struct uw_handler *handler = argument;

    if (serve_user)
        (void)setfsuid(serve_user);
    serve_error = uw_server_open(&server, &uw_composition, &settings, backend_name,
                                 handler->notify ? *handler : uw_static_handler(&files));
    if (!serve_error) {
        CHECK(strcmp(server.server_context.loop.backend->name, backend_name) == 0);
        CHECK_EQUAL(0, uw_server_listen(&server, server_listener));
    }
    pthread_barrier_wait(&serve_ready);
    if (serve_error)
        return NULL;
    serve(NULL);
    uw_static_stop(&files);
    uw_server_close(&server);
    return NULL;
}

static inline bool serve_start(void)
{
    static char root[sizeof folder_path + 8];

    snprintf(root, sizeof root, "%s/public", folder_path);
    serve_settings.root = root;
    CHECK_EQUAL(0, uw_static_open(&files, &serve_settings));
    serve_listen();
    atomic_store(&server_stops, false);
    CHECK_EQUAL(0, pthread_barrier_init(&serve_ready, NULL, 2));
    CHECK_EQUAL(0, pthread_create(&server_thread, NULL, open_and_serve, &serve_handler));
    pthread_barrier_wait(&serve_ready);
    if (serve_error) {
        CHECK(strncmp(backend_name, "io_uring", 8) ==
              0); /* only this one may be missing: an old kernel, or forbidden */
        check_skip_reason = strerror(-serve_error);
    }
    return !serve_error;
}

static inline void serve_stop(void)
{
    atomic_store(&server_stops, true);
    if (!serve_error)
        uw_loop_wake(&server.server_context.loop);
    pthread_join(server_thread, NULL);
    pthread_barrier_destroy(&serve_ready);
    uw_static_close(&files);
    close(server_listener);
}

static inline void serve_run(const struct serve_test *test)
{
    int descriptors = open_descriptors();

    /* valgrind 3.19 cannot follow what the kernel writes for io_uring. */
    if (strncmp(backend_name, "io_uring", 8) == 0 && getenv("UW_UNDER_VALGRIND")) {
        check_skip_reason = "not under valgrind";
        return;
    }
    serve_settings =
        (struct uw_static_settings){.cache = {.entries_max = 100,
                                              .bytes_max = 1024 * 1024,
                                              .file_bytes_max = FILE_BYTES_MAX,
                                              .media_types = {serve_types, sizeof serve_types / sizeof *serve_types}}};
    serve_write_timeout_ns = PATIENCE_S * UW_NS_PER_SECOND;
    serve_handler = (struct uw_handler){0};
    serve_user = 0;
    folder_open();
    if (test->configure)
        test->configure();
    if (serve_start())
        test->run();
    serve_stop();
    folder_close();
    CHECK_EQUAL(descriptors, open_descriptors());
}

#define SERVED_WITH(configuration, test_name) \
    static void test_name##_served(void); \
    TEST(test_name) \
    { \
        serve_run(&(struct serve_test){#test_name, configuration, test_name##_served}); \
    } \
    static void test_name##_served(void)

#define SERVED(test_name) SERVED_WITH(NULL, test_name)

#define SERVED_MAIN \
    int main(int argc, char **argv) \
    { \
        return serve_main(check_program(argv[0]), argc > 1 ? argv[1] : NULL); \
    }

static inline int serve_main(const char *program, const char *filter)
{
    int status = 0;

    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; uw_backends[i]; i++) {
        char name[128];

        backend_name = uw_backends[i]->name;
        snprintf(name, sizeof name, "%s(%s)", program, backend_name);
        status |= check_main(name, filter);
    }
    return uw_backends[0] ? status : EXIT_FAILURE;
}

/* The client. */

struct response {
    int status;
    size_t length, head_length; /* of all bytes; of the head with its empty line */
    char bytes[RESPONSE_BYTES_MAX + 1];
    const char *body;
    size_t body_length;
};

static struct response response; /* of the last `get` or `ask` */

static inline int client_connect(void)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQUAL(0, setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience));
    CHECK_EQUAL(0, connect(fd, (struct sockaddr *)&server_address, sizeof server_address));
    return fd;
}

static inline void client_send(int fd, const char *text)
{
    CHECK_EQUAL(strlen(text), send(fd, text, strlen(text), MSG_NOSIGNAL));
}

/* Reads until the server closes, or `most` bytes have come. Returns the number of bytes. */
static inline size_t client_read(int fd, char *bytes, size_t most)
{
    size_t length = 0;
    ssize_t count;

    while (length < most && (count = recv(fd, bytes + length, most - length, 0)) > 0)
        length += (size_t)count;
    return length;
}

/* The value of a header field, or NULL. */
static inline const char *header(const char *name)
{
    static char value[1024];
    char line[128];
    const char *start;

    snprintf(line, sizeof line, "\r\n%s: ", name);
    start = strstr(response.bytes, line);
    if (!start || start >= response.bytes + response.head_length)
        return NULL;
    start += strlen(line);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(start, "\r"), start);
    return value;
}

static inline bool has_header(const char *name, const char *value)
{
    const char *found = header(name);

    return found && strcmp(found, value) == 0;
}

static inline void take_apart(void)
{
    const char *end;

    response.bytes[response.length] = '\0'; /* before what is left of another one */
    end = strstr(response.bytes, "\r\n\r\n");
    response.head_length = end ? (size_t)(end + 4 - response.bytes) : response.length;
    response.status = strncmp(response.bytes, "HTTP/1.1 ", 9) == 0 ? atoi(response.bytes + 9) : -1;
    response.body = response.bytes + response.head_length;
    response.body_length = response.length - response.head_length;
}

/* Sends a request with further header lines, and reads the response to its end. Returns its status. */
static inline int ask(const char *method, const char *target, const char *headers)
{
    int fd = client_connect();
    char text[16384];

    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: test\r\nConnection: close\r\n%s\r\n", method, target, headers);
    client_send(fd, text);
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    close(fd);
    take_apart();
    if (response.status != 304 && response.status != 204 && strcmp(method, "HEAD") != 0)
        CHECK(header("Content-Length") && (size_t)atol(header("Content-Length")) == response.body_length);
    else
        CHECK_EQUAL(0, response.body_length);
    CHECK(header("Date") && strlen(header("Date")) == 29);
    return response.status;
}

static inline int get(const char *target)
{
    return ask("GET", target, "");
}

static inline bool body_is(const char *text)
{
    return response.body_length == strlen(text) && memcmp(response.body, text, strlen(text)) == 0;
}

static inline bool is_pattern(const char *bytes, size_t first, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != pattern_byte(first + i))
            return false;
    return true;
}

#endif
