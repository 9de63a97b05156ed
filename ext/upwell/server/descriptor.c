/* Standard output and error: one file in the place of another, under the number that the other has; and writing to what
 * nobody may read any more. And which of several listening sockets gets a client. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/module.h"
#include "base/sigpipe.h"
#include "base/system.h"
#include "server/reactor.h"

/* It was opened so that nobody waits for a pipe's reader; who writes may. */
static int clear_nonblock(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/* IO#reopen would not do: with a path it closes the number before it opens, and with an IO it raises IOError into each
 * thread that writes meanwhile. The three standard descriptors are for child processes too. */
static VALUE replace(VALUE self, VALUE number, VALUE by)
{
    int fd = NUM2INT(number), from = NUM2INT(by);

    (void)self;
    if (clear_nonblock(from) < 0 || (fd <= STDERR_FILENO ? dup2(from, fd) : uw_replace(from, fd)) < 0)
        rb_sys_fail("descriptor");
    return Qnil;
}

#define IN_HEAP_BYTES_MAX 1024 /* more than the largest slot of the heap */

struct writing {
    int fd;
    const char *bytes;
    size_t left;
    int error;
};

/* What polls as writable takes this much without waiting, unless another process writes, too: see `man 7 pipe`. */
static ssize_t write_if_ready(const struct writing *writing)
{
    struct pollfd item = {.fd = writing->fd, .events = POLLOUT};

    if (poll(&item, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(writing->fd, writing->bytes, writing->left < PIPE_BUF ? writing->left : PIPE_BUF);
}

/* Terminals, and older kernels' pipes, cannot be asked not to wait this time. One of our own may be told not to wait,
 * without a word to those who have the other. */
static ssize_t write_anew(const struct writing *writing)
{
    int fd = uw_open_anew(writing->fd, O_WRONLY | O_NONBLOCK | O_NOCTTY), error;
    ssize_t count;

    if (fd < 0)
        return write_if_ready(writing);
    count = write(fd, writing->bytes, writing->left);
    error = errno;
    close(fd);
    errno = error;
    return count;
}

/* Another process may have taken the room that there was; and what polls as writable may have room for a part only. */
static ssize_t write_at_once(const struct writing *writing)
{
    ssize_t count = uw_write_now(writing->fd, writing->bytes, writing->left, -1);

    return count < 0 && errno == EOPNOTSUPP ? write_anew(writing) : count;
}

/* What is written in part is written on. */
static void *write_on(void *argument)
{
    struct writing *writing = argument;
    bool unblock = uw_sigpipe_block();
    ssize_t count;

    uw_sigpipe_spare(writing->fd);
    count = write_at_once(writing);
    writing->error = count < 0 ? errno : 0;
    if (writing->error == EPIPE)
        uw_sigpipe_take();
    if (unblock)
        uw_sigpipe_unblock();
    if (count > 0) {
        writing->bytes += count;
        writing->left -= (size_t)count;
    }
    return NULL;
}

/* Shorter text may lie in Ruby's heap, which another thread may be compacting: nobody else can read it then. */
static const char *out_of_heap(VALUE text, char *copy)
{
    size_t length = (size_t)RSTRING_LEN(text);

    return length <= IN_HEAP_BYTES_MAX ? memcpy(copy, RSTRING_PTR(text), length) : RSTRING_PTR(text);
}

static bool no_room(int error)
{
    return error == EAGAIN || error == EINTR;
}

/* Writes of a piece of text what there is room for, and returns how many bytes that are. Raises Errno::EPIPE when
 * nobody reads, but never SIGPIPE. Only for a number that stays what it is while other threads run: Ruby itself never
 * closes the three standard ones. */
static VALUE write_without_signal(VALUE self, VALUE number, VALUE piece)
{
    char copy[IN_HEAP_BYTES_MAX];
    VALUE text = rb_str_new_frozen(StringValue(piece));
    struct writing writing = {NUM2INT(number), out_of_heap(text, copy), (size_t)RSTRING_LEN(text), 0};

    (void)self;
    while (writing.left > 0 && !no_room(writing.error)) {
        rb_thread_call_without_gvl(write_on, &writing, RUBY_UBF_IO, NULL);
        if (writing.error && !no_room(writing.error))
            rb_syserr_fail(writing.error, "descriptor");
    }
    RB_GC_GUARD(text);
    return SIZET2NUM((size_t)RSTRING_LEN(text) - writing.left);
}

static uint32_t count_of(VALUE list)
{
    if (RARRAY_LEN(list) > UW_STEERED_MAX)
        rb_syserr_fail(E2BIG, "descriptor");
    return (uint32_t)RARRAY_LEN(list);
}

/* See uw_steer. */
static VALUE steer(VALUE self, VALUE number, VALUE list)
{
    uint32_t indexes[UW_STEERED_MAX], count = count_of(list);
    int error;

    (void)self;
    for (uint32_t i = 0; i < count; i++)
        indexes[i] = NUM2UINT(rb_ary_entry(list, i));
    error = uw_steer(NUM2INT(number), indexes, count);
    if (error)
        rb_syserr_fail(-error, "descriptor");
    return Qnil;
}

void rb_uw_init_descriptor(void)
{
    /* Document-module: Upwell::Descriptor
     *
     * What Ruby's IO cannot do with descriptors; for the server itself. */
    VALUE descriptor = rb_define_module_under(rb_mUpwell, "Descriptor");

    /* @!visibility private */
    rb_define_singleton_method(descriptor, "replace", replace, 2);
    /* @!visibility private */
    rb_define_singleton_method(descriptor, "write", write_without_signal, 2);
    /* @!visibility private */
    rb_define_singleton_method(descriptor, "steer", steer, 2);
}
