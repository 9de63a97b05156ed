#include "static_server_fixture.h"

#include <sys/un.h>

#define LARGE_BYTES 300000

SERVED(a_file_is_sent_with_what_is_known_of_it)
{
    char head[1024];

    write_text("page.html", "<p>hello");
    set_time("page.html", 784111777, 0);
    CHECK_EQUAL(200, get("/page.html"));
    CHECK(body_is("<p>hello"));
    CHECK(has_header("Content-Type", "text/html; charset=utf-8"));
    CHECK(has_header("Accept-Ranges", "bytes"));
    CHECK(has_header("Connection", "close"));
    CHECK(header("ETag") && header("Last-Modified") && !header("Vary") && !header("Content-Encoding"));
    snprintf(head, sizeof head, "%.*s", (int)response.head_length, response.bytes);
    CHECK_EQUAL(200, ask("HEAD", "/page.html", ""));
    CHECK(strcmp(strstr(head, "\r\nETag"), strstr(response.bytes, "\r\nETag")) == 0);
}

SERVED(files_of_every_size_arrive_whole)
{
    static const size_t sizes[] = {0, 1, 1000, 1400, 2000, FILE_BYTES_MAX, FILE_BYTES_MAX + 1, 65536, LARGE_BYTES};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[32];

        snprintf(name, sizeof name, "/file%zu", sizes[i]);
        write_pattern(name + 1, sizes[i]);
        for (int round = 0; round < 2; round++) {
            CHECK_EQUAL(200, get(name));
            CHECK_EQUAL(sizes[i], response.body_length);
            CHECK(is_pattern(response.body, 0, response.body_length));
        }
    }
}

SERVED(other_methods_are_answered_as_they_should_be)
{
    write_text("file", "content");
    CHECK_EQUAL(204, ask("OPTIONS", "/file", ""));
    CHECK(has_header("Allow", "GET, HEAD, OPTIONS"));
    CHECK_EQUAL(204, ask("OPTIONS", "*", ""));
    CHECK_EQUAL(405, ask("POST", "/file", "Content-Length: 0\r\n"));
    CHECK(has_header("Allow", "GET, HEAD, OPTIONS"));
    CHECK_EQUAL(405, ask("DELETE", "/missing", ""));
    CHECK_EQUAL(405, ask("BREW", "/file", ""));
}

SERVED(conditions_are_kept)
{
    char headers[256], etag[64];

    write_text("file", "content");
    set_time("file", 784111777, 0);
    CHECK_EQUAL(200, get("/file"));
    snprintf(etag, sizeof etag, "%.63s", header("ETag"));
    snprintf(headers, sizeof headers, "If-None-Match: \"other\", %s\r\n", etag);
    CHECK_EQUAL(304, ask("GET", "/file", headers));
    CHECK(has_header("ETag", etag) && !header("Content-Type") && !header("Content-Length"));
    CHECK_EQUAL(304, ask("HEAD", "/file", headers));
    CHECK_EQUAL(200, ask("GET", "/file", "If-None-Match: \"other\"\r\n"));
    CHECK_EQUAL(304, ask("GET", "/file", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
    CHECK_EQUAL(200, ask("GET", "/file", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT\r\n"));
    CHECK_EQUAL(200, ask("GET", "/file", "If-Modified-Since: Sat, 01 Jan 1994 00:00:00 GMT\r\n"));
    CHECK_EQUAL(412, ask("GET", "/file", "If-Match: \"other\"\r\n"));
    CHECK_EQUAL(412, ask("GET", "/file", "If-Unmodified-Since: Sat, 01 Jan 1994 00:00:00 GMT\r\n"));
}

/* From memory and from a descriptor alike. */
static void ask_for_ranges(const char *target, size_t size)
{
    char headers[256], expected[128];

    CHECK_EQUAL(206, ask("GET", target, "Range: bytes=100-199\r\n"));
    snprintf(expected, sizeof expected, "bytes 100-199/%zu", size);
    CHECK(has_header("Content-Range", expected));
    CHECK(response.body_length == 100 && is_pattern(response.body, 100, 100));
    CHECK_EQUAL(206, ask("GET", target, "Range: bytes=-7\r\n"));
    CHECK(response.body_length == 7 && is_pattern(response.body, size - 7, 7));
    snprintf(headers, sizeof headers, "Range: bytes=%zu-\r\n", size / 2);
    CHECK_EQUAL(206, ask("GET", target, headers));
    CHECK(response.body_length == size - size / 2 && is_pattern(response.body, size / 2, size - size / 2));
    snprintf(headers, sizeof headers, "Range: bytes=%zu-\r\n", size);
    CHECK_EQUAL(416, ask("GET", target, headers));
    snprintf(expected, sizeof expected, "bytes */%zu", size);
    CHECK(has_header("Content-Range", expected));
    CHECK_EQUAL(200, ask("HEAD", target, "Range: bytes=0-1\r\n"));
    CHECK_EQUAL(200, ask("GET", target, "Range: bytes=0-1\r\nIf-Range: \"other\"\r\n"));
    CHECK_EQUAL(size, response.body_length);
}

SERVED(ranges_are_sent)
{
    write_pattern("small", 1000);
    write_pattern("middle", FILE_BYTES_MAX);
    write_pattern("large", LARGE_BYTES);
    ask_for_ranges("/small", 1000);
    ask_for_ranges("/middle", FILE_BYTES_MAX);
    ask_for_ranges("/large", LARGE_BYTES);
}

/* Takes one part off a multipart body. Returns what follows its content of `length` bytes, the pattern from `first`. */
static const char *check_part(const char *at, const char *boundary, size_t first, size_t length, size_t size)
{
    char expected[256];

    snprintf(expected, sizeof expected,
             "--%s\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes %zu-%zu/%zu\r\n\r\n", boundary,
             first, first + length - 1, size);
    CHECK(strncmp(at, expected, strlen(expected)) == 0);
    at += strlen(expected);
    CHECK(is_pattern(at, first, length));
    CHECK(strncmp(at + length, "\r\n", 2) == 0);
    return at + length + 2;
}

static void ask_for_several_ranges(const char *target, size_t size)
{
    char type[128], headers[128], end[128];
    const char *at, *boundary;

    snprintf(headers, sizeof headers, "Range: bytes=5-9, %zu-%zu, -3\r\n", size / 4, size / 4 * 3);
    CHECK_EQUAL(206, ask("GET", target, headers));
    snprintf(type, sizeof type, "%.127s", header("Content-Type"));
    CHECK(strncmp(type, "multipart/byteranges; boundary=", 31) == 0 && !header("Content-Range"));
    boundary = type + 31;
    at = response.body;
    while (strncmp(at, "\r\n", 2) == 0) /* a preamble */
        at += 2;
    at = check_part(at, boundary, 5, 5, size);
    at = check_part(at, boundary, size / 4, size / 4 * 3 - size / 4 + 1, size);
    at = check_part(at, boundary, size - 3, 3, size);
    snprintf(end, sizeof end, "--%s--\r\n", boundary);
    CHECK(strcmp(at, end) == 0);
}

SERVED(several_ranges_are_sent_as_multipart)
{
    write_pattern("small", 1000);
    write_pattern("middle", FILE_BYTES_MAX);
    write_pattern("large", LARGE_BYTES);
    ask_for_several_ranges("/small", 1000);
    ask_for_several_ranges("/middle", FILE_BYTES_MAX);
    ask_for_several_ranges("/large", LARGE_BYTES);
}

SERVED(an_empty_file_has_no_ranges)
{
    write_text("empty", "");
    CHECK_EQUAL(416, ask("GET", "/empty", "Range: bytes=0-\r\n"));
    CHECK_EQUAL(200, ask("GET", "/empty", "Range: bytes=-5\r\n"));
}

static void precompressed(void)
{
    serve_settings.cache.precompressed = true;
    write_text("page.css", "plain");
    write_text("page.css.gz", "squeezed");
    write_text("page.css.br", "pressed");
    write_text("single.css", "single");
}

SERVED_WITH(precompressed, the_accepted_coding_is_chosen)
{
    char etag[64];

    CHECK_EQUAL(200, get("/page.css"));
    CHECK(body_is("plain") && has_header("Vary", "Accept-Encoding") && !header("Content-Encoding"));
    snprintf(etag, sizeof etag, "%.63s", header("ETag"));
    CHECK_EQUAL(200, ask("GET", "/page.css", "Accept-Encoding: gzip, deflate, br\r\n"));
    CHECK(body_is("pressed") && has_header("Content-Encoding", "br") && has_header("Content-Type", "text/css"));
    CHECK(!has_header("ETag", etag) && has_header("Vary", "Accept-Encoding"));
    CHECK_EQUAL(200, ask("GET", "/page.css", "Accept-Encoding: br;q=0.5\r\nAccept-Encoding: gzip\r\n"));
    CHECK(body_is("squeezed") && has_header("Content-Encoding", "gzip"));
    CHECK_EQUAL(206, ask("GET", "/page.css", "Accept-Encoding: gzip\r\nRange: bytes=0-1\r\n"));
    CHECK(body_is("sq") && has_header("Content-Encoding", "gzip"));
    CHECK_EQUAL(406, ask("GET", "/page.css", "Accept-Encoding: zstd, identity;q=0\r\n"));
    CHECK_EQUAL(200, ask("GET", "/single.css", "Accept-Encoding: gzip\r\n"));
    CHECK(body_is("single") && !header("Vary"));
}

SERVED(a_folder_is_its_index)
{
    make_folder("sub");
    make_folder("sub/a b");
    write_text("index.html", "top");
    write_text("sub/a b/index.html", "below");
    CHECK_EQUAL(200, get("/"));
    CHECK(body_is("top"));
    CHECK_EQUAL(200, get("/sub/a%20b/"));
    CHECK(body_is("below"));
    CHECK_EQUAL(301, get("//sub//a%20b?x=/y"));
    CHECK(has_header("Location", "/sub/a%20b/?x=/y"));
    CHECK_EQUAL(404, get("/sub/"));
    CHECK_EQUAL(404, get("/index.html/"));
}

static void listing(void)
{
    serve_settings.list = true;
    make_folder("sub");
    make_folder("sub/in&out");
    write_text("sub/100%.txt", "x");
    write_text("sub/.hidden", "x");
    make_link("../../secret", "sub/outside");
    make_link("../sub/100%.txt", "sub/inside");
}

SERVED_WITH(listing, a_folder_without_index_can_be_listed)
{
    CHECK_EQUAL(200, get("/sub/"));
    CHECK(has_header("Content-Type", "text/html; charset=utf-8"));
    CHECK(strstr(response.body, "100%25.txt") && strstr(response.body, "in&amp;out"));
    CHECK(!strstr(response.body, "hidden"));
    CHECK_EQUAL(200, ask("HEAD", "/sub/", ""));
    CHECK_EQUAL(404, get("/missing/"));
}

/* Who may read everything, may read what is forbidden to others. */
static void list_for_somebody(void)
{
    serve_settings.list = true;
    serve_user = NOBODY;
}

SERVED_WITH(list_for_somebody, a_folder_that_must_not_be_read_is_forbidden)
{
    make_folder("closed");
    write_text("closed/file", "content");
    CHECK_EQUAL(0, fchmodat(folder, "closed", 0711, 0));
    CHECK_EQUAL(200, get("/closed/file"));
    CHECK_EQUAL(403, get("/closed/"));
    CHECK_EQUAL(404, get("/missing/"));
    CHECK_EQUAL(404, get("/closed/file/"));
}

SERVED_WITH(listing, links_are_listed_that_do_not_lead_outside)
{
    CHECK_EQUAL(200, get("/sub/"));
    CHECK(strstr(response.body, "inside") && !strstr(response.body, "outside"));
}

static void list_and_route(void)
{
    serve_settings.list = true;
    serve_settings.fallback = "app.html";
}

SERVED_WITH(list_and_route, a_route_with_a_slash_is_the_applications_and_a_folder_is_listed)
{
    write_text("app.html", "application");
    make_folder("folder");
    write_text("folder/inside", "");
    make_folder("with.dot");
    CHECK(get("/route") == 200 && body_is("application"));
    CHECK(get("/route/") == 200 && body_is("application"));
    CHECK(get("/folder/route/") == 200 && body_is("application"));
    CHECK(get("/folder/inside/") == 200 && body_is("application"));
    CHECK(get("/folder/") == 200 && strstr(response.body, "<a href=\"inside\">"));
    CHECK(get("/with.dot/") == 200 && strstr(response.body, "Index of /with.dot/"));
    CHECK_EQUAL(404, get("/file.txt/"));
    CHECK_EQUAL(404, get("/file.txt"));
}

static void with_pages(void)
{
    serve_settings.fallback = "app.html";
    write_text("app.html", "application");
    write_text("404.html", "<p>lost");
}

SERVED_WITH(with_pages, routes_get_the_application_and_files_the_page_of_the_error)
{
    CHECK_EQUAL(200, get("/some/route"));
    CHECK(body_is("application"));
    CHECK_EQUAL(200, get("/v1.2/route"));
    CHECK(body_is("application"));
    CHECK_EQUAL(404, get("/missing.css"));
    CHECK(body_is("<p>lost") && has_header("Content-Type", "text/html; charset=utf-8") && !header("ETag"));
    CHECK_EQUAL(404, ask("HEAD", "/missing.css", ""));
    CHECK(has_header("Content-Length", "7"));
}

SERVED(nothing_else_is_served)
{
    static const struct {
        const char *target;
        int status;
    } tries[] = {
        {"/../secret", 404},
        {"/..%2fsecret", 404},
        {"/%2e%2e/secret", 404},
        {"/sub/../../secret", 404},
        {"/%2e%2e%2fsecret", 404},
        {"/.%2e/secret", 404},
        {"/sub/%2e./../secret", 404},
        {"//../secret", 404},
        {"/%00", 400},
        {"/%", 400},
        {"/%zz", 400},
        {"/..\\secret", 404},
        {"/%c0%ae%c0%ae/secret", 404},
        {"/out", 404},
        {"/absolute", 404},
        {"/.hidden", 404},
        {"/.git/config", 404},
        {"/sub/.hidden", 404},
        {"/fifo", 403},
        {"/socket", 403},
        {"/parent/secret", 404},
        {"/file/", 404},
        {"/file/../file", 200},
        {"/.well-known/x", 200},
        {"http://test/file", 200},
        {"/%66ile?../secret", 200},
        {"/fi%6Ce", 200},
    };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    write_text("file", "file");
    write_text(".hidden", SECRET);
    make_folder("sub");
    make_folder(".git");
    make_folder(".well-known");
    write_text(".git/config", SECRET);
    write_text("sub/.hidden", SECRET);
    write_text(".well-known/x", "known");
    make_link("../secret", "out");
    make_link("..", "parent");
    make_link("/etc/passwd", "absolute");
    CHECK_EQUAL(0, mkfifoat(folder, "fifo", 0644));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/public/socket", folder_path);
    CHECK_EQUAL(0, bind(fd, (struct sockaddr *)&address, sizeof address));
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        CHECK_EQUAL(tries[i].status, get(tries[i].target));
        CHECK(!strstr(response.bytes, SECRET) && !strstr(response.bytes, "root:"));
    }
    close(fd);
}

SERVED(pipelined_requests_are_answered_in_order)
{
    static const char requests[] = "GET /small HTTP/1.1\r\nHost: x\r\n\r\nGET /large HTTP/1.1\r\nHost: x\r\n\r\n"
                                   "HEAD /large HTTP/1.1\r\nHost: x\r\n\r\nGET /middle HTTP/1.1\r\nHost: x\r\n\r\n"
                                   "GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    static const size_t sizes[] = {1000, LARGE_BYTES, 0, FILE_BYTES_MAX, 1000};
    const char *at = response.bytes;
    int fd = client_connect();

    write_pattern("small", 1000);
    write_pattern("middle", FILE_BYTES_MAX);
    write_pattern("large", LARGE_BYTES);
    client_send(fd, requests);
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    response.bytes[response.length] = '\0';
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && at; i++) {
        CHECK(strncmp(at, "HTTP/1.1 200 OK\r\n", 17) == 0);
        at = strstr(at, "\r\n\r\n");
        CHECK(at && is_pattern(at + 4, 0, sizes[i]));
        at = at ? at + 4 + sizes[i] : NULL;
    }
    CHECK(at == response.bytes + response.length);
    close(fd);
}

SERVED(an_old_client_may_keep_its_connection)
{
    int fd = client_connect();

    write_text("file", "content");
    client_send(fd, "GET /file HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /file HTTP/1.0\r\n\r\n");
    response.length = client_read(fd, response.bytes, RESPONSE_BYTES_MAX);
    take_apart();
    CHECK(has_header("Connection", "keep-alive"));
    CHECK(strncmp(response.body, "contentHTTP/1.1 200 OK\r\n", 24) == 0);
    CHECK(strstr(response.body, "\r\nConnection: close\r\n"));
    close(fd);
}

SERVED_MAIN
