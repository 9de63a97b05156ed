/* Functions that differ between systems. Each system has a file: system_linux.c and others. The rest of the core and
 * the binding use only POSIX. A comment says where a system may lack a function. Callers then work without the
 * function.
 *
 * Unless stated otherwise, functions return a number, or -1 with errno, like the system calls that they wrap. */
#ifndef UW_BASE_SYSTEM_H
#define UW_BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Threads and processes */

/* Returns the calling thread's id, never 0. No other running thread of this process or of a child process has the same
 * id. */
uint64_t uw_thread_id(void);

/* Returns the number of processors on which the calling thread may run, at least 1. */
int uw_processors_allowed(void);

/* Returns a descriptor that becomes readable when the child process exits. ENOSYS: the system has no such descriptors.
 */
int uw_process_descriptor(pid_t pid);

/* `forked`: the caller is a forked child. The descriptor may be closed there, or its number may name another file. */
void uw_process_descriptor_close(int fd, bool forked);

/* Discards a pending signal of the thread, or else a pending signal of the process. */
void uw_signal_take(int signal);

/* On systems that send SIGPIPE to any thread of the process, makes writes to the file fail with EPIPE alone. On macOS
 * this affects all processes that share the file. Other systems send SIGPIPE to the writing thread: see sigpipe.h. */
void uw_sigpipe_spare(int fd);

/* A condition variable with deadlines on the clock of uw_clock_ns. Both functions return 0 or an errno, like the
 * functions of pthreads. */
int uw_condition_init(pthread_cond_t *condition);
int uw_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t deadline_ns);

/* Wakes a thread that waits in the kernel. `fd` is readable after uw_wakeup_tell, until uw_wakeup_clear. */
struct uw_wakeup {
    int fd;      /* read end: the thread waits for this descriptor */
    int tell_fd; /* write end: `fd` itself, or the other end of a pipe */
};

#define UW_NO_WAKEUP ((struct uw_wakeup){-1, -1})

/* Returns 0, or -errno after setting `*wakeup` to UW_NO_WAKEUP. */
int uw_wakeup_open(struct uw_wakeup *wakeup);

/* Does nothing to UW_NO_WAKEUP. */
void uw_wakeup_close(const struct uw_wakeup *wakeup);

/* Any thread and any signal handler may call this function. Preserves errno. */
void uw_wakeup_tell(const struct uw_wakeup *wakeup);
void uw_wakeup_clear(const struct uw_wakeup *wakeup);

/* Sockets. Only uw_send_file_now raises SIGPIPE */

/* Accepts the next client of a listening socket. The new socket is non-blocking and close-on-exec. */
int uw_accept(int fd);

/* Returns a non-blocking, close-on-exec stream socket of the address family. */
int uw_stream_socket(int family);

/* Creates two connected, non-blocking, close-on-exec sockets. Returns 0 or -errno. */
int uw_socket_pair(int ends[2]);

/* Creates a non-blocking, close-on-exec pipe: `ends[0]` for reading, `ends[1]` for writing. Returns 0 or -errno. */
int uw_pipe(int ends[2]);

/* Send without waiting. On macOS the socket remains non-blocking afterwards. With `more`, the kernel may delay an
 * incomplete packet until the next call. */
ssize_t uw_send_now(int fd, const void *bytes, size_t length, bool more);
ssize_t uw_send_vector_now(int fd, const struct msghdr *message, bool more);

/* Sends a range of a file to a non-blocking socket. May raise SIGPIPE. */
ssize_t uw_send_file_now(int fd, int file, int64_t offset, size_t length);

/* Returns true if the connected socket can neither receive nor send. The peer has closed the connection, or both ends
 * have shut it down. */
bool uw_hung_up(int fd);

/* Lets several sockets bind the same address and port. Each socket gets a part of the new connections. On macOS the
 * newest socket gets all connections. Does nothing without uw_ports_are_shared. */
int uw_share_port(int fd);

/* True if sockets can share a port. Otherwise all loops that accept from an address share one socket. */
extern const bool uw_ports_are_shared;

#define UW_STEERED_MAX 1024 /* 1,024 sockets fit in 4,096 instructions and in the memory of older kernels */

/* Makes the kernel distribute new connections at random to `count` sockets of the SO_REUSEPORT group of `fd`. `indexes`
 * number the sockets of the group in the order of their calls of listen(2). No socket of the group may have been closed
 * since. With `count` 0 the kernel distributes connections to all sockets by its own hash. Returns 0 or -errno. After
 * an error the last successful call remains in force. -EINVAL: `fd` shares its port with no socket. -E2BIG: more than
 * UW_STEERED_MAX. -ENOSYS: the system does not support steering. */
int uw_steer(int fd, const uint32_t *indexes, uint32_t count);

/* Makes the listening TCP socket ignore new clients, which then retry later. Without support by the system, a client
 * may see a reset when the socket is closed. */
void uw_drop_syns(int fd);

/* Files */

/* Flag of open(2) for a descriptor that serves fstat(2) and the dirfd of openat(2). The file need not be readable. */
extern const int uw_open_to_look;

/* Read or write at `offset`, or for -1 at the current position, which streams require. Fail with EAGAIN instead of
 * waiting. EOPNOTSUPP: this kind of file does not support such calls. */
ssize_t uw_read_now(int fd, void *bytes, size_t length, int64_t offset);
ssize_t uw_write_now(int fd, const void *bytes, size_t length, int64_t offset);

/* Opens the same file again, with its own file status flags and position. ENOSYS: the system does not support this. */
int uw_open_anew(int fd, int flags);

/* Makes `fd` a duplicate of `from`, close-on-exec. */
int uw_replace(int from, int fd);

/* Opens a file without a name in the directory `folder`. close(2) removes the file. Returns a descriptor or -errno.
 * -EOPNOTSUPP: the system or the file system does not support this. */
int uw_open_unnamed(const char *folder);

/* Opens a path beneath the directory `root` by a single call, which is safe from concurrent renames. Returns a
 * descriptor or -errno. -ENOSYS: the system has no such call. */
int uw_open_beneath_at_once(int root, const char *path, int flags);

/* Memory */

/* Returns the last byte equal to `byte`, or NULL: memrchr(3). */
const void *uw_memory_last(const void *bytes, int byte, size_t length);

/* Fills `bytes` with unpredictable bytes. Returns false on failure, or if the system would have to wait for entropy. */
bool uw_random(void *bytes, size_t length);

#endif
