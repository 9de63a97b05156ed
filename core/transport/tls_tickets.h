/* The keys of session tickets. Tickets are stateless, so sessions use no memory in the server. All processes with the
 * same secret derive the same keys, without communication. The secret of each epoch is a hash of the previous secret,
 * which is then erased. So a stolen secret opens no ticket of past epochs. Only the previous key is kept to open
 * tickets. */
#ifndef UW_TRANSPORT_TLS_TICKETS_H
#define UW_TRANSPORT_TLS_TICKETS_H

#include <pthread.h>
#include <stdbool.h>

#include "transport/tls_openssl.h"

/* Results of the callback for a ticket: the session is resumed, without or with a new ticket */
enum { UW_TLS_TICKET_USABLE = 1, UW_TLS_TICKET_RENEWED = 2 };

#define UW_TLS_TICKET_NAME_BYTES 16 /* size that OpenSSL requires */
#define UW_TLS_TICKET_KEY_BYTES 32

struct uw_tls_ticket_key {
    uint8_t name[UW_TLS_TICKET_NAME_BYTES];
    uint8_t cipher[UW_TLS_TICKET_KEY_BYTES];
    uint8_t mac[UW_TLS_TICKET_KEY_BYTES];
};

struct uw_tls_tickets {
    pthread_mutex_t lock; /* handshakes of several loops may share the context */
    int64_t since, epoch; /* time of the first secret in Unix seconds, and the number of epochs since then */
    uint8_t secret[UW_TLS_TICKET_SECRET_BYTES];
    struct uw_tls_ticket_key key, previous;
    bool has_previous;
};

/* Returns 0 or -ENOMEM. */
int uw_tls_tickets_init(struct uw_tls_tickets *tickets, const struct uw_tls_settings *settings);
void uw_tls_tickets_free(struct uw_tls_tickets *tickets);

/* Implements the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb, see its man page. */
int uw_tls_tickets_key(struct uw_tls_tickets *tickets, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                       EVP_MAC_CTX *mac, bool encrypts);

/* Advances to the epoch of `now` (Unix seconds), but never back. Returns 0 or -ENOMEM. The function is public for
 * tests. */
int uw_tls_tickets_advance(struct uw_tls_tickets *tickets, int64_t now);

#endif
