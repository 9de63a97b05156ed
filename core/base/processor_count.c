#include "base/processor_count.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

#define PATH_BYTES_MAX 4096
#define LINE_BYTES_MAX 4096

struct place {
    const char *root;
    char group[PATH_BYTES_MAX]; /* this process's group, below the mount point of the hierarchy */
};

/* Returns how many processors a quota of microseconds in each period allows, or `fallback` without a quota. */
static int worth(long long quota, long long period, int fallback)
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

static bool join(char path[PATH_BYTES_MAX], const struct place *place, const char *hierarchy, const char *file)
{
    int length = snprintf(path, PATH_BYTES_MAX, "%s/sys/fs/cgroup%s%s/%s", place->root, hierarchy, place->group, file);

    return length > 0 && length < PATH_BYTES_MAX;
}

static int limit_v2(const struct place *place, int count)
{
    char path[PATH_BYTES_MAX], line[LINE_BYTES_MAX];
    long long quota, period;

    if (!join(path, place, "", "cpu.max") || !read_line(path, line) || sscanf(line, "%lld %lld", &quota, &period) != 2)
        return count; /* "max" is not a number */
    return worth(quota, period, count);
}

static long long read_number(const struct place *place, const char *file)
{
    char path[PATH_BYTES_MAX], line[LINE_BYTES_MAX];

    if ((join(path, place, "/cpu", file) && read_line(path, line)) ||
        (join(path, place, "/cpu,cpuacct", file) && read_line(path, line)))
        return strtoll(line, NULL, 10);
    return -1;
}

static int limit_v1(const struct place *place, int count)
{
    return worth(read_number(place, "cpu.cfs_quota_us"), read_number(place, "cpu.cfs_period_us"), count);
}

/* The group and all its ancestors limit the process. A container may see only the root group, not its own path. */
static int limit_upwards(struct place *place, int count, int (*limit)(const struct place *, int))
{
    for (;;) {
        char *slash;

        count = limit(place, count);
        slash = strrchr(place->group, '/');
        if (!slash)
            return count;
        *slash = '\0';
    }
}

/* Parses a line of /proc/self/cgroup: "0::/path" in version 2, "4:cpu,cpuacct:/path" in version 1. */
static int limit_by_line(struct place *place, char *line, int count)
{
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group || strlen(group + 1) >= sizeof place->group)
        return count;
    *controllers++ = '\0';
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    strcpy(place->group, group);
    if (*controllers == '\0')
        return limit_upwards(place, count, limit_v2);
    if (strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 || strstr(controllers, ",cpu"))
        return limit_upwards(place, count, limit_v1);
    return count;
}

int uw_processor_count_below(const char *root, int affinity)
{
    struct place place = {.root = root};
    char path[PATH_BYTES_MAX], line[LINE_BYTES_MAX];
    int count = affinity, length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = length > 0 && length < (int)sizeof path ? fopen(path, "re") : NULL;

    if (!file)
        return count;
    while (fgets(line, sizeof line, file))
        count = limit_by_line(&place, line, count);
    fclose(file);
    return count > 0 ? count : 1;
}

int uw_processor_count(void)
{
    return uw_processor_count_below("", uw_processors_allowed());
}
