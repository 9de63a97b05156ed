/* BPF programs for sockets: see `man 7 socket`, SO_ATTACH_FILTER and SO_ATTACH_REUSEPORT_CBPF. */
#if defined(__linux__) && !defined(UW_PORTABLE_SYSTEM)

#include <errno.h>
#include <linux/filter.h>

#include "base/system.h"

#define INSTRUCTIONS_MAX (2 * UW_STEERED_MAX + 2)
#define NO_SOCKET UINT32_MAX /* no socket has this index, so the kernel chooses a socket by its own hash */

static unsigned short write_kernel_choice(struct sock_filter *step)
{
    *step = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, NO_SOCKET);
    return 1;
}

/* The program draws a random number below `count` and returns `indexes[number]`. The last index needs no comparison. */
static unsigned short write_random_choice(struct sock_filter *step, const uint32_t *indexes, uint32_t count)
{
    const struct sock_filter *first = step;

    *step++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_RANDOM);
    *step++ = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, count);
    for (uint32_t i = 0; i < count - 1; i++) {
        *step++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1);
        *step++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, indexes[i]);
    }
    *step++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, indexes[count - 1]);
    return (unsigned short)(step - first);
}

int uw_steer(int fd, const uint32_t *indexes, uint32_t count)
{
    struct sock_filter steps[INSTRUCTIONS_MAX];
    struct sock_fprog program = {.filter = steps};

    if (count > UW_STEERED_MAX)
        return -E2BIG;
    program.len = count ? write_random_choice(steps, indexes, count) : write_kernel_choice(steps);
    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0)
        return 0;
    return errno == ENOPROTOOPT ? -ENOSYS : -errno; /* Linux before 4.5 and qemu lack the option */
}

/* Drops a client's first packet (SYN without ACK). The client sends the packet again. */
void uw_drop_syns(int fd)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13), /* offset of the flags in the TCP header */
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof *code, .filter = code};

    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
                     /* Without the filter, clients may see a reset. */
                     sizeof filter);
}

#else
typedef int uw_socket_filters_linux_are_left_out; /* ISO C requires a declaration */
#endif
