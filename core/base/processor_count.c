#include "base/processor_count.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

#define PATH_BYTES_MAX 4096
#define LINE_BYTES_MAX 4096

struct cgroup {
    const char *root;
    char path[PATH_BYTES_MAX]; /* path of the process's cgroup below the mount point of the hierarchy */
};

/* Returns the number of processors that a CPU quota allows, or `fallback` without a quota. `quota` and `period` are in
 * microseconds. */
static int quota_processors(long long quota, long long period, int fallback)
{
    long long count;

    if (quota <= 0 || period <= 0)
        return fallback;
    count = (quota + period - 1) / period;
    return count < fallback ? (int)count : fallback;
}

static bool read_line(const char *path, char line[LINE_BYTES_MAX])
{
    FILE *file = fopen(path, "re");
    bool read;

    if (!file)
        return false;
    read = fgets(line, LINE_BYTES_MAX, file) != NULL;
    fclose(file);
    return read;
}

static bool control_file_path(char path[PATH_BYTES_MAX], const struct cgroup *cgroup, const char *hierarchy,
                              const char *file)
{
    int length = snprintf(path, PATH_BYTES_MAX, "%s/sys/fs/cgroup%s%s/%s", cgroup->root, hierarchy, cgroup->path, file);

    return length > 0 && length < PATH_BYTES_MAX;
}

static int limit_by_quota_v2(const struct cgroup *cgroup, int count)
{
    char path[PATH_BYTES_MAX], line[LINE_BYTES_MAX];
    long long quota, period;

    if (!control_file_path(path, cgroup, "", "cpu.max") || !read_line(path, line) ||
        sscanf(line, "%lld %lld", &quota, &period) != 2)
        return count; /* "max" means no quota */
    return quota_processors(quota, period, count);
}

static long long read_number(const struct cgroup *cgroup, const char *file)
{
    char path[PATH_BYTES_MAX], line[LINE_BYTES_MAX];

    if ((control_file_path(path, cgroup, "/cpu", file) && read_line(path, line)) ||
        (control_file_path(path, cgroup, "/cpu,cpuacct", file) && read_line(path, line)))
        return strtoll(line, NULL, 10);
    return -1;
}

static int limit_by_quota_v1(const struct cgroup *cgroup, int count)
{
    return quota_processors(read_number(cgroup, "cpu.cfs_quota_us"), read_number(cgroup, "cpu.cfs_period_us"), count);
}

/* The cgroup and all its ancestors limit the process. A container may see only the root cgroup instead of its own
 * path. */
static int limit_by_ancestors(struct cgroup *cgroup, int count, int (*limit)(const struct cgroup *, int))
{
    for (;;) {
        char *slash;

        count = limit(cgroup, count);
        slash = strrchr(cgroup->path, '/');
        if (!slash)
            return count;
        *slash = '\0';
    }
}

/* Returns whether a list like "cpu,cpuacct" contains "cpu". */
static bool has_cpu_controller(const char *controllers)
{
    for (const char *name = controllers; name; name = strchr(name, ',')) {
        name += *name == ',';
        if (strcspn(name, ",") == strlen("cpu") && strncmp(name, "cpu", strlen("cpu")) == 0)
            return true;
    }
    return false;
}

/* Parses a line of /proc/self/cgroup: "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1. */
static int limit_by_line(struct cgroup *cgroup, char *line, int count)
{
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group || strlen(group + 1) >= sizeof cgroup->path)
        return count;
    *controllers++ = '\0';
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    strcpy(cgroup->path, group);
    if (*controllers == '\0')
        return limit_by_ancestors(cgroup, count, limit_by_quota_v2);
    if (has_cpu_controller(controllers))
        return limit_by_ancestors(cgroup, count, limit_by_quota_v1);
    return count;
}

int uw_processor_count_below(const char *root, int affinity)
{
    struct cgroup cgroup = {.root = root};
    char path[PATH_BYTES_MAX], line[LINE_BYTES_MAX];
    int count = affinity, length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = length > 0 && length < (int)sizeof path ? fopen(path, "re") : NULL;

    if (!file)
        return count;
    while (fgets(line, sizeof line, file))
        count = limit_by_line(&cgroup, line, count);
    fclose(file);
    return count > 0 ? count : 1;
}

int uw_processor_count(void)
{
    return uw_processor_count_below("", uw_processors_allowed());
}
