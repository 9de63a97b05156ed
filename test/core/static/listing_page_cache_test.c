/* Listings of large folders: made on a thread, for all who ask. */
#define FOLDER_PARENT "/dev/shm"
#include "static_server_fixture.h"

#include <limits.h>
#include <poll.h>

#include "http/path.h"

#define ENTRIES 3000
#define CLIENTS 50
#define NAME_LETTERS_MAX 255
#define TRIES 50
#define DEEPEST_BYTES (UW_HTTP_PATH_BYTES_MAX - 1) /* of a path, without the slash at its end */

static void configure(void)
{
    char name[32];

    serve_settings.list = true;
    make_folder("large");
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(name, sizeof name, "large/%d", i);
        CHECK_EQUAL(0, mknodat(folder, name, S_IFREG | 0644, 0));
    }
    write_text("small", "small");
    for (int i = 0; i < TRIES; i++) { /* each is a folder of its own to the server */
        snprintf(name, sizeof name, "link%d", i);
        make_link("large", name);
    }
}

static void ask_for(int fd, const char *target)
{
    char request[128];

    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", target);
    client_send(fd, request);
}

static void read_response(int fd)
{
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    close(fd);
    take_apart();
}

static size_t count_entries(void)
{
    size_t count = 0;

    for (const char *at = response.body; (at = strstr(at, "<tr><td><a href=")); at++)
        count++;
    return count;
}

/* Whoever else waits for the processor may have it while the listing is made: then it is tried again. */
SERVED_WITH(configure, others_are_served_while_a_listing_is_made)
{
    bool overtaken = false;

    for (int i = 0; i < TRIES && !overtaken; i++) {
        int slow = client_connect(), quick = client_connect();
        char target[32];

        snprintf(target, sizeof target, "/link%d/", i);
        ask_for(slow, target);
        ask_for(quick, "/small");
        read_response(quick);
        CHECK(body_is("small"));
        overtaken = poll(&(struct pollfd){slow, POLLIN, 0}, 1, 0) == 0;
        read_response(slow);
        CHECK_EQUAL(200, response.status);
        CHECK_EQUAL(ENTRIES + 1, count_entries());
    }
    CHECK(overtaken);
}

SERVED_WITH(configure, many_share_a_listing)
{
    int fds[CLIENTS];
    uint64_t seconds = (uint64_t)uw_clock_ns(), started_count;

    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = client_connect();
        ask_for(fds[i], "/large/");
    }
    for (int i = 0; i < CLIENTS; i++) {
        read_response(fds[i]);
        CHECK_EQUAL(200, response.status);
        CHECK_EQUAL(ENTRIES + 1, count_entries());
    }
    seconds = ((uint64_t)uw_clock_ns() - seconds) / UW_NS_PER_SECOND;
    started_count = files.listings.started_count;
    CHECK(started_count >= 1 && started_count <= 1 + seconds);
    CHECK_EQUAL(200, ask("HEAD", "/large/", ""));
}

SERVED_WITH(configure, a_listing_is_good_for_a_second)
{
    int64_t end_ns;

    CHECK_EQUAL(200, get("/large/"));
    write_text("large/new", "");
    end_ns = uw_clock_ns() + PATIENCE_S * UW_NS_PER_SECOND;
    do
        CHECK_EQUAL(200, get("/large/"));
    while (!strstr(response.body, "href=\"new\"") && uw_clock_ns() < end_ns && usleep(50000) == 0);
    CHECK(strstr(response.body, "href=\"new\""));
    for (int i = 0; i < 2 * UW_LISTINGS_KEPT_MAX; i++) {
        char target[32];

        snprintf(target, sizeof target, "/link%d/", i);
        CHECK_EQUAL(200, get(target));
        CHECK_EQUAL(ENTRIES + 2, count_entries());
    }
    CHECK(files.listings.ready_count <= UW_LISTINGS_KEPT_MAX + 1);
}

SERVED_WITH(configure, clients_that_leave_before_their_listing_leave_nothing)
{
    int64_t end_ns = uw_clock_ns() + PATIENCE_S * UW_NS_PER_SECOND;

    for (int i = 0; i < CLIENTS; i++) {
        char target[32];
        int fd = client_connect();

        snprintf(target, sizeof target, "/link%d/", i % 3);
        ask_for(fd, target);
        close(fd);
    }
    while (uw_server_connections(&server) && uw_clock_ns() < end_ns)
        CHECK_EQUAL(0, usleep(10000));
    CHECK_EQUAL(0, uw_server_connections(&server));
    CHECK(get("/small") == 200 && body_is("small"));
}

/* The next request of a connection comes when the one before is answered. */
SERVED_WITH(configure, pipelined_listings_are_answered_in_order)
{
    static const char request[] = "GET /large/ HTTP/1.1\r\nHost: x\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n"
                                  "GET /link1/ HTTP/1.1\r\nHost: x\r\n\r\n"
                                  "GET /large/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const char *at = response.bytes;
    int fd = client_connect();

    client_send(fd, request);
    read_response(fd);
    CHECK_EQUAL(3 * (ENTRIES + 1), count_entries());
    for (int i = 0; i < 4; i++) {
        at = strstr(at, "HTTP/1.1 200 OK\r\n");
        CHECK(at != NULL);
        at = at ? at + 1 : response.bytes;
    }
}

/* What is made after it is thrown away. */
SERVED_WITH(configure, a_server_may_end_before_its_listings)
{
    for (int i = 0; i < CLIENTS; i++) {
        char target[32];
        int fd = client_connect();

        snprintf(target, sizeof target, "/link%d/", i);
        ask_for(fd, target);
        close(fd);
    }
}

/* As where there can be no thread. */
SERVED_WITH(configure, without_a_thread_a_listing_is_made_at_once)
{
    CHECK(get("/small") == 200); /* the server's thread waits for the next request */
    uw_static_stop(&files);
    CHECK_EQUAL(200, get("/large/"));
    CHECK_EQUAL(0, files.jobs.thread_process);
    CHECK_EQUAL(ENTRIES + 1, count_entries());
    CHECK_EQUAL(404, get("/missing/"));
}

/* As deep as paths go: for its index there is no room in a path. */
static char deepest[DEEPEST_BYTES + 1];

static void list(void)
{
    serve_settings.list = true;
}

static void make_deepest(void)
{
    memset(deepest, 0, sizeof deepest);
    for (size_t i = 0; i < DEEPEST_BYTES; i++) {
        deepest[i] = i % (NAME_LETTERS_MAX + 1) == NAME_LETTERS_MAX ? '/' : 'd';
        if (deepest[i] == '/' || i + 1 == DEEPEST_BYTES)
            make_folder(deepest);
    }
}

static void remove_deepest(void)
{
    char *slash;

    while ((slash = strrchr(deepest, '/'))) {
        CHECK_EQUAL(0, unlinkat(folder, deepest, AT_REMOVEDIR));
        *slash = '\0';
    }
}

SERVED_WITH(list, the_first_request_may_be_for_the_deepest_folder)
{
    char target[sizeof deepest + 2];

    make_deepest();
    snprintf(target, sizeof target, "/%s/", deepest);
    CHECK_EQUAL(200, get(target));
    remove_deepest();
}

/* With none to spare: a file that is only kept is closed for the folder. */
SERVED_WITH(configure, a_listing_takes_the_descriptor_of_a_file)
{
    int fd = client_connect(), taken[128], count;

    write_pattern("open", FILE_BYTES_MAX + 1);
    CHECK_EQUAL(200, get("/open"));
    count = take_descriptors(taken, 128);
    client_send(fd, "GET /large/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    read_response(fd);
    CHECK(response.status == 200 || response.status == 503);
    give_descriptors_back(taken, count);
    CHECK_EQUAL(200, get("/large/"));
}

SERVED_MAIN
