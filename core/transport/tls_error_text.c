#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "transport/tls_openssl.h"

int uw_tls_explain(char message[UW_TLS_MESSAGE_BYTES_MAX], int error, const char *format, ...)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(message, UW_TLS_MESSAGE_BYTES_MAX, format, arguments);
    va_end(arguments);
    if (reason && length > 0 && length < UW_TLS_MESSAGE_BYTES_MAX)
        snprintf(message + length, (size_t)(UW_TLS_MESSAGE_BYTES_MAX - length), " (OpenSSL: %s)", reason);
    ERR_clear_error();
    return error;
}

void uw_tls_warn(char message[UW_TLS_MESSAGE_BYTES_MAX], const char *format, ...)
{
    size_t length = strlen(message);
    va_list arguments;

    if (length)
        length += (size_t)snprintf(message + length, UW_TLS_MESSAGE_BYTES_MAX - length, "; ");
    if (length >= UW_TLS_MESSAGE_BYTES_MAX)
        return;
    va_start(arguments, format);
    (void)vsnprintf(message + length, UW_TLS_MESSAGE_BYTES_MAX - length, format, arguments);
    va_end(arguments);
}
