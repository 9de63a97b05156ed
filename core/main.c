/* The stand-alone static file server: upwell-static [-b ADDRESS] [-p PORT] [OPTIONS] [FOLDER]. Each thread has its own
 * loop, cache and, where the system shares ports, listening socket. Threads share nothing while they serve requests. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "composition/composition.h"
#include "io/backend.h"
#include "log/refusal_log.h"
#include "server/server.h"
#include "static/static.h"

#define THREADS_MAX 256
#define BACKLOG 4096
#define DRAIN_NS (10 * UW_NS_PER_SECOND)

struct thread {
    pthread_t id;
    int listener;
    struct uw_server server;
    struct uw_static files;
    struct uw_refusal_log troubles;
};

/* A few types for tests and measurements; the command `upwell static` has a full table. */
static const struct uw_media_type media_types[] = {
    {"avif", "image/avif"},
    {"css", "text/css; charset=utf-8"},
    {"gif", "image/gif"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/vnd.microsoft.icon"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"txt", "text/plain; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"webp", "image/webp"},
    {"woff2", "font/woff2"},
    {"xml", "text/xml; charset=utf-8"},
};

static const struct uw_server_settings server_settings = {
    .http = {.head_bytes_max = 65536, .target_bytes_max = 8192, .headers_max = UW_HTTP_HEADERS_INLINE},
    .body_bytes_max = 1024 * 1024,
    .body_memory_bytes_max = 64 * 1024,
    .connections_max = 100000,
    .head_timeout_ns = 30 * UW_NS_PER_SECOND,
    .body_timeout_ns = 30 * UW_NS_PER_SECOND,
    .keep_alive_timeout_ns = 60 * UW_NS_PER_SECOND,
    .write_timeout_ns = 30 * UW_NS_PER_SECOND,
    .answers_at_once = true,
};

static struct uw_static_settings settings = {
    .root = ".",
    .cache = {.entries_max = UW_FILE_CACHE_ENTRIES_MAX,
              .bytes_max = UW_FILE_CACHE_BYTES_MAX,
              .file_bytes_max = UW_FILE_CACHE_FILE_BYTES_MAX,
              .media_types = {media_types, sizeof media_types / sizeof *media_types}},
};

static const char *backend, *address_text = "127.0.0.1";
static int port = 8080, thread_count = 1;
static struct thread *threads;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t another_serves = PTHREAD_COND_INITIALIZER;
static int serving; /* threads, under the lock: when all are, each can be woken */
static atomic_bool stopping;

static const struct option options[] = {
    {"bind", required_argument, NULL, 'b'},
    {"port", required_argument, NULL, 'p'},
    {"threads", required_argument, NULL, 't'},
    {"backend", required_argument, NULL, 'B'},
    {"cache-control", required_argument, NULL, 'c'},
    {"cached-file-bytes", required_argument, NULL, 'f'},
    {"list", no_argument, NULL, 'l'},
    {"spa", required_argument, NULL, 's'},
    {"gzip-static", no_argument, NULL, 'z'},
    {NULL, 0, NULL, 0},
};

static void fail(const char *what, const char *which, int error, const char *remedy)
{
    fprintf(stderr, "upwell-static: %s %s: %s; %s\n", what, which, strerror(-error), remedy);
    exit(EXIT_FAILURE);
}

static void fail_to_listen(int error)
{
    fprintf(stderr, "upwell-static: cannot listen on %s:%d: %s; choose another address with -b, or port with -p\n",
            address_text, port, strerror(-error));
    exit(EXIT_FAILURE);
}

static void refuse_address(void)
{
    fprintf(stderr, "upwell-static: -b must be an IPv4 address such as 127.0.0.1, not %s\n", address_text);
    exit(EXIT_FAILURE);
}

static void usage(void)
{
    fputs("usage: upwell-static [OPTIONS] [FOLDER]\n"
          "Serves the files in FOLDER (default: the current directory) over HTTP.\n"
          "  -b ADDRESS                IPv4 address to listen on (default: 127.0.0.1)\n"
          "  -p PORT                   port to listen on (default: 8080; 0: any free port)\n"
          "  --threads N               number of threads, 1 to 256 (default: 1)\n"
          "  --backend NAME            I/O backend (default: the best available)\n"
          "  --cache-control VALUE     value of the response header Cache-Control\n"
          "  --cached-file-bytes N     largest file that is cached in memory\n"
          "  --list                    list a directory that has no index.html\n"
          "  --spa FALLBACK            page to send for a path that names no file\n"
          "  --gzip-static             send FILE.br, FILE.zst or FILE.gz to clients that accept the coding\n",
          stderr);
    exit(EXIT_FAILURE);
}

static int read_number(const char *name, const char *text, int least, int most)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (*end || end == text || number < least || number > most) {
        fprintf(stderr, "upwell-static: %s must be a number from %d to %d, not %s\n", name, least, most, text);
        exit(EXIT_FAILURE);
    }
    return (int)number;
}

static void read_option(int option)
{
    switch (option) {
    case 'b':
        address_text = optarg;
        break;
    case 'p':
        port = read_number("-p", optarg, 0, 65535);
        break;
    case 't':
        thread_count = read_number("--threads", optarg, 1, THREADS_MAX);
        break;
    case 'B':
        backend = optarg;
        break;
    case 'c':
        settings.cache.cache_control = optarg;
        break;
    case 'f':
        settings.cache.file_bytes_max = read_number("--cached-file-bytes", optarg, 0, INT32_MAX);
        break;
    case 'l':
        settings.list = true;
        break;
    case 's':
        settings.fallback = optarg;
        break;
    case 'z':
        settings.cache.precompressed = true;
        break;
    default:
        usage();
    }
}

static void read_options(int argc, char **argv)
{
    int option;

    while ((option = getopt_long(argc, argv, "b:p:", options, NULL)) != -1)
        read_option(option);
    if (optind < argc)
        settings.root = argv[optind++];
    if (optind < argc)
        usage();
}

/* Also stores the port that the system chose for port 0, so that the other threads listen on the same port. */
static int listen_here(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (inet_pton(AF_INET, address_text, &address.sin_addr) != 1)
        refuse_address();
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) || uw_share_port(fd) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) /* accepted sockets inherit it */ ||
        bind(fd, (struct sockaddr *)&address, size) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&address, &size))
        fail_to_listen(-errno);
    port = ntohs(address.sin_port);
    return fd;
}

static void tell_that_it_serves(void)
{
    pthread_mutex_lock(&lock);
    serving++;
    pthread_cond_signal(&another_serves);
    pthread_mutex_unlock(&lock);
}

static void wait_until_all_serve(void)
{
    pthread_mutex_lock(&lock);
    while (serving < thread_count)
        pthread_cond_wait(&another_serves, &lock);
    pthread_mutex_unlock(&lock);
}

static int serve(struct uw_server *server)
{
    int64_t end_ns = UW_FOREVER;
    int error = 0;

    while (!error && uw_clock_ns() < end_ns && (end_ns == UW_FOREVER || uw_server_connections(server))) {
        error = uw_server_turn(server, end_ns == UW_FOREVER ? UW_FOREVER : DRAIN_NS);
        if (atomic_load(&stopping) && end_ns == UW_FOREVER) {
            uw_server_drain(server);
            end_ns = uw_clock_ns() + DRAIN_NS;
        }
    }
    return error;
}

static void troubled(void *files, enum uw_system_error trouble, const char *where, int error)
{
    uw_refusal_log_trouble(&uw_container_of(files, struct thread, files)->troubles, trouble, where, error);
}

static int open_server(struct thread *thread)
{
    struct uw_handler handler = uw_static_handler(&thread->files);

    handler.troubled = troubled;
    uw_refusal_log_init(&thread->troubles, &thread->server.server_context.loop, STDERR_FILENO, UW_LOG_TEXT);
    return uw_server_open(&thread->server, &uw_composition, &server_settings, backend, handler);
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    int error = uw_static_open(&thread->files, &settings);

    if (error)
        fail("cannot serve directory", settings.root, error, "name another directory");
    error = open_server(thread);
    if (error)
        fail("cannot use backend", backend ? backend : "of this machine", error,
             "choose io_uring, epoll, kqueue or poll with --backend");
    error = uw_server_listen(&thread->server, thread->listener);
    if (error)
        fail_to_listen(error);
    tell_that_it_serves();
    error = serve(&thread->server);
    if (error)
        fail("the server exits, because its event loop failed while serving", settings.root, error, "start it again");
    uw_static_stop(&thread->files);
    uw_server_close(&thread->server);
    uw_static_close(&thread->files);
    close(thread->listener);
    return NULL;
}

static void start(struct thread *thread)
{
    int error;

    thread->listener = thread == threads || uw_ports_are_shared ? listen_here() : dup(threads->listener);
    if (thread->listener < 0)
        fail_to_listen(-errno);
    error = pthread_create(&thread->id, NULL, run, thread);
    if (error)
        fail("cannot start", "a thread", -error, "choose fewer with --threads");
}

static void wait_for_signal(const sigset_t *signals)
{
    int signal;

    while (sigwait(signals, &signal))
        continue;
    atomic_store(&stopping, true);
    for (int i = 0; i < thread_count; i++)
        uw_loop_wake(&threads[i].server.server_context.loop);
}

int main(int argc, char **argv)
{
    sigset_t signals;

    read_options(argc, argv);
    /* Blocked here, so in every thread, and taken by sigwait; a standard output without a reader ends nothing. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* nor does an upload where the size of files is limited */

    threads = calloc((size_t)thread_count, sizeof *threads);
    if (!threads)
        fail("cannot start", "the threads", -ENOMEM, "choose fewer with --threads");
    for (int i = 0; i < thread_count; i++)
        start(&threads[i]);
    wait_until_all_serve();
    printf("http://%s:%d/ serves %s with %s\n", address_text, port, settings.root,
           threads[0].server.server_context.loop.backend->name);
    fflush(stdout);
    wait_for_signal(&signals);
    for (int i = 0; i < thread_count; i++)
        pthread_join(threads[i].id, NULL);
    free(threads);
    return EXIT_SUCCESS;
}
