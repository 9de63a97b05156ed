#include "transport/tls_ocsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Reads one byte beyond the limit, to detect a larger file. */
static int read_bytes(struct uw_tls_ocsp *ocsp, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    BIO *file;
    int error = uw_tls_file_open(&file, path, message), count;

    if (error)
        return error;
    ocsp->bytes = malloc(UW_TLS_OCSP_BYTES_MAX + 1);
    count = ocsp->bytes ? BIO_read(file, ocsp->bytes, UW_TLS_OCSP_BYTES_MAX + 1) : 0;
    BIO_free(file);
    if (!ocsp->bytes)
        return uw_tls_explain(message, -ENOMEM, "memory is exhausted: %s was not read", path);
    ocsp->length = count > 0 ? (size_t)count : 0;
    return 0;
}

static int decode_response(OCSP_BASICRESP **basic, const struct uw_tls_ocsp *ocsp, const char *path,
                           char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    const unsigned char *bytes = ocsp->bytes;
    OCSP_RESPONSE *response = NULL;
    int status;

    if (ocsp->length <= UW_TLS_OCSP_BYTES_MAX)
        response = d2i_OCSP_RESPONSE(NULL, &bytes, (long)ocsp->length);
    if (!response)
        return uw_tls_explain(message, -ENODATA, "%s holds no OCSP response in DER form", path);
    status = OCSP_response_status(response);
    *basic = status == OCSP_RESPONSE_STATUS_SUCCESSFUL ? OCSP_response_get1_basic(response) : NULL;
    OCSP_RESPONSE_free(response);
    if (*basic)
        return 0;
    return uw_tls_explain(message, -ENODATA,
                          "the OCSP response in %s has no certificate status: the responder returned \"%s\"", path,
                          OCSP_response_status_str(status));
}

/* A certificate contains the name of its issuer, and the signature proves the issuer's key. */
static bool is_issued_by(X509 *certificate, X509 *candidate)
{
    return X509_check_issued(candidate, certificate) == X509_V_OK &&
           X509_verify(certificate, X509_get0_pubkey(candidate)) == 1;
}

static X509 *find_issuer_among(const STACK_OF(X509) * candidates, X509 *certificate)
{
    for (int i = 0; i < sk_X509_num(candidates); i++)
        if (is_issued_by(certificate, sk_X509_value(candidates, i)))
            return sk_X509_value(candidates, i);
    return NULL;
}

/* The issuer's certificate is in the chain or in the response. A certificate may be its own issuer. */
static X509 *find_issuer(const struct uw_tls_ocsp_subject *subject, const OCSP_BASICRESP *basic)
{
    X509 *issuer = find_issuer_among(subject->chain, subject->certificate);

    if (!issuer)
        issuer = find_issuer_among(OCSP_resp_get0_certs(basic), subject->certificate);
    ERR_clear_error(); /* clears errors from comparisons with other certificates */
    return issuer || !is_issued_by(subject->certificate, subject->certificate) ? issuer : subject->certificate;
}

/* Returns true if the response is for this certificate of this issuer: equal issuer name, issuer key and serial
 * number. */
static bool response_is_for(const OCSP_SINGLERESP *single, X509 *certificate, X509 *issuer)
{
    const OCSP_CERTID *id = OCSP_SINGLERESP_get0_id(single);
    ASN1_OBJECT *algorithm;
    const EVP_MD *digest;
    OCSP_CERTID *wanted;
    bool same;

    (void)OCSP_id_get0_info(NULL, &algorithm, NULL, NULL, (OCSP_CERTID *)id); /* cannot fail */
    digest = EVP_get_digestbyobj(algorithm);
    wanted = digest ? OCSP_cert_to_id(digest, certificate, issuer) : NULL;
    same = wanted && OCSP_id_cmp(wanted, id) == 0;
    OCSP_CERTID_free(wanted);
    return same;
}

static OCSP_SINGLERESP *find_single_response(OCSP_BASICRESP *basic, X509 *certificate, X509 *issuer)
{
    for (int i = 0; i < OCSP_resp_count(basic); i++) {
        OCSP_SINGLERESP *single = OCSP_resp_get0(basic, i);

        if (response_is_for(single, certificate, issuer))
            return single;
    }
    return NULL;
}

/* RFC 6960, section 4.2.2.2: the signer is the issuer, or a responder with a certificate that the issuer has signed for
 * this purpose. */
static bool is_signed_by_issuer(OCSP_BASICRESP *basic, X509 *issuer)
{
    X509_STORE *trusted = X509_STORE_new();
    STACK_OF(X509) *signers = sk_X509_new_null();
    bool is_signed = trusted && signers && X509_STORE_add_cert(trusted, issuer) == 1 &&
                     sk_X509_push(signers, issuer) > 0 &&
                     OCSP_basic_verify(basic, signers, trusted, OCSP_PARTIAL_CHAIN) == 1;

    sk_X509_free(signers);
    X509_STORE_free(trusted);
    return is_signed;
}

static int read_status_and_times(struct uw_tls_ocsp *ocsp, OCSP_SINGLERESP *single, const char *path,
                                 char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    ASN1_GENERALIZEDTIME *since, *until;
    int64_t now = (int64_t)time(NULL);
    int status = OCSP_single_get0_status(single, NULL, NULL, &since, &until);

    if (status != V_OCSP_CERTSTATUS_GOOD)
        return uw_tls_explain(message, -ENODATA, "the OCSP response in %s says that the certificate is %s", path,
                              OCSP_cert_status_str(status));
    ocsp->since = uw_tls_seconds_of(since, now);
    ocsp->until = until ? uw_tls_seconds_of(until, now) : INT64_MAX; /* NULL: newer information is always available */
    if (!uw_tls_ocsp_is_valid(ocsp))
        uw_tls_warn(message, "the OCSP response in %s %s, so the server does not send it; get a valid one", path,
                    ocsp->since > now ? "is not valid yet" : "has expired");
    return 0;
}

/* Verifies the signature first, then reads the status of the certificate. */
static int check_response(struct uw_tls_ocsp *ocsp, OCSP_BASICRESP *basic, const struct uw_tls_ocsp_subject *subject,
                          char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    const char *path = subject->paths->ocsp_path, *certificate_path = subject->paths->certificate_path;
    X509 *issuer = find_issuer(subject, basic);
    OCSP_SINGLERESP *single = issuer ? find_single_response(basic, subject->certificate, issuer) : NULL;

    if (!issuer)
        return uw_tls_explain(message, -ENOLINK,
                              "the OCSP response in %s cannot be verified: %s lacks the issuer's certificate", path,
                              certificate_path);
    if (!single)
        return uw_tls_explain(message, -ENODATA, "the OCSP response in %s is not for the certificate in %s", path,
                              certificate_path);
    if (!is_signed_by_issuer(basic, issuer))
        return uw_tls_explain(message, -ENODATA,
                              "the OCSP response in %s is not signed for the issuer of the certificate in %s", path,
                              certificate_path);
    return read_status_and_times(ocsp, single, path, message);
}

int uw_tls_ocsp_read(struct uw_tls_ocsp *ocsp, const struct uw_tls_ocsp_subject *subject,
                     char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    OCSP_BASICRESP *basic = NULL;
    int error = read_bytes(ocsp, subject->paths->ocsp_path, message);

    if (!error)
        error = decode_response(&basic, ocsp, subject->paths->ocsp_path, message);
    if (!error)
        error = check_response(ocsp, basic, subject, message);
    OCSP_BASICRESP_free(basic);
    return error;
}

void uw_tls_ocsp_free(struct uw_tls_ocsp *ocsp)
{
    free(ocsp->bytes);
}

bool uw_tls_ocsp_is_valid(const struct uw_tls_ocsp *ocsp)
{
    int64_t now = (int64_t)time(NULL);

    return ocsp->bytes && ocsp->since <= now && now < ocsp->until;
}
