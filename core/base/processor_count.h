/* Counts the processors that this process may use. */
#ifndef UW_BASE_PROCESSOR_COUNT_H
#define UW_BASE_PROCESSOR_COUNT_H

/* Returns the smaller of two limits, at least 1: the scheduler's affinity mask, and the control group's CPU quota,
 * rounded up. In v2 the quota is `cpu.max` of the group and its ancestors. In v1 the quota is `cpu.cfs_quota_us` /
 * `cpu.cfs_period_us`. */
int uw_processor_count(void);

/* Same as uw_processor_count, but reads `/proc/self/cgroup` and `/sys/fs/cgroup` below `root`, for tests. `affinity` is
 * the number of processors in the affinity mask. */
int uw_processor_count_below(const char *root, int affinity);

#endif
