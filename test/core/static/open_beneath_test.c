#include "static/open_beneath.h"

#include "temporary_directory.h"

typedef int opener(int root, const char *path, int flags);

static opener *const openers[] = {uw_open_beneath, uw_open_beneath_by_steps};

static void make_files(void)
{
    folder_open();
    write_text("file", "file");
    make_folder("deep");
    make_folder("deep/er");
    write_text("deep/er/file", "deeper");
    make_link("file", "link");
    make_link("deep/er", "folder_link");
    make_link("../file", "deep/up");
    make_link("er/../../deep/er/./file", "deep/around");
    make_link("../../secret", "deep/out");
    make_link("../secret", "out");
    make_link("..", "parent");
    make_link("/etc/passwd", "absolute");
    make_link("loop", "loop");
    make_link("missing", "dangling");
}

/* What `path` leads to: its content, or "" with the error in `*error`. */
static const char *content(opener *open_path, const char *path, int *error)
{
    static char text[64];
    int fd = open_path(folder, path, O_RDONLY);
    ssize_t length = 0;

    *error = fd < 0 ? fd : 0;
    if (fd >= 0) {
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        length = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    return text;
}

TEST(opens_what_lies_beneath)
{
    static const char *const inside[][2] = {
        {"file", "file"},    {"link", "file"},          {"deep/er/file", "deeper"},     {"folder_link/file", "deeper"},
        {"deep/up", "file"}, {"deep/around", "deeper"}, {"deep/er/../../file", "file"}, {"./deep/./er//file", "deeper"},
    };

    make_files();
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        for (int o = 0; o < 2; o++) {
            int error;

            CHECK(strcmp(content(openers[o], inside[i][0], &error), inside[i][1]) == 0);
            CHECK_EQUAL(0, error);
        }
    folder_close();
}

static void check_outside(const char *const *outside, size_t count)
{
    make_files();
    for (size_t i = 0; i < count; i++)
        for (int o = 0; o < 2; o++) {
            int error;

            CHECK(strcmp(content(openers[o], outside[i], &error), "") == 0);
            CHECK_EQUAL(-EXDEV, error);
        }
    folder_close();
}

TEST(opens_nothing_outside)
{
    static const char *const outside[] = {"..", "../secret", "deep/../../secret", "/etc/passwd",
                                          "deep/er/../../../secret"};

    check_outside(outside, sizeof outside / sizeof *outside);
}

TEST(no_link_leads_outside)
{
    static const char *const outside[] = {
        "deep/out",
        "out",
        "parent",
        "parent/secret",
        "parent/public/file",
        "absolute",
        "folder_link/../../../secret",
        "folder_link/../../../public/file",
    };

    check_outside(outside, sizeof outside / sizeof *outside);
}

TEST(errors_are_those_of_open)
{
    static const struct {
        const char *path;
        int error;
    } wrong[] = {
        {"missing", -ENOENT}, {"dangling", -ENOENT},       {"file/x", -ENOTDIR},
        {"loop", -ELOOP},     {"deep/missing/x", -ENOENT},
    };

    make_files();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int o = 0; o < 2; o++) {
            int error;

            (void)content(openers[o], wrong[i].path, &error);
            CHECK_EQUAL(wrong[i].error, error);
        }
    folder_close();
}

TEST(the_empty_path_is_the_root)
{
    struct stat root, found;

    make_files();
    CHECK_EQUAL(0, fstat(folder, &root));
    for (int o = 0; o < 2; o++) {
        int fd = openers[o](folder, "", O_RDONLY | O_DIRECTORY);

        CHECK(fd >= 0 && fstat(fd, &found) == 0 && found.st_ino == root.st_ino);
        close(fd);
    }
    folder_close();
}

TEST(deep_paths_leave_no_descriptor_open)
{
    char path[4 * UW_OPEN_BENEATH_DEPTH_MAX + 8] = "";
    int before = open_descriptors();

    make_files();
    for (int i = 0; i < UW_OPEN_BENEATH_DEPTH_MAX + 1; i++) {
        strcat(path, i ? "/dd" : "dd");
        make_folder(path);
    }
    CHECK_EQUAL(-ENAMETOOLONG, uw_open_beneath_by_steps(folder, path, O_PATH));
    path[strlen(path) - strlen("/dd/dd")] = '\0';
    for (int o = 0; o < 2; o++) {
        int fd = openers[o](folder, path, O_PATH);

        CHECK(fd >= 0);
        close(fd);
    }
    folder_close();
    CHECK_EQUAL(before, open_descriptors());
}

TEST_MAIN
