#include "static/static.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd_limit.h"
#include "base/system.h"
#include "http/byte_class.h"
#include "http/path.h"
#include "server/server.h"
#include "static/directory_index.h"
#include "static/static_handler.h"

#define ALLOWED_METHODS "GET, HEAD, OPTIONS"
#define INDEX_NAME "index.html"
#define WHERE_BYTES_MAX 512 /* bytes of the path in an error message */

static bool is_field_value(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++)
        if (!uw_http_byte_is(text[i], UW_BYTE_VALUE))
            return false;
    return length <= UW_CACHE_CONTROL_BYTES_MAX;
}

/* Parses a header line: a name, a colon, a value and CRLF. Returns the start of the next line, or NULL. */
static const char *skip_field_line(const char *line)
{
    size_t name = strcspn(line, ":\r\n");
    const char *end = line + name;

    while (uw_http_byte_is(*end, UW_BYTE_VALUE))
        end++;
    return name > 0 && line[name] == ':' && strncmp(end, "\r\n", 2) == 0 ? end + 2 : NULL;
}

static bool are_field_lines(const char *lines)
{
    bool fit = strlen(lines) <= UW_STATIC_FIELDS_BYTES_MAX;

    while (fit && lines && *lines)
        lines = skip_field_line(lines);
    return fit && lines;
}

static void answer_options(struct uw_static *files, struct uw_request *request)
{
    struct uw_response response;

    uw_answer_begin(files, &response, request, 204);
    uw_response_put_field(&response, "Allow", ALLOWED_METHODS);
    uw_response_end_head(&response, -1);
    uw_response_finish(&response);
}

/* Redirects to the same path with a slash. Relative links in the directory's page require the slash. */
static void redirect_to_folder(struct uw_static *files, struct uw_request *request, const struct uw_http_path *path)
{
    struct uw_response response;

    uw_answer_begin(files, &response, request, 301);
    uw_folder_put_location(&response, path->name, uw_request_text(request, request->head.query),
                           request->head.query.length);
    uw_response_end_head(&response, 0);
    uw_response_finish(&response);
}

/* Finds the file for `path`, or the index file of a directory. Returns 0, -EISDIR for a directory without the final
 * slash in its path, or another -errno. */
static int find_resource(struct uw_static *files, const struct uw_request *request, struct uw_http_path *path,
                         struct uw_resource **resource)
{
    uint32_t length = path->length;
    int error;

    if (!path->folder)
        return uw_answer_find(files, request, path->name, resource);
    if (length + sizeof "/" INDEX_NAME > sizeof path->name)
        return -ENAMETOOLONG;
    memcpy(path->name + length, length ? "/" INDEX_NAME : INDEX_NAME, sizeof "/" INDEX_NAME - !length);
    error = uw_answer_find(files, request, path->name, resource);
    path->name[length] = '\0';
    return error == -EISDIR ? -ENOENT : error;
}

static bool is_application_route(const struct uw_http_path *path)
{
    const char *slash = strrchr(path->name, '/');

    return !strchr(slash ? slash : path->name, '.');
}

static int status_for_error(int error)
{
    switch (error) {
    case -EACCES:
    case -EPERM:
        return 403;
    case -EMFILE:
    case -ENFILE:
    case -ENOMEM:
        return 503;
    case -ENOENT:
    case -ENOTDIR:
    case -ELOOP:
    case -EXDEV:
    case -ENAMETOOLONG:
        return 404;
    default:
        return 500;
    }
}

/* The line contains the path of the request, because the error may concern a single file. */
static void report_error(struct uw_request *request, int error)
{
    char where[WHERE_BYTES_MAX];

    (void)snprintf(where, sizeof where, " (for %.*s)", (int)request->head.path.length,
                   uw_request_text(request, request->head.path));
    uw_server_context_report_error(request->server_context, UW_SYSTEM_ERROR_FILE, where, error);
}

static void answer_error(struct uw_static *files, struct uw_request *request, int error)
{
    int status = status_for_error(error);

    if (uw_fd_retry_add(&files->fd_retry, request, error))
        return;
    if (status >= 500)
        report_error(request, error);
    uw_answer_failure(files, request, status, NULL, NULL);
}

/* A hash that cannot be read only makes the tag weak. The client need not know, but the operator must. */
static void answer_file(struct uw_static *files, struct uw_request *request, const struct uw_resource *resource)
{
    struct uw_content_hashes *hashes = &files->cache.hashes;

    if (hashes->error)
        uw_server_context_report_error(request->server_context, UW_SYSTEM_ERROR_FILE, NULL, hashes->error);
    hashes->error = 0;
    uw_answer_file(files, request, resource);
}

static void answer_listed(void *context, struct uw_request *request, struct uw_representation *page, int error)
{
    struct uw_static *files = context;

    if (page)
        uw_answer_page(files, request, page);
    else
        answer_error(files, request, error);
}

static int answer_listing(struct uw_static *files, struct uw_request *request, const struct uw_http_path *path)
{
    int error;

    do
        error = uw_listing_page_cache_ask(&files->listings, request, path->name);
    while (uw_fd_limit_reached(error) && uw_static_give_up(files));
    return error;
}

static void answer_missing(struct uw_static *files, struct uw_request *request, const struct uw_http_path *path,
                           int error)
{
    struct uw_resource *resource;

    if (status_for_error(error) == 404 && path->folder && files->settings.list)
        error = answer_listing(files, request, path);
    if (!error)
        return;
    if (status_for_error(error) == 404 && files->settings.fallback && is_application_route(path) &&
        uw_answer_find(files, request, files->settings.fallback, &resource) == 0)
        answer_file(files, request, resource);
    else
        answer_error(files, request, error);
}

static int resolve_path(const struct uw_request *request, struct uw_http_path *path)
{
    return uw_http_path_resolve(path, uw_request_text(request, request->head.path), request->head.path.length);
}

static void answer_get(struct uw_static *files, struct uw_request *request)
{
    struct uw_resource *resource;
    struct uw_http_path path;
    int error = resolve_path(request, &path);

    if (error) {
        uw_answer_failure(files, request, -error, NULL, NULL);
        return;
    }
    error = find_resource(files, request, &path, &resource);
    if (!error)
        answer_file(files, request, resource);
    else if (error == -EISDIR)
        redirect_to_folder(files, request, &path);
    else
        answer_missing(files, request, &path, error);
}

int uw_static_open(struct uw_static *files, const struct uw_static_settings *settings)
{
    int error;

    if (settings->cache.cache_control && !is_field_value(settings->cache.cache_control))
        return -EINVAL;
    if (settings->fields && !are_field_lines(settings->fields))
        return -EINVAL;
    if (settings->fallback && strlen(settings->fallback) > UW_HTTP_PATH_BYTES_MAX)
        return -ENAMETOOLONG;
    *files = (struct uw_static){.settings = *settings};
    files->root = open(settings->root, uw_open_to_look | O_DIRECTORY | O_CLOEXEC);
    if (files->root < 0)
        return -errno;
    error = uw_background_jobs_open(&files->jobs);
    if (error) {
        close(files->root);
        return error;
    }
    error = uw_file_cache_open(&files->cache, files->root, &settings->cache, &files->jobs);
    if (error) {
        uw_background_jobs_close(&files->jobs);
        close(files->root);
        return error;
    }
    uw_listing_page_cache_open(&files->listings, files->root, &files->jobs, answer_listed, files);
    uw_fd_retry_open(&files->fd_retry, &files->jobs);
    return 0;
}

void uw_static_stop(struct uw_static *files)
{
    uw_background_jobs_stop(&files->jobs);
}

void uw_static_close(struct uw_static *files)
{
    uw_background_jobs_close(&files->jobs);
    uw_listing_page_cache_close(&files->listings);
    uw_file_cache_close(&files->cache);
    close(files->root);
}

/* The loop is unknown before the first request. */
static void set_loop(struct uw_static *files, const struct uw_request *request)
{
    if (!files->jobs.loop)
        files->jobs.loop = &request->server_context->loop;
}

static bool is_get(const struct uw_request *request)
{
    return request->head.method == UW_METHOD_GET || uw_answer_is_head(request);
}

static void handle_event(void *context, struct uw_request *request, enum uw_event event)
{
    struct uw_static *files = context;

    UW_ASSERT_OWNER(&request->server_context->loop);
    if (event != UW_EVENT_REQUEST)
        return;
    set_loop(files, request);
    if (is_get(request))
        answer_get(files, request);
    else if (request->head.method == UW_METHOD_OPTIONS)
        answer_options(files, request);
    else
        uw_answer_failure(files, request, 405, "Allow", ALLOWED_METHODS);
}

size_t uw_static_give_up(struct uw_static *files)
{
    return uw_file_cache_give_up(&files->cache);
}

static size_t close_idle_files(void *context)
{
    return uw_static_give_up(context);
}

struct uw_handler uw_static_handler(struct uw_static *files)
{
    return (struct uw_handler){.context = files, .notify = handle_event, .give_up = close_idle_files};
}

/* Returns true if the file may exist despite the error. */
static bool is_temporary(int error)
{
    return error != -EISDIR && status_for_error(error) >= 500;
}

/* Finds the file for the request's path. Returns 0 or -errno. */
static int find_file(struct uw_static *files, const struct uw_request *request, struct uw_resource **resource)
{
    const char *text = uw_request_text(request, request->head.path);
    int64_t now_ns = request->server_context->loop.now_ns;
    struct uw_http_path path;
    int error;

    if (uw_negative_cache_have(&files->absent, text, request->head.path.length, now_ns))
        return -ENOENT;
    error = resolve_path(request, &path) ? -ENOENT : find_resource(files, request, &path, resource);
    if (error && !is_temporary(error))
        uw_negative_cache_add(&files->absent, text, request->head.path.length, now_ns);
    return error;
}

bool uw_static_try(struct uw_static *files, struct uw_request *request)
{
    struct uw_resource *resource;
    int error;

    UW_ASSERT_OWNER(&request->server_context->loop);
    set_loop(files, request);
    error = is_get(request) ? find_file(files, request, &resource) : -ENOENT;
    if (!error)
        answer_file(files, request, resource);
    else if (is_temporary(error))
        answer_error(files, request, error);
    return !error || is_temporary(error);
}
