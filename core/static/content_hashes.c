#include "static/content_hashes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/xxh64.h"

#define PIECE_BYTES (64 * 1024)
#define STEP_PIECES 16 /* then the next job gets a step */

/* A file that is read for its hash. */
struct reading {
    struct uw_background_job job;
    struct uw_list link; /* in hashes->asked */
    struct uw_content_hashes *hashes;
    struct uw_file_identity identity;
    struct uw_xxh64 sum;
    int fd;
    int error; /* of reading, as -errno */
    char piece[PIECE_BYTES];
};

int uw_content_hashes_open(struct uw_content_hashes *hashes, struct uw_background_jobs *jobs)
{
    *hashes = (struct uw_content_hashes){.jobs = jobs};
    uw_list_init(&hashes->asked);
    hashes->known = calloc(UW_CONTENT_HASHES_MAX, sizeof *hashes->known);
    return hashes->known ? 0 : -ENOMEM;
}

static struct uw_content_hash *place(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity)
{
    return &hashes->known[uw_file_identity_hash(identity) & (UW_CONTENT_HASHES_MAX - 1)];
}

bool uw_content_hashes_have(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity,
                            uint64_t *hash)
{
    const struct uw_content_hash *known = place(hashes, identity);

    if (!uw_file_identical(&known->identity, identity))
        return false;
    *hash = known->hash;
    return true;
}

static void end_asked(struct reading *reading)
{
    uw_list_remove(&reading->link);
    reading->hashes->asked_count--;
    close(reading->fd);
    free(reading);
}

void uw_content_hashes_close(struct uw_content_hashes *hashes)
{
    while (!uw_list_empty(&hashes->asked))
        end_asked(uw_container_of(hashes->asked.next, struct reading, link));
    free(hashes->known);
}

/* Adds the next piece to the sum. Returns whether there may be another one. */
static bool read_piece(struct reading *reading)
{
    ssize_t count;

    do
        count = pread(reading->fd, reading->piece, sizeof reading->piece, (off_t)reading->sum.length);
    while (count < 0 && errno == EINTR);
    reading->error = count < 0 ? -errno : 0;
    if (count > 0)
        uw_xxh64_add(&reading->sum, reading->piece, (size_t)count);
    return count > 0 && reading->sum.length < (uint64_t)reading->identity.size;
}

static bool step(struct uw_background_job *job)
{
    struct reading *reading = uw_container_of(job, struct reading, job);

    for (int i = 0; i < STEP_PIECES; i++)
        if (!read_piece(reading))
            return false;
    return true;
}

/* The hash is valid only if the file has not changed during reading. */
static bool is_whole(const struct reading *reading)
{
    struct uw_file_identity after;

    return !reading->error && reading->sum.length == (uint64_t)reading->identity.size &&
           !uw_file_identify(&after, reading->fd) && uw_file_identical(&reading->identity, &after);
}

static void keep(struct uw_content_hashes *hashes, const struct reading *reading)
{
    if (reading->error)
        hashes->error = reading->error;
    if (is_whole(reading))
        *place(hashes, &reading->identity) =
            (struct uw_content_hash){.identity = reading->identity, .hash = uw_xxh64_end(&reading->sum)};
}

static void done(struct uw_background_job *job)
{
    struct reading *reading = uw_container_of(job, struct reading, job);

    keep(reading->hashes, reading);
    end_asked(reading);
}

static struct reading *reading_new(int fd, const struct uw_file_identity *identity)
{
    struct reading *reading = malloc(sizeof *reading);

    if (!reading)
        return NULL;
    reading->job = (struct uw_background_job){.step = step, .done = done};
    reading->identity = *identity;
    reading->fd = fd;
    reading->error = 0;
    uw_xxh64_init(&reading->sum, 0);
    return reading;
}

/* Reads a whole file on the loop's thread. */
static void read_now(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity)
{
    struct reading *reading = reading_new(fd, identity);

    if (!reading)
        return;
    while (step(&reading->job))
        continue;
    keep(hashes, reading);
    free(reading);
}

static void read_later(struct uw_content_hashes *hashes, int fd, const struct uw_file_identity *identity)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    struct reading *reading = own < 0 ? NULL : reading_new(own, identity);

    if (!reading) {
        if (own >= 0)
            close(own);
        return;
    }
    reading->hashes = hashes;
    uw_list_append(&hashes->asked, &reading->link);
    hashes->asked_count++;
    if (uw_background_jobs_add(hashes->jobs, &reading->job))
        end_asked(reading);
}

static bool is_asked(const struct uw_content_hashes *hashes, const struct uw_file_identity *identity)
{
    for (const struct uw_list *node = hashes->asked.next; node != &hashes->asked; node = node->next)
        if (uw_file_identical(&uw_container_of(node, struct reading, link)->identity, identity))
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
        read_now(hashes, fd, identity);
    else if (uw_file_is_at_rest(identity, UW_CONTENT_HASHES_REST_SECONDS) && hashes->jobs &&
             hashes->asked_count < UW_CONTENT_HASHES_ASKED_MAX && !is_asked(hashes, identity))
        read_later(hashes, fd, identity);
    return uw_content_hashes_have(hashes, identity, hash);
}
