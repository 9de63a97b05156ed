#include "rack/to_path_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd_limit.h"

static ID id_to_path;

void rb_uw_init_body_file(void)
{
    id_to_path = rb_intern("to_path");
}

/* A String, or nil when the body names no file. */
static VALUE path_of(VALUE body)
{
    VALUE path = rb_respond_to(body, id_to_path) ? rb_funcall(body, id_to_path, 0) : Qnil;

    return NIL_P(path) ? Qnil : rb_get_path(path);
}

int64_t rb_uw_body_file_bytes(VALUE body)
{
    VALUE path = path_of(body);
    struct stat status;

    if (NIL_P(path) || stat(StringValueCStr(path), &status) || !S_ISREG(status.st_mode))
        return -1;
    return status.st_size;
}

static int open_path(struct rb_uw_rack_context *rack_context, VALUE path)
{
    int fd;

    do
        fd = rb_cloexec_open(StringValueCStr(path), O_RDONLY | O_NONBLOCK, 0);
    while (fd < 0 && uw_fd_limit_reached(-errno) && rb_uw_rack_context_give_up(rack_context));
    return fd;
}

int rb_uw_body_file_open(struct rb_uw_rack_context *rack_context, VALUE body, uint64_t length)
{
    VALUE path = path_of(body);
    struct stat status;
    int fd = NIL_P(path) ? -1 : open_path(rack_context, path);

    if (fd < 0)
        return -1;
    rb_update_max_fd(fd);
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || (uint64_t)status.st_size != length) {
        close(fd);
        return -1;
    }
    return fd;
}
