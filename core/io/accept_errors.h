/* Classifies errors of accept(2) after which the listening socket still works: see the man page. EOPNOTSUPP is not
 * among them: a socket that cannot accept returns it for ever. */
#ifndef UW_IO_ACCEPT_ERRORS_H
#define UW_IO_ACCEPT_ERRORS_H

#include <errno.h>
#include <stdbool.h>

/* Returns whether the error concerns one client or its network. Other clients may still connect. */
static inline bool uw_accept_missed_one(int error)
{
    switch (error) {
    case ECONNABORTED:
    case ECONNRESET: /* Winsock reports this error instead */
    case EPROTO:
    case ENOPROTOOPT:
    case ETIMEDOUT:
    case ENETUNREACH:
    case EHOSTUNREACH:
#ifndef _WIN32 /* on Windows the network remains down after this error */
    case ENETDOWN:
#endif
#ifdef EHOSTDOWN
    case EHOSTDOWN:
#endif
#ifdef ENONET
    case ENONET:
#endif
        return true;
    default:
        return false;
    }
}

#endif
