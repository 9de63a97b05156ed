/* Whoever answers: the loop's thread and some workers, which pass a request to each other between any two steps. */
#ifndef UW_STRESS_MULTITHREADED_HANDLER_H
#define UW_STRESS_MULTITHREADED_HANDLER_H

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "server/connection.h"
#include "stress_state.h"

enum step { STEP_HINT, STEP_HEAD, STEP_PIECE, STEP_END, STEP_HIJACK, STEP_LAST };

struct job {
    struct job *next;    /* in a queue */
    struct uw_list link; /* in all_jobs */
    struct uw_request *request;
    struct plan plan;
    enum step step;
    unsigned index; /* of the hint or the piece */
    size_t sent;    /* of the body */
    struct uw_detached detached;
};

/* Jobs that wait for the loop's thread, and for a worker. */
static struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct job *first, **last;
} for_loop, for_workers;

static pthread_mutex_t drained_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t drained = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uw_list all_jobs = {&all_jobs, &all_jobs};
static _Thread_local struct dice handler_dice;

static void push(struct jobs *jobs, struct job *job)
{
    pthread_mutex_lock(&jobs->lock);
    job->next = NULL;
    *jobs->last = job;
    jobs->last = &job->next;
    pthread_cond_signal(&jobs->filled);
    pthread_mutex_unlock(&jobs->lock);
}

static struct job *take_locked(struct jobs *jobs)
{
    struct job *job = jobs->first;

    if (job)
        jobs->first = job->next;
    if (!jobs->first)
        jobs->last = &jobs->first;
    return job;
}

static struct job *take_job(struct jobs *jobs)
{
    struct job *job;

    pthread_mutex_lock(&jobs->lock);
    job = take_locked(jobs);
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

/* The next, or NULL when the round ends. */
static struct job *await_job(struct jobs *jobs)
{
    struct job *job = NULL;

    pthread_mutex_lock(&jobs->lock);
    while (!atomic_load(&now.stop) && !(job = take_locked(jobs)))
        pthread_cond_wait(&jobs->filled, &jobs->lock);
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

static void init_jobs(struct jobs *jobs)
{
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_cond_init(&jobs->filled, NULL);
    jobs->first = NULL;
    jobs->last = &jobs->first;
}

/* Who goes on with it? */
static void pass_on(struct job *job)
{
    if (one_in(&handler_dice, 2)) {
        push(&for_workers, job);
    } else {
        push(&for_loop, job);
        uw_loop_wake(&now.server.server_context.loop);
    }
}

/* Chunks */

static void give_back(struct uw_chunk *chunk)
{
    free(chunk->lender);
    atomic_fetch_sub(&counts.lent, 1);
}

static struct uw_chunk *lent_chunk(const struct job *job, size_t length)
{
    struct uw_chunk *chunk = uw_chunk_new(0);

    REQUIRE(chunk && (chunk->lender = malloc(length)));
    fill(chunk->lender, length, job->plan.mark, job->sent);
    chunk->memory = chunk->lender;
    chunk->rest_left = (int64_t)length;
    chunk->release = give_back;
    atomic_fetch_add(&counts.lent, 1);
    return chunk;
}

static struct uw_chunk *file_chunk(const struct job *job, size_t length)
{
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    struct uw_chunk *chunk = uw_chunk_new(0);
    char *bytes = malloc(length);

    REQUIRE(chunk && bytes && fd >= 0);
    fill(bytes, length, job->plan.mark, job->sent);
    REQUIRE(write(fd, bytes, length) == (ssize_t)length);
    free(bytes);
    uw_chunk_add_file(chunk, fd, 0, (int64_t)length);
    return chunk;
}

static struct uw_chunk *copied_chunk(const struct job *job, size_t length, bool on_loop)
{
    bool from_slab = on_loop && length <= UW_CHUNK_SLAB_CAPACITY && one_in(&handler_dice, 2);
    struct uw_chunk *chunk = from_slab ? uw_chunk_take(&now.server.server_context.chunks) : uw_chunk_new(length);

    REQUIRE(chunk);
    fill(chunk->bytes, length, job->plan.mark, job->sent);
    chunk->length = length;
    return chunk;
}

static struct uw_chunk *piece_chunk(const struct job *job, size_t length, bool on_loop)
{
    switch (below(&handler_dice, 6)) {
    case 0:
        return lent_chunk(job, length);
    case 1:
        return length < 60000 ? file_chunk(job, length) : lent_chunk(job, length);
    default:
        return copied_chunk(job, length, on_loop);
    }
}

static struct uw_chunk *text_chunk(const char *text, size_t length)
{
    struct uw_chunk *chunk = uw_chunk_copy(text, length);

    REQUIRE(chunk);
    return chunk;
}

/* The loop's thread may do either. */
static void hand_over(const struct job *job, struct uw_chunk *chunk, bool on_loop)
{
    if (on_loop && !one_in(&handler_dice, 4))
        uw_request_send(job->request, chunk);
    else
        uw_request_post(job->request, chunk);
}

/* Steps. Each returns whether the job is still the caller's. */

static void forget_job(struct job *job)
{
    pthread_mutex_lock(&all_lock);
    uw_list_remove(&job->link);
    pthread_mutex_unlock(&all_lock);
    free(job);
}

static bool give_hint(struct job *job, bool on_loop)
{
    char text[HEAD_TEXT_BYTES];

    if (job->index == job->plan.hints) {
        job->step = STEP_HEAD;
        return true;
    }
    hand_over(job, text_chunk(text, hint_text(text, &job->plan, job->index++)), on_loop);
    return true;
}

static bool give_head(struct job *job, bool on_loop)
{
    char text[HEAD_TEXT_BYTES];

    hand_over(job, text_chunk(text, head_text(text, &job->plan)), on_loop);
    job->step = STEP_PIECE;
    job->index = 0;
    return true;
}

/* A worker waits itself, as long as the round lasts. */
static bool await_drained(const struct job *job)
{
    pthread_mutex_lock(&drained_lock);
    while (atomic_load(&job->request->await_drain) && !atomic_load(&now.stop))
        pthread_cond_wait(&drained, &drained_lock);
    pthread_mutex_unlock(&drained_lock);
    return !atomic_load(&now.stop);
}

static void tell_drained(void)
{
    pthread_mutex_lock(&drained_lock);
    pthread_cond_broadcast(&drained);
    pthread_mutex_unlock(&drained_lock);
}

/* The loop's thread does not wait: the job goes on with the event. */
static bool give_piece(struct job *job, bool on_loop)
{
    size_t length;

    if (job->index == job->plan.pieces) {
        job->step = job->plan.ending == ENDS_HIJACKED ? STEP_HIJACK : STEP_END;
        return true;
    }
    length = job->plan.piece_bytes[job->index++];
    hand_over(job, piece_chunk(job, length, on_loop), on_loop);
    job->sent += length;
    if (!uw_request_await_drain(job->request))
        return true;
    atomic_fetch_add(&counts.drained, 1);
    if (!on_loop)
        return await_drained(job);
    job->request->user = job;
    return false;
}

/* The first half of what ends it: the request may be the loop's when this returns. */
static bool give_end(struct job *job, bool on_loop)
{
    static const unsigned flags[] = {
        [ENDS_OPEN] = 0, [ENDS_CLOSED] = UW_CHUNK_CLOSE, [ENDS_ABORTED] = UW_CHUNK_ABORT, [ENDS_HIJACKED] = 0};
    struct uw_chunk *chunk = text_chunk("", 0);

    chunk->flags = UW_CHUNK_FINISH | flags[job->plan.ending];
    hand_over(job, chunk, on_loop);
    forget_job(job);
    return false;
}

static void detached(struct uw_detached *detached)
{
    struct job *job = uw_container_of(detached, struct job, detached);

    job->step = STEP_LAST;
    push(&for_workers, job);
}

static bool begin_hijack(struct job *job)
{
    job->detached.done = detached;
    uw_request_detach(job->request, &job->detached);
    return false;
}

static bool ready(int fd, short events)
{
    struct pollfd item = {.fd = fd, .events = events};

    return poll(&item, 1, PATIENCE_SECONDS * 1000) > 0;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = send(fd, bytes, length, MSG_NOSIGNAL);

        if (written < 0 && (errno != EAGAIN || !ready(fd, POLLOUT)))
            return false;
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* What came ahead first, then what comes. */
static void echo(int fd, const char *ahead, size_t length)
{
    char bytes[4096];
    ssize_t count = 0;
    bool goes_on = write_all(fd, ahead, length);

    while (goes_on && ready(fd, POLLIN)) {
        count = recv(fd, bytes, sizeof bytes, 0);
        goes_on = count > 0 ? write_all(fd, bytes, (size_t)count) : count < 0 && errno == EAGAIN;
    }
}

static bool end_hijack(struct job *job, bool on_loop)
{
    if (job->detached.fd >= 0) {
        echo(job->detached.fd, job->detached.bytes, job->detached.length);
        close(job->detached.fd);
        atomic_fetch_add(&counts.hijacked, 1);
    }
    free(job->detached.bytes);
    return give_end(job, on_loop);
}

static bool take_step(struct job *job, bool on_loop)
{
    switch (job->step) {
    case STEP_HINT:
        return give_hint(job, on_loop);
    case STEP_HEAD:
        return give_head(job, on_loop);
    case STEP_PIECE:
        return give_piece(job, on_loop);
    case STEP_HIJACK:
        return begin_hijack(job);
    case STEP_END:
        return give_end(job, on_loop);
    case STEP_LAST:
        return end_hijack(job, on_loop);
    }
    return false;
}

/* Whether the client is there and what it is called may be asked at any time. */
static void look(const struct job *job)
{
    int port = 0;

    (void)uw_request_keeps_alive(job->request);
    REQUIRE(strcmp(uw_request_local(job->request, &port), "127.0.0.1") == 0);
    REQUIRE(port == ntohs(now.address.sin_port));
}

static void go_on_with(struct job *job, bool on_loop)
{
    do {
        look(job);
        if (job->step != STEP_LAST && one_in(&handler_dice, 3)) {
            pass_on(job);
            return;
        }
        if (!on_loop)
            jitter(&handler_dice);
    } while (take_step(job, on_loop));
}

/* Beginning */

static void check_content(const struct job *job)
{
    const struct uw_spooled_body *body = &job->request->body;
    char wanted[CONTENT_BYTES_MAX], spilled[CONTENT_BYTES_MAX];
    const char *content = body->memory;

    REQUIRE(body->length == job->plan.content_bytes);
    if (body->fd >= 0) {
        REQUIRE(pread(body->fd, spilled, sizeof spilled, 0) == (ssize_t)body->length);
        content = spilled;
    }
    fill_content(wanted, job->plan.content_bytes, job->plan.mark);
    REQUIRE(body->length == 0 || memcmp(wanted, content, body->length) == 0);
}

/* Only a job of the loop waits for this, named by its request meanwhile: a worker goes on by itself, and its job may be
 * gone by now. */
static void resume(struct uw_request *request)
{
    struct job *job = request->user;

    if (!job) {
        tell_drained();
        return;
    }
    request->user = NULL;
    pass_on(job);
}

static void notify(void *context, struct uw_request *request, enum uw_event event)
{
    struct job *job;

    (void)context;
    if (event == UW_EVENT_DRAINED) {
        resume(request);
        return;
    }
    job = calloc(1, sizeof *job);
    REQUIRE(job && event == UW_EVENT_REQUEST);
    job->request = request;
    job->plan = plan_of(strtoull(uw_request_text(request, request->head.path) + 1, NULL, 16));
    check_content(job);
    pthread_mutex_lock(&all_lock);
    uw_list_append(&all_jobs, &job->link);
    pthread_mutex_unlock(&all_lock);
    pass_on(job);
}

static void *work(void *argument)
{
    struct job *job;

    handler_dice.state = *(uint64_t *)argument;
    while ((job = await_job(&for_workers)))
        go_on_with(job, false);
    return NULL;
}

/* What nobody goes on with. */
static void discard_jobs(void)
{
    while (!uw_list_empty(&all_jobs)) {
        struct job *job = uw_container_of(all_jobs.next, struct job, link);

        if (job->step == STEP_LAST && job->detached.fd >= 0)
            close(job->detached.fd);
        if (job->step == STEP_LAST)
            free(job->detached.bytes);
        uw_list_remove(&job->link);
        free(job);
    }
}

#endif
