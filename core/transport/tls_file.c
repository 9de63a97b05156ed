#include <errno.h>
#include <string.h>

#include "transport/tls_openssl.h"

int uw_tls_file_open(BIO **file, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    int error;

    errno = 0;
    *file = BIO_new_file(path, "r");
    if (*file)
        return 0;
    error = errno ? errno : ENOMEM;
    snprintf(message, UW_TLS_MESSAGE_BYTES_MAX, "%s cannot be read: %s", path, strerror(error));
    return -error;
}
