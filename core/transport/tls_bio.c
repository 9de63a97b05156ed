#include "transport/tls_bio.h"

#include <string.h>

#include "transport/tls_kernel.h"

/* OpenSSL 3 mentions the names of these commands only in a comment of its bio.h. */
#define SET_KERNEL 72
#define SET_RECORD_TYPE 74

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

/* RFC 8446, section 4.6.3: after the client's request for a key update the server must update its keys. The kernel's
 * keys cannot be changed, so the connection must end. */
static bool is_key_update(uint8_t type, const char *bytes)
{
    return type == SSL3_RT_HANDSHAKE && bytes[0] == SSL3_MT_KEY_UPDATE;
}

static int write_record(struct uw_tls_carrier *carrier, const char *bytes, int length)
{
    static const uint8_t alert[] = {SSL3_AL_FATAL, SSL_AD_INTERNAL_ERROR};
    uint8_t type = carrier->record_type;

    carrier->record_type = 0;
    if (type == 0)
        return -1;
    if (is_key_update(type, bytes)) {
        (void)uw_tls_kernel_send_record(carrier->fd, SSL3_RT_ALERT, alert, sizeof alert);
        return -1;
    }
    return uw_tls_kernel_send_record(carrier->fd, type, bytes, (size_t)length) ? -1 : length;
}

/* A write accepts all bytes or none, so OpenSSL never waits for space. */
static int write_output(BIO *bio, const char *bytes, int length)
{
    struct uw_tls_carrier *carrier = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (carrier->kernel_seals)
        return write_record(carrier, bytes, length);
    return uw_tls_buffer_append(carrier->buffers, &carrier->output, bytes, (size_t)length) ? length : -1;
}

/* All bytes that OpenSSL has sealed must be in the socket first. Otherwise OpenSSL continues to seal. */
static bool start_kernel_tls(struct uw_tls_carrier *carrier, const void *keys)
{
    if (carrier->in_flight || !uw_tls_buffer_send_now(carrier->buffers, &carrier->output, carrier->fd))
        return false;
    carrier->kernel_seals = uw_tls_kernel_start(carrier->fd, keys) == 0;
    return carrier->kernel_seals;
}

static long handle_control(BIO *bio, int command, long number, void *pointer)
{
    struct uw_tls_carrier *carrier = BIO_get_data(bio);

    switch (command) {
    case BIO_CTRL_FLUSH:
        return 1;
    case SET_KERNEL:
        return number && start_kernel_tls(carrier, pointer); /* 0: receiving side */
    case BIO_CTRL_GET_KTLS_SEND:
        return carrier->kernel_seals;
    case SET_RECORD_TYPE:
        carrier->record_type = (uint8_t)number;
        return 0;
    default:
        return 0;
    }
}

static int init_bio(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

BIO_METHOD *uw_tls_bio_method_new(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "upwell");

    if (method && BIO_meth_set_read(method, read_input) && BIO_meth_set_write(method, write_output) &&
        BIO_meth_set_ctrl(method, handle_control) && BIO_meth_set_create(method, init_bio))
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
