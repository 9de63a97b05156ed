#include "io/send.h"

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

int uw_send_flags(const struct uw_operation *operation)
{
    return MSG_NOSIGNAL | (operation->more ? MSG_MORE : 0);
}

bool uw_send_vector_advance(struct uw_operation *operation, size_t count)
{
    struct msghdr *message = operation->data;

    operation->done += (uint32_t)count;
    while (message->msg_iovlen && count >= message->msg_iov->iov_len) {
        count -= message->msg_iov->iov_len;
        message->msg_iov++;
        message->msg_iovlen--;
    }
    if (message->msg_iovlen) {
        message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + count;
        message->msg_iov->iov_len -= count;
    }
    return message->msg_iovlen;
}

static ssize_t send_file(const struct uw_operation *operation)
{
    size_t left = operation->length - operation->done;
    off_t offset = operation->offset + operation->done;

    return sendfile(operation->fd, operation->file, &offset,
                    left < UW_SEND_FILE_BYTES_PER_TRY ? left : UW_SEND_FILE_BYTES_PER_TRY);
}

int64_t uw_send_file_part(struct uw_operation *operation)
{
    ssize_t count = send_file(operation);

    if (count < 0)
        return errno == EINTR ? -EAGAIN : -errno;
    operation->done += (uint32_t)count;
    return count == 0 || operation->done == operation->length ? (int64_t)operation->done : -EAGAIN;
}
