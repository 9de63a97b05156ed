/* Checks the authority of a request: host [":" port], without user information (RFC 9110, section 7.2). */
#ifndef UW_HTTP_AUTHORITY_H
#define UW_HTTP_AUTHORITY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if host and port are valid. The host is not empty: a registered name, an IPv4 address, or an IPv6
 * address in brackets (RFC 3986, section 3.2.2). IPvFuture is refused, because no address has this form. The port is at
 * most 65535. Without `port_required` the port may be missing or empty. */
bool uw_http_authority_is_valid(const char *text, size_t length, bool port_required);

#endif
