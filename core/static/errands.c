#include "static/errands.h"

#include <errno.h>
#include <unistd.h>

#include "base/thread.h"

int uw_errands_open(struct uw_errands *errands)
{
    int error;

    *errands = (struct uw_errands){.loop = NULL};
    uw_list_init(&errands->waiting);
    error = pthread_mutex_init(&errands->lock, NULL);
    if (error)
        return -error;
    error = pthread_cond_init(&errands->changed, NULL);
    if (error)
        pthread_mutex_destroy(&errands->lock);
    return -error;
}

static void arrive(struct uw_loop *loop, struct uw_message *message)
{
    struct uw_errand *errand = uw_owner(message, struct uw_errand, message);

    (void)loop;
    errand->done(errand);
}

/* With the lock held: the next errand, or NULL when there will be none. */
static struct uw_errand *await_errand(struct uw_errands *errands)
{
    struct uw_errand *errand;

    while (uw_list_empty(&errands->waiting) && !errands->stops)
        pthread_cond_wait(&errands->changed, &errands->lock);
    if (errands->stops)
        return NULL;
    errand = uw_owner(errands->waiting.next, struct uw_errand, link);
    uw_list_remove(&errand->link);
    return errand;
}

static void *run(void *argument)
{
    struct uw_errands *errands = argument;
    struct uw_errand *errand;

    pthread_mutex_lock(&errands->lock);
    while ((errand = await_errand(errands))) {
        bool more;

        pthread_mutex_unlock(&errands->lock);
        more = errand->step(errand);
        pthread_mutex_lock(&errands->lock);
        if (more)
            uw_list_append(&errands->waiting, &errand->link);
        else
            uw_loop_post(errands->loop, &errand->message);
    }
    pthread_mutex_unlock(&errands->lock);
    return NULL;
}

int uw_errands_add(struct uw_errands *errands, struct uw_errand *errand)
{
    if (errands->stops)
        return -ECANCELED;
    UW_ASSERT_OWNER(errands->loop);
    if (!errands->process) {
        int error = uw_thread_start(&errands->thread, run, errands);

        if (error)
            return error;
        errands->process = getpid();
    }
    errand->message.receive = arrive;
    pthread_mutex_lock(&errands->lock);
    uw_list_append(&errands->waiting, &errand->link);
    pthread_cond_signal(&errands->changed);
    pthread_mutex_unlock(&errands->lock);
    return 0;
}

/* The child of a fork has a copy of all but the thread, which may have had the lock. */
static bool is_copy(const struct uw_errands *errands)
{
    return errands->process && errands->process != getpid();
}

void uw_errands_stop(struct uw_errands *errands)
{
    if (is_copy(errands))
        return;
    pthread_mutex_lock(&errands->lock);
    errands->stops = true;
    pthread_cond_signal(&errands->changed);
    pthread_mutex_unlock(&errands->lock);
    if (errands->process)
        (void)pthread_join(errands->thread, NULL);
    errands->process = 0;
}

void uw_errands_close(struct uw_errands *errands)
{
    uw_errands_stop(errands);
    if (is_copy(errands))
        return;
    pthread_cond_destroy(&errands->changed);
    pthread_mutex_destroy(&errands->lock);
}
