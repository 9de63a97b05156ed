/* Certificates for tests, made in a folder of their own. */
#ifndef UW_TEST_CERTIFICATES_H
#define UW_TEST_CERTIFICATES_H

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define PATH_BYTES 256
#define DAY_SECONDS (24L * 60 * 60)

struct issued {
    X509 *certificate;
    EVP_PKEY *key;
};

static char certificates_folder[] = "/tmp/upwell-tls-XXXXXX";

static inline const char *certificates_path(const char *name)
{
    static char paths[32][PATH_BYTES];
    static unsigned used;
    char *path = paths[used % 32];

    if (used++ == 0 && !mkdtemp(certificates_folder))
        abort();
    snprintf(path, PATH_BYTES, "%s/%s", certificates_folder, name);
    return path;
}

static inline void certificates_remove(void)
{
    char command[PATH_BYTES];

    snprintf(command, sizeof command, "rm -rf %s", certificates_folder);
    CHECK_EQUAL(0, system(command));
}

static inline void add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

    CHECK(extension && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

/* One for all certificates: to find its primes takes long, most of all under valgrind. */
static inline EVP_PKEY *rsa_key(void)
{
    static EVP_PKEY *key;

    if (!key)
        key = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
    CHECK_EQUAL(1, EVP_PKEY_up_ref(key));
    return key;
}

/* `names` as OpenSSL writes alternative names ("DNS:a.example,DNS:*.b.example"), or NULL; `kind` "RSA" or "EC". */
static inline struct issued issue(const char *kind, const char *common_name, const char *names, long days,
                                  const struct issued *issuer)
{
    struct issued issued = {.certificate = X509_new()};
    static long serial = 0xabc0;

    issued.key = strcmp(kind, "RSA") ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256") : rsa_key();
    X509_set_version(issued.certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(issued.certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(issued.certificate), -2 * DAY_SECONDS);
    X509_gmtime_adj(X509_getm_notAfter(issued.certificate), days * DAY_SECONDS);
    X509_set_pubkey(issued.certificate, issued.key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(issued.certificate), "CN", MBSTRING_UTF8,
                               (const unsigned char *)common_name, -1, -1, 0);
    X509_set_issuer_name(issued.certificate, X509_get_subject_name(issuer ? issuer->certificate : issued.certificate));
    if (names)
        add_extension(issued.certificate, NID_subject_alt_name, names);
    if (!issuer)
        add_extension(issued.certificate, NID_basic_constraints, "critical,CA:TRUE");
    CHECK(X509_sign(issued.certificate, issuer ? issuer->key : issued.key, EVP_sha256()) > 0);
    return issued;
}

static inline void issued_free(struct issued *issued)
{
    X509_free(issued->certificate);
    EVP_PKEY_free(issued->key);
}

static inline const char *write_certificate(const struct issued *issued, const char *name)
{
    const char *path = certificates_path(name);
    FILE *file = fopen(path, "w");

    CHECK(file && PEM_write_X509(file, issued->certificate) == 1);
    fclose(file);
    return path;
}

static inline const char *write_key(const struct issued *issued, const char *name)
{
    const char *path = certificates_path(name);
    FILE *file = fopen(path, "w");

    CHECK_EQUAL(0, chmod(path, 0600));
    CHECK(file && PEM_write_PrivateKey(file, issued->key, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(file);
    return path;
}

#endif
