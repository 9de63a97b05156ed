/* Preloaded: names under slow.test take their time, and then are this host's. Where the environment names two pipes,
 * each lookup tells on the one that it has begun, and goes on once somebody opens the other. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DELAY_NS 200000000
#define DOMAIN ".slow.test"

typedef int resolve(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int is_slow(const char *name)
{
    size_t length = name ? strlen(name) : 0;

    return length > strlen(DOMAIN) && strcmp(name + length - strlen(DOMAIN), DOMAIN) == 0;
}

static int open_pipe(const char *path, int flags)
{
    int fd;

    while ((fd = open(path, flags | O_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    return fd;
}

static void hold(const char *begun, const char *release)
{
    int fd = open_pipe(begun, O_WRONLY);

    if (write(fd, ".", 1) != 1)
        abort();
    close(fd);
    close(open_pipe(release, O_RDONLY));
}

static void delay(void)
{
    struct timespec left = {.tv_nsec = DELAY_NS};

    while (nanosleep(&left, &left) < 0)
        continue;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    resolve *own = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
    const char *begun = getenv("SLOW_RESOLVER_BEGUN");

    if (!is_slow(name))
        return own(name, service, hints, found);
    if (begun)
        hold(begun, getenv("SLOW_RESOLVER_RELEASE"));
    else
        delay();
    return own("127.0.0.1", service, hints, found);
}
