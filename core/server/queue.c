#include "server/queue.h"

#include "server/request.h"

int uw_queue_init(struct uw_queue *queue)
{
    int error;

    *queue = (struct uw_queue){.last = &queue->first};
    error = pthread_mutex_init(&queue->lock, NULL);
    if (error)
        return -error;
    error = pthread_cond_init(&queue->filled, NULL);
    if (error)
        pthread_mutex_destroy(&queue->lock);
    return -error;
}

void uw_queue_free(struct uw_queue *queue)
{
    pthread_cond_destroy(&queue->filled);
    pthread_mutex_destroy(&queue->lock);
}

/* With the lock held. One thread is woken at a time: it wakes the next if it leaves something behind, so a burst of
 * requests does not make every thread run only to find the queue empty. */
static void wake_one(struct uw_queue *queue)
{
    if (queue->first && queue->waiting && !queue->waking) {
        queue->waking = true;
        pthread_cond_signal(&queue->filled);
    }
}

static struct uw_request *take(struct uw_queue *queue)
{
    struct uw_request *request = queue->first;

    if (!request)
        return NULL;
    queue->first = request->next;
    if (!queue->first)
        queue->last = &queue->first;
    queue->length--;
    request->next = NULL;
    return request;
}

void uw_queue_push(struct uw_queue *queue, struct uw_request *request)
{
    request->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->last = request;
    queue->last = &request->next;
    queue->length++;
    wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
}

void uw_queue_wait(struct uw_queue *queue, struct uw_worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    queue->waiting++;
    while (!queue->first && !queue->closed && !worker->interrupted) {
        pthread_cond_wait(&queue->filled, &queue->lock);
        /* If others were faster, the signal is used up and this one waits for the next. */
        worker->woken = queue->first != NULL;
        if (!worker->woken)
            queue->waking = false;
    }
    queue->waiting--;
    worker->interrupted = false;
    pthread_mutex_unlock(&queue->lock);
}

struct uw_request *uw_queue_take(struct uw_queue *queue, struct uw_worker *worker)
{
    struct uw_request *request;

    pthread_mutex_lock(&queue->lock);
    if (worker->woken)
        queue->waking = worker->woken = false;
    request = take(queue);
    wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
    return request;
}

void uw_queue_retire(struct uw_queue *queue, struct uw_worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    if (worker->woken)
        queue->waking = worker->woken = false;
    wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
}

void uw_queue_interrupt(struct uw_queue *queue, struct uw_worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    worker->interrupted = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

void uw_queue_close(struct uw_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}
