/* Preloaded: dlopen does not find the files that HIDDEN_LIBRARIES names, separated by commas. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int is_hidden(const char *file)
{
    const char *hidden = getenv("HIDDEN_LIBRARIES");
    const char *found = file && hidden ? strstr(hidden, file) : NULL;

    return found && (found == hidden || found[-1] == ',') && (!found[strlen(file)] || found[strlen(file)] == ',');
}

void *dlopen(const char *file, int mode)
{
    void *(*open)(const char *, int) = (void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_NEXT, "dlopen");

    return open(is_hidden(file) ? "/nowhere/hidden.so" : file, mode);
}
