#include "server/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

/* Prefix of IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2). */
static const unsigned char ipv4_mapped_prefix[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/* An IPv4 client of a dual-stack socket is shown with its IPv4 address. */
static bool ipv6_text(const struct in6_addr *address, char text[UW_ADDRESS_BYTES])
{
    return !memcmp(address->s6_addr, ipv4_mapped_prefix, sizeof ipv4_mapped_prefix)
               ? inet_ntop(AF_INET, address->s6_addr + sizeof ipv4_mapped_prefix, text, UW_ADDRESS_BYTES) != NULL
               : inet_ntop(AF_INET6, address, text, UW_ADDRESS_BYTES) != NULL;
}

bool uw_address_text(const struct sockaddr_storage *address, char text[UW_ADDRESS_BYTES], int *port)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET && inet_ntop(AF_INET, &v4->sin_addr, text, UW_ADDRESS_BYTES)) {
        *port = ntohs(v4->sin_port);
        return true;
    }
    if (address->ss_family == AF_INET6 && ipv6_text(&v6->sin6_addr, text)) {
        *port = ntohs(v6->sin6_port);
        return true;
    }
    return false;
}
