/* Events of a client where no memory is left. */
#include "push/event_stream.h"

#include "push/push_client_echo_server.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#endif

static inline void upgrade(struct uw_request *request)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

    client = uw_push_client_new(&server.server_context, &uw_push_client_event_stream, NULL);
    hand_over_upgrade(request, uw_chunk_copy(head, sizeof head - 1));
}

#if defined(__GLIBC__) && !SANITIZED

static bool exhausted;

void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    return exhausted ? NULL : __libc_malloc(size);
}

/* The handler has the first event. */
static void begin(void)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    open_server(NULL);
    keeps = true;
    fd = connect_to(listener);
    send_bytes(request, sizeof request - 1);
    await_events(1);
}

TEST(an_event_is_given_back)
{
    if (getenv("UW_UNDER_VALGRIND"))
        SKIP("valgrind has an allocator of its own");
    begin();
    exhausted = true;
    answer_waiting();
    exhausted = false;
    CHECK(uw_push_client_is_served(client));
    keeps = false;
    close_client();
    end("oc");
}

TEST(a_client_whose_event_cannot_be_told_is_closed)
{
    if (getenv("UW_UNDER_VALGRIND"))
        SKIP("valgrind has an allocator of its own");
    begin();
    answer_waiting();
    exhausted = true;
    uw_push_client_notify_refused(client);
    exhausted = false;
    keeps = false;
    await_no_connections();
    close(fd);
    end("oc");
}

#else

TEST(what_needs_exhausted_memory)
{
    SKIP("this allocator cannot be made to fail");
}

#endif

TEST_MAIN
