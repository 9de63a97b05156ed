/* Data that all connections of a TLS listener share: certificates by host, CA certificates of clients, ticket keys, and
 * OCSP responses. Files are read only when a context is created. A context is immutable: a reload creates another
 * context, and old connections keep the old one. */
#ifndef UW_TRANSPORT_TLS_CONTEXT_H
#define UW_TRANSPORT_TLS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_TLS_MESSAGE_BYTES_MAX 512
#define UW_TLS_CERTIFICATES_MAX 64
#define UW_TLS_TICKET_SECRET_BYTES 32
#define UW_TLS_TICKET_EPOCH_SECONDS (4 * 60 * 60) /* lifetime of a ticket. The key lives twice as long */
#define UW_TLS_PROTOCOLS_BYTES_MAX 256

struct uw_tls_context;

struct uw_tls_certificate {
    const char *certificate_path; /* PEM file of the certificate, followed by its chain */
    const char *key_path;         /* PEM file of the key. NULL: the key is in the same file */
    const char *ocsp_path;        /* DER file of the OCSP response for stapling. NULL: none */
};

enum uw_tls_clients {
    UW_TLS_CLIENTS_UNASKED,  /* the server requests no certificate */
    UW_TLS_CLIENTS_OPTIONAL, /* a certificate is verified if the client sends one */
    UW_TLS_CLIENTS_REQUIRED, /* without a valid certificate the handshake fails */
};

struct uw_tls_settings {
    const struct uw_tls_certificate *certificates; /* the first one serves clients without a matching SNI host */
    size_t certificate_count;
    const char *ca_path; /* PEM file or directory of CA certificates for client certificates. NULL: none */
    enum uw_tls_clients clients;
    const char *protocols; /* ALPN protocols, separated by commas, the preferred protocol first. NULL: "http/1.1" */
    /* Processes that resume each other's sessions share the secret and the time (Unix seconds) of its creation. Both
     * determine the ticket keys, see tls_tickets.h. */
    uint8_t ticket_secret[UW_TLS_TICKET_SECRET_BYTES];
    int64_t ticket_secret_since; /* 0: now, and no other process shares the secret */
};

/* Returns NULL, or a sentence that explains why TLS is missing. */
const char *uw_tls_missing(void);

/* Reads the files. The settings may be freed afterwards. Returns 0, or -errno with a sentence in `message` about the
 * fault and its file. -ENOSYS: built without TLS. -ELIBACC: OpenSSL is missing. -EKEYEXPIRED: a certificate has expired
 * or is not valid yet. -EBADMSG: a file lacks its content. -ENODATA: an OCSP response does not say that its certificate
 * is good. -EINVAL: settings or files do not match each other. Other errors: a file cannot be read. With 0, `message`
 * is empty or contains warnings, separated by "; ". An OCSP response is not valid now (it is stapled while valid), or
 * every user can read a key. */
int uw_tls_context_new(struct uw_tls_context **context, const struct uw_tls_settings *settings,
                       char message[UW_TLS_MESSAGE_BYTES_MAX]);

/* Contexts have counted references, and any thread may have one. Both functions accept NULL. */
struct uw_tls_context *uw_tls_context_retain(struct uw_tls_context *context);
void uw_tls_context_release(struct uw_tls_context *context);

/* Returns the time (Unix seconds) when the first of the server's own certificates expires, without their chains. */
int64_t uw_tls_context_expiry(const struct uw_tls_context *context);

#endif
