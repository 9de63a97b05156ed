/* Gives every file of a fuzzer's seed corpus to LLVMFuzzerTestOneInput, which ends the program if a check fails. */
#ifndef UW_TEST_FUZZ_CORPUS_H
#define UW_TEST_FUZZ_CORPUS_H

#include <dirent.h>
#include <limits.h>
#include <stdint.h>

#include "check.h"

#define CORPUS_FILE_BYTES_MAX 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void corpus_replay_file(const char *folder, const char *name)
{
    static uint8_t data[CORPUS_FILE_BYTES_MAX];
    char path[PATH_MAX];
    FILE *file;
    size_t size;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file)
        return;
    size = fread(data, 1, sizeof data, file);
    CHECK(size > 0 && !ferror(file));
    fclose(file);
    CHECK_EQUAL(0, LLVMFuzzerTestOneInput(data, size));
}

/* Returns the number of files. */
static inline int corpus_replay(const char *folder)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    int count = 0;

    CHECK(directory != NULL);
    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] == '.')
            continue;
        corpus_replay_file(folder, entry->d_name);
        count++;
    }
    if (directory)
        closedir(directory);
    return count;
}

#endif
