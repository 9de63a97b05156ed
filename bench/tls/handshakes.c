/* The load generator of handshakes: handshakes PORT CONNECTIONS SECONDS full|resumed. Each of so many threads connects to
 * 127.0.0.1, agrees on TLS 1.3, says that it sends no more, and reads to the end, by which the ticket for its next
 * handshake has come too. Prints figures by name. */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 250
#define BUCKET_US 10
#define BUCKETS 100000 /* a second */

struct client {
    pthread_t thread;
    struct in_addr address; /* one of its own, or ports would run out */
    SSL_SESSION *session;   /* of its last handshake, or NULL */
};

static SSL_CTX *context;
static struct sockaddr_in server;
static bool resumes;
static double end;
static atomic_long handshakes, failures, bytes, latencies[BUCKETS];

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
    struct client *client = SSL_get_app_data(ssl);

    SSL_SESSION_free(client->session);
    client->session = session;
    return 1;
}

static int connect_from(struct in_addr address)
{
    struct sockaddr_in local = {.sin_family = AF_INET, .sin_addr = address};
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

    if (fd >= 0 && !setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes) &&
        !bind(fd, (struct sockaddr *)&local, sizeof local) && !connect(fd, (struct sockaddr *)&server, sizeof server))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Returns whether it was the handshake that it was to be. */
static bool shake_hands(SSL *ssl, struct client *client)
{
    bool offers = resumes && client->session;
    char rest[4096];

    if (offers && !SSL_set_session(ssl, client->session))
        return false;
    if (SSL_connect(ssl) != 1)
        return false;
    SSL_shutdown(ssl);
    shutdown(SSL_get_fd(ssl), SHUT_WR); /* not all servers take the close_notify for the end */
    while (SSL_read(ssl, rest, sizeof rest) > 0)
        continue;
    atomic_fetch_add(&bytes, (long)BIO_number_read(SSL_get_rbio(ssl)));
    return SSL_session_reused(ssl) == offers;
}

static void visit(struct client *client)
{
    int fd = connect_from(client->address);
    SSL *ssl = SSL_new(context);
    double start = now();

    if (fd >= 0 && ssl && SSL_set_app_data(ssl, client) && SSL_set_fd(ssl, fd) && shake_hands(ssl, client)) {
        long bucket = (long)((now() - start) * 1e6 / BUCKET_US);

        atomic_fetch_add(&latencies[bucket < BUCKETS ? bucket : BUCKETS - 1], 1);
        atomic_fetch_add(&handshakes, 1);
    } else
        atomic_fetch_add(&failures, 1);
    SSL_free(ssl);
    if (fd >= 0)
        close(fd);
}

static void *work(void *argument)
{
    while (now() < end)
        visit(argument);
    return NULL;
}

static double percentile(double share)
{
    long count = 0, most = (long)(share * (double)atomic_load(&handshakes)), bucket = 0;

    while (bucket < BUCKETS - 1 && (count += latencies[bucket]) <= most)
        bucket++;
    return (double)(bucket + 1) * BUCKET_US / 1000;
}

static void prepare(char **arguments)
{
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[0]))};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    resumes = strcmp(arguments[3], "resumed") == 0;
    signal(SIGPIPE, SIG_IGN);
    context = SSL_CTX_new(TLS_client_method());
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION))
        exit(EXIT_FAILURE);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep_session);
}

int main(int argc, char **argv)
{
    static struct client clients[CONNECTIONS_MAX];
    int count = argc == 5 ? atoi(argv[2]) : 0;
    double start;

    if (count < 1 || count > CONNECTIONS_MAX)
        return EXIT_FAILURE;
    prepare(argv + 1);
    start = now();
    end = start + atof(argv[3]);
    for (int i = 0; i < count; i++) {
        clients[i].address.s_addr = htonl(INADDR_LOOPBACK + 1 + (uint32_t)i);
        if (pthread_create(&clients[i].thread, NULL, work, &clients[i]))
            return EXIT_FAILURE;
    }
    for (int i = 0; i < count; i++)
        pthread_join(clients[i].thread, NULL);
    printf("handshakes %ld\nfailures %ld\nseconds %f\nbytes %ld\np50 %f\np99 %f\n", atomic_load(&handshakes),
           atomic_load(&failures), now() - start, atomic_load(&bytes), percentile(0.5), percentile(0.99));
    return EXIT_SUCCESS;
}
