/* What all connections of a TLS listener share: certificates by name, the trust in clients' certificates, ticket keys,
 * and the stapled OCSP responses. Reading files happens here and nowhere else; a context does not change once made: a
 * reload makes another, and the connections of the old one keep it until they end. */
#ifndef UW_TRANSPORT_TLS_CONTEXT_H
#define UW_TRANSPORT_TLS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_TLS_MESSAGE_BYTES_MAX 512
#define UW_TLS_CERTIFICATES_MAX 64
#define UW_TLS_TICKET_SECRET_BYTES 32
#define UW_TLS_TICKET_EPOCH_SECONDS (4 * 60 * 60) /* a session is resumed for as long; its key lives twice as long */
#define UW_TLS_PROTOCOLS_BYTES_MAX 256

struct uw_tls_context;

struct uw_tls_certificate {
    const char *certificate_path; /* PEM, with its chain behind it */
    const char *key_path;         /* PEM; NULL: in the same file */
    const char *ocsp_path;        /* DER, to be stapled; NULL: none */
};

enum uw_tls_clients {
    UW_TLS_CLIENTS_UNASKED,  /* no certificate is asked for */
    UW_TLS_CLIENTS_OPTIONAL, /* verified when given */
    UW_TLS_CLIENTS_REQUIRED, /* without one the handshake fails */
};

struct uw_tls_settings {
    const struct uw_tls_certificate *certificates; /* the first is used where no other has the client's name (SNI) */
    size_t certificate_count;
    const char *ca_path; /* PEM, a file or a folder: who signs clients' certificates; NULL: none */
    enum uw_tls_clients clients;
    const char *protocols; /* for ALPN, separated by commas, the preferred one first; NULL: "http/1.1" */
    /* Shared by all processes that are to resume each other's sessions, with the time (in Unix seconds) at which it was
     * made: ticket keys are derived from both, see tls_tickets.h. */
    uint8_t ticket_secret[UW_TLS_TICKET_SECRET_BYTES];
    int64_t ticket_secret_since; /* 0: now; then no other process has it */
};

/* Reads the files; settings are not needed afterwards. Returns 0; or -errno, with one sentence in `message` that says
 * what is wrong and where: -ENOSYS without OpenSSL, -EKEYEXPIRED for a certificate that has expired, -EBADMSG for a
 * file that does not hold what it should, -ENODATA for an OCSP response that does not say that its certificate is good,
 * -EINVAL for what does not go together, or why a file cannot be read. Together with 0 the sentence is a warning, of an
 * OCSP response that is not valid now: it is stapled while it is. Otherwise it is empty. */
int uw_tls_context_new(struct uw_tls_context **context, const struct uw_tls_settings *settings,
                       char message[UW_TLS_MESSAGE_BYTES_MAX]);

/* Counted: those who hold it may be on any thread. NULL is held and released as what it is. */
struct uw_tls_context *uw_tls_context_hold(struct uw_tls_context *context);
void uw_tls_context_release(struct uw_tls_context *context);

#endif
