/* Windows has no signal masks and few signals, so blocking a signal has no effect. sigwait(3) waits for console events
 * (Ctrl-C, closing of the console). */
#ifndef UW_WINDOWS_SIGNAL_H
#define UW_WINDOWS_SIGNAL_H

#include_next <signal.h>

#include "windows/posix_renames.h"

#define SIGKILL 9
#define SIGPIPE 13
#define SIGALRM 14
#define SIGXFSZ 25

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

typedef unsigned uw_sigset;
#define sigset_t uw_sigset

int sigemptyset(sigset_t *set) UW_RENAMED(sigemptyset);
int sigfillset(sigset_t *set) UW_RENAMED(sigfillset);
int sigaddset(sigset_t *set, int number) UW_RENAMED(sigaddset);
int sigismember(const sigset_t *set, int number) UW_RENAMED(sigismember);
int sigpending(sigset_t *set) UW_RENAMED(sigpending);
int sigwait(const sigset_t *set, int *number) UW_RENAMED(sigwait);
int uw_posix_mask(int how, const sigset_t *set, sigset_t *before);
void (*uw_posix_signal(int number, void (*action)(int)))(int);

#define signal uw_posix_signal

#endif
