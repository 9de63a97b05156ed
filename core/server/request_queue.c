#include "server/request_queue.h"

#include <errno.h>
#include <time.h>

#include "base/invariant.h"
#include "server/request.h"

int uw_queue_init(struct uw_queue *queue)
{
    *queue = (struct uw_queue){.last = &queue->first};
    uw_list_init(&queue->workers);
    uw_list_init(&queue->idle);
    return -pthread_mutex_init(&queue->lock, NULL);
}

void uw_queue_free(struct uw_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
}

static bool load(const atomic_bool *flag)
{
    return atomic_load_explicit(flag, memory_order_relaxed);
}

static int64_t since(const _Atomic int64_t *then_ns)
{
    return uw_clock_ns() - atomic_load_explicit(then_ns, memory_order_relaxed);
}

static bool has_request(const struct uw_worker *worker)
{
    return atomic_load_explicit(&worker->began_ns, memory_order_relaxed);
}

/* The caller holds the lock, here and in all `static` functions below. */
static bool comes_soon(const struct uw_worker *worker)
{
    return has_request(worker) && load(&worker->computes) && !load(&worker->waited) && !worker->waited_before &&
           since(&worker->began_ns) < UW_SOON_NS;
}

static bool somebody_comes_soon(const struct uw_queue *queue)
{
    for (const struct uw_list *link = queue->workers.next; link != &queue->workers; link = link->next)
        if (comes_soon(uw_container_of(link, struct uw_worker, link)))
            return true;
    return false;
}

static void wake(struct uw_worker *worker)
{
    pthread_cond_signal(&worker->woken);
}

static void call(struct uw_queue *queue, struct uw_worker *worker)
{
    uw_list_remove(&worker->idle);
    queue->calling = worker->called = true;
    wake(worker);
}

static void have_look(struct uw_queue *queue, struct uw_worker *worker)
{
    if (queue->looking)
        return;
    queue->looking = worker->looks = true;
    wake(worker);
}

/* Workers are called one at a time, and each calls the next if requests remain. So a burst does not make every thread
 * run only to find the queue empty. */
static void call_one(struct uw_queue *queue)
{
    struct uw_worker *worker = uw_container_of(queue->idle.previous, struct uw_worker, idle);

    if (!queue->first || queue->calling || uw_list_empty(&queue->idle))
        return;
    if (somebody_comes_soon(queue))
        have_look(queue, worker);
    else
        call(queue, worker);
}

static void stop_looking(struct uw_queue *queue, struct uw_worker *worker)
{
    if (worker->looks)
        queue->looking = worker->looks = false;
}

/* Counts workers that have a request and compute. */
static void count(struct uw_worker *worker, int one)
{
    if (has_request(worker) && load(&worker->computes))
        atomic_fetch_add_explicit(&worker->queue->computing, one, memory_order_relaxed);
}

static void begin(struct uw_worker *worker)
{
    atomic_store_explicit(&worker->waited, false, memory_order_relaxed);
    atomic_store_explicit(&worker->began_ns, uw_clock_ns(), memory_order_relaxed);
    count(worker, 1);
}

static void end(struct uw_worker *worker)
{
    count(worker, -1);
    atomic_store_explicit(&worker->began_ns, 0, memory_order_relaxed);
    worker->waited_before = load(&worker->waited);
}

/* The worker is here: it has no request, and need not be called. */
static void arrive(struct uw_queue *queue, struct uw_worker *worker)
{
    if (worker->called)
        queue->calling = worker->called = false;
    stop_looking(queue, worker);
    uw_list_remove(&worker->idle);
    if (has_request(worker))
        end(worker);
}

static struct uw_request *take(struct uw_queue *queue)
{
    struct uw_request *request = queue->first;

    if (!request || somebody_comes_soon(queue))
        return NULL;
    UW_INVARIANT(queue->length > 0);
    queue->first = request->next;
    if (!queue->first)
        queue->last = &queue->first;
    queue->length--;
    request->next = NULL;
    return request;
}

int uw_queue_join(struct uw_queue *queue, struct uw_worker *worker)
{
    int error = uw_condition_init(&worker->woken);

    if (error)
        return -error;
    worker->queue = queue;
    uw_list_init(&worker->idle);
    pthread_mutex_lock(&queue->lock);
    uw_list_append(&queue->workers, &worker->link);
    pthread_mutex_unlock(&queue->lock);
    return 0;
}

void uw_queue_retire(struct uw_queue *queue, struct uw_worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    arrive(queue, worker);
    uw_list_remove(&worker->link);
    call_one(queue);
    pthread_mutex_unlock(&queue->lock);
    pthread_cond_destroy(&worker->woken);
}

struct uw_request *uw_queue_take(struct uw_queue *queue, struct uw_worker *worker)
{
    struct uw_request *request;

    pthread_mutex_lock(&queue->lock);
    arrive(queue, worker);
    request = take(queue);
    if (request)
        begin(worker);
    else
        uw_list_append(&queue->idle, &worker->idle);
    call_one(queue);
    pthread_mutex_unlock(&queue->lock);
    return request;
}

/* The worker that was expected soon may be waiting for something else meanwhile. */
static void look_later(struct uw_queue *queue, struct uw_worker *worker)
{
    int64_t then_ns = uw_clock_ns() + UW_LOOK_NS;

    if (uw_condition_wait_until(&worker->woken, &queue->lock, then_ns) != ETIMEDOUT)
        return;
    if (!queue->first)
        stop_looking(queue, worker);
    call_one(queue);
}

void uw_queue_wait(struct uw_queue *queue, struct uw_worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    while (!worker->called && !queue->closed && !worker->interrupted) {
        if (worker->looks)
            look_later(queue, worker);
        else
            pthread_cond_wait(&worker->woken, &queue->lock);
    }
    worker->interrupted = false;
    pthread_mutex_unlock(&queue->lock);
}

void uw_worker_leaves(struct uw_worker *worker)
{
    count(worker, -1);
    atomic_store_explicit(&worker->left_ns, uw_clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&worker->computes, false, memory_order_relaxed);
}

/* While others compute, they may be all that it waited for. */
static bool has_waited(const struct uw_worker *worker)
{
    return has_request(worker) && since(&worker->left_ns) > UW_WAIT_NS &&
           atomic_load_explicit(&worker->queue->computing, memory_order_relaxed) == 0;
}

void uw_worker_computes(struct uw_worker *worker)
{
    if (has_waited(worker))
        atomic_store_explicit(&worker->waited, true, memory_order_relaxed);
    atomic_store_explicit(&worker->computes, true, memory_order_relaxed);
    count(worker, 1);
}

void uw_queue_interrupt(struct uw_queue *queue, struct uw_worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    worker->interrupted = true;
    wake(worker);
    pthread_mutex_unlock(&queue->lock);
}

void uw_queue_push(struct uw_queue *queue, struct uw_request *request)
{
    request->next = NULL;
    pthread_mutex_lock(&queue->lock);
    *queue->last = request;
    queue->last = &request->next;
    queue->length++;
    call_one(queue);
    pthread_mutex_unlock(&queue->lock);
}

void uw_queue_close(struct uw_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    for (struct uw_list *link = queue->idle.next; link != &queue->idle; link = link->next)
        wake(uw_container_of(link, struct uw_worker, idle));
    pthread_mutex_unlock(&queue->lock);
}
