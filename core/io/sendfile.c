#include "io/sendfile.h"

#include <errno.h>
#include <sys/uio.h>

#include "base/sigpipe.h"

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

/* sendfile(2) has no flag against SIGPIPE, so the thread blocks the signal. In a turn the block lasts until its end,
 * for all files of the turn. Outside a turn it lasts one call: the application may be about to create a process or a
 * thread. */
static void block_sigpipe(struct uw_loop *loop)
{
    if (!loop->sigpipe_blocked)
        loop->sigpipe_blocked = uw_sigpipe_block();
}

void uw_send_end_turn(struct uw_loop *loop)
{
    if (loop->sigpipe_raised)
        uw_sigpipe_take();
    if (loop->sigpipe_blocked)
        uw_sigpipe_unblock();
    loop->sigpipe_raised = loop->sigpipe_blocked = false;
}

static ssize_t send_file(struct uw_loop *loop, const struct uw_operation *operation)
{
    size_t left = operation->length - operation->done;
    size_t length = left < UW_SEND_FILE_BYTES_PER_TRY ? left : UW_SEND_FILE_BYTES_PER_TRY;
    ssize_t count;

    block_sigpipe(loop);
    count = uw_send_file_now(operation->fd, operation->file, operation->offset + operation->done, length);
    /* The signal is raised even if some bytes were sent before. */
    if (count < 0 ? errno == EPIPE : (size_t)count < length)
        loop->sigpipe_raised = true;
    return count;
}

int64_t uw_send_file_part(struct uw_loop *loop, struct uw_operation *operation)
{
    ssize_t count = send_file(loop, operation);
    int error = count < 0 ? errno : 0;

    if (!loop->turning)
        uw_send_end_turn(loop);
    if (error)
        return error == EINTR ? -EAGAIN : -error;
    operation->done += (uint32_t)count;
    return count == 0 || operation->done == operation->length ? (int64_t)operation->done : -EAGAIN;
}
