#include "server/steer.h"

#include <errno.h>
#include <sys/socket.h>

#ifdef SO_ATTACH_REUSEPORT_CBPF

#include <linux/filter.h>

#define STEPS_MAX (2 * UW_STEERED_MAX + 2)
#define NONE UINT32_MAX /* no socket has this index, and the kernel chooses as if there were no program */

static unsigned short write_program_for_all(struct sock_filter *step)
{
    *step = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, NONE);
    return 1;
}

/* A number below `count` at random, and then the index in that place of the list; the last one is what is left. */
static unsigned short write_program(struct sock_filter *step, const uint32_t *indexes, uint32_t count)
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
    struct sock_filter steps[STEPS_MAX];
    struct sock_fprog program = {.filter = steps};

    if (count > UW_STEERED_MAX)
        return -E2BIG;
    program.len = count ? write_program(steps, indexes, count) : write_program_for_all(steps);
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) ? -errno : 0;
}

#else

int uw_steer(int fd, const uint32_t *indexes, uint32_t count)
{
    (void)fd, (void)indexes, (void)count;
    return -ENOSYS;
}

#endif
