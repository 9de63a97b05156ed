/* Requests that the cache answers allocate nothing: every call of the allocator by the server's thread is counted. */
#include "static_server_fixture.h"

#define REQUESTS 1000

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#endif

#if defined(__GLIBC__) && !SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_int allocations;
static _Thread_local bool counts;

static void count(void)
{
    if (counts)
        atomic_fetch_add(&allocations, 1);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

/* Between the server and the files: marks the server's thread as the one that counts. */
static void count_and_answer(void *context, struct uw_request *request, enum uw_event event)
{
    struct uw_handler handler = uw_static_handler(context);

    counts = true;
    handler.notify(handler.context, request, event);
}

static void configure(void)
{
    serve_handler = (struct uw_handler){.context = &files, .notify = count_and_answer};
    write_pattern("small", 1000);
    write_pattern("middle", FILE_BYTES_MAX);
    write_pattern("large", 50000);
}

/* One kept connection; `length` bytes of content are expected of each response. */
static void ask_often(int fd, const char *request, size_t length)
{
    static char bytes[65536];

    for (int i = 0; i < REQUESTS; i++) {
        size_t got = 0;
        char *end = NULL;

        client_send(fd, request);
        while (!end || got < (size_t)(end + 4 - bytes) + length) {
            ssize_t received = recv(fd, bytes + got, sizeof bytes - got - 1, 0);

            CHECK(received > 0);
            if (received <= 0)
                return;
            got += (size_t)received;
            bytes[got] = '\0';
            end = strstr(bytes, "\r\n\r\n");
        }
    }
}

SERVED_WITH(configure, a_request_that_the_cache_answers_allocates_nothing)
{
    static const struct {
        const char *request;
        size_t length;
    } asked[] = {
        {"GET /small HTTP/1.1\r\nHost: x\r\n\r\n", 1000},
        {"GET /middle HTTP/1.1\r\nHost: x\r\n\r\n", FILE_BYTES_MAX},
        {"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", 50000},
        {"GET /small HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n", 0},
        {"GET /large HTTP/1.1\r\nHost: x\r\nRange: bytes=10-99\r\n\r\n", 90},
    };
    int fd;

    if (getenv("UW_UNDER_VALGRIND"))
        SKIP("valgrind has an allocator of its own");
    fd = client_connect();
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        int before, during;

        ask_often(fd, asked[i].request, asked[i].length); /* the cache and the slabs are filled */
        before = atomic_load(&allocations);
        ask_often(fd, asked[i].request, asked[i].length);
        during = atomic_load(&allocations) - before;
        CHECK(during <= 10); /* once a second the file may be looked at again; far less than once a request */
    }
    CHECK(atomic_load(&allocations) > 0); /* they are counted at all */
    close(fd);
}

#else
TEST(allocations_are_counted)
{
    SKIP("this build has an allocator of its own");
}
#endif

SERVED_MAIN
