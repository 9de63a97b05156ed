/* FreeBSD's sendfile(2), on Linux' own: what went before it had to wait is told beside the error. */
#include <errno.h>
#include <sys/sendfile.h>

struct sf_hdtr;

int freebsd_sendfile(int file, int socket, off_t offset, size_t length, struct sf_hdtr *around, off_t *sent, int flags);

int freebsd_sendfile(int file, int socket, off_t offset, size_t length, struct sf_hdtr *around, off_t *sent, int flags)
{
    size_t left = length;
    ssize_t count = 1;

    (void)around, (void)flags;
    while (left > 0 && (count = sendfile(socket, file, &offset, left)) > 0)
        left -= (size_t)count;
    *sent = (off_t)(length - left);
    return count < 0 ? -1 : 0;
}
