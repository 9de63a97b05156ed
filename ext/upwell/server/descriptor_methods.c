/* Standard output and error: replacing a descriptor's file, and writing to a pipe without a reader. Also the choice
 * among several listening sockets. */
#include "server/descriptor_methods.h"

#include <errno.h>
#include <fcntl.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <string.h>
#include <unistd.h>

#include "base/module.h"
#include "base/nonblocking_write.h"
#include "base/system.h"

/* O_NONBLOCK only served to open a pipe without waiting for its reader; writes may block. */
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
        rb_sys_fail_str(rb_sprintf("cannot replace descriptor %d", fd));
    return Qnil;
}

#define IN_HEAP_BYTES_MAX 1024 /* more than the largest slot of the heap */

struct writing {
    int fd;
    const char *bytes;
    size_t left;
    int error;
};

/* Continues after a partial write. */
static void *write_on(void *argument)
{
    struct writing *writing = argument;
    ssize_t count = uw_nonblocking_write(writing->fd, writing->bytes, writing->left);

    writing->error = count < 0 ? (int)-count : 0;
    if (count > 0) {
        writing->bytes += count;
        writing->left -= (size_t)count;
    }
    return NULL;
}

/* Returns text that is readable without the lock. Short text may be embedded in Ruby's heap, which another thread may
 * be compacting, so it is copied. */
static const char *out_of_heap(VALUE text, char *copy)
{
    size_t length = (size_t)RSTRING_LEN(text);

    return length <= IN_HEAP_BYTES_MAX ? memcpy(copy, RSTRING_PTR(text), length) : RSTRING_PTR(text);
}

/* Writes as much of a string as possible, and returns the number of bytes. Raises Errno::EPIPE without a reader, but
 * never SIGPIPE. The descriptor must not change while other threads run: Ruby itself never closes the three standard
 * ones. */
static VALUE write_without_signal(VALUE self, VALUE number, VALUE piece)
{
    char copy[IN_HEAP_BYTES_MAX];
    VALUE text = rb_str_new_frozen(StringValue(piece));
    struct writing writing = {NUM2INT(number), out_of_heap(text, copy), (size_t)RSTRING_LEN(text), 0};

    (void)self;
    while (writing.left > 0 && writing.error != EAGAIN) {
        rb_thread_call_without_gvl(write_on, &writing, RUBY_UBF_IO, NULL);
        if (writing.error && writing.error != EAGAIN)
            rb_syserr_fail_str(
                writing.error,
                rb_sprintf("cannot write to descriptor %d (1: standard output, 2: standard error)", writing.fd));
    }
    RB_GC_GUARD(text);
    return SIZET2NUM((size_t)RSTRING_LEN(text) - writing.left);
}

static uint32_t count_of(VALUE list)
{
    if (RARRAY_LEN(list) > UW_STEERED_MAX)
        rb_syserr_fail(E2BIG, "cannot distribute clients to so many sockets");
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
        rb_syserr_fail(-error, "cannot distribute clients to the sockets of the workers");
    return Qnil;
}

void rb_uw_init_descriptor(void)
{
    /* Document-module: Upwell::Descriptor
     *
     * Descriptor functions that Ruby's IO lacks; for the server itself. */
    VALUE descriptor = rb_define_module_under(rb_mUpwell, "Descriptor");

    /* @!visibility private */
    rb_define_singleton_method(descriptor, "replace", replace, 2);
    /* @!visibility private */
    rb_define_singleton_method(descriptor, "write", write_without_signal, 2);
    /* @!visibility private */
    rb_define_singleton_method(descriptor, "steer", steer, 2);
}
