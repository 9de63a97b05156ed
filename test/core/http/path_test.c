#include "http/path.h"

#include "check.h"
#include "guard_page.h"

static struct uw_http_path path;

static int resolve(const char *target)
{
    size_t length = strlen(target);

    memset(&path, 'x', sizeof path);
    return uw_http_path_resolve(&path, guard_copy(target, length), length);
}

static void check_name(const char *target, const char *name, bool folder)
{
    int result = resolve(target);

    if (result || strcmp(path.name, name) != 0 || path.folder != folder) {
        check_failures++;
        printf("%s: expected \"%s\", got %d \"%.100s\"\n", target, name, result, result ? "" : path.name);
    }
    CHECK(result || path.length == strlen(name));
}

static void check_refused(int status, const char *target)
{
    int result = resolve(target);

    if (result != status) {
        check_failures++;
        printf("%s: expected %d, got %d\n", target, status, result);
    }
}

TEST(names)
{
    check_name("/", "", true);
    check_name("", "", true);
    check_name("/a", "a", false);
    check_name("/a/", "a", true);
    check_name("/a/b.html", "a/b.html", false);
    check_name("/a.b/c-d_e~f", "a.b/c-d_e~f", false);
    check_name("/a...", "a...", false);
}

TEST(a_query_is_left_out)
{
    check_name("/a?b", "a", false);
    check_name("/a/?b/../c", "a", true);
    check_name("/?/../..", "", true);
    check_name("?a", "", true);
    check_name("/a%3Fb", "a?b", false);
}

TEST(percent_encoding)
{
    check_name("/%61%62%7e", "ab~", false);
    check_name("/%C3%A4", "\xc3\xa4", false);
    check_name("/%c3%a4/%e6%97%a5%E6%9C%AC", "\xc3\xa4/\xe6\x97\xa5\xe6\x9c\xac", false);
    check_name("/%ff", "\xff", false);
    check_name("/a%20b+c", "a b+c", false);
    check_name("/%252e%252e/%2525", "%2e%2e/%25", false);
    check_refused(-400, "/%");
    check_refused(-400, "/%4");
    check_refused(-400, "/%4?a");
    check_refused(-400, "/%g0");
    check_refused(-400, "/%0g");
    check_refused(-400, "/%%41");
    check_refused(-400, "/% 41");
    check_refused(-400, "/%u0041");
}

TEST(slashes)
{
    check_name("//", "", true);
    check_name("//a", "a", false);
    check_name("/a//b", "a/b", false);
    check_name("///a///b///", "a/b", true);
    check_refused(-404, "/a%2fb");
    check_refused(-404, "/%2F");
    check_refused(-400, "a/b");
    check_refused(-400, "*");
    check_refused(-400, "%2f");
}

TEST(dot_segments)
{
    check_name("/.", "", true);
    check_name("/./", "", true);
    check_name("/a/.", "a", true);
    check_name("/a/./b", "a/b", false);
    check_name("/a/..", "", true);
    check_name("/a/../b", "b", false);
    check_name("/a/b/..", "a", true);
    check_name("/a/b/../", "a", true);
    check_name("/a/b/../../c", "c", false);
    check_name("/a//../b", "b", false);
    check_name("/ab/cd/ef/../../g", "ab/g", false);
    check_name("/a/%2e%2e/b", "b", false);
    check_name("/a/%2E/b", "a/b", false);
}

/* Each of these asks for a file outside the root, or would if something decoded twice or took another character for a
 * slash. None may resolve to a name that has a dot segment, or begins with a slash. */
TEST(traversal)
{
    static const char *const refused[] = {
        "/..",
        "/../",
        "/../etc/passwd",
        "/../../../../../../etc/passwd",
        "/a/../..",
        "/a/../../b",
        "/a/b/../../../c",
        "/./..",
        "/.//..",
        "//..",
        "/a//../..",
        "//../a",
        "/%2e%2e",
        "/%2E%2E/etc/passwd",
        "/.%2e/etc/passwd",
        "/%2e./etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2fetc/passwd",
        "/..%2Fetc%2Fpasswd",
        "/%2e%2e%2fetc",
        "/a/..%2f..%2fb",
        "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/%2fetc/passwd",
        "//%2fetc/passwd",
        "/a%2f..%2f..",
        "/..;/etc/passwd",
        "/..\\etc\\passwd",
        "/..%5cetc%5cpasswd",
        "/%2e%2e%5c%2e%2e%5cetc",
        "/.../etc",
        "/..../etc",
        "/..a",
        "/.a/../b",
        "/..%20/a",
        "/..%c0%af../etc/passwd",
        "/.%c0%ae/etc/passwd",
        "/..%252fetc",
    };
    static const char *const malformed[] = {
        "/..%00/etc/passwd",
        "/a%00/../b",
        "/%00",
        "/a%0a",
        "/a%0d%0aX: y",
        "/%1f",
        "/%7f",
        "/a%00.html",
        "/%2e%2e%",
        "/..%c",
        "../etc/passwd",
        "..",
        ".",
        "\\..\\..",
        "C:/etc",
        "file:///etc/passwd",
    };
    static const struct {
        const char *target, *name;
    } plain[] = {
        {"/%c0%ae%c0%ae/etc/passwd", "\xc0\xae\xc0\xae/etc/passwd"}, /* overlong forms are names of their own */
        {"/%e0%80%ae%e0%80%ae/etc", "\xe0\x80\xae\xe0\x80\xae/etc"},
        {"/%252e%252e/etc/passwd", "%2e%2e/etc/passwd"},
        {"/%252e%252e%252fetc", "%2e%2e%2fetc"},
        {"/a%5c..%5c..%5cetc", "a\\..\\..\\etc"},
        {"/\\..\\..\\etc", "\\..\\..\\etc"},
        {"/a/..\x2f"
         "b",
         "b"},
        {"/~root/x", "~root/x"},
        {"/%ef%bc%8e%ef%bc%8e/etc", "\xef\xbc\x8e\xef\xbc\x8e/etc"}, /* full-width dots */
        {"/%u002e%u002e", NULL},
    };

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        check_refused(-404, refused[i]);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        check_refused(-400, malformed[i]);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (plain[i].name)
            check_name(plain[i].target, plain[i].name, false);
        else
            check_refused(-400, plain[i].target);
}

TEST(names_that_begin_with_a_dot)
{
    check_refused(-404, "/.git/config");
    check_refused(-404, "/.htaccess");
    check_refused(-404, "/%2ehtaccess");
    check_refused(-404, "/a/.env");
    check_refused(-404, "/a/.well-known");
    check_refused(-404, "/.well-known/.secret");
    check_refused(-404, "/.well-knowns");
    check_refused(-404, "/.Well-Known");
    check_name("/.well-known/security.txt", ".well-known/security.txt", false);
    check_name("/%2ewell-known/", ".well-known", true);
    check_name("/a/../.well-known/b", ".well-known/b", false);
}

TEST(bounds)
{
    static char target[3 * UW_HTTP_PATH_BYTES_MAX + 10];

    memset(target, 'a', sizeof target);
    target[0] = '/';
    CHECK_EQUAL(0, uw_http_path_resolve(&path, target, UW_HTTP_PATH_BYTES_MAX + 1));
    CHECK_EQUAL(UW_HTTP_PATH_BYTES_MAX, path.length);
    CHECK_EQUAL('\0', path.name[path.length]);
    CHECK_EQUAL(-414, uw_http_path_resolve(&path, target, UW_HTTP_PATH_BYTES_MAX + 2));
    target[UW_HTTP_PATH_BYTES_MAX + 1] = '/';
    CHECK_EQUAL(-414, uw_http_path_resolve(&path, target, UW_HTTP_PATH_BYTES_MAX + 2));
    for (size_t i = 1; i + 3 < sizeof target; i += 3)
        memcpy(target + i, "%61", 3);
    CHECK_EQUAL(0, uw_http_path_resolve(&path, target, 3 * UW_HTTP_PATH_BYTES_MAX + 1));
    CHECK_EQUAL(UW_HTTP_PATH_BYTES_MAX, path.length);
    CHECK_EQUAL(-414, uw_http_path_resolve(&path, target, 3 * UW_HTTP_PATH_BYTES_MAX + 4));
}

TEST(every_byte)
{
    char target[] = "/a%00b";

    for (unsigned byte = 0; byte < 256; byte++) {
        char name[] = {'a', (char)byte, 'b', '\0'};

        snprintf(target, sizeof target, "/a%%%02Xb", byte);
        if (byte < ' ' || byte == 0x7f)
            check_refused(-400, target);
        else if (byte == '/')
            check_refused(-404, target);
        else
            check_name(target, name, false);
        if (byte && byte != '/')
            CHECK_EQUAL(resolve(target) == 0, uw_http_name_is_servable(name));
    }
    CHECK(!uw_http_name_is_servable(".a"));
}

TEST_MAIN
