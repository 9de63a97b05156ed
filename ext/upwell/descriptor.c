/* One file in the place of another, under the number that the other has: standard output and error first of all. */
#include <fcntl.h>
#include <unistd.h>

#include "upwell.h"

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
    if (clear_nonblock(from) < 0 || (fd <= STDERR_FILENO ? dup2(from, fd) : dup3(from, fd, O_CLOEXEC)) < 0)
        rb_sys_fail("descriptor");
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
}
