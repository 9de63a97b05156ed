#include "transport/tls_connection_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "transport/tls_openssl.h"

#define NAME_FLAGS (XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB)

enum part { CERTIFICATE, SUBJECT, ISSUER, SERIAL, PARTS };

struct client {
    struct uw_tls_client info;
    char text[];
};

/* Writes the parts in the order of `enum part`, each with a NUL. Stores the end of each part in `ends`. */
static bool write_parts(BIO *text, X509 *certificate, size_t ends[PARTS])
{
    for (int part = 0; part < PARTS; part++) {
        int written = part == CERTIFICATE ? PEM_write_bio_X509(text, certificate)
                      : part == SUBJECT   ? X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, NAME_FLAGS)
                      : part == ISSUER    ? X509_NAME_print_ex(text, X509_get_issuer_name(certificate), 0, NAME_FLAGS)
                                          : i2a_ASN1_INTEGER(text, X509_get0_serialNumber(certificate));

        if (written < 0 || (written == 0 && part == CERTIFICATE) || BIO_write(text, "", 1) != 1)
            return false;
        ends[part] = BIO_ctrl_pending(text);
    }
    return true;
}

static struct uw_tls_client *client_new(const char *text, const size_t ends[PARTS])
{
    struct client *client = malloc(sizeof *client + ends[PARTS - 1]);

    if (!client)
        return NULL;
    memcpy(client->text, text, ends[PARTS - 1]);
    client->info = (struct uw_tls_client){
        .certificate = client->text,
        .subject = client->text + ends[CERTIFICATE],
        .issuer = client->text + ends[SUBJECT],
        .serial = client->text + ends[ISSUER],
    };
    return &client->info;
}

static struct uw_tls_client *describe_certificate(X509 *certificate)
{
    BIO *text = BIO_new(BIO_s_mem());
    struct uw_tls_client *client = NULL;
    size_t ends[PARTS];
    char *bytes;

    if (text && write_parts(text, certificate, ends) && BIO_get_mem_data(text, &bytes) > 0)
        client = client_new(bytes, ends);
    BIO_free(text);
    return client;
}

bool uw_tls_peer_init(struct uw_tls_peer *peer, const struct uw_tls_context *context, const SSL *ssl)
{
    X509 *certificate = SSL_get0_peer_certificate(ssl);

    *peer = (struct uw_tls_peer){
        .version = SSL_get_version(ssl),
        .cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)),
        .name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name),
        .protocol = uw_tls_context_protocol(context, ssl),
        .client = certificate ? describe_certificate(certificate) : NULL,
    };
    return !certificate || peer->client;
}

void uw_tls_peer_free(struct uw_tls_peer *peer)
{
    if (peer->client)
        free(uw_container_of(peer->client, struct client, info));
    peer->client = NULL;
}
