/* Content in memory, and in a file when it is more than that. */
#include "server/spooled_body.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define MEMORY_BYTES 1000
#define CONTENT_BYTES 5000

static char content[CONTENT_BYTES], back[CONTENT_BYTES + 1];

static void fill(void)
{
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)('a' + i % 23);
}

static void check_content(const struct uw_spooled_body *body, size_t length)
{
    const char *bytes = body->memory;

    CHECK_EQUAL(length, body->length);
    if (body->fd >= 0) {
        CHECK(!body->memory);
        CHECK_EQUAL(length, pread(body->fd, back, sizeof back, 0));
        bytes = back;
    }
    CHECK(!length || memcmp(bytes, content, length) == 0);
}

static int append(struct uw_spooled_body *body, size_t from, size_t length, uint64_t expected)
{
    return uw_spooled_body_append(body, content + from, length, expected, MEMORY_BYTES);
}

static void append_in_pieces(size_t total, size_t piece, uint64_t expected)
{
    struct uw_spooled_body body;

    uw_spooled_body_init(&body);
    for (size_t at = 0; at < total; at += piece)
        CHECK_EQUAL(0, append(&body, at, piece < total - at ? piece : total - at, expected));
    CHECK_EQUAL(total > MEMORY_BYTES || expected > MEMORY_BYTES, body.fd >= 0);
    CHECK(body.fd >= 0 || body.capacity <= MEMORY_BYTES);
    check_content(&body, total);
    uw_spooled_body_free(&body);
    CHECK(!body.memory && body.fd < 0);
    CHECK_EQUAL(0, body.length);
}

TEST(content_in_any_pieces_is_the_same_in_memory_and_in_a_file)
{
    static const size_t pieces[] = {1, 7, 999, 1000, 1001, CONTENT_BYTES};

    fill();
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t total = 1; total <= CONTENT_BYTES; total += total < 990 || total > 1010 ? 97 : 1) {
            append_in_pieces(total, pieces[i], 0);
            append_in_pieces(total, pieces[i], total);
        }
}

TEST(what_will_be_much_goes_to_a_file_at_once)
{
    struct uw_spooled_body body;

    uw_spooled_body_init(&body);
    CHECK_EQUAL(0, append(&body, 0, 1, MEMORY_BYTES + 1));
    CHECK(body.fd >= 0);
    uw_spooled_body_free(&body);
}

TEST(a_file_has_no_name_and_is_nobody_elses)
{
    struct uw_spooled_body body;
    struct stat status;

    uw_spooled_body_init(&body);
    CHECK_EQUAL(0, append(&body, 0, CONTENT_BYTES, 0));
    CHECK_EQUAL(0, fstat(body.fd, &status));
    CHECK_EQUAL(0, status.st_nlink);
    CHECK_EQUAL(0600, status.st_mode & 0777);
    uw_spooled_body_free(&body);
}

/* As on a full disk: some of a piece is written, and then no more. */
TEST(what_finds_no_room_leaves_what_was_there)
{
    struct rlimit before, small = {.rlim_cur = 3000};
    struct uw_spooled_body body;

    fill();
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK_EQUAL(0, getrlimit(RLIMIT_FSIZE, &before));
    uw_spooled_body_init(&body);
    CHECK_EQUAL(0, append(&body, 0, 2000, 0));
    small.rlim_max = before.rlim_max;
    CHECK_EQUAL(0, setrlimit(RLIMIT_FSIZE, &small));
    CHECK_EQUAL(-EFBIG, append(&body, 2000, 2000, 0));
    CHECK_EQUAL(2000, body.length);
    CHECK_EQUAL(0, append(&body, 2000, 500, 0)); /* that has room, where the other was to be */
    CHECK_EQUAL(0, setrlimit(RLIMIT_FSIZE, &before));
    CHECK_EQUAL(0, append(&body, 2500, 2500, 0));
    check_content(&body, CONTENT_BYTES);
    uw_spooled_body_free(&body);
}

TEST(a_missing_folder_for_files_is_told_and_keeps_what_was_in_memory)
{
    const char *folder = getenv("TMPDIR");
    char *before = folder ? strdup(folder) : NULL;
    struct uw_spooled_body body;

    fill();
    uw_spooled_body_init(&body);
    CHECK_EQUAL(0, append(&body, 0, 500, 0));
    CHECK_EQUAL(0, setenv("TMPDIR", "/tmp/there is no such folder", 1));
    CHECK_EQUAL(-ENOENT, append(&body, 500, 1000, 0));
    CHECK_EQUAL(0, before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR"));
    free(before);
    check_content(&body, 500);
    CHECK_EQUAL(0, append(&body, 500, 1000, 0));
    check_content(&body, 1500);
    uw_spooled_body_free(&body);
}

TEST_MAIN
