#include "pub_sub/post_quota.h"

#include <errno.h>
#include <stdlib.h>

#include "base/system.h"

struct uw_post_quota *uw_post_quota_new(void)
{
    struct uw_post_quota *quota = calloc(1, sizeof *quota);

    if (!quota)
        return NULL;
    atomic_init(&quota->references, 1);
    if (pthread_mutex_init(&quota->lock, NULL)) {
        free(quota);
        return NULL;
    }
    if (uw_condition_init(&quota->changed)) {
        (void)pthread_mutex_destroy(&quota->lock);
        free(quota);
        return NULL;
    }
    return quota;
}

void uw_post_quota_retain(struct uw_post_quota *quota)
{
    atomic_fetch_add(&quota->references, 1);
}

void uw_post_quota_release(struct uw_post_quota *quota)
{
    if (atomic_fetch_sub(&quota->references, 1) > 1)
        return;
    (void)pthread_cond_destroy(&quota->changed);
    (void)pthread_mutex_destroy(&quota->lock);
    free(quota);
}

static bool fits(const struct uw_post_quota *quota, size_t bytes)
{
    return quota->calls < UW_POST_QUOTA_CALLS_MAX && (!quota->calls || quota->bytes + bytes <= UW_POST_QUOTA_BYTES_MAX);
}

int uw_post_quota_take(struct uw_post_quota *quota, size_t bytes, bool unlimited)
{
    int error;

    pthread_mutex_lock(&quota->lock);
    error = quota->closed ? -ESHUTDOWN : unlimited || fits(quota, bytes) ? 0 : -EAGAIN;
    if (!error) {
        quota->calls++;
        quota->bytes += bytes;
    }
    pthread_mutex_unlock(&quota->lock);
    return error;
}

/* Waiting threads wake when half of the quota is free. Otherwise every finished call would wake a thread. */
static bool half_is_free(const struct uw_post_quota *quota)
{
    return quota->calls <= UW_POST_QUOTA_CALLS_MAX / 2 && quota->bytes <= UW_POST_QUOTA_BYTES_MAX / 2;
}

void uw_post_quota_return(struct uw_post_quota *quota, size_t bytes)
{
    pthread_mutex_lock(&quota->lock);
    quota->calls--;
    quota->bytes -= bytes;
    if (half_is_free(quota))
        pthread_cond_broadcast(&quota->changed);
    pthread_mutex_unlock(&quota->lock);
}

void uw_post_quota_await(struct uw_post_quota *quota, size_t bytes, int64_t deadline_ns, const bool *interrupted)
{
    int late = 0;

    pthread_mutex_lock(&quota->lock);
    while (!late && !*interrupted && !quota->closed && !(half_is_free(quota) && fits(quota, bytes)))
        late = uw_condition_wait_until(&quota->changed, &quota->lock, deadline_ns);
    pthread_mutex_unlock(&quota->lock);
}

void uw_post_quota_interrupt(struct uw_post_quota *quota, bool *interrupted)
{
    pthread_mutex_lock(&quota->lock);
    *interrupted = true;
    pthread_cond_broadcast(&quota->changed);
    pthread_mutex_unlock(&quota->lock);
}

void uw_post_quota_close(struct uw_post_quota *quota)
{
    pthread_mutex_lock(&quota->lock);
    quota->closed = true;
    pthread_cond_broadcast(&quota->changed);
    pthread_mutex_unlock(&quota->lock);
}
