/* Which of the sockets that listen on one port gets a new connection. */
#ifndef UW_SERVER_STEER_H
#define UW_SERVER_STEER_H

#include <stdint.h>

#define UW_STEERED_MAX 1024 /* of 4,096 instructions, and less memory on older kernels */

/* Has the kernel give new connections, at random, to `count` of the sockets that share the port and the address of `fd`
 * by SO_REUSEPORT (`man 7 socket`, SO_ATTACH_REUSEPORT_CBPF). `indexes` count them in the order in which they began to
 * listen; none of them may have been closed since. Without indexes all get some again, by the kernel's own hash.
 * Returns 0 or -errno, and then the last call that succeeded holds: -EINVAL where `fd` shares with nobody, -E2BIG for
 * more than UW_STEERED_MAX, -ENOSYS where the system has no such thing. */
int uw_steer(int fd, const uint32_t *indexes, uint32_t count);

#endif
