/* How many processors this process may really use. */
#ifndef UW_BASE_PROCESSORS_H
#define UW_BASE_PROCESSORS_H

/* The smaller of the scheduler's affinity mask, where there is one, and the CPU quota of the control group, v2
 * (`cpu.max` of the group and of each of its ancestors) or v1 (`cpu.cfs_quota_us` / `cpu.cfs_period_us`), rounded up;
 * at least 1. */
int uw_processors(void);

/* The same, reading `/proc/self/cgroup` and `/sys/fs/cgroup` below another root folder, for tests; `affinity` is the
 * count that the mask allows. */
int uw_processors_below(const char *root, int affinity);

#endif
