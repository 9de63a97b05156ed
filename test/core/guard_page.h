/* Places bytes so that they end at a page that may not be touched: reading one byte too many ends the test program. */
#ifndef UW_TEST_GUARD_PAGE_H
#define UW_TEST_GUARD_PAGE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_PAGES 32

static inline char *guard_copy(const char *bytes, size_t length)
{
    static char *area;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * GUARD_PAGES;

    if (!area) {
        area = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (area == MAP_FAILED || mprotect(area + size, page, PROT_NONE))
            abort();
    }
    if (length > size)
        abort();
    return memcpy(area + size - length, bytes, length);
}

#endif
