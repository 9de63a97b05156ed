/* The quota of calls from other threads that wait for a loop, see cross_thread.h. Threads wait here while the quota is
 * used up. The object outlives the loop while threads have references. */
#ifndef UW_PUB_SUB_POST_QUOTA_H
#define UW_PUB_SUB_POST_QUOTA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UW_POST_QUOTA_CALLS_MAX 256                /* waiting calls. Further callers wait */
#define UW_POST_QUOTA_BYTES_MAX (16 * 1024 * 1024) /* bytes of waiting calls. A single call is always accepted */

struct uw_post_quota {
    atomic_uint references;
    pthread_mutex_t lock; /* protects the members below and the queuing of calls */
    pthread_cond_t changed;
    unsigned calls;
    size_t bytes;
    bool closed; /* the loop has ended, and no more calls are accepted */
};

/* Returns a quota with one reference, or NULL without memory. */
struct uw_post_quota *uw_post_quota_new(void);
void uw_post_quota_retain(struct uw_post_quota *quota);
void uw_post_quota_release(struct uw_post_quota *quota);

/* Reserves quota for one call of `bytes` bytes. An `unlimited` call always gets quota. Returns 0, -EAGAIN or
 * -ESHUTDOWN. */
int uw_post_quota_take(struct uw_post_quota *quota, size_t bytes, bool unlimited);
void uw_post_quota_return(struct uw_post_quota *quota, size_t bytes);

/* Waits until quota for `bytes` bytes is free, the loop has ended, `deadline_ns` has passed, or uw_post_quota_interrupt
 * has set `*interrupted`. The caller has a reference to the quota, and is not the loop's thread. */
void uw_post_quota_await(struct uw_post_quota *quota, size_t bytes, int64_t deadline_ns, const bool *interrupted);
void uw_post_quota_interrupt(struct uw_post_quota *quota, bool *interrupted);

/* Called at the end of the loop: later calls get -ESHUTDOWN, and all waits end. */
void uw_post_quota_close(struct uw_post_quota *quota);

#endif
