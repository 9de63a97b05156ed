/* What accept(2) fails of though the listening socket is as it was: see its page. EOPNOTSUPP is not among it, as who
 * cannot accept at all is told so, too, and for ever. */
#ifndef UW_IO_ACCEPT_H
#define UW_IO_ACCEPT_H

#include <errno.h>
#include <stdbool.h>

/* Whether it is the client's fault, or the network's on the way to him: there may be others. */
static inline bool uw_accept_missed_one(int error)
{
    switch (error) {
    case ECONNABORTED:
    case ECONNRESET: /* as Winsock has it */
    case EPROTO:
    case ENOPROTOOPT:
    case ETIMEDOUT:
    case ENETUNREACH:
    case EHOSTUNREACH:
#ifndef _WIN32 /* whose network is down for good then */
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
