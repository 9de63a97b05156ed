/* POSIX descriptors on Windows. A descriptor is a small number of an object, which has a SOCKET or a HANDLE. A new
 * descriptor gets the lowest free number. A pipe is a pair of connected sockets, so each wait is a wait for sockets. */
#ifndef UW_WINDOWS_DESCRIPTOR_TABLE_H
#define UW_WINDOWS_DESCRIPTOR_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum uw_kind {
    UW_KIND_SOCKET,
    UW_KIND_PIPE_IN,  /* a socket, the read end of a pipe */
    UW_KIND_PIPE_OUT, /* a socket, the write end of a pipe */
    UW_KIND_FILE,
    UW_KIND_FOLDER,
    UW_KIND_STREAM, /* for example standard input */
};

/* Handle of a client's socket before accept(2): the number is reserved first. */
#define UW_NO_HANDLE UINTPTR_MAX

/* The object of one or several numbers. Its SOCKET or HANDLE is closed with the last number. The memory is freed with
 * the last reference. */
struct uw_object {
    atomic_uint references;
    unsigned numbers; /* count of numbers, protected by the table's lock */
    enum uw_kind kind;
    atomic_bool closed, nonblocking, append;
    void *handle_lock; /* SRWLOCK, shared while a call with `handle` starts */
    uintptr_t handle;
    int family;
    atomic_int wait_ms;    /* maximum time of receiving and accepting. 0: no limit */
    _Atomic uint64_t port; /* number of the completion port to which the socket belongs permanently, or 0 */
    atomic_int overlapped; /* number of pending kernel calls */
    _Atomic int64_t position;
    void *delete_path; /* path of a file that is deleted when it is closed, or NULL */
};

/* Returns a new object with one reference and without a number. Returns NULL without memory. Then the caller still owns
 * `handle`. */
struct uw_object *uw_object_new(enum uw_kind kind, uintptr_t handle);

/* Assigns the lowest free number, at least `least`, to the object. Returns the number or -errno. */
int uw_number_assign(struct uw_object *object, int least, bool close_on_exec);

/* Assigns a number to a new object, and releases the caller's reference. Closes the object on errors. Returns the
 * number or -errno. */
int uw_number_assign_new(struct uw_object *object, bool close_on_exec);

/* Sets the object's handle if the number still names the object, and returns true. Otherwise returns false. */
bool uw_number_set_handle(int fd, struct uw_object *object, uintptr_t handle);

/* Closes the number if it still names the object. */
void uw_number_close(int fd, const struct uw_object *object);

/* Returns the object of a number with a new reference, or NULL. */
struct uw_object *uw_number_retain(int fd);
void uw_object_retain(struct uw_object *object);
void uw_object_release(struct uw_object *object);

/* Closes the SOCKET or HANDLE. The numbers remain open. */
void uw_object_end(struct uw_object *object);

/* Prevents other threads from closing the handle until uw_object_leave, because its value could be reused. The code in
 * between must not block. Returns false if the handle is closed. */
bool uw_object_enter(struct uw_object *object);
void uw_object_leave(struct uw_object *object);

static inline bool uw_object_is_socket(const struct uw_object *object)
{
    return object->kind <= UW_KIND_PIPE_OUT;
}

/* close(2), for source files that cannot use this name. */
int uw_posix_close(int fd);

/* Limit of open descriptors. Setting fails beyond the size limit of the table. */
uint64_t uw_numbers_max(void);
bool uw_numbers_set_max(uint64_t max);

#endif
