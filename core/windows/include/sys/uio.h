#ifndef UW_WINDOWS_SYS_UIO_H
#define UW_WINDOWS_SYS_UIO_H

#include <sys/socket.h>

#endif
