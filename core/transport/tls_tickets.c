#include "transport/tls_tickets.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define KEY_LABEL "upwell ticket key"
#define NEXT_LABEL "upwell next ticket secret"

/* Return values for OpenSSL's callback */
enum { FAILED = -1, UNKNOWN = 0 };

/* Derives bytes by HKDF with SHA-256 (RFC 5869). */
static int derive_bytes(const uint8_t secret[UW_TLS_TICKET_SECRET_BYTES], const char *label, void *bytes, size_t length)
{
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, UW_TLS_TICKET_SECRET_BYTES),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)label, strlen(label)),
        OSSL_PARAM_construct_end(),
    };
    int derived = context && EVP_KDF_derive(context, bytes, length, parameters) == 1;

    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return derived ? 0 : -ENOMEM;
}

static int derive_key(struct uw_tls_tickets *tickets)
{
    return derive_bytes(tickets->secret, KEY_LABEL, &tickets->key, sizeof tickets->key);
}

static int advance_one_epoch(struct uw_tls_tickets *tickets)
{
    uint8_t next[UW_TLS_TICKET_SECRET_BYTES];
    int error = derive_bytes(tickets->secret, NEXT_LABEL, next, sizeof next);

    if (!error) {
        memcpy(tickets->secret, next, sizeof next);
        tickets->epoch++;
    }
    OPENSSL_cleanse(next, sizeof next);
    return error;
}

/* Advances to a later epoch. The keys of the epochs in between are not needed. */
static int advance_to_epoch(struct uw_tls_tickets *tickets, int64_t epoch)
{
    int error = 0;

    while (tickets->epoch < epoch && !error)
        error = advance_one_epoch(tickets);
    return error ? error : derive_key(tickets);
}

int uw_tls_tickets_advance(struct uw_tls_tickets *tickets, int64_t now)
{
    int64_t epoch = (now - tickets->since) / UW_TLS_TICKET_EPOCH_SECONDS;
    int error = 0;

    if (epoch <= tickets->epoch)
        return 0;
    if (epoch > tickets->epoch + 1)
        error = advance_to_epoch(tickets, epoch - 1);
    if (!error)
        error = advance_one_epoch(tickets);
    if (error)
        return error;
    tickets->previous = tickets->key;
    tickets->has_previous = true;
    return derive_key(tickets);
}

int uw_tls_tickets_init(struct uw_tls_tickets *tickets, const struct uw_tls_settings *settings)
{
    int error = pthread_mutex_init(&tickets->lock, NULL);

    if (error)
        return -error;
    tickets->since = settings->ticket_secret_since ? settings->ticket_secret_since : (int64_t)time(NULL);
    tickets->epoch = 0;
    tickets->has_previous = false;
    memcpy(tickets->secret, settings->ticket_secret, sizeof tickets->secret);
    error = derive_key(tickets);
    return error ? error : uw_tls_tickets_advance(tickets, (int64_t)time(NULL));
}

void uw_tls_tickets_free(struct uw_tls_tickets *tickets)
{
    pthread_mutex_destroy(&tickets->lock);
    OPENSSL_cleanse(tickets, sizeof *tickets);
}

/* Returns the key of a ticket, or NULL. */
static const struct uw_tls_ticket_key *find_key(const struct uw_tls_tickets *tickets, const unsigned char *name)
{
    if (!CRYPTO_memcmp(name, tickets->key.name, sizeof tickets->key.name))
        return &tickets->key;
    if (tickets->has_previous && !CRYPTO_memcmp(name, tickets->previous.name, sizeof tickets->previous.name))
        return &tickets->previous;
    return NULL;
}

static bool init_mac(EVP_MAC_CTX *mac, const struct uw_tls_ticket_key *key)
{
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key->mac, sizeof key->mac),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, "SHA256", 0),
        OSSL_PARAM_construct_end(),
    };

    return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

static int seal_ticket(const struct uw_tls_ticket_key *key, unsigned char *name, unsigned char *iv,
                       EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1 ||
        EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv) != 1 || !init_mac(mac, key))
        return FAILED;
    memcpy(name, key->name, sizeof key->name);
    return UW_TLS_TICKET_USABLE;
}

static int unseal_ticket(const struct uw_tls_tickets *tickets, const unsigned char *name, const unsigned char *iv,
                         EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
    const struct uw_tls_ticket_key *key = find_key(tickets, name);

    if (!key)
        return UNKNOWN;
    if (EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key->cipher, iv) != 1 || !init_mac(mac, key))
        return FAILED;
    return key == &tickets->key ? UW_TLS_TICKET_USABLE : UW_TLS_TICKET_RENEWED;
}

int uw_tls_tickets_key(struct uw_tls_tickets *tickets, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                       EVP_MAC_CTX *mac, bool encrypts)
{
    int answer = FAILED;

    pthread_mutex_lock(&tickets->lock);
    if (!uw_tls_tickets_advance(tickets, (int64_t)time(NULL)))
        answer = encrypts ? seal_ticket(&tickets->key, name, iv, cipher, mac)
                          : unseal_ticket(tickets, name, iv, cipher, mac);
    pthread_mutex_unlock(&tickets->lock);
    return answer;
}
