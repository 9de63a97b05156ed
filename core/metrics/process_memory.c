#include "metrics/process_memory.h"

#ifdef __linux__

#include <inttypes.h>
#include <stdio.h>

#define PATH_BYTES_MAX 64
#define LINE_BYTES_MAX 256
#define KIBIBYTE 1024

static FILE *open_file(int64_t process, const char *name)
{
    char path[PATH_BYTES_MAX];

    (void)snprintf(path, sizeof path, "/proc/%" PRId64 "/%s", process, name);
    return fopen(path, "re");
}

/* Returns the value of the first line that fits `format`, in bytes. */
static int64_t find_kibibytes(int64_t process, const char *name, const char *format)
{
    FILE *file = open_file(process, name);
    char line[LINE_BYTES_MAX];
    int64_t number = -1;

    if (!file)
        return -1;
    while (number < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, format, &number) != 1)
            number = -1;
    (void)fclose(file); /* only read from */
    return number < 0 ? -1 : number * KIBIBYTE;
}

int64_t uw_process_resident_bytes(int64_t process)
{
    return find_kibibytes(process, "status", "VmRSS: %" SCNd64);
}

int64_t uw_process_proportional_bytes(int64_t process)
{
    return find_kibibytes(process, "smaps_rollup", "Pss: %" SCNd64);
}

#else

int64_t uw_process_resident_bytes(int64_t process)
{
    (void)process;
    return -1;
}

int64_t uw_process_proportional_bytes(int64_t process)
{
    (void)process;
    return -1;
}

#endif
