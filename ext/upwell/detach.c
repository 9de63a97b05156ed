/* Takes a connection out of the server, for an application that hijacks it. */
#include <unistd.h>

#include "reactor.h"
#include "scheduler.h"

static ID id_for_fd, id_ungetbyte;

void rb_uw_init_detach(void)
{
    rb_require("socket");
    id_for_fd = rb_intern("for_fd");
    id_ungetbyte = rb_intern("ungetbyte");
}

static void detached(struct uw_detached *detached)
{
    struct rb_uw_detachment *detachment = uw_owner(detached, struct rb_uw_detachment, detached);
    struct rb_uw_reactor *reactor = detachment->reactor;

    if (detachment->wait)
        rb_uw_wait_end(detachment->wait); /* on this thread, like the loop */
    pthread_mutex_lock(&reactor->lock);
    detachment->done = true;
    pthread_cond_broadcast(&reactor->changed);
    pthread_mutex_unlock(&reactor->lock);
}

static VALUE ruby_socket(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    const char *class = "TCPSocket";

    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 && address.ss_family == AF_UNIX)
        class = "UNIXSocket";
    rb_update_max_fd(fd);
    return rb_funcall(rb_path2class(class), id_for_fd, 1, INT2NUM(fd));
}

static VALUE detach_connection(VALUE argument)
{
    rb_uw_detach_connection((struct rb_uw_detachment *)argument);
    return Qnil;
}

static VALUE make_io(VALUE argument)
{
    struct uw_detached *detached = (struct uw_detached *)argument;
    VALUE sent_ahead = rb_str_new(detached->bytes, (long)detached->length), io = ruby_socket(detached->fd);

    detached->fd = -1; /* the socket's, which closes it */
    if (RSTRING_LEN(sent_ahead))
        rb_funcall(io, id_ungetbyte, 1, sent_ahead);
    return io;
}

/* What is raised meanwhile finds the connection in nobody's hands. */
VALUE rb_uw_detach(struct rb_uw_exchange *exchange)
{
    struct rb_uw_detachment detachment = {
        .detached = {.done = detached, .fd = -1},
        .reactor = exchange->reactor,
        .request = exchange->request,
    };
    VALUE io = Qnil;
    int state;

    /* Not interruptible: it ends soon, within UW_DETACH_NS of the loop's, which refers to this stack until then. */
    rb_protect(detach_connection, (VALUE)&detachment, &state);
    if (!state && detachment.detached.fd >= 0)
        io = rb_protect(make_io, (VALUE)&detachment.detached, &state);
    free(detachment.detached.bytes);
    if (state && detachment.detached.fd >= 0)
        close(detachment.detached.fd);
    if (state)
        rb_jump_tag(state);
    return io;
}
