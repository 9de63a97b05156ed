/* The files that certificates, keys and OCSP responses are read from. */
#ifndef UW_TRANSPORT_TLS_FILE_H
#define UW_TRANSPORT_TLS_FILE_H

#include "transport/tls_openssl.h"

/* To be read by OpenSSL. A pipe is one, too, as the shell has for the output of a command; nobody waits for another who
 * might open it. Returns 0; or -errno with a sentence. */
int uw_tls_file_open(BIO **file, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX]);

#endif
