#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BYTES_MIN 20 /* a time as sixteen digits, and something behind it */

static void fail(void)
{
    fputs("usage: ws-load echo|broadcast|events|connects|idle -p PORT [-c CLIENTS] [-s SECONDS] [-b BYTES]\n"
          "               [-w WINDOW] [-e MILLISECONDS] [-z]\n",
          stderr);
    exit(EXIT_FAILURE);
}

static unsigned number(unsigned least, unsigned most)
{
    char *end;
    unsigned long value = strtoul(optarg, &end, 10);

    if (*end || end == optarg || value < least || value > most)
        fail();
    return (unsigned)value;
}

static void read_option(struct options *options, int option)
{
    switch (option) {
    case 'p':
        options->port = (uint16_t)number(1, UINT16_MAX);
        break;
    case 'c':
        options->clients = number(1, CLIENTS_MAX);
        break;
    case 's':
        options->seconds = number(1, 3600);
        break;
    case 'b':
        options->bytes = number(BYTES_MIN, MESSAGE_BYTES_MAX);
        break;
    case 'w':
        options->window = number(1, 1000000);
        break;
    case 'e':
        options->every_ms = number(1, 60000);
        break;
    case 'z':
        options->compressed = true;
        break;
    default:
        fail();
    }
}

struct options options_read(int argc, char **argv)
{
    struct options options = {.clients = 50, .seconds = 2, .bytes = 64, .window = 1};

    for (int option; (option = getopt(argc, argv, "p:c:s:b:w:e:z")) >= 0;)
        read_option(&options, option);
    if (optind != argc - 1 || !options.port)
        fail();
    options.workload = argv[optind];
    return options;
}
