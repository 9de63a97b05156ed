#include "transport/tls_client_ca.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* State of reading CA certificates. The digest covers all of them. A session contains the digest, and so depends on the
 * CAs that have verified its client. */
struct ca_reader {
    SSL_CTX *ssl_context;
    EVP_MD_CTX *digest;
    size_t count;
    char *message;
};

static bool trust_certificate(struct ca_reader *ca_reader, X509 *certificate)
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned length;

    return X509_STORE_add_cert(SSL_CTX_get_cert_store(ca_reader->ssl_context), certificate) == 1 &&
           SSL_CTX_add_client_CA(ca_reader->ssl_context, certificate) == 1 &&
           X509_digest(certificate, EVP_sha256(), bytes, &length) == 1 &&
           EVP_DigestUpdate(ca_reader->digest, bytes, length) == 1;
}

static int trust_certificates(struct ca_reader *ca_reader, BIO *file, const char *path)
{
    X509 *certificate;
    bool trusted = true;

    while (trusted && (certificate = PEM_read_bio_X509(file, NULL, NULL, (void *)""))) {
        trusted = trust_certificate(ca_reader, certificate);
        ca_reader->count += trusted;
        X509_free(certificate);
    }
    if (!trusted || ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
        return uw_tls_explain(ca_reader->message, -EBADMSG, "%s holds a certificate that OpenSSL rejects", path);
    ERR_clear_error(); /* the end of the file is not an error */
    return 0;
}

static int read_file(struct ca_reader *ca_reader, const char *path)
{
    BIO *file;
    int error = uw_tls_file_open(&file, path, ca_reader->message);

    if (error)
        return error;
    error = trust_certificates(ca_reader, file, path);
    BIO_free(file);
    return error;
}

static int read_entry(struct ca_reader *ca_reader, const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;

    if (name[0] == '.')
        return 0;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return uw_tls_explain(ca_reader->message, -ENAMETOOLONG, "the path %s/%s is too long", folder, name);
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? read_file(ca_reader, path) : 0;
}

/* Names are sorted, so all processes get the same digest. */
static int read_folder(struct ca_reader *ca_reader, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort), error = 0;

    if (count < 0) {
        error = errno;
        snprintf(ca_reader->message, UW_TLS_MESSAGE_BYTES_MAX, "%s cannot be read: %s", path, strerror(error));
        return -error;
    }
    for (int i = 0; i < count; i++) {
        if (!error)
            error = read_entry(ca_reader, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return error;
}

static int read_path(struct ca_reader *ca_reader, const char *path)
{
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    int error = folder ? read_folder(ca_reader, path) : read_file(ca_reader, path);

    if (!error && ca_reader->count == 0)
        error = uw_tls_explain(ca_reader->message, -EBADMSG, "%s holds no certificate in PEM form", path);
    return error;
}

static int verify_mode(enum uw_tls_clients clients)
{
    switch (clients) {
    case UW_TLS_CLIENTS_REQUIRED:
        return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    case UW_TLS_CLIENTS_OPTIONAL:
        return SSL_VERIFY_PEER;
    default:
        return SSL_VERIFY_NONE;
    }
}

static bool set_session_context(struct ca_reader *ca_reader)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length;

    return EVP_DigestFinal_ex(ca_reader->digest, digest, &length) == 1 &&
           SSL_CTX_set_session_id_context(ca_reader->ssl_context, digest, length) == 1;
}

int uw_tls_clients_trust(SSL_CTX *ssl_context, const struct uw_tls_settings *settings,
                         char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    struct ca_reader ca_reader = {.ssl_context = ssl_context, .message = message};
    uint8_t mode = (uint8_t)settings->clients;
    int error = 0;

    if (settings->clients != UW_TLS_CLIENTS_UNASKED && !settings->ca_path)
        return uw_tls_explain(message, -EINVAL,
                              "client certificates are requested, but no file of CA certificates is set");
    ca_reader.digest = EVP_MD_CTX_new();
    SSL_CTX_set_verify(ssl_context, verify_mode(settings->clients), NULL);
    SSL_CTX_set_verify_depth(ssl_context, UW_TLS_CLIENT_CHAIN_MAX);
    SSL_CTX_set_max_cert_list(ssl_context, UW_TLS_CLIENT_CHAIN_BYTES_MAX);
    if (!ca_reader.digest || EVP_DigestInit_ex(ca_reader.digest, EVP_sha256(), NULL) != 1 ||
        EVP_DigestUpdate(ca_reader.digest, &mode, sizeof mode) != 1)
        error = uw_tls_explain(message, -ENOMEM, "memory is exhausted: the CA certificates of clients were not loaded");
    if (!error && settings->clients != UW_TLS_CLIENTS_UNASKED)
        error = read_path(&ca_reader, settings->ca_path);
    if (!error && !set_session_context(&ca_reader))
        error = uw_tls_explain(message, -ENOMEM, "memory is exhausted: the CA certificates of clients were not loaded");
    EVP_MD_CTX_free(ca_reader.digest);
    return error;
}
