/* What a context is made of, and which of its certificates a client gets. */
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <sys/stat.h>
#include <time.h>

#include "certificates.h"
#include "transport/tls_bio.h"
#include "transport/tls_connection_info.h"
#include "transport/tls_context.h"
#include "transport/tls_ocsp.h"
#include "transport/tls_session.h"
#include "transport/tls_tickets.h"

#define ROUNDS_MAX 100

static char message[UW_TLS_MESSAGE_BYTES_MAX];

static int make(struct uw_tls_context **context, const char *certificate, const char *key)
{
    struct uw_tls_certificate paths = {.certificate_path = certificate, .key_path = key};
    struct uw_tls_settings settings = {.certificates = &paths, .certificate_count = 1};

    message[0] = '\0';
    return uw_tls_context_new(context, &settings, message);
}

static void refuse(int error, const char *certificate, const char *key, const char *sentence)
{
    struct uw_tls_context *context;

    CHECK_EQUAL(error, make(&context, certificate, key));
    CHECK(context == NULL);
    CHECK(strstr(message, sentence) != NULL);
    if (!strstr(message, sentence))
        printf("%s\n", message);
    CHECK_EQUAL(0, ERR_peek_error());
}

static const char *write_text(const char *name, const char *text)
{
    const char *path = certificates_path(name);
    FILE *file = fopen(path, "w");

    fputs(text, file);
    fclose(file);
    return path;
}

static const char *write_encrypted(const struct issued *issued)
{
    const char *path = certificates_path("encrypted.key");
    FILE *file = fopen(path, "w");

    CHECK_EQUAL(1, PEM_write_PrivateKey(file, issued->key, EVP_aes_128_cbc(), NULL, 0, NULL, (void *)"password"));
    fclose(file);
    return path;
}

/* One that nobody writes to. */
static const char *make_pipe(const char *name)
{
    const char *path = certificates_path(name);

    CHECK_EQUAL(0, mkfifo(path, 0600));
    return path;
}

TEST(what_is_wrong_with_files_is_said_in_a_sentence)
{
    struct issued good = issue("EC", "a.example", NULL, 30, NULL), other = issue("EC", "a.example", NULL, 30, NULL);
    struct issued expired = issue("EC", "a.example", NULL, -1, NULL);
    const char *certificate = write_certificate(&good, "good.crt"), *key = write_key(&good, "good.key");
    struct uw_tls_context *context;

    CHECK_EQUAL(0, make(&context, certificate, key));
    CHECK(uw_tls_context_retain(context) == context);
    uw_tls_context_release(context);
    uw_tls_context_release(context);
    refuse(-ENOENT, "/nowhere", key, "/nowhere cannot be read: No such file or directory");
    refuse(-ENOENT, certificate, "/nowhere", "/nowhere cannot be read: No such file or directory");
    refuse(-EBADMSG, key, key, "good.key holds no certificate in PEM form");
    refuse(-EBADMSG, certificate, NULL, "good.crt holds no unencrypted private key in PEM form");
    refuse(-EBADMSG, certificate, write_encrypted(&good), "holds no unencrypted private key in PEM form");
    refuse(-EBADMSG, write_text("text", "hello\n"), key, "holds no certificate in PEM form");
    refuse(-EISDIR, certificates_path(""), key, "cannot be read: Is a directory");
    refuse(-ENODEV, certificate, "/dev/zero", "/dev/zero cannot be read: No such device");
    refuse(-EBADMSG, certificate, make_pipe("pipe"), "pipe holds no unencrypted private key in PEM form");
    refuse(-EINVAL, certificate, write_key(&other, "other.key"), "other.key does not match the certificate in");
    refuse(-EKEYEXPIRED, write_certificate(&expired, "old.crt"), write_key(&expired, "old.key"), "old.crt has expired");
    issued_free(&good);
    issued_free(&other);
    issued_free(&expired);
}

TEST(settings_that_do_not_go_together_are_refused)
{
    struct issued good = issue("EC", "a.example", NULL, 30, NULL);
    struct uw_tls_certificate paths = {.certificate_path = write_certificate(&good, "good.crt"),
                                       .key_path = write_key(&good, "good.key")};
    struct uw_tls_settings settings = {.certificates = &paths, .certificate_count = 1};
    struct uw_tls_context *context;

    settings.clients = UW_TLS_CLIENTS_REQUIRED;
    CHECK_EQUAL(-EINVAL, uw_tls_context_new(&context, &settings, message));
    settings.ca_path = "/nowhere";
    CHECK_EQUAL(-ENOENT, uw_tls_context_new(&context, &settings, message));
    settings.ca_path = paths.key_path;
    CHECK_EQUAL(-EBADMSG, uw_tls_context_new(&context, &settings, message));
    settings.ca_path = paths.certificate_path;
    CHECK_EQUAL(0, uw_tls_context_new(&context, &settings, message));
    uw_tls_context_release(context);
    settings.certificate_count = 0;
    CHECK_EQUAL(-EINVAL, uw_tls_context_new(&context, &settings, message));
    settings.certificate_count = 1;
    paths.ocsp_path = paths.key_path;
    CHECK_EQUAL(-ENODATA, uw_tls_context_new(&context, &settings, message));
    issued_free(&good);
}

/* A server and a client that talk in memory, without a loop. */
struct talk {
    SSL_CTX *clients;
    SSL *client, *server;
    BIO *to_client, *from_client;
    struct uw_tls_carrier carrier;
    struct uw_tls_peer peer;
};

static void talk_begin(struct talk *talk, struct uw_tls_context *context)
{
    *talk = (struct talk){.clients = SSL_CTX_new(TLS_client_method()),
                          .to_client = BIO_new(BIO_s_mem()),
                          .from_client = BIO_new(BIO_s_mem()),
                          .carrier = {.buffers = calloc(1, sizeof(struct uw_tls_buffers))}};
    talk->client = SSL_new(talk->clients);
    talk->server = uw_tls_context_start(context, &talk->carrier);
    BIO_set_mem_eof_return(talk->to_client, -1);
    SSL_set_bio(talk->client, talk->to_client, talk->from_client);
    SSL_set_connect_state(talk->client);
}

static void carry(struct talk *talk)
{
    char *bytes;

    talk->carrier.input_left = (size_t)BIO_get_mem_data(talk->from_client, &bytes);
    talk->carrier.input = bytes;
    if (SSL_is_init_finished(talk->server))
        (void)SSL_read(talk->server, talk->carrier.buffers->received, sizeof talk->carrier.buffers->received);
    else
        (void)SSL_do_handshake(talk->server);
    (void)BIO_reset(talk->from_client);
    if (talk->carrier.output) {
        (void)BIO_write(talk->to_client, talk->carrier.output->bytes, (int)talk->carrier.output->length);
        talk->carrier.output->length = 0;
    }
    ERR_clear_error();
}

/* Returns whether it came to an agreement. */
static bool talk_on(struct talk *talk)
{
    for (int i = 0; i < ROUNDS_MAX && !(SSL_is_init_finished(talk->client) && SSL_is_init_finished(talk->server));
         i++) {
        (void)SSL_do_handshake(talk->client);
        ERR_clear_error();
        carry(talk);
    }
    return SSL_is_init_finished(talk->client) && SSL_is_init_finished(talk->server);
}

static void talk_end(struct talk *talk)
{
    uw_tls_peer_free(&talk->peer);
    SSL_free(talk->client);
    SSL_free(talk->server);
    SSL_CTX_free(talk->clients);
    free(talk->carrier.output);
    free(talk->carrier.buffers);
}

/* The common name of the certificate that a client gets who asks for `host` and can verify `algorithms`. */
static void get(struct uw_tls_context *context, const char *host, const char *algorithms, const char *expected)
{
    char name[64] = "";
    struct talk talk;

    talk_begin(&talk, context);
    if (host)
        SSL_set_tlsext_host_name(talk.client, host);
    CHECK_EQUAL(1, SSL_set1_sigalgs_list(talk.client, algorithms));
    CHECK(talk_on(&talk));
    if (SSL_get0_peer_certificate(talk.client))
        X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(talk.client)), NID_commonName, name,
                                  sizeof name);
    CHECK(strcmp(expected, name) == 0);
    if (strcmp(expected, name))
        printf("%s: %s instead of %s\n", host ? host : "(none)", name, expected);
    talk_end(&talk);
}

#define CERTIFICATES 6

TEST(a_client_gets_the_certificate_of_the_host_it_asks_for)
{
    static const char *const ec = "ECDSA+SHA256", *const rsa = "rsa_pss_rsae_sha256",
                             *const any = "ECDSA+SHA256:rsa_pss_rsae_sha256";
    struct issued issued[CERTIFICATES] = {
        issue("RSA", "first", "DNS:a.host.example,DNS:b.host.example", 30, NULL),
        issue("EC", "wild", "DNS:*.host.example", 30, NULL),
        issue("EC", "first ec", "DNS:a.host.example", 30, NULL),
        issue("RSA", "c.host.example", NULL, 30, NULL),
        issue("EC", "d", "DNS:d.host.example,DNS:*.d.host.example", 30, NULL),
        issue("RSA", "d rsa", "DNS:d.host.example", 30, NULL),
    };
    static const char *const strange[] = {".d.host.example",
                                          ".host.example",
                                          ".c.host.example",
                                          ".",
                                          "..",
                                          "d.host.example.",
                                          "c..host.example",
                                          "c.host.example.",
                                          "d.host",
                                          "example",
                                          "127.0.0.1",
                                          "::1",
                                          "ac.host.example.x",
                                          "*.host.example",
                                          "*",
                                          "ad.h.example"};
    struct uw_tls_certificate paths[CERTIFICATES];
    struct uw_tls_settings settings = {.certificates = paths, .certificate_count = CERTIFICATES};
    struct uw_tls_context *context;

    for (int i = 0; i < CERTIFICATES; i++) {
        char name[32];

        snprintf(name, sizeof name, "%d.crt", i);
        paths[i] = (struct uw_tls_certificate){.certificate_path = write_certificate(&issued[i], name)};
        snprintf(name, sizeof name, "%d.key", i);
        paths[i].key_path = write_key(&issued[i], name);
        issued_free(&issued[i]);
    }
    CHECK_EQUAL(0, uw_tls_context_new(&context, &settings, message));
    get(context, NULL, rsa, "first");
    get(context, NULL, ec, "first ec");
    get(context, "nowhere.test", rsa, "first");
    get(context, "a.host.example", any, "first ec");
    get(context, "a.host.example", rsa, "first");
    get(context, "A.Host.Example", rsa, "first");
    get(context, "b.host.example", rsa, "first");
    get(context, "b.host.example", ec, "wild");
    get(context, "z.host.example", ec, "wild");
    get(context, "c.host.example", rsa, "c.host.example");
    get(context, "d.host.example", ec, "d");
    get(context, "d.host.example", rsa, "d rsa");
    get(context, "x.d.host.example", ec, "d");
    get(context, "x.y.d.host.example", rsa, "first");
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        get(context, strange[i], rsa, "first");
    uw_tls_context_release(context);
}

static struct uw_tls_context *with_clients(enum uw_tls_clients clients, const char *ca_path)
{
    static struct issued server;
    struct uw_tls_certificate paths;
    struct uw_tls_settings settings = {
        .certificates = &paths, .certificate_count = 1, .clients = clients, .ca_path = ca_path};
    struct uw_tls_context *context = NULL;

    server = issue("EC", "a.example", "DNS:a.example", 30, NULL);
    paths = (struct uw_tls_certificate){.certificate_path = write_certificate(&server, "server.crt"),
                                        .key_path = write_key(&server, "server.key")};
    CHECK_EQUAL(0, uw_tls_context_new(&context, &settings, message));
    issued_free(&server);
    return context;
}

static void be_client(struct talk *talk, struct uw_tls_context *context, const struct issued *client)
{
    talk_begin(talk, context);
    SSL_set_max_proto_version(talk->client,
                              TLS1_2_VERSION); /* there a client learns in the handshake if it is refused */
    if (client) {
        CHECK_EQUAL(1, SSL_use_certificate(talk->client, client->certificate));
        CHECK_EQUAL(1, SSL_use_PrivateKey(talk->client, client->key));
    }
}

static void verify_clients(const char *ca_path, const struct issued *signer)
{
    struct issued good = issue("EC", "J\xc3\xbcrgen, client", NULL, 30, signer),
                  other = issue("EC", "x", NULL, 30, NULL);
    struct uw_tls_context *required = with_clients(UW_TLS_CLIENTS_REQUIRED, ca_path);
    struct uw_tls_context *optional = with_clients(UW_TLS_CLIENTS_OPTIONAL, ca_path);
    char serial[32];
    struct talk talk;

    snprintf(serial, sizeof serial, "%lX", (long)ASN1_INTEGER_get(X509_get_serialNumber(good.certificate)));
    be_client(&talk, required, &good);
    CHECK(talk_on(&talk));
    CHECK(uw_tls_peer_init(&talk.peer, required, talk.server));
    CHECK(talk.peer.client && strcmp(talk.peer.client->subject, "CN=J\xc3\xbcrgen\\, client") == 0);
    CHECK(talk.peer.client && strcmp(talk.peer.client->issuer, "CN=signer") == 0);
    CHECK(talk.peer.client && strcmp(talk.peer.client->serial, serial) == 0);
    CHECK(talk.peer.client && strncmp(talk.peer.client->certificate, "-----BEGIN CERTIFICATE-----\n", 28) == 0);
    talk_end(&talk);
    be_client(&talk, required, &other);
    CHECK(!talk_on(&talk));
    talk_end(&talk);
    be_client(&talk, required, NULL);
    CHECK(!talk_on(&talk));
    talk_end(&talk);
    be_client(&talk, optional, NULL);
    CHECK(talk_on(&talk));
    CHECK(uw_tls_peer_init(&talk.peer, optional, talk.server));
    CHECK(talk.peer.client == NULL);
    talk_end(&talk);
    be_client(&talk, optional, &other);
    CHECK(!talk_on(&talk));
    talk_end(&talk);
    uw_tls_context_release(required);
    uw_tls_context_release(optional);
    issued_free(&good);
    issued_free(&other);
}

TEST(clients_are_verified)
{
    struct issued signer = issue("EC", "signer", NULL, 30, NULL), other = issue("EC", "other", NULL, 30, NULL);

    verify_clients(write_certificate(&signer, "ca.crt"), &signer);
    CHECK_EQUAL(0, mkdir(certificates_path("cas"), 0700));
    write_certificate(&other, "cas/a.crt");
    write_certificate(&signer, "cas/b.crt");
    verify_clients(certificates_path("cas"), &signer);
    issued_free(&signer);
    issued_free(&other);
}

/* Names of a client's own making, which it may be the first to think of. */
TEST(a_name_is_matched_as_a_whole_or_not_at_all)
{
    struct issued first = issue("EC", "first", "DNS:first.example", 30, NULL);
    struct issued second = issue("EC", "second", "DNS:*.host.example,DNS:w*.part.example", 30, NULL);
    struct uw_tls_certificate paths[] = {
        {.certificate_path = write_certificate(&first, "first.crt"), .key_path = write_key(&first, "first.key")},
        {.certificate_path = write_certificate(&second, "second.crt"), .key_path = write_key(&second, "second.key")}};
    struct uw_tls_settings settings = {.certificates = paths, .certificate_count = 2};
    struct uw_tls_context *context;
    char longest[256];

    CHECK_EQUAL(0, uw_tls_context_new(&context, &settings, message));
    get(context, "a.host.example", "ECDSA+SHA256", "second");
    get(context, "A.HOST.example", "ECDSA+SHA256", "second");
    get(context, "host.example", "ECDSA+SHA256", "first");
    get(context, ".host.example", "ECDSA+SHA256", "first");
    get(context, "..host.example", "ECDSA+SHA256", "first");
    get(context, "a..host.example", "ECDSA+SHA256", "first");
    get(context, "a.b.host.example", "ECDSA+SHA256", "first");
    get(context, "a.host.example.", "ECDSA+SHA256", "first");
    get(context, "www.part.example", "ECDSA+SHA256", "first");
    get(context, "*.part.example", "ECDSA+SHA256", "first");
    get(context, "*.host.example", "ECDSA+SHA256", "first");
    memset(longest, 'a', sizeof longest - 1);
    strcpy(longest + sizeof longest - sizeof ".host.example", ".host.example");
    get(context, longest, "ECDSA+SHA256", "second");
    uw_tls_context_release(context);
    issued_free(&first);
    issued_free(&second);
}

#define HOUR 3600
#define TICKET_HOURS (UW_TLS_TICKET_EPOCH_SECONDS / HOUR)
#define SESSION_HOURS (UW_TLS_SESSION_SECONDS_MAX / HOUR)

/* The hours for which another ticket is good that is made so many hours after the session began. */
static long ticket_hours(SSL_SESSION *session, long hours)
{
    SSL_SESSION_set_timeout(session, UW_TLS_TICKET_EPOCH_SECONDS);
    SSL_SESSION_set_time(session, hours * HOUR);
    CHECK(uw_tls_session_set_end(session, uw_tls_session_get_end(session)));
    return SSL_SESSION_get_timeout(session) / HOUR;
}

TEST(a_session_ends_however_often_it_is_resumed)
{
    SSL_SESSION *session = SSL_SESSION_new();
    int64_t end = uw_tls_session_end(0, INT64_MAX);

    CHECK_EQUAL(UW_TLS_SESSION_SECONDS_MAX, end);
    CHECK_EQUAL(0, uw_tls_session_get_end(session));
    SSL_SESSION_set_time(session, 0);
    CHECK(uw_tls_session_set_end(session, end));
    CHECK_EQUAL(end, uw_tls_session_get_end(session));
    CHECK_EQUAL(TICKET_HOURS, ticket_hours(session, 1));
    CHECK_EQUAL(1, ticket_hours(session, SESSION_HOURS - 1));
    CHECK_EQUAL(0, ticket_hours(session, SESSION_HOURS));
    CHECK_EQUAL(0, ticket_hours(session, SESSION_HOURS + 1));
    SSL_SESSION_free(session);
    CHECK(uw_tls_session_may_resume(end, 0));
    CHECK(uw_tls_session_may_resume(end, end - 1));
    CHECK(!uw_tls_session_may_resume(end, end));
    CHECK(!uw_tls_session_may_resume(end, -1)); /* the clock was set back */
    CHECK(!uw_tls_session_may_resume(0, end));  /* a ticket without an end */
}

TEST(a_session_ends_with_its_first_certificate)
{
    CHECK_EQUAL(HOUR, uw_tls_session_end(0, HOUR));
    CHECK(!uw_tls_session_may_resume(HOUR, HOUR));
}

/* What `issuer` says of `subject`, for so many days from now on, or without an end (0). */
static void write_ocsp_with(const char *path, const struct issued *issuer, const struct issued *subject, int status,
                            long days, unsigned long flags)
{
    OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
    OCSP_CERTID *id = OCSP_cert_to_id(EVP_sha256(), subject->certificate, issuer->certificate);
    ASN1_TIME *since = X509_gmtime_adj(NULL, -2 * DAY_SECONDS), *until = X509_gmtime_adj(NULL, days * DAY_SECONDS);
    OCSP_RESPONSE *response;
    BIO *file = BIO_new_file(path, "w");

    CHECK(OCSP_basic_add1_status(basic, id, status, 0, since, since, days ? until : NULL) != NULL);
    CHECK_EQUAL(1, OCSP_basic_sign(basic, issuer->certificate, issuer->key, EVP_sha256(), NULL, flags));
    response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
    CHECK_EQUAL(1, i2d_OCSP_RESPONSE_bio(file, response));
    BIO_free(file);
    ASN1_TIME_free(since);
    ASN1_TIME_free(until);
    OCSP_CERTID_free(id);
    OCSP_RESPONSE_free(response);
    OCSP_BASICRESP_free(basic);
}

static void write_ocsp(const char *path, const struct issued *issuer, const struct issued *subject, int status,
                       long days)
{
    write_ocsp_with(path, issuer, subject, status, days, 0);
}

/* What a server and its OCSP response are made of. */
struct vouched {
    struct issued signer, server;
    struct uw_tls_certificate paths;
    struct uw_tls_settings settings;
};

static void vouched_begin(struct vouched *vouched)
{
    *vouched = (struct vouched){.signer = issue("EC", "signer", NULL, 30, NULL)};
    vouched->server = issue("EC", "a.example", NULL, 30, &vouched->signer);
    vouched->paths = (struct uw_tls_certificate){.certificate_path = write_certificate(&vouched->server, "server.crt"),
                                                 .key_path = write_key(&vouched->server, "server.key"),
                                                 .ocsp_path = certificates_path("server.ocsp")};
    vouched->settings = (struct uw_tls_settings){.certificates = &vouched->paths, .certificate_count = 1};
}

static void vouched_end(struct vouched *vouched)
{
    issued_free(&vouched->signer);
    issued_free(&vouched->server);
}

static bool is_stapled(struct uw_tls_context *context, bool asked_for)
{
    const unsigned char *stapled;
    struct talk talk;
    bool came;

    talk_begin(&talk, context);
    if (asked_for)
        SSL_set_tlsext_status_type(talk.client, TLSEXT_STATUSTYPE_ocsp);
    CHECK(talk_on(&talk));
    came = SSL_get_tlsext_status_ocsp_resp(talk.client, &stapled) > 0;
    talk_end(&talk);
    return came;
}

TEST(an_ocsp_response_is_stapled)
{
    static const long days[] = {1, 0};

    for (int i = 0; i < 2; i++) {
        struct vouched vouched;
        struct uw_tls_context *context;

        vouched_begin(&vouched);
        write_ocsp(vouched.paths.ocsp_path, &vouched.signer, &vouched.server, V_OCSP_CERTSTATUS_GOOD, days[i]);
        CHECK_EQUAL(0, uw_tls_context_new(&context, &vouched.settings, message));
        CHECK(message[0] == '\0');
        CHECK(is_stapled(context, true));
        CHECK(!is_stapled(context, false));
        uw_tls_context_release(context);
        vouched_end(&vouched);
    }
}

TEST(an_ocsp_response_that_has_expired_is_warned_of_and_left_out)
{
    struct vouched vouched;
    struct uw_tls_context *context;

    vouched_begin(&vouched);
    write_ocsp(vouched.paths.ocsp_path, &vouched.signer, &vouched.server, V_OCSP_CERTSTATUS_GOOD, -1);
    CHECK_EQUAL(0, uw_tls_context_new(&context, &vouched.settings, message));
    CHECK(strstr(message, "server.ocsp has expired, so the server does not send it") != NULL);
    CHECK(!is_stapled(context, true));
    uw_tls_context_release(context);
    vouched_end(&vouched);
}

TEST(an_ocsp_response_is_valid_from_its_beginning_to_its_end)
{
    unsigned char byte;
    struct uw_tls_ocsp ocsp = {.bytes = &byte, .length = 1};
    int64_t now = (int64_t)time(NULL);

    ocsp.until = INT64_MAX;
    CHECK(uw_tls_ocsp_is_valid(&ocsp));
    ocsp.until = now;
    CHECK(!uw_tls_ocsp_is_valid(&ocsp));
    ocsp = (struct uw_tls_ocsp){.bytes = &byte, .length = 1, .since = now + DAY_SECONDS, .until = INT64_MAX};
    CHECK(!uw_tls_ocsp_is_valid(&ocsp));
    ocsp = (struct uw_tls_ocsp){.until = INT64_MAX};
    CHECK(!uw_tls_ocsp_is_valid(&ocsp));
}

/* As most authorities do: the response holds no certificate, so the issuer's has to be in the chain. */
TEST(an_ocsp_response_without_a_certificate_needs_the_chain)
{
    struct vouched vouched;
    struct uw_tls_context *context;
    FILE *file;

    vouched_begin(&vouched);
    write_ocsp_with(vouched.paths.ocsp_path, &vouched.signer, &vouched.server, V_OCSP_CERTSTATUS_GOOD, 1, OCSP_NOCERTS);
    CHECK_EQUAL(-ENOLINK, uw_tls_context_new(&context, &vouched.settings, message));
    CHECK(strstr(message, "lacks the issuer's certificate") != NULL);
    file = fopen(vouched.paths.certificate_path, "a");
    CHECK(file && PEM_write_X509(file, vouched.signer.certificate) == 1);
    fclose(file);
    CHECK_EQUAL(0, uw_tls_context_new(&context, &vouched.settings, message));
    CHECK(is_stapled(context, true));
    uw_tls_context_release(context);
    vouched_end(&vouched);
}

TEST(warnings_are_told_one_after_the_other)
{
    struct vouched vouched;
    struct uw_tls_context *context;

    vouched_begin(&vouched);
    write_ocsp(vouched.paths.ocsp_path, &vouched.signer, &vouched.server, V_OCSP_CERTSTATUS_GOOD, -1);
    CHECK_EQUAL(0, chmod(vouched.paths.key_path, 0604));
    CHECK_EQUAL(0, uw_tls_context_new(&context, &vouched.settings, message));
    CHECK(strstr(message, "server.key; run chmod o= on it; the OCSP response") != NULL);
    uw_tls_context_release(context);
    vouched_end(&vouched);
}

static void refuse_ocsp(const struct vouched *vouched, int error, const char *sentence)
{
    struct uw_tls_context *context;

    CHECK_EQUAL(error, uw_tls_context_new(&context, &vouched->settings, message));
    CHECK(strstr(message, sentence) != NULL);
    if (!strstr(message, sentence))
        printf("%s\n", message);
    CHECK_EQUAL(0, ERR_peek_error());
}

TEST(an_ocsp_response_that_does_not_say_that_the_certificate_is_good_is_refused)
{
    OCSP_RESPONSE *refusal = OCSP_response_create(OCSP_RESPONSE_STATUS_TRYLATER, NULL);
    struct vouched vouched;
    struct issued other;
    BIO *file;

    vouched_begin(&vouched);
    other = issue("EC", "b.example", NULL, 30, &vouched.signer);
    write_ocsp(vouched.paths.ocsp_path, &vouched.signer, &other, V_OCSP_CERTSTATUS_GOOD, 1);
    refuse_ocsp(&vouched, -ENODATA, "server.ocsp is not for the certificate in ");
    write_ocsp(vouched.paths.ocsp_path, &vouched.signer, &vouched.server, V_OCSP_CERTSTATUS_UNKNOWN, 1);
    refuse_ocsp(&vouched, -ENODATA, "says that the certificate is unknown");
    file = BIO_new_file(vouched.paths.ocsp_path, "w");
    CHECK_EQUAL(1, i2d_OCSP_RESPONSE_bio(file, refusal));
    BIO_free(file);
    refuse_ocsp(&vouched, -ENODATA, "server.ocsp has no certificate status: the responder returned \"trylater\"");
    write_text("server.ocsp", "");
    refuse_ocsp(&vouched, -ENODATA, "server.ocsp holds no OCSP response in DER form");
    CHECK_EQUAL(0, remove(vouched.paths.ocsp_path));
    refuse_ocsp(&vouched, -ENOENT, "server.ocsp cannot be read: No such file");
    OCSP_RESPONSE_free(refusal);
    issued_free(&other);
    vouched_end(&vouched);
}

#define SINCE 1000000000
#define EPOCH(number) (SINCE + (int64_t)(number)*UW_TLS_TICKET_EPOCH_SECONDS)

static struct uw_tls_tickets begin_tickets(int64_t epoch)
{
    struct uw_tls_settings settings = {.ticket_secret = {7}};
    struct uw_tls_tickets tickets;

    CHECK_EQUAL(0, uw_tls_tickets_init(&tickets, &settings));
    tickets.since = SINCE;
    CHECK_EQUAL(0, uw_tls_tickets_advance(&tickets, EPOCH(epoch)));
    return tickets;
}

static bool same(const struct uw_tls_ticket_key *a, const struct uw_tls_ticket_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

TEST(ticket_keys_go_on_with_the_time)
{
    struct uw_tls_tickets early = begin_tickets(0), late = begin_tickets(9);
    uint8_t first_secret[UW_TLS_TICKET_SECRET_BYTES];
    struct uw_tls_ticket_key first = early.key;

    memcpy(first_secret, early.secret, sizeof first_secret);
    CHECK(!early.has_previous);
    CHECK(late.has_previous && !same(&late.key, &late.previous) && !same(&late.key, &first));
    CHECK_EQUAL(0, uw_tls_tickets_advance(&early, EPOCH(1) - 1));
    CHECK(same(&early.key, &first));
    CHECK_EQUAL(0, uw_tls_tickets_advance(&early, EPOCH(1)));
    CHECK(!same(&early.key, &first) && same(&early.previous, &first) && early.has_previous);
    CHECK(memcmp(early.secret, first_secret, sizeof first_secret) != 0); /* forgotten */
    for (int epoch = 2; epoch < 9; epoch++)
        CHECK_EQUAL(0, uw_tls_tickets_advance(&early, EPOCH(epoch)));
    CHECK(same(&early.key, &late.previous));
    CHECK_EQUAL(0, uw_tls_tickets_advance(&early, EPOCH(9)));
    CHECK(same(&early.key, &late.key) && same(&early.previous, &late.previous));
    CHECK_EQUAL(0, uw_tls_tickets_advance(&early, EPOCH(3))); /* never back */
    CHECK(same(&early.key, &late.key));
    uw_tls_tickets_free(&early);
    uw_tls_tickets_free(&late);
}

int main(int argc, char **argv)
{
    int status = check_main("tls_context_test", argc > 1 ? argv[1] : NULL);

    certificates_remove();
    return status;
}
