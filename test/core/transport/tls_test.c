/* A TLS endpoint over each backend, with OpenSSL as the client, which sees each byte that goes either way. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <sys/wait.h>

#include "../server/loopback.h"
#include "certificates.h"
#include "transport/tls_context.h"
#include "transport/tls_peer.h"
#include "transport/transport.h"

#define TURNS_MAX 20000
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#define BYTES_MAX (4 * 1024 * 1024)

/* The owner of an endpoint: does what the test says, and remembers what it was told. */
struct owner {
    struct uw_endpoint endpoint;
    char *received;
    size_t length;
    int64_t sent; /* what `sent` was told last */
    int32_t end;  /* what `receive_ended` was told */
    int ready, sends, ends, settled;
    struct uw_chunk *answer; /* sent until it is done, as soon as `expected` bytes have been received */
    size_t expected;
    bool pauses, closes_on_ready, closes_on_received, closes_on_sent, shuts;
};

struct pair {
    struct uw_loop loop;
    struct owner owner;
    SSL *client;
    BIO *to_client, *from_client; /* the client's memory */
    int fd;                       /* the client's end */
    bool ended;                   /* the end of the stream has come to the client */
    size_t cut;                   /* each way, so many bytes at a time; 0: all */
    char *received;               /* plaintext, by the client */
    size_t length;
};

static struct uw_tls_context *context;
static SSL_CTX *clients;
static struct issued issued;

static size_t weight(const struct uw_chunk *chunk)
{
    return chunk->length - chunk->sent + (size_t)chunk->rest_left;
}

static void advance(struct uw_chunk *chunk, size_t count)
{
    for (; chunk && count; chunk = chunk->next) {
        size_t bytes = chunk->length - chunk->sent, rest = 0;

        if (bytes > count)
            bytes = count;
        count -= bytes;
        chunk->sent += bytes;
        rest = count < (size_t)chunk->rest_left ? count : (size_t)chunk->rest_left;
        chunk->rest_offset += (int64_t)rest;
        chunk->rest_left -= (int64_t)rest;
        count -= rest;
    }
}

static void send_on(struct owner *owner)
{
    while (owner->answer && weight(owner->answer) == 0)
        owner->answer = owner->answer->next;
    if (owner->answer && !owner->endpoint.sending)
        owner->endpoint.transport->send(&owner->endpoint, owner->answer);
    else if (!owner->answer && owner->shuts)
        CHECK_EQUAL(0, owner->endpoint.transport->shut(&owner->endpoint));
}

static struct owner *owner_of(struct uw_endpoint *endpoint)
{
    return uw_owner(endpoint, struct owner, endpoint);
}

static void ready(struct uw_endpoint *endpoint)
{
    struct owner *owner = owner_of(endpoint);

    owner->ready++;
    if (owner->closes_on_ready)
        endpoint->transport->close(endpoint);
    else
        endpoint->transport->receive(endpoint);
    if (owner->expected == 0 && owner->answer)
        send_on(owner);
}

static void received(struct uw_endpoint *endpoint, const char *bytes, size_t length)
{
    struct owner *owner = owner_of(endpoint);

    CHECK(!endpoint->closed);
    memcpy(owner->received + owner->length, bytes, length);
    owner->length += length;
    if (owner->closes_on_received)
        endpoint->transport->close(endpoint);
    else if (owner->pauses)
        endpoint->transport->pause(endpoint);
    else if (owner->answer && owner->length >= owner->expected)
        send_on(owner);
}

static void receive_ended(struct uw_endpoint *endpoint, int32_t result)
{
    struct owner *owner = owner_of(endpoint);

    CHECK(!endpoint->closed);
    owner->ends++;
    owner->end = result;
}

static void sent(struct uw_endpoint *endpoint, int64_t count)
{
    struct owner *owner = owner_of(endpoint);

    CHECK(!endpoint->closed);
    owner->sends++;
    owner->sent = count;
    if (owner->closes_on_sent)
        endpoint->transport->close(endpoint);
    else if (count > 0) {
        advance(owner->answer, (size_t)count);
        send_on(owner);
    }
}

static void settled(struct uw_endpoint *endpoint)
{
    struct owner *owner = owner_of(endpoint);

    owner->settled++;
    CHECK(!endpoint->receive.pending && !endpoint->send.pending);
    endpoint->transport->release(endpoint);
    close(endpoint->fd);
}

static const struct uw_endpoint_owner owner_functions = {
    .ready = ready, .received = received, .receive_ended = receive_ended, .sent = sent, .settled = settled};

static void set_up_once(void)
{
    char message[UW_TLS_MESSAGE_BYTES_MAX] = "";
    struct uw_tls_certificate certificate;
    struct uw_tls_settings settings = {.certificates = &certificate, .certificate_count = 1};

    if (context)
        return;
    issued = issue("EC", "a.example", "DNS:a.example", 30, NULL);
    certificate = (struct uw_tls_certificate){.certificate_path = write_certificate(&issued, "a.crt"),
                                              .key_path = write_key(&issued, "a.key")};
    CHECK_EQUAL(0, uw_tls_context_new(&context, &settings, message));
    CHECK(message[0] == '\0');
    clients = SSL_CTX_new(TLS_client_method());
    certificates_remove();
}

static struct pair *pair_open(const char *backend, struct uw_tls_context *of)
{
    struct pair *pair = calloc(1, sizeof *pair);
    int fds[2];

    CHECK_EQUAL(0, uw_loop_open(&pair->loop, backend, NULL));
    CHECK_EQUAL(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
    pair->fd = fds[0];
    pair->received = malloc(BYTES_MAX);
    pair->owner.received = malloc(BYTES_MAX);
    pair->owner.endpoint = (struct uw_endpoint){
        .transport = &uw_transport_tls, .owner = &owner_functions, .loop = &pair->loop, .context = of, .fd = fds[1]};
    pair->client = SSL_new(clients);
    pair->to_client = BIO_new(BIO_s_mem());
    pair->from_client = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(pair->to_client, -1);
    SSL_set_bio(pair->client, pair->to_client, pair->from_client);
    SSL_set_connect_state(pair->client);
    return pair;
}

static void begin(struct pair *pair)
{
    CHECK_EQUAL(0, pair->owner.endpoint.transport->open(&pair->owner.endpoint));
}

static void turn(struct pair *pair)
{
    CHECK_EQUAL(0, uw_loop_turn(&pair->loop, TURN_NS));
}

static size_t piece(const struct pair *pair, size_t most)
{
    return pair->cut && pair->cut < most ? pair->cut : most;
}

/* Carries what the client has written to the server, and back. Returns whether anything was carried. */
static bool carry(struct pair *pair)
{
    static char bytes[65536];
    bool carried = false;
    char *pending;
    size_t length = piece(pair, (size_t)BIO_get_mem_data(pair->from_client, &pending));
    ssize_t count = length ? send(pair->fd, pending, length, MSG_NOSIGNAL) : 0;

    if (count > 0)
        carried = BIO_read(pair->from_client, bytes, (int)count) == count;
    count = recv(pair->fd, bytes, piece(pair, sizeof bytes), 0);
    if (count > 0)
        carried = BIO_write(pair->to_client, bytes, (int)count) == count;
    if (count == 0)
        pair->ended = true;
    return carried;
}

static void client_reads(struct pair *pair)
{
    int count;

    while ((count = SSL_read(pair->client, pair->received + pair->length, (int)(BYTES_MAX - pair->length))) > 0)
        pair->length += (size_t)count;
    ERR_clear_error();
}

static void step(struct pair *pair)
{
    if (!SSL_is_init_finished(pair->client))
        (void)SSL_do_handshake(pair->client);
    else
        client_reads(pair);
    ERR_clear_error();
    (void)carry(pair);
    turn(pair);
}

/* Until `condition`, which is looked at after each step. */
#define STEP_UNTIL(pair, condition) \
    do { \
        for (int step_count = 0; step_count < TURNS_MAX && !(condition); step_count++) \
            step(pair); \
        CHECK(condition); \
    } while (0)

static void shake_hands(struct pair *pair)
{
    begin(pair);
    STEP_UNTIL(pair, pair->owner.ready && SSL_is_init_finished(pair->client));
}

static void client_writes(struct pair *pair, const char *bytes, size_t length)
{
    CHECK_EQUAL(length, SSL_write(pair->client, bytes, (int)length));
}

static void pair_close(struct pair *pair)
{
    struct uw_endpoint *endpoint = &pair->owner.endpoint;

    if (endpoint->tls && !endpoint->closed)
        endpoint->transport->close(endpoint);
    for (int i = 0; i < TURNS_MAX && !pair->owner.settled; i++)
        turn(pair);
    CHECK_EQUAL(1, pair->owner.settled);
    CHECK_EQUAL(0, uw_loop_operations(&pair->loop));
    uw_loop_close(&pair->loop);
    SSL_free(pair->client);
    close(pair->fd);
    free(pair->received);
    free(pair->owner.received);
    CHECK_EQUAL(0, ERR_peek_error());
    free(pair);
}

static void say_and_answer(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = uw_chunk_copy("world", 5);

    pair->owner.answer = answer;
    pair->owner.expected = 5;
    SSL_set_tlsext_host_name(pair->client, "a.example");
    shake_hands(pair);
    client_writes(pair, "hello", 5);
    STEP_UNTIL(pair, pair->length == 5);
    CHECK(memcmp(pair->received, "world", 5) == 0);
    CHECK(memcmp(pair->owner.received, "hello", 5) == 0);
    CHECK(strcmp(uw_endpoint_peer(&pair->owner.endpoint)->version, "TLSv1.3") == 0);
    CHECK(strcmp(uw_endpoint_peer(&pair->owner.endpoint)->cipher, "TLS_AES_128_GCM_SHA256") == 0);
    CHECK(strcmp(uw_endpoint_peer(&pair->owner.endpoint)->name, "a.example") == 0);
    CHECK(uw_endpoint_peer(&pair->owner.endpoint)->client == NULL);
    STEP_UNTIL(pair, pair->owner.sends == 1);
    CHECK_EQUAL(5, pair->owner.sent);
    pair_close(pair);
    uw_chunk_free(answer);
}

TEST(what_the_client_says_arrives_and_is_answered)
{
    set_up_once();
    on_each_backend(say_and_answer);
}

TEST_MAIN
