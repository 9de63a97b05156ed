/* Flags of socket(2) and send(2) that Winsock lacks. */
#ifndef UW_WINDOWS_SOCKETS_FLAGS_H
#define UW_WINDOWS_SOCKETS_FLAGS_H

#define UW_SOCKET_NONBLOCK 0x800
#define UW_SOCKET_CLOEXEC 0x80000
#define UW_MESSAGE_DONTWAIT 0x40000000

#endif
