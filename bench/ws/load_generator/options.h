/* ws-load WORKLOAD -p PORT [-c CLIENTS] [-s SECONDS] [-b BYTES] [-w WINDOW] [-e MILLISECONDS] [-z] */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENTS_MAX 60000
#define MESSAGE_BYTES_MAX (1024 * 1024)

struct options {
    const char *workload;
    uint16_t port;
    unsigned clients;
    unsigned seconds;
    size_t bytes;      /* of a message */
    unsigned window;   /* messages on their way to all subscribers */
    unsigned every_ms; /* a message is published so often; 0: whenever the window allows it */
    bool compressed;   /* permessage-deflate */
};

/* Ends the program where they are wrong. */
struct options options_read(int argc, char **argv);

#endif
