#include "static/content_hashes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xxh64.h"

#define PIECE_BYTES (64 * 1024)
#define STEP_PIECES 16 /* pieces of one step, after which the next job gets a step */

/* A job that reads a file for its hash */
struct hash_job {
    struct uw_background_job job;
    struct uw_list link; /* in hashes->pending */
    struct uw_content_hashes *hashes;
    struct uw_file_identity identity;
    struct uw_xxh64 sum;
    int fd;
    int error; /* -errno of reading, or 0 */
    char piece[PIECE_BYTES];
};

int uw_content_hashes_open(struct uw_content_hashes *hashes, struct uw_background_jobs *jobs)
{
    *hashes = (struct uw_content_hashes){.jobs = jobs};
    uw_list_init(&hashes->pending);
    hashes->known = calloc(UW_CONTENT_HASHES_MAX, sizeof *hashes->known);
    return hashes->known ? 0 : -ENOMEM;
}

static struct uw_content_hash *slot_of(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity)
{
    return &hashes->known[uw_file_identity_hash(identity) & (UW_CONTENT_HASHES_MAX - 1)];
}

bool uw_content_hashes_have(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity,
                            uint64_t *hash)
{
    const struct uw_content_hash *known = slot_of(hashes, identity);

    if (!uw_file_identical(&known->identity, identity))
        return false;
    *hash = known->hash;
    return true;
}

static void free_hash_job(struct hash_job *hash_job)
{
    uw_list_remove(&hash_job->link);
    hash_job->hashes->pending_count--;
    close(hash_job->fd);
    free(hash_job);
}

void uw_content_hashes_close(struct uw_content_hashes *hashes)
{
    while (!uw_list_empty(&hashes->pending))
        free_hash_job(uw_container_of(hashes->pending.next, struct hash_job, link));
    free(hashes->known);
}

/* Adds the next piece of the file to the sum. Returns false at the end of the file or after an error. */
static bool read_piece(struct hash_job *hash_job)
{
    ssize_t count;

    do
        count = pread(hash_job->fd, hash_job->piece, sizeof hash_job->piece, (off_t)hash_job->sum.length);
    while (count < 0 && errno == EINTR);
    hash_job->error = count < 0 ? -errno : 0;
    if (count > 0)
        uw_xxh64_add(&hash_job->sum, hash_job->piece, (size_t)count);
    return count > 0 && hash_job->sum.length < (uint64_t)hash_job->identity.size;
}

static bool hash_next_pieces(struct uw_background_job *job)
{
    struct hash_job *hash_job = uw_container_of(job, struct hash_job, job);

    for (int i = 0; i < STEP_PIECES; i++)
        if (!read_piece(hash_job))
            return false;
    return true;
}

/* The hash is valid only if the file has not changed during reading. */
static bool is_complete_and_unchanged(const struct hash_job *hash_job)
{
    struct uw_file_identity after;

    return !hash_job->error && hash_job->sum.length == (uint64_t)hash_job->identity.size &&
           !uw_file_identify(&after, hash_job->fd) && uw_file_identical(&hash_job->identity, &after);
}

static void store_hash(struct uw_content_hashes *hashes, const struct hash_job *hash_job)
{
    if (hash_job->error)
        hashes->error = hash_job->error;
    if (is_complete_and_unchanged(hash_job))
        *slot_of(hashes, &hash_job->identity) =
            (struct uw_content_hash){.identity = hash_job->identity, .hash = uw_xxh64_end(&hash_job->sum)};
}

static void finish_hash_job(struct uw_background_job *job)
{
    struct hash_job *hash_job = uw_container_of(job, struct hash_job, job);

    store_hash(hash_job->hashes, hash_job);
    free_hash_job(hash_job);
}

static struct hash_job *hash_job_new(int fd, const struct uw_file_identity *identity)
{
    struct hash_job *hash_job = malloc(sizeof *hash_job);

    if (!hash_job)
        return NULL;
    hash_job->job = (struct uw_background_job){.step = hash_next_pieces, .done = finish_hash_job};
    hash_job->identity = *identity;
    hash_job->fd = fd;
    hash_job->error = 0;
    uw_xxh64_init(&hash_job->sum, 0);
    return hash_job;
}

/* Reads a whole file on the loop's thread. */
static void hash_now(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity)
{
    struct hash_job *hash_job = hash_job_new(fd, identity);

    if (!hash_job)
        return;
    while (hash_next_pieces(&hash_job->job))
        continue;
    store_hash(hashes, hash_job);
    free(hash_job);
}

static void hash_later(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity)
{
    int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct hash_job *hash_job = duplicate < 0 ? NULL : hash_job_new(duplicate, identity);

    if (!hash_job) {
        if (duplicate >= 0)
            close(duplicate);
        return;
    }
    hash_job->hashes = hashes;
    uw_list_append(&hashes->pending, &hash_job->link);
    hashes->pending_count++;
    if (uw_background_jobs_add(hashes->jobs, &hash_job->job))
        free_hash_job(hash_job);
}

static bool is_pending(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity)
{
    for (const struct uw_list *node = hashes->pending.next; node != &hashes->pending; node = node->next)
        if (uw_file_identical(&uw_container_of(node, struct hash_job, link)->identity, identity))
            return true;
    return false;
}

bool uw_content_hashes_find(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity,
                            uint64_t *hash)
{
    if (uw_content_hashes_have(hashes, identity, hash))
        return true;
    if (uw_file_is_young(identity) || !uw_content_hashes_are_for(identity->size))
        return false;
    if (identity->size <= UW_CONTENT_HASHES_AT_ONCE_BYTES)
        hash_now(hashes, fd, identity);
    else if (uw_file_is_at_rest(identity, UW_CONTENT_HASHES_REST_SECONDS) && hashes->jobs &&
             hashes->pending_count < UW_CONTENT_HASHES_PENDING_MAX && !is_pending(hashes, identity))
        hash_later(hashes, fd, identity);
    return uw_content_hashes_have(hashes, identity, hash);
}
