#include "static/listing_page_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/server.h"
#include "static/directory_index.h"
#include "static/open_beneath.h"

struct listing {
    struct uw_background_job job;
    struct uw_list link; /* in listings->all */
    struct uw_listing_page_cache *listings;
    int64_t until_ns;
    bool page_is_ready;
    int error;
    struct uw_representation *page;
    struct uw_request *first, **last; /* requests that wait for the page */
    char path[];
};

void uw_listing_page_cache_open(struct uw_listing_page_cache *listings, int root, struct uw_background_jobs *jobs,
                                uw_listed *listed, void *context)
{
    *listings = (struct uw_listing_page_cache){.jobs = jobs, .root = root, .listed = listed, .context = context};
    uw_list_init(&listings->all);
}

static struct listing *oldest_listing(const struct uw_listing_page_cache *listings)
{
    return uw_container_of(listings->all.next, struct listing, link);
}

static void free_listing(struct listing *listing)
{
    uw_list_remove(&listing->link);
    listing->listings->ready_count -= listing->page_is_ready;
    if (listing->page)
        uw_representation_release(listing->page);
    free(listing);
}

void uw_listing_page_cache_close(struct uw_listing_page_cache *listings)
{
    while (!uw_list_empty(&listings->all))
        free_listing(oldest_listing(listings));
}

/* Drops expired pages, and pages beyond UW_LISTINGS_KEPT_MAX. */
static void drop_pages(struct uw_listing_page_cache *listings, int64_t now_ns)
{
    struct uw_list *node = listings->all.next, *next;

    for (; node != &listings->all; node = next) {
        struct listing *listing = uw_container_of(node, struct listing, link);

        next = node->next;
        if (listing->page_is_ready && (listing->until_ns <= now_ns || listings->ready_count > UW_LISTINGS_KEPT_MAX))
            free_listing(listing);
    }
}

static bool make_page(struct uw_background_job *job)
{
    struct listing *listing = uw_container_of(job, struct listing, job);

    listing->error = uw_folder_page_make(&listing->page, listing->listings->root, listing->path);
    return false;
}

/* The listing must not be used after the first response. A response may start the connection's next request, which may
 * drop the listing. */
static void finish_listing(struct uw_background_job *job)
{
    struct listing *listing = uw_container_of(job, struct listing, job);
    struct uw_listing_page_cache *listings = listing->listings;
    struct uw_representation *page = listing->page ? uw_representation_retain(listing->page) : NULL;
    struct uw_request *request = listing->first, *next;
    int error = listing->error;

    listing->page_is_ready = true;
    listings->ready_count++;
    if (error)
        free_listing(listing);
    for (; request; request = next) {
        next = request->next;
        listings->listed(listings->context, request, page, error);
    }
    if (page)
        uw_representation_release(page);
}

static struct listing *find_listing(const struct uw_listing_page_cache *listings, const char *path)
{
    for (const struct uw_list *node = listings->all.next; node != &listings->all; node = node->next)
        if (strcmp(uw_container_of(node, struct listing, link)->path, path) == 0)
            return uw_container_of(node, struct listing, link);
    return NULL;
}

/* Checks that the directory exists and is readable, so that a failing request gets its response at once. Returns 0 or
 * -errno. */
static int check_directory(int root, const char *path)
{
    int fd = uw_open_beneath(root, path, O_RDONLY | O_DIRECTORY);

    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

static struct listing *new_listing(struct uw_listing_page_cache *listings, const char *path, int64_t now_ns)
{
    struct listing *listing = malloc(sizeof *listing + strlen(path) + 1);

    if (!listing)
        return NULL;
    *listing = (struct listing){.job = {.step = make_page, .done = finish_listing}, .listings = listings};
    listing->last = &listing->first;
    listing->until_ns = now_ns + UW_LISTING_NS;
    strcpy(listing->path, path);
    uw_list_append(&listings->all, &listing->link);
    return listing;
}

static void add_waiting_request(struct listing *listing, struct uw_request *request)
{
    request->next = NULL;
    *listing->last = request;
    listing->last = &request->next;
}

/* Without a thread the page is made at once. */
static int start_listing(struct uw_listing_page_cache *listings, struct uw_request *request, const char *path)
{
    int error = check_directory(listings->root, path);
    struct listing *listing = error ? NULL : new_listing(listings, path, request->server_context->loop.now_ns);

    if (!listing)
        return error ? error : -ENOMEM;
    listings->started_count++;
    add_waiting_request(listing, request);
    if (uw_background_jobs_add(listings->jobs, &listing->job)) {
        (void)make_page(&listing->job);
        finish_listing(&listing->job);
    }
    return 0;
}

int uw_listing_page_cache_ask(struct uw_listing_page_cache *listings, struct uw_request *request, const char *path)
{
    struct listing *listing;

    drop_pages(listings, request->server_context->loop.now_ns);
    listing = find_listing(listings, path);
    if (!listing)
        return start_listing(listings, request, path);
    if (listing->page_is_ready)
        listings->listed(listings->context, request, listing->page, 0);
    else
        add_waiting_request(listing, request);
    return 0;
}
