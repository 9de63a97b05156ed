#include "transport/tls_certificate.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The server does not ask for passwords, so an encrypted key is an error. */
static int refuse_password(char *password, int size, int writing, void *context)
{
    (void)password;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

static bool read_chain(struct uw_tls_identity *identity, BIO *file)
{
    X509 *next;

    identity->chain = sk_X509_new_null();
    if (!identity->chain)
        return false;
    while ((next = PEM_read_bio_X509(file, NULL, refuse_password, NULL)))
        if (!sk_X509_push(identity->chain, next)) {
            X509_free(next);
            return false;
        }
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE; /* at the end of the file */
}

static int read_certificates(struct uw_tls_identity *identity, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    BIO *file;
    int error = uw_tls_file_open(&file, path, message);

    if (error)
        return error;
    identity->certificate = PEM_read_bio_X509_AUX(file, NULL, refuse_password, NULL);
    if (!identity->certificate)
        error = uw_tls_explain(message, -EBADMSG, "%s holds no certificate in PEM form", path);
    else if (!read_chain(identity, file))
        error = uw_tls_explain(message, -EBADMSG, "%s: a certificate of the chain is damaged", path);
    ERR_clear_error(); /* the end of the file is not an error */
    BIO_free(file);
    return error;
}

/* Checks only the file. The directories above it may still deny access. */
static void warn_if_world_readable(const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    struct stat status;

    if (stat(path, &status) == 0 && status.st_mode & S_IROTH)
        uw_tls_warn(message, "every user of this machine can read the key in %s; run chmod o= on it", path);
}

static int read_key(struct uw_tls_identity *identity, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    BIO *file;
    int error = uw_tls_file_open(&file, path, message);

    if (error)
        return error;
    identity->key = PEM_read_bio_PrivateKey(file, NULL, refuse_password, NULL);
    if (!identity->key)
        error = uw_tls_explain(message, -EBADMSG, "%s holds no unencrypted private key in PEM form", path);
    else
        warn_if_world_readable(path, message);
    BIO_free(file);
    return error;
}

static int check_validity(const X509 *certificate, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
        return uw_tls_explain(message, -EKEYEXPIRED, "the certificate in %s has expired", path);
    if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
        return uw_tls_explain(message, -EKEYEXPIRED, "the certificate in %s is not valid yet", path);
    return 0;
}

int uw_tls_identity_read(struct uw_tls_identity *identity, const struct uw_tls_certificate *paths,
                         char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    const char *path = paths->certificate_path, *key_path = paths->key_path ? paths->key_path : path;
    struct uw_tls_ocsp_subject subject;
    int error;

    *identity = (struct uw_tls_identity){0};
    error = read_certificates(identity, path, message);
    if (!error)
        error = read_key(identity, key_path, message);
    if (!error && X509_check_private_key(identity->certificate, identity->key) != 1)
        error = uw_tls_explain(message, -EINVAL, "the key in %s does not match the certificate in %s", key_path, path);
    if (!error)
        error = check_validity(identity->certificate, path, message);
    subject = (struct uw_tls_ocsp_subject){paths, identity->certificate, identity->chain};
    if (!error && paths->ocsp_path)
        error = uw_tls_ocsp_read(&identity->ocsp, &subject, message);
    return error;
}

void uw_tls_identity_free(struct uw_tls_identity *identity)
{
    X509_free(identity->certificate);
    sk_X509_pop_free(identity->chain, X509_free);
    EVP_PKEY_free(identity->key);
    uw_tls_ocsp_free(&identity->ocsp);
}

bool uw_tls_identity_matches(const struct uw_tls_identity *identity, const char *host, bool wildcards)
{
    unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | (wildcards ? 0 : X509_CHECK_FLAG_NO_WILDCARDS);

    /* OpenSSL would match ".a" with any host below "a", and "*.a" with the wildcard itself. */
    if (host[0] == '.' || host[0] == '*')
        return false;
    return X509_check_host(identity->certificate, host, 0, flags, NULL) == 1;
}

static const ASN1_STRING *alternative_name(const GENERAL_NAMES *names)
{
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        int type;
        const ASN1_STRING *name = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, i), &type);

        if (type == GEN_DNS)
            return name;
    }
    return NULL;
}

static const ASN1_STRING *common_name(const X509 *certificate)
{
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);

    return at < 0 ? NULL : X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
}

char *uw_tls_identity_host(const struct uw_tls_identity *identity)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(identity->certificate, NID_subject_alt_name, NULL, NULL);
    const ASN1_STRING *name = names ? alternative_name(names) : common_name(identity->certificate);
    char *host = name ? strndup((const char *)ASN1_STRING_get0_data(name), (size_t)ASN1_STRING_length(name)) : NULL;

    GENERAL_NAMES_free(names);
    if (host && host[0] == '*')
        host[0] = 'a'; /* a host that matches the wildcard */
    return host;
}
