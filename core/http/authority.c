#include "http/authority.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "http/byte_class.h"

#define PORT_DIGITS_MAX 5
#define PORT_MAX 65535
#define ESCAPE_BYTES 3 /* "%41" */

static bool is_port(const char *port, size_t length)
{
    unsigned number = 0;

    if (length > PORT_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!uw_http_byte_is(port[i], UW_BYTE_DIGIT))
            return false;
        number = number * 10 + (unsigned)(port[i] - '0');
    }
    return number <= PORT_MAX;
}

/* Returns the end of "[" IPv6address "]", or NULL. */
static const char *ipv6_literal_end(const char *host, const char *end)
{
    const char *bracket = memchr(host, ']', (size_t)(end - host));
    size_t length = bracket ? (size_t)(bracket - host - 1) : 0;
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (length == 0 || length >= sizeof text || memchr(host + 1, '\0', length))
        return NULL;
    memcpy(text, host + 1, length);
    text[length] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1 ? bracket + 1 : NULL;
}

static bool is_hex(char c)
{
    return uw_http_byte_is(c, UW_BYTE_DIGIT) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Returns the end of a registered name or an IPv4 address. */
static const char *host_name_end(const char *at, const char *end)
{
    while (at < end) {
        if (uw_http_byte_is(*at, UW_BYTE_HOST))
            at++;
        else if (*at == '%' && end - at >= ESCAPE_BYTES && is_hex(at[1]) && is_hex(at[2]))
            at += ESCAPE_BYTES;
        else
            break;
    }
    return at;
}

bool uw_http_authority_is_valid(const char *text, size_t length, bool port_required)
{
    const char *end = text + length, *host_end;

    if (length == 0)
        return false;
    host_end = *text == '[' ? ipv6_literal_end(text, end) : host_name_end(text, end);
    if (!host_end || host_end == text)
        return false;
    if (host_end == end)
        return !port_required;
    if (*host_end != ':' || (port_required && host_end + 1 == end))
        return false;
    return is_port(host_end + 1, (size_t)(end - host_end - 1));
}
