#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/tls_openssl.h"

/* Files and pipes have an end. Reading a device might never end. */
static int check_file_type(int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    return S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) ? 0 : -ENODEV;
}

/* Without O_NONBLOCK, open(2) of a pipe waits for a writer, possibly for ever. */
static int open_readable(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error;

    if (fd < 0)
        return -errno;
    error = check_file_type(fd);
    if (!error && fcntl(fd, F_SETFL, 0) < 0)
        error = -errno;
    if (!error)
        return fd;
    (void)close(fd); /* nothing was written */
    return error;
}

static int open_stream(BIO **file, const char *path)
{
    int fd = open_readable(path);
    FILE *stream;

    if (fd < 0)
        return fd;
    stream = fdopen(fd, "r");
    *file = stream ? BIO_new_fp(stream, BIO_CLOSE) : NULL;
    if (*file)
        return 0;
    (void)(stream ? fclose(stream) : close(fd));
    return -ENOMEM;
}

int uw_tls_file_open(BIO **file, const char *path, char message[UW_TLS_MESSAGE_BYTES_MAX])
{
    int error = open_stream(file, path);

    if (error)
        snprintf(message, UW_TLS_MESSAGE_BYTES_MAX, "%s cannot be read: %s", path, strerror(-error));
    return error;
}
