/* A socket's address as text. */
#ifndef UW_SERVER_SOCKET_ADDRESS_H
#define UW_SERVER_SOCKET_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#define UW_ADDRESS_BYTES 46 /* INET6_ADDRSTRLEN */

/* Writes the number of an IPv4 or IPv6 address, and its port. Returns false for any other, of which nothing is written.
 */
bool uw_address_text(const struct sockaddr_storage *address, char text[UW_ADDRESS_BYTES], int *port);

#endif
