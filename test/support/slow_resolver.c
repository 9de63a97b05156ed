/* Preloaded: names under slow.test take their time, and then are this host's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

#define DELAY_NS 200000000
#define DOMAIN ".slow.test"

typedef int resolve(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int is_slow(const char *name)
{
    size_t length = name ? strlen(name) : 0;

    return length > strlen(DOMAIN) && strcmp(name + length - strlen(DOMAIN), DOMAIN) == 0;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    resolve *own = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
    struct timespec delay = {.tv_nsec = DELAY_NS};

    if (!is_slow(name))
        return own(name, service, hints, found);
    while (nanosleep(&delay, &delay) < 0)
        continue;
    return own("127.0.0.1", service, hints, found);
}
