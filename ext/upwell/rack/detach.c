/* Takes a connection out of the server, for an application that hijacks it. */
#include <ruby/io.h>

#include "io/hang_up.h"
#include "rack/rack.h"
#include "scheduler/scheduler.h"

static ID id_for_fd, id_handle_interrupt, id_is_closed, id_ungetbyte, id_client;

void rb_uw_init_detach(void)
{
    rb_require("socket");
    id_for_fd = rb_intern("for_fd");
    id_handle_interrupt = rb_intern("handle_interrupt");
    id_is_closed = rb_intern("closed?");
    id_ungetbyte = rb_intern("ungetbyte");
    id_client = rb_intern("@client");
}

static void detached(struct uw_detached *detached)
{
    struct rb_uw_detachment *detachment = uw_owner(detached, struct rb_uw_detachment, detached);
    struct rb_uw_host *host = detachment->host;

    if (detachment->wait)
        rb_uw_wait_end(detachment->wait); /* on this thread, like the loop */
    pthread_mutex_lock(&host->lock);
    detachment->done = true;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

static VALUE socket_class(const struct uw_request *request, int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;

    if (uw_request_peer(request)) /* one end of a pair */
        return rb_path2class("Upwell::TLS::HijackedSocket");
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 && address.ss_family == AF_UNIX)
        return rb_path2class("UNIXSocket");
    return rb_path2class("TCPSocket");
}

static VALUE ruby_socket(const struct uw_request *request, int fd)
{
    rb_update_max_fd(fd);
    return rb_funcall(socket_class(request, fd), id_for_fd, 1, INT2NUM(fd));
}

static VALUE client_of(const struct uw_request *request)
{
    return rb_assoc_new(rb_str_new_cstr(uw_request_remote(request)), INT2NUM(uw_request_remote_port(request)));
}

struct making {
    struct rb_uw_detachment *detachment;
    VALUE io; /* once there is one: then the descriptor is its own */
};

static VALUE make_io(RB_BLOCK_CALL_FUNC_ARGLIST(unused, argument))
{
    struct making *making = (struct making *)argument;
    struct uw_detached *detached = &making->detachment->detached;
    const struct uw_request *request = making->detachment->request;
    VALUE sent_ahead = rb_str_new(detached->bytes, (long)detached->length);

    (void)unused, (void)argc, (void)argv, (void)blockarg;
    making->io = ruby_socket(request, detached->fd);
    detached->fd = -1;
    if (uw_request_peer(request))
        rb_ivar_set(making->io, id_client, client_of(request));
    if (RSTRING_LEN(sent_ahead))
        rb_funcall(making->io, id_ungetbyte, 1, sent_ahead);
    return Qnil;
}

/* What other threads raise meanwhile would come when there is a socket, and nobody knows of it: it comes afterwards. */
static VALUE make_io_uninterrupted(VALUE making)
{
    VALUE mask = rb_hash_new();

    rb_hash_aset(mask, rb_cObject, ID2SYM(rb_intern("never")));
    return rb_block_call(rb_cThread, id_handle_interrupt, 1, &mask, make_io, making);
}

/* Not interruptible as long as the loop refers to this stack, which ends soon: see UW_DETACH_LOOKS. A trap handler may
 * have forked meanwhile. */
static VALUE take_out(VALUE argument)
{
    struct making *making = (struct making *)argument;

    rb_uw_detach_connection(making->detachment);
    if (making->detachment->detached.fd >= 0)
        make_io_uninterrupted(argument);
    rb_uw_refuse_copy(making->detachment->host);
    return making->io;
}

/* To close it would not end it for the client where a child process has it, too. What it raised would stand for what
 * unwinds the stack meanwhile. */
static VALUE shut_down_and_close(VALUE io)
{
    if (RTEST(rb_funcall(io, id_is_closed, 0)))
        return Qnil;
    (void)shutdown(rb_io_descriptor(io), SHUT_RDWR); /* fails when the client has gone */
    return rb_io_close(io);
}

void rb_uw_detached_close(const struct rb_uw_host *host, VALUE io)
{
    int ignored;

    rb_protect(rb_uw_host_is_copy(host) ? rb_io_close : shut_down_and_close, io, &ignored);
}

/* Of a copy it is the parent's connection. */
static void close_unowned(const struct making *making)
{
    const struct rb_uw_host *host = making->detachment->host;
    int fd = making->detachment->detached.fd;

    if (fd >= 0 && rb_uw_host_is_copy(host))
        close(fd);
    else if (fd >= 0)
        uw_hang_up(fd);
    if (!NIL_P(making->io))
        rb_uw_detached_close(host, making->io);
}

void rb_uw_refuse_hijack(void)
{
    rb_raise(rb_eIOError, "the connection cannot be hijacked: the client is gone, or has not read the answers to its "
                          "requests before");
}

/* What is raised meanwhile finds the connection in nobody's hands. */
VALUE rb_uw_detach(struct rb_uw_exchange *exchange, struct uw_chunk *head)
{
    struct rb_uw_detachment detachment = {
        .detached = {.done = detached, .head = head, .fd = -1},
        .host = exchange->host,
        .request = exchange->request,
    };
    struct making making = {&detachment, Qnil};
    int state;

    exchange->head_sent = head != NULL; /* nobody else may put anything before it */
    rb_protect(take_out, (VALUE)&making, &state);
    free(detachment.detached.bytes);
    if (detachment.detached.head) {
        uw_chunk_free(detachment.detached.head);
        exchange->head_sent = false;
    }
    if (state) {
        VALUE error = rb_errinfo();

        close_unowned(&making);
        rb_uw_unwind(state, error);
    }
    return making.io;
}
