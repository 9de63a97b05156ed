#include "static/file_cache.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "folder.h"

#define SMALL_BYTES_MAX 1000
#define ENTRIES_MAX 4
#define AGED_NS (UW_NS_PER_SECOND / 5) /* by then a file is no longer young */

static struct uw_file_cache cache;
static int64_t now_ns;

static void open_cache(size_t bytes_max, bool precompressed)
{
    const struct uw_file_cache_settings settings = {.entries_max = ENTRIES_MAX,
                                                    .bytes_max = bytes_max,
                                                    .file_bytes_max = SMALL_BYTES_MAX,
                                                    .precompressed = precompressed};

    folder_open();
    now_ns = 0;
    CHECK_EQUAL(0, uw_file_cache_open(&cache, folder, &settings));
}

static void close_cache(void)
{
    uw_file_cache_close(&cache);
    CHECK_EQUAL(0, cache.entries);
    CHECK_EQUAL(0, cache.bytes);
    folder_close();
}

static int find(const char *path, struct uw_resource **resource)
{
    return uw_file_cache_find(&cache, path, strlen(path), now_ns, resource);
}

static struct uw_representation *found(const char *path)
{
    struct uw_resource *resource = NULL;

    CHECK_EQUAL(0, find(path, &resource));
    return resource ? resource->representations[UW_CODING_IDENTITY] : NULL;
}

static int missing(const char *path)
{
    struct uw_resource *resource;

    return find(path, &resource);
}

static bool has_text(const struct uw_representation *representation, const char *text)
{
    return representation && uw_representation_size(representation) == (int64_t)strlen(text) &&
           memcmp(representation->content, text, strlen(text)) == 0;
}

/* The time of a change cannot be set: it has to go by. */
static void age(void)
{
    const struct timespec pause = {.tv_nsec = AGED_NS};

    nanosleep(&pause, NULL);
}

TEST(small_files_are_in_memory_and_large_ones_open)
{
    const struct uw_representation *small, *large;

    open_cache(100000, false);
    write_text("small", "content");
    write_pattern("large", SMALL_BYTES_MAX + 1);
    small = found("small");
    CHECK(has_text(small, "content") && small->fd < 0);
    large = found("large");
    CHECK(!large->content && large->fd >= 0);
    CHECK_EQUAL(2, cache.entries);
    CHECK_EQUAL(small->bytes + large->bytes, cache.bytes);
    close_cache();
}

TEST(a_file_is_looked_at_again_after_a_second)
{
    const struct uw_representation *first;

    open_cache(100000, false);
    write_text("file", "old");
    age();
    first = found("file");
    replace_text("file", "new");
    now_ns = UW_FILE_CACHE_CHECK_NS - 1;
    CHECK(found("file") == first);
    now_ns = UW_FILE_CACHE_CHECK_NS;
    CHECK(has_text(found("file"), "new"));
    CHECK_EQUAL(1, cache.entries);
    close_cache();
}

TEST(an_unchanged_file_is_kept)
{
    const struct uw_representation *first;

    open_cache(100000, false);
    write_text("file", "same");
    age();
    first = found("file");
    now_ns = 10 * UW_FILE_CACHE_CHECK_NS;
    CHECK(found("file") == first);
    close_cache();
}

TEST(writing_in_place_truncating_and_deleting_are_noticed)
{
    open_cache(100000, false);
    write_text("file", "before");
    age();
    CHECK(has_text(found("file"), "before"));
    write_text("file", "after!");
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(has_text(found("file"), "after!"));
    write_text("file", "");
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(has_text(found("file"), ""));
    CHECK_EQUAL(0, unlinkat(folder, "file", 0));
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK_EQUAL(-ENOENT, missing("file"));
    CHECK_EQUAL(0, cache.entries);
    close_cache();
}

/* Two writes of equal length within one step of the file system's clock leave the same identity. */
TEST(a_file_written_to_just_now_is_read_again)
{
    const struct uw_representation *first;

    open_cache(100000, false);
    write_text("file", "one");
    first = uw_representation_hold(found("file"));
    CHECK(first->young);
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(found("file") != first);
    uw_representation_release((struct uw_representation *)first);
    close_cache();
}

TEST(one_in_use_outlives_its_file)
{
    struct uw_representation *held;

    open_cache(100000, false);
    write_text("file", "held");
    held = uw_representation_hold(found("file"));
    CHECK_EQUAL(0, unlinkat(folder, "file", 0));
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK_EQUAL(-ENOENT, missing("file"));
    CHECK(has_text(held, "held"));
    CHECK_EQUAL(1, held->references);
    uw_representation_release(held);
    close_cache();
}

TEST(the_number_of_entries_is_bounded_and_the_oldest_goes)
{
    int before;

    open_cache(100000, false);
    before = open_descriptors();
    for (int i = 0; i < 3 * ENTRIES_MAX; i++) {
        char name[16];

        snprintf(name, sizeof name, "large%d", i);
        write_pattern(name, SMALL_BYTES_MAX + 1);
        CHECK(found(name) != NULL);
        CHECK(found("large0") != NULL); /* used again and again, so it stays */
        CHECK(cache.entries <= ENTRIES_MAX);
        CHECK(open_descriptors() <= before + ENTRIES_MAX);
    }
    CHECK_EQUAL(ENTRIES_MAX, cache.entries);
    close_cache();
}

TEST(the_number_of_bytes_is_bounded)
{
    open_cache(4000, false);
    for (int i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof name, "small%d", i);
        write_pattern(name, SMALL_BYTES_MAX);
        CHECK(found(name) != NULL);
        CHECK(cache.bytes <= 4000);
    }
    CHECK(cache.entries >= 1);
    close_cache();
}

TEST(a_cache_with_room_for_nothing_still_finds)
{
    open_cache(0, false);
    write_text("one", "1");
    write_text("two", "2");
    CHECK(has_text(found("one"), "1"));
    CHECK(has_text(found("two"), "2"));
    CHECK_EQUAL(1, cache.entries);
    close_cache();
}

TEST(only_regular_files_are_found)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    open_cache(100000, false);
    make_folder("folder");
    make_link("../secret", "link");
    CHECK_EQUAL(0, mkfifoat(folder, "fifo", 0644));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/public/socket", folder_path);
    CHECK_EQUAL(0, bind(fd, (struct sockaddr *)&address, sizeof address));
    CHECK_EQUAL(-EISDIR, missing("folder"));
    CHECK_EQUAL(-EISDIR, missing(""));
    CHECK_EQUAL(-EXDEV, missing("link"));
    CHECK_EQUAL(-EACCES, missing("fifo")); /* and nobody waits for a writer */
    CHECK_EQUAL(-EACCES, missing("socket"));
    CHECK_EQUAL(-ENOTDIR, missing("fifo/x"));
    CHECK_EQUAL(0, cache.entries);
    close(fd);
    close_cache();
}

TEST(other_codings_are_found_beside_the_file)
{
    struct uw_resource *resource = NULL;

    open_cache(100000, true);
    write_text("page", "plain");
    CHECK_EQUAL(0, find("page", &resource));
    CHECK_EQUAL(UW_CODING_BIT(UW_CODING_IDENTITY), resource->codings);
    write_text("page.gz", "squeezed");
    write_text("page.br", "pressed");
    write_text("page.zst", "stamped");
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK_EQUAL(0, find("page", &resource));
    CHECK_EQUAL((1u << UW_CODING_COUNT) - 1, resource->codings);
    CHECK(has_text(resource->representations[UW_CODING_BR], "pressed"));
    CHECK(has_text(resource->representations[UW_CODING_ZSTD], "stamped"));
    CHECK(has_text(resource->representations[UW_CODING_GZIP], "squeezed"));
    CHECK(has_text(resource->representations[UW_CODING_IDENTITY], "plain"));
    CHECK_EQUAL(4, cache.entries);
    CHECK_EQUAL(0, unlinkat(folder, "page", 0));
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK_EQUAL(-ENOENT, missing("page")); /* the others do not stand alone */
    CHECK_EQUAL(0, cache.entries);
    close_cache();
}

/* Takes every descriptor that there is. Returns how many. */
static int exhaust_descriptors(int taken[], int most)
{
    int count = 0;

    while (count < most && (taken[count] = dup(folder)) >= 0)
        count++;
    return count;
}

TEST(descriptors_that_are_only_kept_are_given_up)
{
    struct rlimit limit, low;
    int taken[256], count;

    open_cache(100000, false);
    write_pattern("large", SMALL_BYTES_MAX + 1);
    write_text("small", "small");
    write_text("other", "other");
    CHECK(found("large") != NULL);
    CHECK(found("small") != NULL);
    CHECK_EQUAL(0, getrlimit(RLIMIT_NOFILE, &limit));
    low = (struct rlimit){.rlim_cur = 128, .rlim_max = limit.rlim_max};
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &low));
    count = exhaust_descriptors(taken, 256);
    CHECK(has_text(found("other"), "other"));
    CHECK_EQUAL(2, cache.entries); /* "large" is gone, "small" has no descriptor to give up */
    taken[count++] = dup(folder);
    CHECK_EQUAL(-EMFILE, missing("large"));
    while (count > 0)
        close(taken[--count]);
    CHECK(found("large") != NULL);
    CHECK_EQUAL(0, setrlimit(RLIMIT_NOFILE, &limit));
    close_cache();
}

TEST(the_head_tells_what_the_file_is)
{
    const struct uw_media_type html = {"html", "text/html; charset=utf-8"};
    const struct uw_file_cache_settings settings = {.entries_max = 1,
                                                    .bytes_max = 10000,
                                                    .file_bytes_max = 100,
                                                    .media_types = {&html, 1},
                                                    .cache_control = "max-age=60"};
    const struct timespec times[] = {{.tv_sec = 784111777}, {.tv_sec = 784111777}};
    const struct uw_representation *page;
    char expected[512];

    folder_open();
    CHECK_EQUAL(0, uw_file_cache_open(&cache, folder, &settings));
    write_text("page.html", "<p>");
    CHECK_EQUAL(0, utimensat(folder, "page.html", times, 0));
    page = found("page.html");
    snprintf(expected, sizeof expected,
             "ETag: %s\r\nCache-Control: max-age=60\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
             "Accept-Ranges: bytes\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 3\r\n\r\n<p>",
             page->validators.etag);
    CHECK_EQUAL(strlen(expected), page->head_end + 3);
    CHECK(memcmp(page->text, expected, strlen(expected)) == 0);
    close_cache();
}

TEST_MAIN
