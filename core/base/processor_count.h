/* Counts the processors that this process may use. */
#ifndef UW_BASE_PROCESSOR_COUNT_H
#define UW_BASE_PROCESSOR_COUNT_H

/* Returns the smaller of two limits, at least 1: the scheduler's affinity mask, and the control group's CPU quota,
 * rounded up. The quota is `cpu.max` of the group and its ancestors in v2, `cpu.cfs_quota_us` / `cpu.cfs_period_us` in
 * v1. */
int uw_processor_count(void);

/* Counts as uw_processor_count does, but reads `/proc/self/cgroup` and `/sys/fs/cgroup` under another root, for tests.
 * `affinity` is the count that the mask allows. */
int uw_processor_count_below(const char *root, int affinity);

#endif
