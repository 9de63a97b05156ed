#include "io/send.h"

#include <errno.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <time.h>

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

static sigset_t sigpipe(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    return set;
}

/* sendfile(2) cannot be told not to raise SIGPIPE, and what that signal does is for the application to say, at any
 * time. So it is blocked in this thread: within a turn until its end, for all files of the turn; and else, since the
 * application may be about to create a process or a thread, no longer than for one call. */
static void block_sigpipe(struct uw_loop *loop)
{
    sigset_t set = sigpipe(), before;

    if (loop->sigpipe_blocked)
        return;
    pthread_sigmask(SIG_BLOCK, &set, &before);
    loop->sigpipe_blocked = !sigismember(&before, SIGPIPE); /* or its owner wants it so */
}

/* What is pending for the thread alone is taken before what is for the whole process. */
static void take_sigpipe(void)
{
    static const struct timespec at_once;
    sigset_t set = sigpipe();

    (void)sigtimedwait(&set, NULL, &at_once); /* fails when there was none after all */
}

static void unblock_sigpipe(void)
{
    sigset_t set = sigpipe();

    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void uw_send_end_turn(struct uw_loop *loop)
{
    if (loop->sigpipe_raised)
        take_sigpipe();
    if (loop->sigpipe_blocked)
        unblock_sigpipe();
    loop->sigpipe_raised = loop->sigpipe_blocked = false;
}

static ssize_t send_file(struct uw_loop *loop, const struct uw_operation *operation)
{
    size_t left = operation->length - operation->done;
    size_t length = left < UW_SEND_FILE_BYTES_PER_TRY ? left : UW_SEND_FILE_BYTES_PER_TRY;
    off_t offset = operation->offset + operation->done;
    ssize_t count;

    block_sigpipe(loop);
    count = sendfile(operation->fd, operation->file, &offset, length);
    /* The signal comes even when some bytes went before. */
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
