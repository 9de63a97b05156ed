/* A TLS endpoint over each backend, with OpenSSL as the client, which sees each byte that goes either way. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/syscall.h>

#include "../server/loopback_sockets.h"
#include "certificates.h"
#include "transport/tls_buffers.h"
#include "transport/tls_connection_info.h"
#include "transport/tls_context.h"
#include "transport/tls_kernel.h"
#include "transport/transport.h"

#define TURNS_MAX 20000
#define TURN_NS (UW_NS_PER_SECOND / 1000)
#define BYTES_MAX (4 * 1024 * 1024)
#define HANDSHAKE_STEPS_MAX 16        /* with each second turn spent on others */
#define ASKED_AGAIN "ffdhe2048:P-256" /* the server has the second group alone */
#define STRIDE_UNDER_VALGRIND 19      /* of what is tried at each byte, step and allocation, which the sanitizers see */

/* The owner of an endpoint: does what the test says, and remembers what it was told. */
struct owner {
    struct uw_endpoint endpoint;
    size_t length; /* of `received_by_owner` */
    int64_t sent;  /* what `sent` was told last */
    int32_t end;   /* what `receive_ended` was told */
    int ready, sends, ends, settled;
    struct uw_chunk *answer; /* sent until it is done, as soon as `expected` bytes have been received */
    size_t expected;
    bool pauses, closes_on_ready, closes_on_received, closes_on_sent, shuts;
};

struct pair {
    struct owner owner;
    SSL *client;
    BIO *to_client, *from_client; /* the client's memory */
    int fd;                       /* the client's end */
    bool carries;                 /* what the server takes, or has written, is on its way: it need not wait */
    bool ended;                   /* the end of the stream has come to the client */
    size_t cut;                   /* each way, so many bytes at a time; 0: all */
    size_t carried_most;          /* from the client, so many bytes in all; 0: all */
    size_t carried;
    size_t length; /* of `received_by_client` */
    int records;   /* of application data, that have come to the client */
    int alert;     /* the last that has come to him */
};

static struct uw_tls_context *context;
static SSL_CTX *clients;
static struct issued issued;
static char pattern[BYTES_MAX];
static char received_by_owner[BYTES_MAX], received_by_client[BYTES_MAX]; /* plaintext, of the one pair there is */

static struct uw_loop loop; /* for all pairs on a backend: opening it costs more than they do */

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
    return uw_container_of(endpoint, struct owner, endpoint);
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
    memcpy(received_by_owner + owner->length, bytes, length);
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

static struct uw_tls_context *new_context(uint8_t secret)
{
    char message[UW_TLS_MESSAGE_BYTES_MAX] = "";
    struct uw_tls_certificate certificate = {.certificate_path = write_certificate(&issued, "a.crt"),
                                             .key_path = write_key(&issued, "a.key")};
    struct uw_tls_settings settings = {.certificates = &certificate, .certificate_count = 1, .ticket_secret = {secret}};
    struct uw_tls_context *made = NULL;

    CHECK_EQUAL(0, uw_tls_context_new(&made, &settings, message));
    CHECK(message[0] == '\0');
    return made;
}

/* What the kernel is made to say to those who want it to seal: that it can; and that it cannot, to those who have a
 * connection. */
static enum { ITS_OWN, REFUSES_CONNECTION, REFUSES_KEYS } kernel_says;
static int refusals;

int setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
    bool begins = level == IPPROTO_TCP && name == TCP_ULP, has_keys = level == SOL_TLS;
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;

    if (kernel_says == ITS_OWN || !(begins || has_keys))
        return (int)syscall(SYS_setsockopt, fd, level, name, value, length);
    if (begins && getpeername(fd, (struct sockaddr *)&peer, &size))
        return -1; /* ENOTCONN, as from the kernel */
    if (begins && kernel_says == REFUSES_KEYS)
        return 0;
    refusals++;
    errno = begins ? EBUSY : ENOMEM;
    return -1;
}

static void remove_all(void)
{
    uw_loop_close(&loop);
    uw_tls_context_release(context);
    SSL_CTX_free(clients);
    issued_free(&issued);
    certificates_remove();
}

static void on_each_backend_with_tls(void (*test)(const char *backend))
{
    if (!context) {
        issued = issue("EC", "a.example", "DNS:a.example", 30, NULL);
        context = new_context(1);
        clients = SSL_CTX_new(TLS_client_method());
        for (size_t i = 0; i < sizeof pattern; i++)
            pattern[i] = (char)(i * 2654435761U >> 13);
        atexit(remove_all);
    }
    on_each_backend(test);
}

static void count_record(int written, int version, int type, const void *bytes, size_t length, SSL *ssl, void *argument)
{
    struct pair *pair = argument;

    (void)version;
    (void)length;
    if (!written && type == SSL3_RT_HEADER && SSL_is_init_finished(ssl))
        pair->records += *(const unsigned char *)bytes == SSL3_RT_APPLICATION_DATA;
    if (!written && type == SSL3_RT_ALERT)
        pair->alert = ((const unsigned char *)bytes)[1];
}

static void loop_on(const char *backend)
{
    if (loop.backend && strcmp(loop.backend->name, backend) == 0)
        return;
    if (loop.backend)
        uw_loop_close(&loop);
    CHECK_EQUAL(0, uw_loop_open(&loop, backend, NULL));
}

static struct pair *pair_open(const char *backend, struct uw_tls_context *of)
{
    struct pair *pair = calloc(1, sizeof *pair);
    int fds[2];

    loop_on(backend);
    connected_pair(fds);
    pair->fd = fds[0];
    pair->owner.endpoint = (struct uw_endpoint){
        .transport = &uw_transport_tls, .owner = &owner_functions, .loop = &loop, .context = of, .fd = fds[1]};
    pair->client = SSL_new(clients);
    SSL_set_msg_callback(pair->client, count_record);
    SSL_set_msg_callback_arg(pair->client, pair);
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

static bool failing; /* see may_allocate */
static bool crowded; /* others shake hands for the whole of each second turn */

/* Of the turn to come. */
static void spend_turn(void)
{
    struct uw_tls_buffers *buffers = uw_tls_buffers_of(&loop);

    buffers->handshakes.turn = loop.turns + 1;
    buffers->handshakes.spent_ns = loop.turns % 2 ? UW_TLS_HANDSHAKES_NS : 0;
}

static void turn(struct pair *pair)
{
    if (crowded)
        spend_turn();
    failing = true;
    CHECK_EQUAL(0, uw_loop_turn(&loop, pair->carries ? 0 : TURN_NS));
    pair->carries = false;
    failing = false;
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
    ssize_t count;

    if (pair->carried_most && length > pair->carried_most - pair->carried)
        length = pair->carried_most - pair->carried;
    count = length ? send(pair->fd, pending, length, MSG_NOSIGNAL) : 0;
    if (count > 0) {
        char taken[65536];

        for (ssize_t left = count; left > 0;)
            left -= BIO_read(pair->from_client, taken, left < (ssize_t)sizeof taken ? (int)left : (int)sizeof taken);
        pair->carried += (size_t)count;
        carried = true;
    }
    count = recv(pair->fd, bytes, piece(pair, sizeof bytes), 0);
    if (count > 0)
        carried = BIO_write(pair->to_client, bytes, (int)count) == count;
    if (count == 0)
        pair->ended = true;
    pair->carries = carried;
    return carried;
}

static void client_reads(struct pair *pair)
{
    int count;

    while ((count = SSL_read(pair->client, received_by_client + pair->length, (int)(BYTES_MAX - pair->length))) > 0)
        pair->length += (size_t)count;
    ERR_clear_error();
}

/* Memory: OpenSSL's allocations fail from the one on that is counted down to, while the server turns. */
static long allocations_left = -1;

static bool may_allocate(void)
{
    return !failing || allocations_left < 0 || allocations_left-- > 0;
}

static void *allocate(size_t bytes, const char *file, int line)
{
    (void)file;
    (void)line;
    return may_allocate() ? malloc(bytes) : NULL;
}

static void *reallocate(void *memory, size_t bytes, const char *file, int line)
{
    (void)file;
    (void)line;
    return may_allocate() ? realloc(memory, bytes) : NULL;
}

static void give_back(void *memory, const char *file, int line)
{
    (void)file;
    (void)line;
    free(memory);
}

__attribute__((constructor)) static void count_allocations(void)
{
    if (CRYPTO_set_mem_functions(allocate, reallocate, give_back) != 1)
        abort();
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

/* The client is gone, with or without a word. */
static void hang_up(struct pair *pair)
{
    CHECK_EQUAL(0, shutdown(pair->fd, SHUT_WR));
}

static void pair_close(struct pair *pair)
{
    struct uw_endpoint *endpoint = &pair->owner.endpoint;

    if (endpoint->tls && !endpoint->closed)
        endpoint->transport->close(endpoint);
    for (int i = 0; i < TURNS_MAX && !pair->owner.settled; i++)
        turn(pair);
    CHECK_EQUAL(1, pair->owner.settled);
    if (crowded) /* the line looks once more whether anybody waits */
        turn(pair);
    CHECK_EQUAL(0, uw_loop_operations(&loop));
    SSL_free(pair->client);
    close(pair->fd);
    CHECK_EQUAL(0, ERR_peek_error());
    free(pair);
}

static void answer_with(struct pair *pair, struct uw_chunk *answer, size_t expected)
{
    pair->owner.answer = answer;
    pair->owner.expected = expected;
}

static void say_and_answer(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = uw_chunk_copy("world", 5);
    const struct uw_tls_peer *peer;

    answer_with(pair, answer, 5);
    SSL_set_tlsext_host_name(pair->client, "a.example");
    CHECK_EQUAL(0, SSL_set_alpn_protos(pair->client, (const unsigned char *)"\2h2\10http/1.1", 12));
    shake_hands(pair);
    client_writes(pair, "hello", 5);
    STEP_UNTIL(pair, pair->length == 5);
    CHECK(memcmp(received_by_client, "world", 5) == 0);
    CHECK(memcmp(received_by_owner, "hello", 5) == 0);
    peer = uw_endpoint_peer(&pair->owner.endpoint);
    CHECK(strcmp(peer->version, "TLSv1.3") == 0);
    CHECK(strcmp(peer->cipher, "TLS_AES_128_GCM_SHA256") == 0);
    CHECK(strcmp(peer->name, "a.example") == 0);
    CHECK(strcmp(peer->protocol, "http/1.1") == 0);
    CHECK(peer->client == NULL);
    STEP_UNTIL(pair, pair->owner.sends == 1);
    CHECK_EQUAL(5, pair->owner.sent);
    pair_close(pair);
    uw_chunk_free(answer);
}

TEST(what_the_client_says_arrives_and_is_answered)
{
    on_each_backend_with_tls(say_and_answer);
}

static void exchange(const char *backend, int version, size_t cut)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = uw_chunk_copy(pattern, 300);

    pair->cut = cut;
    SSL_set_min_proto_version(pair->client, version);
    SSL_set_max_proto_version(pair->client, version);
    answer_with(pair, answer, 200);
    shake_hands(pair);
    client_writes(pair, pattern, 200);
    STEP_UNTIL(pair, pair->length == 300);
    CHECK(memcmp(received_by_client, pattern, 300) == 0);
    CHECK(memcmp(received_by_owner, pattern, 200) == 0);
    CHECK_EQUAL(version, SSL_version(pair->client));
    pair_close(pair);
    uw_chunk_free(answer);
}

static void exchange_in_pieces(const char *backend)
{
    static const size_t cuts[] = {1, 2, 3, 5, 6, 17, 100, 0};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        exchange(backend, TLS1_2_VERSION, cuts[i]);
        exchange(backend, TLS1_3_VERSION, cuts[i]);
    }
}

TEST(both_ways_byte_by_byte_and_in_pieces)
{
    on_each_backend_with_tls(exchange_in_pieces);
}

static void exchange_without_kernel(const char *backend)
{
    struct uw_tls_context *before = context;

    refusals = 0;
    context = new_context(1);
    exchange_in_pieces(backend);
    CHECK(refusals >= 16); /* twice for each cut */
    uw_tls_context_release(context);
    context = before;
}

TEST(where_the_kernel_refuses_openssl_seals)
{
#ifdef OPENSSL_NO_KTLS
    SKIP("this OpenSSL never asks the kernel");
#endif
    kernel_says = REFUSES_CONNECTION;
    if (!uw_tls_kernel_probe())
        SKIP("nobody asks the kernel here");
    on_each_backend_with_tls(exchange_without_kernel);
    kernel_says = REFUSES_KEYS;
    on_each_backend_with_tls(exchange_without_kernel);
    kernel_says = ITS_OWN;
}

/* A client that says so many bytes of a handshake and a request, and goes. */
static bool leave_after(const char *backend, size_t bytes, bool in_the_middle)
{
    struct pair *pair = pair_open(backend, context);
    bool complete;

    pair->carried_most = bytes;
    begin(pair);
    for (int i = 0; i < 40 && pair->carried < bytes; i++) {
        step(pair);
        if (SSL_is_init_finished(pair->client) && !BIO_pending(pair->from_client) && !pair->owner.length)
            (void)SSL_write(pair->client, "hello", 5);
    }
    complete = pair->carried < bytes;
    hang_up(pair);
    if (in_the_middle)
        pair_close(pair);
    else {
        for (int i = 0; i < TURNS_MAX && !pair->owner.ends; i++)
            turn(pair);
        CHECK_EQUAL(1, pair->owner.ends);
        pair_close(pair);
    }
    return complete;
}

/* From one byte, step or allocation to the next one that is tried. Odd, as some do otherwise at every second. */
static int stride(void)
{
    return getenv("UW_UNDER_VALGRIND") || getenv("UW_UNDER_QEMU") ? STRIDE_UNDER_VALGRIND : 1;
}

static void leave_at_each_byte(const char *backend)
{
    size_t bytes = 1;

    while (!leave_after(backend, bytes, bytes % 2))
        bytes += (size_t)stride();
    CHECK(bytes > 300); /* a client's handshake has more */
}

TEST(a_client_may_leave_at_each_byte)
{
    on_each_backend_with_tls(leave_at_each_byte);
}

static const char *pattern_file(size_t bytes)
{
    const char *path = certificates_path("pattern");
    FILE *file = fopen(path, "w");

    CHECK(file && fwrite(pattern, 1, bytes, file) == bytes);
    fclose(file);
    return path;
}

/* A head, memory, and a file, as far as there is any of each. */
static struct uw_chunk *three_parts(size_t head, size_t memory, size_t file)
{
    struct uw_chunk *first = uw_chunk_copy(pattern, head), *second = uw_chunk_copy("", 0);

    first->memory = memory ? pattern + head : NULL;
    first->rest_left = (int64_t)memory;
    first->next = second;
    if (file)
        uw_chunk_add_file(second, open(pattern_file(head + memory + file), O_RDONLY | O_CLOEXEC),
                          (int64_t)(head + memory), (int64_t)file);
    return first;
}

static void free_parts(struct uw_chunk *first)
{
    uw_chunk_free(first->next);
    uw_chunk_free(first);
}

static int send_parts(const char *backend, size_t head, size_t memory, size_t file)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = three_parts(head, memory, file);
    size_t whole = head + memory + file;
    int records;

    answer_with(pair, answer, 1);
    pair->owner.shuts = true;
    shake_hands(pair);
    client_writes(pair, "x", 1);
    STEP_UNTIL(pair, pair->ended);
    client_reads(pair);
    CHECK_EQUAL(whole, pair->length);
    CHECK(memcmp(received_by_client, pattern, whole) == 0);
    CHECK_EQUAL(SSL_RECEIVED_SHUTDOWN, SSL_get_shutdown(pair->client) & SSL_RECEIVED_SHUTDOWN);
    if (!uw_tls_kernel_probe()) /* which is given one part at a time, and all of a file */
        CHECK_EQUAL((whole + UW_SEND_BYTES_MAX - 1) / UW_SEND_BYTES_MAX, pair->owner.sends);
    records = pair->records;
    pair_close(pair);
    free_parts(answer);
    return records - 2; /* a ticket, and close_notify */
}

/* The kernel may begin another record for the file. */
static void check_records(int expected, int records)
{
    CHECK(records == expected || (uw_tls_kernel_probe() && records == expected + 1));
}

static void send_all_sizes(const char *backend)
{
    check_records(1, send_parts(backend, 200, 0, 0));
    check_records(1, send_parts(backend, 200, 1024, 0));
    check_records(1, send_parts(backend, 200, 0, 1024));
    check_records(1, send_parts(backend, 200, 16384 - 201, 1));
    check_records(2, send_parts(backend, 200, 16384 - 200, 1));
    check_records(2, send_parts(backend, 1, 16384, 0));
    check_records(16, send_parts(backend, 200, 0, UW_SEND_BYTES_MAX - 200));
    check_records(17, send_parts(backend, 200, 0, UW_SEND_BYTES_MAX - 199));
    send_parts(backend, 200, 100000, 3000000);
    send_parts(backend, 0, 3000000, 0);
    send_parts(backend, 0, 0, 65536 * 3 + 1);
}

TEST(head_memory_and_file_share_records_and_sends)
{
    on_each_backend_with_tls(send_all_sizes);
}

static void send_shrunken_file(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = three_parts(100, 0, 50000);

    CHECK_EQUAL(0, truncate(certificates_path("pattern"), 20100));
    answer_with(pair, answer, 1);
    shake_hands(pair);
    client_writes(pair, "x", 1);
    STEP_UNTIL(pair, pair->owner.sends >= 2 && pair->owner.sent == 0);
    STEP_UNTIL(pair, pair->length == 20100);
    pair_close(pair);
    free_parts(answer);
}

TEST(a_file_that_shrinks_ends_sending)
{
    on_each_backend_with_tls(send_shrunken_file);
}

static void close_in(const char *backend, bool on_ready, bool on_received, bool on_sent)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = uw_chunk_copy("world", 5);

    answer_with(pair, answer, 1);
    pair->owner.closes_on_ready = on_ready;
    pair->owner.closes_on_received = on_received;
    pair->owner.closes_on_sent = on_sent;
    begin(pair);
    STEP_UNTIL(pair, SSL_is_init_finished(pair->client));
    client_writes(pair, "x", 1);
    STEP_UNTIL(pair, pair->owner.settled);
    pair_close(pair);
    uw_chunk_free(answer);
}

static void close_within_each(const char *backend)
{
    close_in(backend, true, false, false);
    close_in(backend, false, true, false);
    close_in(backend, false, false, true);
}

TEST(the_owner_may_close_within_each_call)
{
    on_each_backend_with_tls(close_within_each);
}

/* After so many steps of an exchange with a long answer the endpoint is closed, or the whole loop. */
static bool stop_after(const char *backend, int steps, bool whole_loop)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = three_parts(200, 3000000, 0);
    bool complete, asked = false;

    answer_with(pair, answer, 1);
    begin(pair);
    for (int i = 0; i < steps; i++) {
        step(pair);
        if (SSL_is_init_finished(pair->client) && !asked)
            client_writes(pair, "x", 1);
        asked |= SSL_is_init_finished(pair->client);
    }
    complete = pair->length == 3000200;
    if (whole_loop) {
        uw_loop_close(&loop);
        pair->owner.endpoint.transport->release(&pair->owner.endpoint);
        close(pair->owner.endpoint.fd);
        CHECK_EQUAL(0, uw_loop_open(&loop, backend, NULL));
        pair->owner.settled = 1;
    }
    pair_close(pair);
    free_parts(answer);
    return complete;
}

static void stop_at_each_step(const char *backend)
{
    int steps = 0;

    while (!stop_after(backend, steps, steps % 2))
        steps += stride();
    CHECK(steps > 10);
}

TEST(it_may_be_closed_at_each_moment)
{
    on_each_backend_with_tls(stop_at_each_step);
}

static void end_of_stream(const char *backend)
{
    struct pair *pair = pair_open(backend, context);

    shake_hands(pair);
    client_writes(pair, "x", 1);
    STEP_UNTIL(pair, pair->owner.length == 1);
    hang_up(pair);
    STEP_UNTIL(pair, pair->owner.ends);
    CHECK_EQUAL(0, pair->owner.end);
    pair_close(pair);
}

TEST(the_end_between_records_is_the_end)
{
    on_each_backend_with_tls(end_of_stream);
}

static void cut_record(const char *backend, size_t cut)
{
    struct pair *pair = pair_open(backend, context);

    shake_hands(pair);
    STEP_UNTIL(pair, !BIO_pending(pair->from_client));
    client_writes(pair, "hello", 5);
    pair->carried_most = pair->carried + cut;
    for (int i = 0; i < 10; i++)
        step(pair);
    hang_up(pair);
    STEP_UNTIL(pair, pair->owner.ends);
    CHECK_EQUAL(-ECONNRESET, pair->owner.end);
    CHECK_EQUAL(0, pair->owner.length);
    pair_close(pair);
}

static void cut_record_everywhere(const char *backend)
{
    for (size_t cut = 1; cut < 27; cut += (size_t)stride()) /* header, text, type and tag */
        cut_record(backend, cut);
}

TEST(the_end_within_a_record_is_an_error)
{
    on_each_backend_with_tls(cut_record_everywhere);
}

/* There is no room for close_notify until the client has taken the answer. */
static void say_the_last_word(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_endpoint *endpoint = &pair->owner.endpoint;
    struct uw_chunk *answer = three_parts(200, 100000, 0);
    int least = 1;

    shake_hands(pair);
    answer_with(pair, answer, 0);
    send_on(&pair->owner);
    for (int i = 0; i < TURNS_MAX && !pair->owner.sends; i++)
        turn(pair);
    CHECK_EQUAL(0, setsockopt(endpoint->fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least));
    CHECK_EQUAL(0, endpoint->transport->shut(endpoint));
    CHECK(endpoint->send.pending);
    STEP_UNTIL(pair, pair->ended);
    client_reads(pair);
    CHECK_EQUAL(100200, pair->length);
    CHECK_EQUAL(SSL_RECEIVED_SHUTDOWN, SSL_get_shutdown(pair->client) & SSL_RECEIVED_SHUTDOWN);
    CHECK(!endpoint->send.pending);
    pair_close(pair);
    free_parts(answer);
}

TEST(the_last_word_leaves_when_there_is_room)
{
    on_each_backend_with_tls(say_the_last_word);
}

/* The client says that nothing more comes, and still gets his answer. */
static void half_close(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = three_parts(200, 1000000, 0);

    answer_with(pair, answer, 1);
    shake_hands(pair);
    client_writes(pair, "x", 1);
    CHECK_EQUAL(0, SSL_shutdown(pair->client));
    STEP_UNTIL(pair, pair->owner.ends);
    CHECK_EQUAL(0, pair->owner.end);
    STEP_UNTIL(pair, pair->length == 1000200);
    pair_close(pair);
    free_parts(answer);
}

TEST(a_client_that_has_said_all_gets_its_answer)
{
    on_each_backend_with_tls(half_close);
}

/* Does what a client does whose handshake fails, until it knows why. */
static unsigned long failure(struct pair *pair)
{
    unsigned long reason = 0;

    begin(pair);
    for (int i = 0; i < TURNS_MAX && !reason; i++) {
        if (SSL_do_handshake(pair->client) != 1)
            reason = ERR_peek_error();
        ERR_clear_error();
        (void)carry(pair);
        turn(pair);
    }
    CHECK_EQUAL(0, pair->owner.ready);
    CHECK_EQUAL(0, pair->owner.ends); /* the client is there, and may read why */
    STEP_UNTIL(pair, pair->ended);
    hang_up(pair);
    for (int i = 0; i < TURNS_MAX && !pair->owner.ends; i++)
        turn(pair);
    CHECK_EQUAL(1, pair->owner.ends);
    CHECK_EQUAL(-EPROTO, pair->owner.end);
    pair_close(pair);
    return ERR_GET_REASON(reason);
}

static void shake_hands_in_vain(const char *backend)
{
    struct pair *pair = pair_open(backend, context);

    SSL_set_security_level(pair->client, 0);
    SSL_set_min_proto_version(pair->client, TLS1_1_VERSION);
    SSL_set_max_proto_version(pair->client, TLS1_1_VERSION);
    CHECK_EQUAL(SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, failure(pair));

    pair = pair_open(backend, context);
    CHECK_EQUAL(0, SSL_set_alpn_protos(pair->client, (const unsigned char *)"\2h2", 3));
    CHECK_EQUAL(SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL, failure(pair));

    pair = pair_open(backend, context);
    SSL_set_max_proto_version(pair->client, TLS1_2_VERSION);
    CHECK_EQUAL(1, SSL_set_cipher_list(pair->client, "AES128-SHA"));
    CHECK_EQUAL(SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE, failure(pair));
}

TEST(a_handshake_that_fails_tells_the_client_why)
{
    on_each_backend_with_tls(shake_hands_in_vain);
}

/* What comes back for raw bytes. */
static void send_raw(const char *backend, const char *bytes, size_t length, const char *answer)
{
    struct pair *pair = pair_open(backend, context);
    char *came;
    size_t count;

    begin(pair);
    CHECK_EQUAL(length, BIO_write(pair->from_client, bytes, (int)length));
    for (int i = 0; i < TURNS_MAX && !pair->ended; i++) {
        (void)carry(pair);
        turn(pair);
    }
    CHECK(pair->ended);
    count = (size_t)BIO_get_mem_data(pair->to_client, &came);
    CHECK(count >= strlen(answer) && (!*answer || memcmp(came, answer, strlen(answer)) == 0));
    CHECK_EQUAL(0, pair->owner.ends);
    hang_up(pair);
    for (int i = 0; i < TURNS_MAX && !pair->owner.ends; i++)
        turn(pair);
    CHECK_EQUAL(-EPROTO, pair->owner.end);
    pair_close(pair);
}

static void send_no_tls(const char *backend)
{
    send_raw(backend, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 27, "HTTP/1.1 400 Bad Request\r\n");
    send_raw(backend, "DELETE", 6, "HTTP/1.1 400 Bad Request\r\n");
    send_raw(backend, "\x16\3\1\0\4\xff\0\0\0", 9, "\x15"); /* an alert */
    send_raw(backend, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 14, "");
    send_raw(backend, pattern, 100000, "");
}

TEST(who_does_not_speak_tls_is_told_so)
{
    on_each_backend_with_tls(send_no_tls);
}

/* Who sends on and on is not waited for. */
static void send_without_end(const char *backend)
{
    struct pair *pair = pair_open(backend, context);

    begin(pair);
    for (int i = 0; i < TURNS_MAX && !pair->owner.ends; i++) {
        (void)send(pair->fd, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL);
        (void)send(pair->fd, pattern, 65536, MSG_NOSIGNAL);
        turn(pair);
    }
    CHECK_EQUAL(-EPROTO, pair->owner.end);
    pair_close(pair);
}

TEST(who_never_ends_after_a_failure_is_not_waited_for)
{
    on_each_backend_with_tls(send_without_end);
}

static void update_keys(const char *backend, int times, int kind, bool fails)
{
    struct pair *pair = pair_open(backend, context);

    shake_hands(pair);
    for (int i = 0; i < times; i++) {
        CHECK_EQUAL(1, SSL_key_update(pair->client, kind));
        CHECK_EQUAL(1, SSL_do_handshake(pair->client));
    }
    client_writes(pair, "hello", 5);
    if (fails) {
        STEP_UNTIL(pair, pair->ended);
        hang_up(pair);
        STEP_UNTIL(pair, pair->owner.ends);
        CHECK_EQUAL(-EPROTO, pair->owner.end);
        CHECK_EQUAL(0, pair->owner.length);
        client_reads(pair);
        CHECK_EQUAL(uw_tls_kernel_probe() && kind == SSL_KEY_UPDATE_REQUESTED ? SSL_AD_INTERNAL_ERROR : 0, pair->alert);
    } else {
        STEP_UNTIL(pair, pair->owner.length == 5);
    }
    pair_close(pair);
}

static void flood_with_key_updates(const char *backend)
{
    update_keys(backend, 32, SSL_KEY_UPDATE_NOT_REQUESTED, false);
    update_keys(backend, 33, SSL_KEY_UPDATE_NOT_REQUESTED, true);
    update_keys(backend, 32, SSL_KEY_UPDATE_REQUESTED, uw_tls_kernel_probe()); /* whose keys stay as they are */
    update_keys(backend, 33, SSL_KEY_UPDATE_REQUESTED, true);
}

TEST(keys_are_updated_but_not_without_end)
{
    on_each_backend_with_tls(flood_with_key_updates);
}

#define FILE_BYTES 3000000

/* The client says something while a file is sent. Where the kernel seals, new keys cannot be had: then the file ends
 * early, but none of it is wrong. */
static void speak_amid_file(const char *backend, int key_update, bool ends)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = three_parts(100, 0, FILE_BYTES);

    answer_with(pair, answer, 1);
    shake_hands(pair);
    client_writes(pair, "x", 1);
    STEP_UNTIL(pair, pair->length > 0);
    CHECK(pair->length < FILE_BYTES);
    if (key_update >= 0) {
        CHECK_EQUAL(1, SSL_key_update(pair->client, key_update));
        CHECK_EQUAL(1, SSL_do_handshake(pair->client));
        client_writes(pair, "y", 1);
    }
    if (ends)
        CHECK_EQUAL(0, SSL_shutdown(pair->client));
    STEP_UNTIL(pair, pair->ended || pair->length == 100 + FILE_BYTES);
    client_reads(pair);
    CHECK(pair->length == 100 + FILE_BYTES || (uw_tls_kernel_probe() && key_update == SSL_KEY_UPDATE_REQUESTED));
    CHECK(memcmp(received_by_client, pattern, pair->length) == 0);
    CHECK(pair->alert == 0 || pair->alert == SSL_AD_INTERNAL_ERROR);
    pair_close(pair);
    free_parts(answer);
}

static void speak_amid_files(const char *backend)
{
    speak_amid_file(backend, SSL_KEY_UPDATE_NOT_REQUESTED, false);
    speak_amid_file(backend, SSL_KEY_UPDATE_REQUESTED, false);
    speak_amid_file(backend, SSL_KEY_UPDATE_NOT_REQUESTED, true);
    speak_amid_file(backend, -1, true);
}

TEST(a_file_goes_on_while_the_client_says_something)
{
    on_each_backend_with_tls(speak_amid_files);
}

static void renegotiate(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    unsigned long reason = 0;

    SSL_set_max_proto_version(pair->client, TLS1_2_VERSION);
    shake_hands(pair);
    CHECK_EQUAL(1, SSL_renegotiate(pair->client));
    for (int i = 0; i < TURNS_MAX && !reason; i++) {
        if (SSL_do_handshake(pair->client) != 1)
            reason = ERR_peek_error();
        ERR_clear_error();
        (void)carry(pair);
        turn(pair);
    }
    CHECK_EQUAL(SSL_R_NO_RENEGOTIATION, ERR_GET_REASON(reason));
    CHECK_EQUAL(0, pair->owner.ends);
    pair_close(pair);
}

TEST(there_is_no_renegotiation)
{
    on_each_backend_with_tls(renegotiate);
}

static void pause_and_go_on(const char *backend)
{
    struct pair *pair = pair_open(backend, context);
    size_t before;

    shake_hands(pair);
    pair->owner.pauses = true;
    pair->carried_most = pair->carried + 500000; /* all of it may have been received before the pause */
    client_writes(pair, pattern, 1000000);
    STEP_UNTIL(pair, pair->owner.ends);
    CHECK_EQUAL(-ECANCELED, pair->owner.end);
    pair->carried_most = 0;
    before = pair->owner.length;
    for (int i = 0; i < 20; i++)
        step(pair);
    CHECK_EQUAL(before, pair->owner.length);
    CHECK(before < 1000000);
    pair->owner.pauses = false;
    pair->owner.endpoint.transport->receive(&pair->owner.endpoint);
    STEP_UNTIL(pair, pair->owner.length == 1000000);
    CHECK(memcmp(received_by_owner, pattern, 1000000) == 0);
    pair_close(pair);
}

TEST(receiving_pauses_and_goes_on)
{
    on_each_backend_with_tls(pause_and_go_on);
}

static SSL_SESSION *session_with(const char *backend, struct uw_tls_context *with, int version, SSL_SESSION *former,
                                 bool resumes)
{
    struct pair *pair = pair_open(backend, with);
    struct uw_chunk *answer = uw_chunk_copy("y", 1);
    SSL_SESSION *session;

    answer_with(pair, answer, 1);
    SSL_set_max_proto_version(pair->client, version);
    if (former)
        CHECK_EQUAL(1, SSL_set_session(pair->client, former));
    shake_hands(pair);
    client_writes(pair, "x", 1);
    STEP_UNTIL(pair, pair->length == 1);
    CHECK_EQUAL(resumes, SSL_session_reused(pair->client));
    session = SSL_get1_session(pair->client);
    CHECK(SSL_SESSION_has_ticket(session));
    SSL_shutdown(pair->client); /* else the session is none to be resumed */
    pair_close(pair);
    uw_chunk_free(answer);
    SSL_SESSION_free(former);
    return session;
}

static void resume(const char *backend)
{
    struct uw_tls_context *same = new_context(1), *other = new_context(2);

    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        SSL_SESSION *session = session_with(backend, context, version, NULL, false);

        session = session_with(backend, context, version, session, true);
        session = session_with(backend, same, version, session, true);
        session = session_with(backend, other, version, session, false);
        SSL_SESSION_free(session);
    }
    uw_tls_context_release(same);
    uw_tls_context_release(other);
}

TEST(sessions_are_resumed_by_whoever_has_the_secret)
{
    on_each_backend_with_tls(resume);
}

/* The server ends its side after an alert, and then waits for the client to close. */
static void expect_failure(struct pair *pair)
{
    STEP_UNTIL(pair, pair->ended);
    hang_up(pair);
    STEP_UNTIL(pair, pair->owner.ends);
    CHECK_EQUAL(-EPROTO, pair->owner.end);
    CHECK_EQUAL(0, pair->owner.ready);
}

/* By a client that sends early data (RFC 8446, 4.2.10), though no ticket allows any. */
static struct pair *send_early(const char *backend, size_t length, const char *groups)
{
    SSL_SESSION *session = session_with(backend, context, TLS1_3_VERSION, NULL, false);
    struct pair *pair = pair_open(backend, context);
    size_t written = 0;

    CHECK_EQUAL(1, SSL_SESSION_set_max_early_data(session, (uint32_t)length));
    CHECK_EQUAL(1, SSL_set_session(pair->client, session));
    if (groups)
        CHECK_EQUAL(1, SSL_set1_groups_list(pair->client, groups));
    CHECK_EQUAL(1, SSL_write_early_data(pair->client, pattern, length, &written));
    CHECK_EQUAL(length, written);
    SSL_SESSION_free(session);
    return pair;
}

static void reject_early_data(const char *backend)
{
    static const char *const groups[] = {NULL, ASKED_AGAIN};

    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct pair *pair = send_early(backend, 1000, groups[i]);

        shake_hands(pair);
        CHECK_EQUAL(SSL_EARLY_DATA_REJECTED, SSL_get_early_data_status(pair->client));
        CHECK_EQUAL(0, pair->owner.length);
        client_writes(pair, "hello", 5);
        STEP_UNTIL(pair, pair->owner.length == 5);
        CHECK(memcmp(received_by_owner, "hello", 5) == 0);
        pair_close(pair);
    }
}

TEST(early_data_is_never_taken)
{
    on_each_backend_with_tls(reject_early_data);
}

/* More than a client may send that has not heard yet of the refusal. */
static void send_much_early(const char *backend)
{
    struct pair *pair = send_early(backend, 100000, NULL);

    begin(pair);
    expect_failure(pair);
    CHECK_EQUAL(0, pair->owner.length);
    pair_close(pair);
}

TEST(nor_read_without_end)
{
    on_each_backend_with_tls(send_much_early);
}

/* The client guesses a group that the server lacks, and is asked for another (HelloRetryRequest: RFC 8446, 4.1.4). */
static void ask_again(const char *backend)
{
    struct pair *pair = pair_open(backend, context);

    CHECK_EQUAL(1, SSL_set1_groups_list(pair->client, ASKED_AGAIN));
    shake_hands(pair);
    client_writes(pair, "hello", 5);
    STEP_UNTIL(pair, pair->owner.length == 5);
    pair_close(pair);

    pair = pair_open(backend, context);
    CHECK_EQUAL(1, SSL_set1_groups_list(pair->client, "ffdhe2048"));
    begin(pair);
    expect_failure(pair);
    pair_close(pair);
}

TEST(a_client_is_asked_for_another_group)
{
    on_each_backend_with_tls(ask_again);
}

/* Either all is as ever, or this connection ends. Returns whether there was memory enough. */
static bool exchange_with(const char *backend, long allocations)
{
    struct pair *pair = pair_open(backend, context);
    struct uw_chunk *answer = three_parts(200, 30000, 0);
    bool over = false, asked = false, complete;

    answer_with(pair, answer, 1);
    allocations_left = allocations;
    failing = true;
    if (pair->owner.endpoint.transport->open(&pair->owner.endpoint)) {
        pair->owner.endpoint.transport->close(&pair->owner.endpoint);
        over = true;
    }
    failing = false;
    for (int i = 0; i < TURNS_MAX && !over; i++) {
        step(pair);
        if (SSL_is_init_finished(pair->client) && !asked)
            asked = SSL_write(pair->client, "x", 1) == 1;
        over = pair->ended || pair->owner.ends || pair->length == 30200 || (pair->owner.sends && pair->owner.sent <= 0);
    }
    CHECK(over);
    complete = allocations_left > 0;
    allocations_left = -1;
    CHECK(!complete || pair->length == 30200);
    ERR_clear_error(); /* the client's */
    pair_close(pair);
    free_parts(answer);
    return complete;
}

static void run_out_of_memory(const char *backend)
{
    long allocations = 0;

    while (!exchange_with(backend, allocations))
        allocations += stride();
    CHECK(allocations > 100);
}

TEST(without_memory_one_connection_ends)
{
    on_each_backend_with_tls(run_out_of_memory);
}

static void stop_at_each_step_of_a_handshake(const char *backend)
{
    for (int steps = 0; steps < HANDSHAKE_STEPS_MAX; steps++)
        (void)stop_after(backend, steps, steps % 2);
}

TEST(handshakes_wait_in_line)
{
    crowded = true;
    on_each_backend_with_tls(exchange_in_pieces);
    on_each_backend_with_tls(close_within_each);
    on_each_backend_with_tls(stop_at_each_step_of_a_handshake);
    on_each_backend_with_tls(half_close);
    on_each_backend_with_tls(run_out_of_memory);
    crowded = false;
}

/* Those that others have left on this thread. */
static void meet_errors(const char *backend)
{
    struct pair *pair = pair_open(backend, context);

    ERR_raise(ERR_LIB_USER, 1);
    begin(pair);
    for (int i = 0; i < TURNS_MAX && !pair->owner.length; i++) {
        step(pair);
        if (pair->owner.ready && !BIO_pending(pair->from_client))
            (void)SSL_write(pair->client, "hello", 5);
        ERR_raise(ERR_LIB_USER, 1);
        turn(pair);
    }
    CHECK(pair->owner.length >= 5);
    pair_close(pair);
}

TEST(errors_of_others_do_not_matter)
{
    on_each_backend_with_tls(meet_errors);
}

TEST_MAIN
