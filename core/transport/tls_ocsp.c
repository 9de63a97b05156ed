#include "transport/tls_ocsp.h"

#include <errno.h>
#include <openssl/ocsp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY_SECONDS (24 * 60 * 60)

/* One byte more than may be, so that it is seen. */
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
        return uw_tls_explain(message, -ENOMEM, "%s cannot be read", path);
    ocsp->length = count > 0 ? (size_t)count : 0;
    return 0;
}

static int decode(OCSP_BASICRESP **basic, const struct uw_tls_ocsp *ocsp, const char *path,
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
    return uw_tls_explain(message, -ENODATA, "the OCSP response in %s tells nothing: its status is \"%s\"", path,
                          OCSP_response_status_str(status));
}

static bool is_for(OCSP_CERTID *id, X509 *certificate)
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned length;
    ASN1_OCTET_STRING *issuer;
    ASN1_OBJECT *algorithm;
    ASN1_INTEGER *serial;
    const EVP_MD *digest;

    (void)OCSP_id_get0_info(&issuer, &algorithm, NULL, &serial, id); /* cannot fail */
    digest = EVP_get_digestbyobj(algorithm);
    return digest && ASN1_INTEGER_cmp(serial, X509_get0_serialNumber(certificate)) == 0 &&
           X509_NAME_digest(X509_get_issuer_name(certificate), digest, bytes, &length) == 1 &&
           ASN1_STRING_length(issuer) == (int)length && memcmp(ASN1_STRING_get0_data(issuer), bytes, length) == 0;
}

static OCSP_SINGLERESP *find(OCSP_BASICRESP *basic, X509 *certificate)
{
    for (int i = 0; i < OCSP_resp_count(basic); i++) {
        OCSP_SINGLERESP *single = OCSP_resp_get0(basic, i);

        if (is_for((OCSP_CERTID *)OCSP_SINGLERESP_get0_id(single), certificate))
            return single;
    }
    return NULL;
}

/* What is no time is past. */
static int64_t seconds_of(const ASN1_GENERALIZEDTIME *moment, int64_t now)
{
    int days, seconds;

    return ASN1_TIME_diff(&days, &seconds, NULL, moment) == 1 ? now + (int64_t)days * DAY_SECONDS + seconds : 0;
}

static int note_times(struct uw_tls_ocsp *ocsp, OCSP_SINGLERESP *single, const char *path,
                      char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    ASN1_GENERALIZEDTIME *since, *until;
    int64_t now = (int64_t)time(NULL);
    int status = OCSP_single_get0_status(single, NULL, NULL, &since, &until);

    if (status != V_OCSP_CERTSTATUS_GOOD)
        return uw_tls_explain(message, -ENODATA, "the OCSP response in %s says of the certificate that it is %s", path,
                              OCSP_cert_status_str(status));
    ocsp->since = seconds_of(since, now);
    ocsp->until = until ? seconds_of(until, now) : INT64_MAX; /* without one there is always a newer one to be had */
    if (!uw_tls_ocsp_is_valid(ocsp))
        snprintf(message, UW_TLS_MESSAGE_BYTES_MAX, "the OCSP response in %s %s, so clients do not get it", path,
                 ocsp->since > now ? "is not valid yet" : "has expired");
    return 0;
}

int uw_tls_ocsp_read(struct uw_tls_ocsp *ocsp, const struct uw_tls_certificate *paths, X509 *certificate,
                     char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    OCSP_BASICRESP *basic = NULL;
    OCSP_SINGLERESP *single;
    int error = read_bytes(ocsp, paths->ocsp_path, message);

    if (!error)
        error = decode(&basic, ocsp, paths->ocsp_path, message);
    if (error)
        return error;
    single = find(basic, certificate);
    if (single)
        error = note_times(ocsp, single, paths->ocsp_path, message);
    else
        error = uw_tls_explain(message, -ENODATA, "the OCSP response in %s is not that of the certificate in %s",
                               paths->ocsp_path, paths->certificate_path);
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
