#include "transport/tls_context.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/tls_bio.h"
#include "transport/tls_certificate.h"
#include "transport/tls_client_ca.h"
#include "transport/tls_kernel.h"
#include "transport/tls_session.h"
#include "transport/tls_tickets.h"

#ifndef ELIBACC /* only Linux has ELIBACC. On other systems OpenSSL is linked */
#define ELIBACC ENOSYS
#endif

/* All ciphers have authenticated encryption and forward secrecy. AES-128 is the fastest of the secure ciphers. */
#define CIPHERS_OF_1_2 \
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:" \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" \
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
#define CIPHERS_OF_1_3 "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define GROUPS "X25519:P-256:P-384"
#define SECURITY_LEVEL 2 /* 112 bits: RSA keys of at least 2048 bits */
#define KEY_KINDS_MAX 4  /* RSA, ECDSA, Ed25519, Ed448: OpenSSL chooses a kind that the client supports */
#define TICKETS_PER_HANDSHAKE 1
#define DEFAULT_PROTOCOLS "http/1.1"

struct uw_tls_context {
    atomic_size_t references;
    SSL_CTX *ssl_context;
    BIO_METHOD *bio_method;
    struct uw_tls_identity *identities;
    size_t identity_count;
    struct uw_tls_tickets tickets;
    bool has_tickets;
    char protocols[UW_TLS_PROTOCOLS_BYTES_MAX + 1]; /* each name ends with a NUL, and the list with another NUL */
};

struct choice {
    const struct uw_tls_identity *identities[KEY_KINDS_MAX];
    size_t count;
};

static struct uw_tls_context *context_of(const SSL *ssl)
{
    return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}

/* A client gets the certificates of its SNI host, one for each kind of key. */

static bool has_key_kind(const struct choice *choice, const struct uw_tls_identity *identity)
{
    int kind = EVP_PKEY_get_base_id(identity->key);

    for (size_t i = 0; i < choice->count; i++)
        if (EVP_PKEY_get_base_id(choice->identities[i]->key) == kind)
            return true;
    return false;
}

static void add_matching(struct choice *choice, const struct uw_tls_context *context, const char *host, bool wildcards)
{
    for (size_t i = 0; i < context->identity_count && choice->count < KEY_KINDS_MAX; i++) {
        const struct uw_tls_identity *identity = &context->identities[i];

        if (!has_key_kind(choice, identity) && uw_tls_identity_matches(identity, host, wildcards))
            choice->identities[choice->count++] = identity;
    }
}

/* A certificate with the exact host has precedence over a wildcard certificate. */
static struct choice choose_certificates(const struct uw_tls_context *context, const char *host)
{
    struct choice choice = {.count = 0};

    add_matching(&choice, context, host, false);
    add_matching(&choice, context, host, true);
    return choice;
}

/* A client without a known host gets the first certificate, and certificates with other kinds of keys for the same
 * host. */
static struct choice choose_default_certificates(const struct uw_tls_context *context)
{
    struct choice choice = {.identities = {context->identities}, .count = 1};
    char *host = uw_tls_identity_host(context->identities);

    if (host) {
        add_matching(&choice, context, host, false);
        add_matching(&choice, context, host, true);
    }
    free(host);
    return choice;
}

static int use_certificates(SSL *ssl, void *argument)
{
    const char *host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    struct choice choice;

    if (!host || SSL_session_reused(ssl))
        return 1;
    choice = choose_certificates(argument, host);
    if (choice.count)
        SSL_certs_clear(ssl);
    for (size_t i = 0; i < choice.count; i++) {
        const struct uw_tls_identity *identity = choice.identities[i];

        if (SSL_use_cert_and_key(ssl, identity->certificate, identity->key, identity->chain, 1) != 1)
            return 0;
    }
    return 1;
}

static int use_default_certificates(struct uw_tls_context *context, const struct uw_tls_settings *settings,
                                    char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    struct choice choice = choose_default_certificates(context);

    for (size_t i = 0; i < choice.count; i++) {
        const struct uw_tls_identity *identity = choice.identities[i];

        if (SSL_CTX_use_cert_and_key(context->ssl_context, identity->certificate, identity->key, identity->chain, 1) !=
            1)
            return uw_tls_explain(message, -EINVAL, "OpenSSL rejects the certificate in %s or its key",
                                  settings->certificates[identity - context->identities].certificate_path);
    }
    if (context->identity_count > choice.count)
        SSL_CTX_set_cert_cb(context->ssl_context, use_certificates, context);
    return 0;
}

static int read_certificates(struct uw_tls_context *context, const struct uw_tls_settings *settings,
                             char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    size_t count = settings->certificate_count;
    int error = 0;

    if (count == 0 || count > UW_TLS_CERTIFICATES_MAX)
        return uw_tls_explain(message, -EINVAL, "an address takes 1 to %d certificates", UW_TLS_CERTIFICATES_MAX);
    context->identities = calloc(count, sizeof *context->identities);
    if (!context->identities)
        return uw_tls_explain(message, -ENOMEM, "memory is exhausted: the certificates were not loaded");
    while (context->identity_count < count && !error) {
        size_t i = context->identity_count++;

        error = uw_tls_identity_read(&context->identities[i], &settings->certificates[i], message);
        if (!error && SSL_CTX_use_certificate(context->ssl_context, context->identities[i].certificate) != 1)
            error = uw_tls_explain(message, -EINVAL, "OpenSSL rejects the certificate in %s",
                                   settings->certificates[i].certificate_path);
    }
    return error ? error : use_default_certificates(context, settings, message);
}

/* Acknowledges every SNI host, whichever certificate the client gets. So the session belongs to this host. */
static int acknowledge_name(SSL *ssl, int *alert, void *argument)
{
    (void)alert;
    (void)argument;
    return SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static int staple_ocsp_response(SSL *ssl, void *argument)
{
    const struct uw_tls_context *context = argument;
    const struct uw_tls_identity *identity = context->identities;
    unsigned char *copy;

    while (identity < context->identities + context->identity_count &&
           identity->certificate != SSL_get_certificate(ssl))
        identity++;
    if (identity == context->identities + context->identity_count || !uw_tls_ocsp_is_valid(&identity->ocsp))
        return SSL_TLSEXT_ERR_NOACK;
    copy = OPENSSL_memdup(identity->ocsp.bytes, identity->ocsp.length);
    if (!copy)
        return SSL_TLSEXT_ERR_NOACK;
    SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)identity->ocsp.length);
    return SSL_TLSEXT_ERR_OK;
}

/* ALPN (RFC 7301): the client sends each name as a length byte and the bytes of the name. */

static bool client_offers(const unsigned char *offered, unsigned length, const char *protocol)
{
    size_t bytes = strlen(protocol);

    for (unsigned at = 0; at < length; at += 1U + offered[at])
        if (offered[at] == bytes && length - at > bytes && memcmp(offered + at + 1, protocol, bytes) == 0)
            return true;
    return false;
}

static int select_protocol(SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                           unsigned offered_length, void *argument)
{
    const struct uw_tls_context *context = argument;

    (void)ssl;
    for (const char *protocol = context->protocols; *protocol; protocol += strlen(protocol) + 1)
        if (client_offers(offered, offered_length, protocol)) {
            *chosen = (const unsigned char *)protocol;
            *length = (unsigned char)strlen(protocol);
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

const char *uw_tls_context_protocol(const struct uw_tls_context *context, const SSL *ssl)
{
    const unsigned char *chosen;
    unsigned length;

    SSL_get0_alpn_selected(ssl, &chosen, &length);
    for (const char *protocol = context->protocols; length && *protocol; protocol += strlen(protocol) + 1)
        if (strlen(protocol) == length && memcmp(protocol, chosen, length) == 0)
            return protocol;
    return NULL;
}

static int set_protocols(struct uw_tls_context *context, const char *protocols, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    size_t length = strlen(protocols);

    if (length >= UW_TLS_PROTOCOLS_BYTES_MAX)
        return uw_tls_explain(message, -EINVAL, "the ALPN protocol names are too long");
    memcpy(context->protocols, protocols, length);
    for (char *comma = context->protocols; (comma = strchr(comma, ','));)
        *comma++ = '\0';
    SSL_CTX_set_alpn_select_cb(context->ssl_context, select_protocol, context);
    return 0;
}

/* A TLS 1.3 client uses each ticket once (RFC 8446, appendix C.4), so it always gets a new ticket. */
static int handle_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                             int encrypts)
{
    int answer = uw_tls_tickets_key(&context_of(ssl)->tickets, name, iv, cipher, mac, encrypts);

    return answer == UW_TLS_TICKET_USABLE && !encrypts && SSL_version(ssl) == TLS1_3_VERSION ? UW_TLS_TICKET_RENEWED
                                                                                             : answer;
}

static int enable_tickets(struct uw_tls_context *context, const struct uw_tls_settings *settings,
                          char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    SSL_CTX *ssl_context = context->ssl_context;

    if (uw_tls_tickets_init(&context->tickets, settings))
        return uw_tls_explain(message, -ENOMEM, "memory is exhausted: the keys of session tickets were not created");
    context->has_tickets = true;
    SSL_CTX_set_session_cache_mode(ssl_context, SSL_SESS_CACHE_SERVER | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_set_timeout(ssl_context, UW_TLS_TICKET_EPOCH_SECONDS);
    if (SSL_CTX_set_num_tickets(ssl_context, TICKETS_PER_HANDSHAKE) != 1 || !uw_tls_sessions_limit(ssl_context) ||
        SSL_CTX_set_tlsext_ticket_key_evp_cb(ssl_context, handle_ticket_key) != 1)
        return uw_tls_explain(message, -ENOMEM,
                              "OpenSSL cannot set up session resumption, probably for lack of memory");
    return 0;
}

static int restrict_protocols(SSL_CTX *ssl_context, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    SSL_CTX_set_options(ssl_context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_PRIORITIZE_CHACHA);
    if (uw_tls_kernel_probe())
        SSL_CTX_set_options(ssl_context, SSL_OP_ENABLE_KTLS);
    SSL_CTX_set_mode(ssl_context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_security_level(ssl_context, SECURITY_LEVEL);
    if (SSL_CTX_set_min_proto_version(ssl_context, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(ssl_context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(ssl_context, CIPHERS_OF_1_2) != 1 ||
        SSL_CTX_set_ciphersuites(ssl_context, CIPHERS_OF_1_3) != 1 ||
        SSL_CTX_set1_groups_list(ssl_context, GROUPS) != 1)
        return uw_tls_explain(message, -ENOTSUP, "the installed OpenSSL lacks TLS 1.2, TLS 1.3 or a cipher");
    return 0;
}

static int set_up_context(struct uw_tls_context *context, const struct uw_tls_settings *settings,
                          char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    SSL_CTX *ssl_context = SSL_CTX_new(TLS_server_method());
    int error;

    context->ssl_context = ssl_context;
    context->bio_method = uw_tls_bio_method_new();
    if (!ssl_context || !context->bio_method)
        return uw_tls_explain(message, -ENOMEM, "memory is exhausted: TLS was not set up");
    SSL_CTX_set_app_data(ssl_context, context);
    SSL_CTX_set_tlsext_servername_callback(ssl_context, acknowledge_name);
    SSL_CTX_set_tlsext_status_cb(ssl_context, staple_ocsp_response);
    SSL_CTX_set_tlsext_status_arg(ssl_context, context);
    error = restrict_protocols(ssl_context, message);
    if (!error)
        error = read_certificates(context, settings, message);
    if (!error)
        error = uw_tls_clients_trust(ssl_context, settings, message);
    if (!error)
        error = set_protocols(context, settings->protocols ? settings->protocols : DEFAULT_PROTOCOLS, message);
    return error ? error : enable_tickets(context, settings, message);
}

const char *uw_tls_missing(void)
{
    return uw_openssl_missing();
}

int uw_tls_context_new(struct uw_tls_context **context, const struct uw_tls_settings *settings,
                       char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    const char *missing = uw_openssl_missing();
    int error;

    *context = NULL;
    if (missing) {
        snprintf(message, UW_TLS_MESSAGE_BYTES_MAX, "TLS needs OpenSSL, which is missing: %s", missing);
        return -ELIBACC;
    }
    /* OpenSSL's cleanup at exit is off: in a forked child it would wait for locks that the loop's thread held at the
     * fork. */
    if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL))
        return uw_tls_explain(message, -ENOMEM, "OpenSSL cannot be initialized, probably for lack of memory");
    ERR_clear_error(); /* the application shares the thread's errors */
    message[0] = '\0';
    *context = calloc(1, sizeof **context);
    if (!*context)
        return uw_tls_explain(message, -ENOMEM, "memory is exhausted: TLS was not set up");
    atomic_init(&(*context)->references, 1);
    error = set_up_context(*context, settings, message);
    ERR_clear_error();
    if (error) {
        uw_tls_context_release(*context);
        *context = NULL;
    }
    return error;
}

struct uw_tls_context *uw_tls_context_retain(struct uw_tls_context *context)
{
    if (context)
        atomic_fetch_add(&context->references, 1);
    return context;
}

void uw_tls_context_release(struct uw_tls_context *context)
{
    if (!context || atomic_fetch_sub(&context->references, 1) > 1)
        return;
    SSL_CTX_free(context->ssl_context);
    BIO_meth_free(context->bio_method);
    for (size_t i = 0; i < context->identity_count; i++)
        uw_tls_identity_free(&context->identities[i]);
    free(context->identities);
    if (context->has_tickets)
        uw_tls_tickets_free(&context->tickets);
    free(context);
}

SSL *uw_tls_context_start(struct uw_tls_context *context, struct uw_tls_carrier *carrier)
{
    SSL *ssl = SSL_new(context->ssl_context);
    BIO *bio = ssl ? uw_tls_bio_new(context->bio_method, carrier) : NULL;

    if (!bio) {
        SSL_free(ssl);
        return NULL;
    }
    SSL_set_bio(ssl, bio, bio);
    SSL_set_accept_state(ssl);
    return ssl;
}

int64_t uw_tls_context_expiry(const struct uw_tls_context *context)
{
    int64_t now = (int64_t)time(NULL), expiry = INT64_MAX;

    for (size_t i = 0; i < context->identity_count; i++) {
        int64_t end = uw_tls_seconds_of(X509_get0_notAfter(context->identities[i].certificate), now);

        expiry = end < expiry ? end : expiry;
    }
    return expiry;
}
