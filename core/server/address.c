#include "server/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

bool uw_address_text(const struct sockaddr_storage *address, char text[UW_ADDRESS_BYTES], int *port)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET && inet_ntop(AF_INET, &v4->sin_addr, text, UW_ADDRESS_BYTES)) {
        *port = ntohs(v4->sin_port);
        return true;
    }
    if (address->ss_family == AF_INET6 && inet_ntop(AF_INET6, &v6->sin6_addr, text, UW_ADDRESS_BYTES)) {
        *port = ntohs(v6->sin6_port);
        return true;
    }
    return false;
}
