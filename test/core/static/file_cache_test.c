#include "static/file_cache.h"

#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "temporary_directory.h"

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
    CHECK_EQUAL(0, uw_file_cache_open(&cache, folder, &settings, NULL));
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
    do { /* once more if somebody kept this process waiting */
        write_text("file", "one");
        now_ns += UW_FILE_CACHE_CHECK_NS;
    } while (!found("file")->young);
    first = uw_representation_retain(found("file"));
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
    held = uw_representation_retain(found("file"));
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
        char name[32];

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
        char name[32];

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

TEST(a_coding_older_than_its_file_is_not_of_that_file)
{
    struct uw_resource *resource = NULL;
    const struct uw_representation *plain;

    open_cache(100000, true);
    write_text("page", "plain");
    write_text("page.gz", "of an earlier page");
    write_text("page.br", "pressed");
    set_time("page", 1000, 100); /* as fine as Windows has times */
    set_time("page.gz", 1000, 0);
    set_time("page.br", 1000, 100);
    age();
    CHECK_EQUAL(0, find("page", &resource));
    CHECK_EQUAL(UW_CODING_BIT(UW_CODING_IDENTITY) | UW_CODING_BIT(UW_CODING_BR), resource->codings);
    plain = resource->representations[UW_CODING_IDENTITY];
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(found("page") == plain); /* nothing has changed */
    set_time("page.gz", 1001, 0);
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK_EQUAL(0, find("page", &resource));
    CHECK_EQUAL(1, resource->representations[UW_CODING_GZIP] != NULL);
    set_time("page", 1002, 0);
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK_EQUAL(0, find("page", &resource));
    CHECK_EQUAL(UW_CODING_BIT(UW_CODING_IDENTITY), resource->codings);
    close_cache();
}

TEST(descriptors_that_are_only_kept_are_given_up)
{
    int taken[128], count;

    open_cache(100000, false);
    write_pattern("large", SMALL_BYTES_MAX + 1);
    write_text("small", "small");
    write_text("other", "other");
    CHECK(found("large") != NULL);
    CHECK(found("small") != NULL);
    count = take_descriptors(taken, 127);
    CHECK(has_text(found("other"), "other"));
    CHECK_EQUAL(2, cache.entries); /* "large" is gone, "small" has no descriptor to give up */
    taken[count++] = dup(folder);
    CHECK_EQUAL(-EMFILE, missing("large"));
    give_descriptors_back(taken, count);
    CHECK(found("large") != NULL);
    close_cache();
}

static void write_repeated(const char *name, char byte, size_t length)
{
    char *bytes = malloc(length);

    memset(bytes, byte, length);
    write_at(folder, name, bytes, length);
    free(bytes);
}

/* As builds do that shall be repeatable: each file has the same time. Whether it is written in place or replaced, and
 * kept in memory or not. */
TEST(contents_of_the_same_size_and_time_have_different_tags)
{
    static const size_t sizes[] = {1, SMALL_BYTES_MAX, SMALL_BYTES_MAX + 1, UW_CONTENT_HASHES_AT_ONCE_BYTES};
    char first[UW_HTTP_ETAG_BYTES_MAX];

    open_cache(100000, false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_repeated("file", 'a', sizes[i]);
        set_time("file", 1000, 0);
        age();
        strcpy(first, found("file")->validators.etag);
        CHECK(!found("file")->validators.weak);
        write_repeated("file", 'b', sizes[i]);
        set_time("file", 1000, 0);
        age();
        now_ns += UW_FILE_CACHE_CHECK_NS;
        CHECK(!found("file")->validators.weak);
        CHECK(strcmp(first, found("file")->validators.etag) != 0);
    }
    close_cache();
}

/* On several hosts, or in several folders. */
TEST(the_same_content_has_the_same_tag_wherever_it_is)
{
    static const size_t sizes[] = {0, 1, SMALL_BYTES_MAX, SMALL_BYTES_MAX + 1, UW_CONTENT_HASHES_AT_ONCE_BYTES};
    char first[UW_HTTP_ETAG_BYTES_MAX];

    open_cache(100000, false);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_repeated("one", 'a', sizes[i]);
        write_repeated("other", 'a', sizes[i]);
        set_time("one", 1000, 0);
        age();
        now_ns += UW_FILE_CACHE_CHECK_NS;
        strcpy(first, found("one")->validators.etag);
        CHECK(!found("other")->validators.weak);
        CHECK(strcmp(first, found("other")->validators.etag) == 0);
    }
    close_cache();
}

/* Two writes within one step of the file system's clock are one to it. */
TEST(a_file_written_to_just_now_has_a_weak_tag_that_does_not_last)
{
    char first[UW_HTTP_ETAG_BYTES_MAX];

    open_cache(100000, false);
    do { /* once more if somebody kept this process waiting */
        write_repeated("file", 'a', SMALL_BYTES_MAX + 1);
        now_ns += UW_FILE_CACHE_CHECK_NS;
    } while (!found("file")->young);
    CHECK(found("file")->validators.weak);
    strcpy(first, found("file")->validators.etag);
    age();
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(!found("file")->validators.weak);
    CHECK(!strstr(first, found("file")->validators.etag));
    close_cache();
}

/* In place, so that the descriptor which is kept open has it at once. */
TEST(what_is_written_has_another_tag_before_the_next_look)
{
    char first[UW_HTTP_ETAG_BYTES_MAX];

    open_cache(100000, false);
    write_repeated("file", 'a', SMALL_BYTES_MAX + 1);
    age();
    CHECK(!found("file")->validators.weak);
    strcpy(first, found("file")->validators.etag);
    write_repeated("file", 'b', SMALL_BYTES_MAX + 1);
    now_ns++;
    CHECK(strcmp(first, found("file")->validators.etag) != 0);
    close_cache();
}

/* Nobody reads it here. */
TEST(a_large_file_has_a_weak_tag_until_it_is_read)
{
    const struct uw_representation *large;

    open_cache(100000, false);
    write_repeated("large", 'a', UW_CONTENT_HASHES_AT_ONCE_BYTES + 1);
    age();
    large = found("large");
    CHECK(large->validators.weak && strncmp(large->validators.etag, "W/\"100001-", 10) == 0);
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(found("large") == large);
    close_cache();
}

static int set_length(const char *path, int64_t length)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int result = fd < 0 ? -1 : ftruncate(fd, length);

    return fd < 0 || close(fd) < 0 ? -1 : result;
}

/* It is sparse: nobody could read it in the time that this test takes. */
TEST(a_huge_file_has_a_strong_tag_that_costs_no_read)
{
    char path[PATH_MAX], first[UW_HTTP_ETAG_BYTES_MAX];
    const struct uw_representation *huge;
    uint64_t hash;

    open_cache(100000, false);
    write_repeated("huge", 'a', 1);
    snprintf(path, sizeof path, "%s/public/huge", folder_path);
    CHECK_EQUAL(0, set_length(path, INT64_C(1) << 40));
    CHECK(found("huge")->validators.weak); /* it may change again at the same time */
    age();
    now_ns += UW_FILE_CACHE_CHECK_NS;
    huge = found("huge");
    CHECK(!huge->validators.weak && huge->validators.etag[0] == '"');
    CHECK(!uw_content_hashes_have(&cache.hashes, &huge->identity, &hash));
    snprintf(first, sizeof first, "%s", huge->validators.etag);
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(found("huge") == huge);
    CHECK_EQUAL(0, set_length(path, (INT64_C(1) << 40) - 1));
    CHECK_EQUAL(0, set_length(path, INT64_C(1) << 40));
    age();
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(strcmp(first, found("huge")->validators.etag) != 0);
    close_cache();
}

TEST(a_file_is_at_rest_a_while_after_its_last_change)
{
    struct uw_file_identity identity = {.changed = {.tv_sec = time(NULL)}};

    CHECK(!uw_file_is_at_rest(&identity, 3));
    identity.changed.tv_sec -= 3;
    CHECK(uw_file_is_at_rest(&identity, 3));
}

/* The files that a crawler asks for do not all stay in the cache. */
TEST(what_was_read_once_is_known)
{
    uint64_t hash;
    struct uw_file_identity identity;

    open_cache(100000, false);
    write_repeated("file", 'a', SMALL_BYTES_MAX + 1);
    age();
    identity = found("file")->identity;
    CHECK(uw_file_cache_give_up(&cache));
    CHECK(uw_content_hashes_have(&cache.hashes, &identity, &hash));
    CHECK(!found("file")->validators.weak);
    identity.changed.tv_nsec ^= 1;
    CHECK(!uw_content_hashes_have(&cache.hashes, &identity, &hash));
    close_cache();
}

TEST(what_is_in_memory_is_sent_without_descriptors)
{
    int taken[128], count;

    open_cache(100000, false);
    write_text("small", "small");
    age();
    CHECK(found("small") != NULL);
    count = take_descriptors(taken, 127);
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(has_text(found("small"), "small"));
    give_descriptors_back(taken, count);
    replace_text("small", "other");
    now_ns += UW_FILE_CACHE_CHECK_NS;
    CHECK(has_text(found("small"), "other"));
    close_cache();
}

/* Of the process's descriptors a share is for files, whatever the number of entries. */
TEST(caches_keep_no_more_than_their_share_of_the_descriptors)
{
    enum { LIMIT = 64, SHARE = LIMIT / UW_FILE_CACHE_DESCRIPTORS_SHARE, FILES = 2 * SHARE };
    const struct uw_file_cache_settings settings = {.entries_max = 1000, .bytes_max = 1000000, .file_bytes_max = 0};
    struct uw_file_cache other;
    int before;

    folder_open();
    CHECK_EQUAL(0, uw_file_cache_open(&cache, folder, &settings, NULL));
    before = open_descriptors();
    limit_descriptors(LIMIT);
    for (int i = 0; i < FILES; i++) {
        char name[16];

        snprintf(name, sizeof name, "file%d", i);
        write_text(name, name);
        CHECK(found(name) != NULL);
        CHECK(cache.descriptors <= SHARE);
    }
    CHECK_EQUAL(SHARE, cache.descriptors);
    CHECK_EQUAL(before + SHARE, open_descriptors());
    CHECK(found("file20")->fd >= 0); /* the least recent go first */
    CHECK_EQUAL(0, uw_file_cache_open(&other, folder, &settings, NULL));
    CHECK(found("file0") != NULL);
    CHECK_EQUAL(SHARE / 2, cache.descriptors);
    uw_file_cache_close(&other);
    CHECK(uw_file_cache_give_up(&cache));
    CHECK(!uw_file_cache_give_up(&cache));
    CHECK_EQUAL(before, open_descriptors());
    give_descriptors_back(NULL, 0);
    close_cache();
    CHECK_EQUAL(0, cache.descriptors);
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
    CHECK_EQUAL(0, uw_file_cache_open(&cache, folder, &settings, NULL));
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
