/* POSIX sockets on Windows, by numbers: see windows/descriptor_table.h. Constants have Winsock's values where Winsock
 * has them. */
#ifndef UW_WINDOWS_SYS_SOCKET_H
#define UW_WINDOWS_SYS_SOCKET_H

#include <stdint.h>
#include <sys/types.h>

#include "windows/posix_renames.h"
#include "windows/sockets_flags.h"

typedef int socklen_t;
typedef unsigned short sa_family_t;

struct sockaddr {
    sa_family_t sa_family;
    char sa_data[14];
};

struct sockaddr_storage {
    sa_family_t ss_family;
    char padding[6];
    int64_t alignment;
    char rest[112];
};

struct linger {
    unsigned short l_onoff, l_linger;
};

struct iovec {
    void *iov_base;
    size_t iov_len;
};

struct msghdr {
    void *msg_name;
    socklen_t msg_namelen;
    struct iovec *msg_iov;
    size_t msg_iovlen;
    void *msg_control;
    size_t msg_controllen;
    int msg_flags;
};

#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 23

#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_NONBLOCK UW_SOCKET_NONBLOCK
#define SOCK_CLOEXEC UW_SOCKET_CLOEXEC

#define SOL_SOCKET 0xffff
#define SO_REUSEADDR 0x0004
#define SO_KEEPALIVE 0x0008
#define SO_LINGER 0x0080
#define SO_SNDBUF 0x1001
#define SO_RCVBUF 0x1002
#define SO_RCVTIMEO 0x1006
#define SO_ERROR 0x1007
#define SO_TYPE 0x1008

#define MSG_OOB 1
#define MSG_PEEK 2
#define MSG_DONTWAIT UW_MESSAGE_DONTWAIT
#define MSG_NOSIGNAL 0

#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2

#define SOMAXCONN 0x7fffffff

int socket(int family, int type, int protocol) UW_RENAMED(socket);
int socketpair(int family, int type, int protocol, int ends[2]) UW_RENAMED(socketpair);
int bind(int fd, const struct sockaddr *address, socklen_t size) UW_RENAMED(bind);
int listen(int fd, int backlog) UW_RENAMED(listen);
int accept(int fd, struct sockaddr *address, socklen_t *size) UW_RENAMED(accept);
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags) UW_RENAMED(accept4);
int connect(int fd, const struct sockaddr *address, socklen_t size) UW_RENAMED(connect);
int shutdown(int fd, int how) UW_RENAMED(shutdown);
ssize_t recv(int fd, void *bytes, size_t length, int flags) UW_RENAMED(recv);
ssize_t send(int fd, const void *bytes, size_t length, int flags) UW_RENAMED(send);
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) UW_RENAMED(sendmsg);
int getsockname(int fd, struct sockaddr *address, socklen_t *size) UW_RENAMED(getsockname);
int getpeername(int fd, struct sockaddr *address, socklen_t *size) UW_RENAMED(getpeername);
int getsockopt(int fd, int level, int option, void *value, socklen_t *size) UW_RENAMED(getsockopt);
int setsockopt(int fd, int level, int option, const void *value, socklen_t size) UW_RENAMED(setsockopt);

#endif
