#ifndef UW_TEST_OPEN_DESCRIPTORS_H
#define UW_TEST_OPEN_DESCRIPTORS_H

#include <fcntl.h>

#define DESCRIPTORS_SEEN 4096 /* the lowest are given first: what is left open is among these */

static inline int open_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < DESCRIPTORS_SEEN; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

#endif
