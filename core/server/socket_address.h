/* The address of a socket as text. */
#ifndef UW_SERVER_SOCKET_ADDRESS_H
#define UW_SERVER_SOCKET_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#define UW_ADDRESS_BYTES 46 /* INET6_ADDRSTRLEN */

/* Writes the IP address without a name lookup. Sets `*port`. Returns false for other address families, and writes
 * nothing. */
bool uw_address_text(const struct sockaddr_storage *address, char text[UW_ADDRESS_BYTES], int *port);

#endif
