/* The keys of session tickets: stateless, so that no session takes memory here, and the same in all processes that have
 * the same secret, without a word between them. The secret goes on with the time: each epoch's is a hash of the one
 * before, which is then forgotten, so that whoever steals it reads no ticket of former epochs. The key of the last
 * epoch still opens tickets. */
#ifndef UW_TRANSPORT_TLS_TICKETS_H
#define UW_TRANSPORT_TLS_TICKETS_H

#include <pthread.h>
#include <stdbool.h>

#include "transport/tls_openssl.h"

/* What OpenSSL is told of a ticket: the session goes on, without or with another ticket. */
enum { UW_TLS_TICKET_USABLE = 1, UW_TLS_TICKET_RENEWED = 2 };

#define UW_TLS_TICKET_NAME_BYTES 16 /* as OpenSSL has it */
#define UW_TLS_TICKET_KEY_BYTES 32

struct uw_tls_ticket_key {
    uint8_t name[UW_TLS_TICKET_NAME_BYTES];
    uint8_t cipher[UW_TLS_TICKET_KEY_BYTES];
    uint8_t mac[UW_TLS_TICKET_KEY_BYTES];
};

struct uw_tls_tickets {
    pthread_mutex_t lock; /* handshakes of several loops may share the context */
    int64_t since, epoch; /* number of `secret`, counted from then */
    uint8_t secret[UW_TLS_TICKET_SECRET_BYTES];
    struct uw_tls_ticket_key key, former;
    bool has_former;
};

/* Returns 0 or -ENOMEM. */
int uw_tls_tickets_init(struct uw_tls_tickets *tickets, const struct uw_tls_settings *settings);
void uw_tls_tickets_free(struct uw_tls_tickets *tickets);

/* What SSL_CTX_set_tlsext_ticket_key_evp_cb asks for, see its man page. */
int uw_tls_tickets_key(struct uw_tls_tickets *tickets, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                       EVP_MAC_CTX *mac, bool encrypts);

/* Goes on to the epoch of that time, in Unix seconds; never back. Returns 0 or -ENOMEM. Apart for its test. */
int uw_tls_tickets_go_on(struct uw_tls_tickets *tickets, int64_t now);

#endif
