/* System calls of Linux that fail, or end the process, by `man 2 seccomp`. */
#ifndef UW_TEST_SECCOMP_FAULTS_H
#define UW_TEST_SECCOMP_FAULTS_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static inline bool answer_calls(uint32_t one, uint32_t other, uint32_t answer)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof lines / sizeof *lines, .filter = lines};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#define CALLS_CANNOT_FAIL "an emulator cannot be told to make calls fail" /* why a test is skipped */

/* From now on, and for good: so it is for a child process. False: an emulator cannot be told so. */
static inline bool make_calls_fail(uint32_t one, uint32_t other, uint32_t error)
{
    return answer_calls(one, other, SECCOMP_RET_ERRNO | error);
}

/* The same: who calls that is killed. */
static inline bool forbid_call(uint32_t call)
{
    return answer_calls(call, call, SECCOMP_RET_KILL_PROCESS);
}

/* Whether this machine can be told so. */
static inline bool can_make_calls_fail(void)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(!make_calls_fail((uint32_t)-1, (uint32_t)-1, 0)); /* -1: no call has that number */
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif
