#ifndef UW_WINDOWS_ARPA_INET_H
#define UW_WINDOWS_ARPA_INET_H

#include <netinet/in.h>

int inet_pton(int family, const char *text, void *address) UW_RENAMED(inet_pton);
const char *inet_ntop(int family, const void *address, char *text, socklen_t size) UW_RENAMED(inet_ntop);

#endif
