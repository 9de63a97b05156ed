#include "base/processor_count.h"

#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static char root[64];

/* Writes a file below a new root, with the folders above it. */
static void write_file(const char *path, const char *text)
{
    char full[512];
    FILE *file;

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(full, 0700);
        *slash = '/';
    }
    file = fopen(full, "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
}

static void new_root(void)
{
    strcpy(root, "/tmp/upwell-processors-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
}

static void remove_root(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK_EQUAL(0, system(command));
}

/* What a process may use of eight processors when cpu.max of /a/b/c reads `limit`. */
static int with_limit(const char *limit)
{
    int count;

    new_root();
    write_file("/proc/self/cgroup", "0::/a/b/c\n");
    write_file("/sys/fs/cgroup/a/b/c/cpu.max", limit);
    count = uw_processor_count_below(root, 8);
    remove_root();
    return count;
}

TEST(version_2_rounds_a_part_of_a_processor_up)
{
    CHECK_EQUAL(8, with_limit("max 100000\n"));
    CHECK_EQUAL(1, with_limit("1000 100000\n"));
    CHECK_EQUAL(2, with_limit("200000 100000\n"));
    CHECK_EQUAL(3, with_limit("200001 100000\n"));
    CHECK_EQUAL(8, with_limit("100000000 100000\n")); /* more than there are */
    CHECK_EQUAL(8, with_limit("nonsense\n"));
    CHECK_EQUAL(8, with_limit(""));
}

TEST(version_2_with_a_limited_ancestor)
{
    new_root();
    write_file("/proc/self/cgroup", "0::/a/b\n");
    write_file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    write_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    CHECK_EQUAL(2, uw_processor_count_below(root, 8));
    CHECK_EQUAL(1, uw_processor_count_below(root, 1));
    write_file("/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"); /* the tighter one counts */
    CHECK_EQUAL(2, uw_processor_count_below(root, 8));
    remove_root();
}

/* In a container the group's path is the host's, and only the root of its own hierarchy is to be seen. */
TEST(version_2_in_a_container)
{
    new_root();
    write_file("/proc/self/cgroup", "0::/system.slice/docker-1234.scope\n");
    write_file("/sys/fs/cgroup/cpu.max", "300000 100000\n");
    CHECK_EQUAL(3, uw_processor_count_below(root, 8));
    remove_root();
}

TEST(version_1)
{
    new_root();
    write_file("/proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n3:memory:/docker/x\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
    CHECK_EQUAL(3, uw_processor_count_below(root, 8));
    write_file("/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n"); /* no limit */
    CHECK_EQUAL(8, uw_processor_count_below(root, 8));
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    write_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    CHECK_EQUAL(1, uw_processor_count_below(root, 8));
    remove_root();
}

TEST(version_1_reads_only_the_group_of_the_controller_cpu)
{
    new_root();
    write_file("/proc/self/cgroup", "4:memory,cpuset:/docker/x\n3:cpuacct,cpu:/docker/y\n");
    write_file("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
    CHECK_EQUAL(8, uw_processor_count_below(root, 8));
    write_file("/sys/fs/cgroup/cpu/docker/y/cpu.cfs_quota_us", "250000\n");
    write_file("/sys/fs/cgroup/cpu/docker/y/cpu.cfs_period_us", "100000\n");
    CHECK_EQUAL(3, uw_processor_count_below(root, 8));
    remove_root();
}

TEST(no_limit)
{
    new_root();
    CHECK_EQUAL(8, uw_processor_count_below(root, 8));
    write_file("/proc/self/cgroup", "0::/\n");
    CHECK_EQUAL(8, uw_processor_count_below(root, 8));
    remove_root();
    CHECK(uw_processor_count() >= 1);
}

TEST_MAIN
