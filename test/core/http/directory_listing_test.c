#include "http/directory_listing.h"

#include "check.h"
#include "guard_page.h"

#define MODIFIED 784111777

/* The page as a string, written into exactly as many bytes as it needs, up to a page that may not be touched. */
static const char *write_page(struct uw_http_listing *listing)
{
    static char page[GUARD_PAGES * 4096], blank[GUARD_PAGES * 4096];
    size_t length = uw_http_listing_write(listing, NULL, 0);
    char *text = guard_copy(blank, length);

    CHECK(length < sizeof page);
    CHECK_EQUAL(length, uw_http_listing_write(listing, text, length));
    memcpy(page, text, length);
    page[length] = '\0';
    return page;
}

static const char *write_entry(const char *name, int64_t size, bool folder)
{
    struct uw_http_listing_entry entry = {name, size, MODIFIED, folder};
    struct uw_http_listing listing = {.path = "", .entries = &entry, .count = 1};

    return write_page(&listing);
}

static void check_entry(const char *name, const char *link, const char *text)
{
    char expected[4096];
    const char *page = write_entry(name, 1, false);

    snprintf(expected, sizeof expected, "<a href=\"%s\">%s</a>", link, text);
    if (!strstr(page, expected)) {
        check_failures++;
        printf("expected %s in %s\n", expected, strstr(page, "<table>"));
    }
}

static void check_size(int64_t size, const char *text)
{
    char expected[100];

    snprintf(expected, sizeof expected, "<td>%s<td>", text);
    if (!strstr(write_entry("a", size, false), expected)) {
        check_failures++;
        printf("%" PRId64 " is not %s\n", size, text);
    }
}

TEST(names)
{
    check_entry("a", "a", "a");
    check_entry("a b.txt", "a%20b.txt", "a b.txt");
    check_entry("A-Z_0~9", "A-Z_0~9", "A-Z_0~9");
    check_entry("a?b#c%d", "a%3Fb%23c%25d", "a?b#c%d");
    check_entry("javascript:alert(1)", "javascript%3Aalert%281%29", "javascript:alert(1)");
    check_entry("<script>", "%3Cscript%3E", "&lt;script&gt;");
    check_entry("\"'&", "%22%27%26", "&quot;&#39;&amp;");
    check_entry("a\\b", "a%5Cb", "a\\b");
}

TEST(names_in_utf_8_and_others)
{
    check_entry("\xc3\xa4", "%C3%A4", "\xc3\xa4");
    check_entry("\xe6\x97\xa5\xf0\x9f\x98\x80", "%E6%97%A5%F0%9F%98%80", "\xe6\x97\xa5\xf0\x9f\x98\x80");
    check_entry("a\xe4z", "a%E4z", "a\xef\xbf\xbdz");
    check_entry("\xc3", "%C3", "\xef\xbf\xbd");
    check_entry("\xe6\x97", "%E6%97", "\xef\xbf\xbd\xef\xbf\xbd");
    check_entry("\xc0\xaf", "%C0%AF", "\xef\xbf\xbd\xef\xbf\xbd");
    check_entry("\xe0\x80\xaf", "%E0%80%AF", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_entry("\xed\xa0\x80", "%ED%A0%80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_entry("\xf4\x90\x80\x80", "%F4%90%80%80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    check_entry("\xc3<b>", "%C3%3Cb%3E", "\xef\xbf\xbd&lt;b&gt;");
    check_entry("a\nb\x7f\x1b", "a%0Ab%7F%1B",
                "a\xef\xbf\xbd"
                "b\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(sizes)
{
    check_size(0, "0 B");
    check_size(1, "1 B");
    check_size(1023, "1023 B");
    check_size(1024, "1.0 KiB");
    check_size(1536, "1.5 KiB");
    check_size(1048575, "1.0 MiB");
    check_size(INT64_C(5) << 30, "5.0 GiB");
    check_size(INT64_MAX, "8.0 EiB");
}

TEST(a_file_has_a_date_and_a_folder_no_size)
{
    CHECK(strstr(write_entry("a", 1, false), "<tr><td><a href=\"a\">a</a><td>1 B<td>1994-11-06 08:49\n"));
    CHECK(strstr(write_entry("a", 4096, true), "<tr><td><a href=\"a/\">a/</a><td><td>1994-11-06 08:49\n"));
}

TEST(headings)
{
    struct uw_http_listing listing = {.path = ""};
    const char *page = write_page(&listing);

    CHECK(strstr(page, "<title>Index of /</title>") && strstr(page, "<h1>Index of /</h1>"));
    CHECK(!strstr(page, "../"));
    listing.path = "a/<b>&\xc3\xa4";
    page = write_page(&listing);
    CHECK(strstr(page, "<title>Index of /a/&lt;b&gt;&amp;\xc3\xa4/</title>"));
    CHECK(strstr(page, "<h1>Index of /a/&lt;b&gt;&amp;\xc3\xa4/</h1>"));
    CHECK(strstr(page, "<a href=\"../\">../</a>"));
    CHECK(strncmp(page, "<!DOCTYPE html>", 15) == 0 && strstr(page, "<meta charset=\"utf-8\">"));
}

TEST(folders_come_first)
{
    struct uw_http_listing_entry entries[] = {
        {"b", 1, 0, false}, {"z", 1, 0, true}, {"a", 1, 0, false}, {"c", 1, 0, true}};
    struct uw_http_listing listing = {.path = "", .entries = entries, .count = 4}, empty = {.path = ""};
    static const char *const order[] = {"c", "z", "a", "b"};

    uw_http_listing_sort(&listing);
    for (int i = 0; i < 4; i++)
        CHECK(strcmp(entries[i].name, order[i]) == 0);
    uw_http_listing_sort(&empty);
    CHECK_EQUAL(0, empty.count);
}

TEST(a_page_that_is_cut_says_so)
{
    struct uw_http_listing listing = {.path = ""};

    CHECK(!strstr(write_page(&listing), "more entries"));
    listing.truncated = true;
    CHECK(strstr(write_page(&listing), "more entries"));
}

TEST(nothing_is_written_beyond_the_capacity)
{
    struct uw_http_listing_entry entry = {"<name>", 1, MODIFIED, false};
    struct uw_http_listing listing = {.path = "a", .entries = &entry, .count = 1};
    size_t length = uw_http_listing_write(&listing, NULL, 0);
    static char whole[8192], blank[8192];

    CHECK(length < sizeof whole);
    CHECK_EQUAL(length, uw_http_listing_write(&listing, whole, sizeof whole));
    for (size_t capacity = 0; capacity < length; capacity++) {
        char *text = guard_copy(blank, capacity);

        CHECK_EQUAL(length, uw_http_listing_write(&listing, text, capacity));
    }
}

TEST_MAIN
