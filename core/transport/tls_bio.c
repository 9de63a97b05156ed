#include "transport/tls_bio.h"

#include <string.h>

static int read_input(BIO *bio, char *bytes, int length)
{
    struct uw_tls_carrier *carrier = BIO_get_data(bio);
    size_t count = (size_t)length < carrier->input_left ? (size_t)length : carrier->input_left;

    BIO_clear_retry_flags(bio);
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(bytes, carrier->input, count);
    carrier->input += count;
    carrier->input_left -= count;
    return (int)count;
}

/* It is all or nothing, so OpenSSL never has to wait for room. */
static int write_output(BIO *bio, const char *bytes, int length)
{
    struct uw_tls_carrier *carrier = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    return uw_tls_buffer_append(carrier->buffers, &carrier->output, bytes, (size_t)length) ? length : -1;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

BIO_METHOD *uw_tls_bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "upwell");

    if (method && BIO_meth_set_read(method, read_input) && BIO_meth_set_write(method, write_output) &&
        BIO_meth_set_ctrl(method, control) && BIO_meth_set_create(method, create))
        return method;
    BIO_meth_free(method);
    return NULL;
}

BIO *uw_tls_bio_new(const BIO_METHOD *method, struct uw_tls_carrier *carrier)
{
    BIO *bio = BIO_new(method);

    if (bio)
        BIO_set_data(bio, carrier);
    return bio;
}
