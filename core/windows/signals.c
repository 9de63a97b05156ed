/* Implements signals, sysconf(3), usleep(3) and getrlimit(2). Console events are the only signals. */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <windows.h>

#include "windows/descriptor_table.h"
#include "windows/errno_map.h"

#define SIGNAL_COUNT 32

static HANDLE console_event; /* event object: Ctrl-C, or the console closes */

int uw_posix_sigemptyset(unsigned *set)
{
    *set = 0;
    return 0;
}

int uw_posix_sigfillset(unsigned *set)
{
    *set = ~0U;
    return 0;
}

int uw_posix_sigaddset(unsigned *set, int number)
{
    if (number < 0 || number >= SIGNAL_COUNT)
        return uw_lacking(EINVAL);
    *set |= 1U << number;
    return 0;
}

int uw_posix_sigismember(const unsigned *set, int number)
{
    return number >= 0 && number < SIGNAL_COUNT && *set & 1U << number;
}

int uw_posix_sigpending(unsigned *set)
{
    return uw_posix_sigemptyset(set);
}

/* Stores the mask for later queries. The mask does not block signals. */
int uw_posix_mask(int how, const unsigned *set, unsigned *before)
{
    static _Thread_local unsigned mask;
    unsigned old = mask;

    if (set)
        mask = how == 0 ? mask | *set : how == 1 ? mask & ~*set : *set;
    if (before)
        *before = old;
    return 0;
}

void (*uw_posix_signal(int number, void (*action)(int)))(int)
{
    (void)number, (void)action;
    return SIG_DFL;
}

/* Runs in a thread that Windows creates. The thread in sigwait(3) has limited time to stop the process. */
static BOOL WINAPI handle_console_event(DWORD event)
{
    (void)SetEvent(console_event);
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        Sleep(INFINITE); /* the process exits when this function returns */
    return TRUE;
}

int uw_posix_sigwait(const unsigned *set, int *number)
{
    if (!uw_posix_sigismember(set, SIGINT))
        return EINVAL;
    if (!console_event && (!(console_event = CreateEventW(NULL, FALSE, FALSE, NULL)) ||
                           !SetConsoleCtrlHandler(handle_console_event, TRUE)))
        return uw_errno_of(GetLastError());
    if (WaitForSingleObject(console_event, INFINITE) != WAIT_OBJECT_0)
        return EINVAL;
    *number = SIGINT;
    return 0;
}

long uw_posix_sysconf(int name)
{
    SYSTEM_INFO system;

    GetSystemInfo(&system);
    return name == 1 ? (long)system.dwNumberOfProcessors : (long)system.dwPageSize;
}

int uw_posix_usleep(unsigned microseconds)
{
    Sleep((microseconds + 999) / 1000);
    return 0;
}

struct limit {
    uint64_t current, most;
};

int uw_posix_getrlimit(int resource, struct limit *limit)
{
    (void)resource;
    *limit = (struct limit){uw_numbers_max(), 1048576};
    return 0;
}

int uw_posix_setrlimit(int resource, const struct limit *limit)
{
    (void)resource;
    return uw_numbers_set_max(limit->current) ? 0 : uw_lacking(EPERM);
}
