/* These functions differ between systems. Each system has a file: system_linux.c and others. The rest of the core and
 * the binding name only POSIX. A system may lack a function where the comment says so; callers then work without it.
 *
 * Unless stated otherwise, functions return a number, or -1 with errno, like the system calls they wrap. */
#ifndef UW_BASE_SYSTEM_H
#define UW_BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Threads and processes. */

/* Returns the calling thread's id, never 0. No other running thread has this id, in this process or a child process. */
uint64_t uw_thread_id(void);

/* Returns how many processors the calling thread may run on, at least 1. */
int uw_processors_allowed(void);

/* Returns a descriptor that becomes readable when the child process exits. ENOSYS: the system has none. */
int uw_process_descriptor(pid_t pid);

/* `forked`: the caller is a forked child, where the descriptor may be closed or its number may name another file. */
void uw_process_descriptor_close(int fd, bool forked);

/* Discards the signal if it is pending for the thread, or else for the process. */
void uw_signal_take(int signal);

/* Makes writes to the file fail with EPIPE and without SIGPIPE, on systems that send the signal to any thread of the
 * process. On macOS this affects all processes that share the file. Elsewhere the signal goes to the writing thread:
 * see sigpipe.h. */
void uw_sigpipe_spare(int fd);

/* A condition variable with deadlines on the clock of uw_clock_ns. Both functions return 0 or an error, as pthread's
 * do. */
int uw_condition_init(pthread_cond_t *condition);
int uw_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns);

/* Wakes a thread that waits in the kernel: `fd` is readable from a call of uw_wakeup_tell until uw_wakeup_clear. */
struct uw_wakeup {
    int fd;      /* the descriptor to wait for */
    int tell_fd; /* the descriptor to write to: `fd` or the pipe's other end */
};

#define UW_NO_WAKEUP ((struct uw_wakeup){-1, -1})

/* Returns 0, or -errno and sets UW_NO_WAKEUP. */
int uw_wakeup_open(struct uw_wakeup *wakeup);

/* Does nothing to UW_NO_WAKEUP. */
void uw_wakeup_close(const struct uw_wakeup *wakeup);

/* Any thread and any signal handler may call this. errno does not change. */
void uw_wakeup_tell(const struct uw_wakeup *wakeup);
void uw_wakeup_clear(const struct uw_wakeup *wakeup);

/* Sockets. Only uw_send_file_now raises SIGPIPE. */

/* Accepts the next client of a listening socket. The new socket is non-blocking and close-on-exec. */
int uw_accept(int fd);

/* Returns a stream socket of the family, non-blocking and close-on-exec. */
int uw_stream_socket(int family);

/* Creates two connected sockets, non-blocking and close-on-exec. Returns 0 or -errno. */
int uw_socket_pair(int ends[2]);

/* Creates a pipe, non-blocking and close-on-exec: its read end, then its write end. Returns 0 or -errno. */
int uw_pipe(int ends[2]);

/* These calls send without waiting; on macOS the socket remains non-blocking. With `more`, an incomplete packet may
 * wait for the next call. */
ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more);
ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more);

/* Sends a range of a file to a non-blocking socket. This call may raise SIGPIPE. */
ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length);

/* Returns whether the connected socket can neither receive nor send any more: the peer closed it, or both ends shut it
 * down. */
bool uw_hung_up(int fd);

/* Lets several sockets bind the same address and port, and each gets a part of the new connections. On macOS the newest
 * socket gets all connections. */
int uw_share_port(int fd);

/* Whether sockets can share a port. Otherwise all loops that accept from one address share one socket. */
extern const bool uw_ports_are_shared;

#define UW_STEERED_MAX 1024 /* 1,024 fit in 4,096 instructions and in the memory of older kernels */

/* Makes the kernel distribute new connections at random to `count` sockets of the SO_REUSEPORT group of `fd`. `indexes`
 * number the sockets in the order in which they began to listen; none may have been closed since. Without indexes all
 * sockets get connections by the kernel's own hash. Returns 0 or -errno; after an error the last successful call
 * remains in force. -EINVAL: `fd` shares its port with no socket. -E2BIG: more than UW_STEERED_MAX. -ENOSYS: the system
 * cannot steer. */
int uw_steer(int fd, const uint32_t *indexes, uint32_t count);

/* Makes the listening TCP socket ignore new clients, so that they retry a little later. Without support by the system,
 * a client may see a reset when the socket stops listening. */
void uw_drop_syns(int fd);

/* Files. */

/* A flag for open(2): the descriptor serves to look at a file or to open files beneath it. The file need not be
 * readable. */
extern const int uw_open_to_look;

/* Both act at `offset`, or for -1 at the current position, as for streams. They return EAGAIN instead of waiting.
 * EOPNOTSUPP: this kind of file does not support such calls. */
ssize_t uw_read_now(int fd, void *bytes, size_t length, int64_t offset);
ssize_t uw_write_now(int fd, const void *bytes, size_t length, int64_t offset);

/* Opens the same file again, with its own file status flags and position. ENOSYS: the system cannot. */
int uw_open_anew(int fd, int flags);

/* Makes `fd` a duplicate of `from`, close-on-exec. */
int uw_replace(int from, int fd);

/* Opens a file without a name in the directory `folder`; closing removes the file. Returns a descriptor or -errno.
 * -EOPNOTSUPP: the system or the file system cannot. */
int uw_open_unnamed(const char *folder);

/* open_beneath.c opens with this single call, which is safe from concurrent renames. Returns a descriptor or -errno.
 * -ENOSYS: the system has no such call. */
int uw_open_beneath_at_once(int root, const char *path, int flags);

/* Memory. */

/* Returns the last byte equal to `byte`, or NULL. */
const void *uw_memory_last(const void *bytes, int byte, size_t length);

/* Fills `bytes` with unpredictable bytes. Returns false when the system would have to wait for them. */
bool uw_random(void *bytes, size_t length);

#endif
