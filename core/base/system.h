/* What each system has in its own way: a file a system, system_linux.c and others, and the rest of the core and the
 * binding names only what POSIX has. Where it says so a system may have none, and what is built upon it does without.
 *
 * Like the calls they stand for: a number or -1 with errno, unless told otherwise. */
#ifndef UW_BASE_SYSTEM_H
#define UW_BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Threads and processes. */

/* The calling thread's, of no other thread of any process that runs: not its child's either. Never 0. */
uint64_t uw_thread_id(void);

/* How many processors the calling thread may run on; at least 1. */
int uw_processors_allowed(void);

/* Becomes readable when the child process ends. ENOSYS: there is no such thing. */
int uw_process_descriptor(pid_t pid);

/* `forked`: in a child of the process that opened it, which may not have it, and another file by its number. */
void uw_process_descriptor_close(int fd, bool forked);

/* Forgets the signal if it is pending for the thread, or else for the process. */
void uw_signal_take(int signal);

/* Who writes to the file gets EPIPE and no SIGPIPE, where the signal would be for any thread of the process: on macOS,
 * for all who share the file. Elsewhere it is for the thread that writes, which sigpipe.h sees to. */
void uw_sigpipe_spare(int fd);

/* A condition whose deadlines are on uw_clock_ns's scale. Both return 0 or an error as pthread's do. */
int uw_condition_init(pthread_cond_t *condition);
int uw_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns);

/* Wakes a thread that waits in the kernel: `fd` is readable from a call of uw_wakeup_tell until uw_wakeup_clear. */
struct uw_wakeup {
    int fd;      /* to be waited for */
    int tell_fd; /* the same, or the other end */
};

#define UW_NO_WAKEUP ((struct uw_wakeup){-1, -1})

/* Returns 0; or -errno, and it is none. */
int uw_wakeup_open(struct uw_wakeup *wakeup);

/* Does nothing to one that is none. */
void uw_wakeup_close(const struct uw_wakeup *wakeup);

/* Any thread; safe in a signal handler; leaves errno as it is. */
void uw_wakeup_tell(const struct uw_wakeup *wakeup);
void uw_wakeup_clear(const struct uw_wakeup *wakeup);

/* Sockets. None of these raises SIGPIPE but uw_send_file_now. */

/* The next client of a listening socket: non-blocking and close-on-exec. */
int uw_accept(int fd);

/* A stream socket of the family, likewise. */
int uw_stream_socket(int family);

/* Two connected ends, likewise. Returns 0 or -errno. */
int uw_socket_pair(int ends[2]);

/* Two ends of a pipe, to be read and to be written, likewise. */
int uw_pipe(int ends[2]);

/* Without waiting; on macOS the socket is non-blocking from then on. With `more` an incomplete packet may wait for what
 * is sent next. */
ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more);
ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more);

/* A stretch of a file, to a non-blocking socket. This may raise SIGPIPE. */
ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length);

/* Whether nothing comes any more over the connected socket, and nothing can be sent: its other end is closed, or each
 * has said its last. */
bool uw_hung_up(int fd);

/* Has other sockets that were asked so bind the same address and port, each of which gets a part of the new
 * connections; on macOS the one that came last gets all. */
int uw_share_port(int fd);

/* Whether it has; else those who accept from one address have one socket. */
extern const bool uw_ports_are_shared;

#define UW_STEERED_MAX 1024 /* of 4,096 instructions, and less memory on older kernels */

/* Has the kernel give new connections, at random, to `count` of the sockets that share the port and the address of `fd`
 * by SO_REUSEPORT. `indexes` count them in the order in which they began to listen; none of them may have been closed
 * since. Without indexes all get some again, by the kernel's own hash. Returns 0 or -errno, and then the last call that
 * succeeded holds: -EINVAL where `fd` shares with nobody, -E2BIG for more than UW_STEERED_MAX, -ENOSYS where the system
 * has no such thing. */
int uw_steer(int fd, const uint32_t *indexes, uint32_t count);

/* A client of the listening TCP socket that comes from now on is told nothing, and so tries again a little later. Where
 * there is no such thing a client may see a reset when the socket ends to listen. */
void uw_hold_off(int fd);

/* Files. */

/* For open(2): a descriptor to look at a file, or to open others beneath it, for which it need not be readable. */
extern const int uw_open_to_look;

/* At `offset`, or -1 for the current position and for streams; only what can be had without waiting, else EAGAIN.
 * EOPNOTSUPP: this kind of file cannot be asked so. */
ssize_t uw_read_now(int fd, void *bytes, size_t length, int64_t offset);
ssize_t uw_write_now(int fd, const void *bytes, size_t length, int64_t offset);

/* The same file with a state of its own. ENOSYS: there is no such thing. */
int uw_open_anew(int fd, int flags);

/* `fd` becomes another number of `from`, close-on-exec. */
int uw_replace(int from, int fd);

/* A file in `folder` without a name, which is gone once it is closed. Returns a descriptor or -errno; -EOPNOTSUPP: the
 * system, or the file system, has no such thing. */
int uw_open_unnamed(const char *folder);

/* For open_beneath.c: by one call that no rename outruns. Returns a descriptor or -errno; -ENOSYS: there is none. */
int uw_open_beneath_at_once(int root, const char *path, int flags);

/* Memory. */

/* The last such byte, or NULL. */
const void *uw_memory_last(const void *bytes, int byte, size_t length);

/* Bytes that nobody can guess. Returns false when there are none without waiting. */
bool uw_random(void *bytes, size_t length);

#endif
