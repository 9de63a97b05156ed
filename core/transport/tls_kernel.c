#if __has_include(<linux/tls.h>) && !defined(UW_PORTABLE_SYSTEM)

#include "transport/tls_kernel.h"

#include <errno.h>
#include <linux/tls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"

#ifndef SOL_TLS /* headers of older C libraries lack SOL_TLS */
#define SOL_TLS 282
#endif

static const char upper_layer[] = "tls";

static int set_tls_upper_layer(int fd)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_ULP, upper_layer, sizeof upper_layer) ? -errno : 0;
}

/* The option TCP_ULP requires a connection. Without a connection, a kernel with kTLS fails with ENOTCONN, and other
 * kernels fail with another error. */
bool uw_tls_kernel_probe(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

    if (fd < 0)
        return false;
    error = set_tls_upper_layer(fd);
    close(fd);
    return error == -ENOTCONN;
}

/* Returns the length of the kernel's keys, or 0 for an unsupported cipher. */
static socklen_t keys_length(const struct tls_crypto_info *keys)
{
    if (keys->version != TLS_1_2_VERSION && keys->version != TLS_1_3_VERSION)
        return 0;
    switch (keys->cipher_type) {
    case TLS_CIPHER_AES_GCM_128:
        return sizeof(struct tls12_crypto_info_aes_gcm_128);
    case TLS_CIPHER_AES_GCM_256:
        return sizeof(struct tls12_crypto_info_aes_gcm_256);
#ifdef TLS_CIPHER_CHACHA20_POLY1305
    case TLS_CIPHER_CHACHA20_POLY1305:
        return sizeof(struct tls12_crypto_info_chacha20_poly1305);
#endif
    default:
        return 0;
    }
}

int uw_tls_kernel_start(int fd, const void *keys)
{
    socklen_t length = keys_length(keys);
    int error = length ? set_tls_upper_layer(fd) : -ENOTSUP;

    if (error)
        return error;
    return setsockopt(fd, SOL_TLS, TLS_TX, keys, length) ? -errno : 0;
}

int uw_tls_kernel_send_record(int fd, uint8_t type, const void *bytes, size_t length)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof type)];
    } control = {
        .header = {.cmsg_level = SOL_TLS, .cmsg_type = TLS_SET_RECORD_TYPE, .cmsg_len = CMSG_LEN(sizeof type)}};
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t count;

    memcpy(CMSG_DATA(&control.header), &type, sizeof type);
    count = uw_send_vector_now(fd, &message, false);
    if (count < 0)
        return -errno;
    return (size_t)count == length ? 0 : -EAGAIN;
}

#endif
