/* The control address, on a thread of its own. */
#include "control/control_server.h"

#include <sys/wait.h>
#include <unistd.h>

#include "../server/loopback_sockets.h"
#include "check.h"

#define ANSWER_BYTES_MAX 65536

static struct uw_control_server control;
static struct uw_metrics *metrics;
static int listener;
static char answer[ANSWER_BYTES_MAX + 1];

static void start(void)
{
    metrics = uw_metrics_new(1);
    listener = listen_on_loopback();
    CHECK_EQUAL(0, uw_control_server_start(&control, metrics, listener));
}

static void stop(void)
{
    uw_control_server_stop(&control);
    close(listener);
    uw_metrics_free(metrics);
}

/* Reads until the end of the connection. */
static const char *ask(const char *request)
{
    int client = connect_to(listener);
    size_t length = 0;
    ssize_t count;

    CHECK_EQUAL(strlen(request), write(client, request, strlen(request)));
    while (length < ANSWER_BYTES_MAX && (count = read(client, answer + length, ANSWER_BYTES_MAX - length)) > 0)
        length += (size_t)count;
    answer[length] = '\0';
    close(client);
    return answer;
}

static bool begins(const char *whole, const char *part)
{
    return strncmp(whole, part, strlen(part)) == 0;
}

TEST(metrics_are_answered)
{
    start();
    uw_metrics_add(uw_metrics_claim(metrics, 0, getpid()), UW_METRIC_TIMEOUTS_FIRST, 3);
    CHECK(begins(ask("GET /metrics HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    CHECK(strstr(answer, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != NULL);
    CHECK(strstr(answer, "\nupwell_timeouts_total{worker=\"0\"} 3\n") != NULL);
    stop();
}

TEST(a_query_does_not_count)
{
    start();
    CHECK(begins(ask("GET /metrics?name=a HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    stop();
}

TEST(openmetrics_if_accept_names_it)
{
    start();
    ask("GET /metrics HTTP/1.0\r\nAccept: text/plain, application/openmetrics-text; version=1.0.0; q=0.5\r\n\r\n");
    CHECK(strstr(answer, "\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n") != NULL);
    CHECK(strcmp(answer + strlen(answer) - 7, "\n# EOF\n") == 0);
    ask("GET /metrics HTTP/1.0\r\nAccept: application/openmetrics-text;q=0, */*\r\n\r\n");
    CHECK(strstr(answer, "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != NULL);
    stop();
}

TEST(other_paths_and_methods)
{
    start();
    CHECK(begins(ask("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 404 Not Found\r\n"));
    CHECK(begins(ask("PUT /metrics HTTP/1.0\r\nContent-Length: 0\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed\r\n"));
    CHECK(strstr(answer, "\r\nAllow: GET, HEAD\r\n") != NULL);
    CHECK(begins(ask("HEAD /metrics HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    CHECK(strcmp(answer + strlen(answer) - 4, "\r\n\r\n") == 0);
    stop();
}

/* The thread exists in the parent only, and goes on serving. */
TEST(a_forked_process_disturbs_nothing)
{
    int status = -1;
    pid_t child;

    start();
    child = fork();
    if (child == 0)
        _exit(0);
    CHECK_EQUAL(child, waitpid(child, &status, 0));
    CHECK(begins(ask("GET /metrics HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK\r\n"));
    stop();
}

TEST(a_server_without_a_client_stops)
{
    start();
    stop();
    CHECK_EQUAL(0, control.server.server_context.connections.taken);
}

TEST_MAIN
