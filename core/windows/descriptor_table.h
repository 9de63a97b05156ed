/* POSIX descriptors on Windows: small numbers, the lowest free one first, for a SOCKET or a HANDLE. A pipe is a pair of
 * connected sockets, so that all waits are waits for sockets. */
#ifndef UW_WINDOWS_DESCRIPTOR_TABLE_H
#define UW_WINDOWS_DESCRIPTOR_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum uw_kind {
    UW_KIND_SOCKET,
    UW_KIND_PIPE_IN,  /* a socket to be read from */
    UW_KIND_PIPE_OUT, /* one to be written to */
    UW_KIND_FILE,
    UW_KIND_FOLDER,
    UW_KIND_STREAM, /* such as standard input */
};

/* The handle of a client's socket before accept: the number is reserved first. */
#define UW_NO_HANDLE UINTPTR_MAX

/* An object that one or several numbers name. Its SOCKET or HANDLE is closed with the last number; the memory is freed
 * with the last reference. */
struct uw_object {
    atomic_uint references;
    unsigned numbers; /* under the table's lock */
    enum uw_kind kind;
    atomic_bool closed, nonblocking, appends;
    void *ending; /* an SRWLOCK: shared while a kernel call with the handle starts */
    uintptr_t handle;
    int family;
    atomic_int wait_ms;    /* to receive and to accept; 0: for ever */
    _Atomic uint64_t port; /* the completion port that it belongs to permanently; or 0 */
    atomic_int overlapped; /* calls of the kernel that have not ended */
    _Atomic int64_t position;
    void *delete_path; /* of a file that is to go when it is closed; or NULL */
};

/* A new object without a number and with one reference; NULL when memory is exhausted, and then the handle is the
 * caller's. */
struct uw_object *uw_object_new(enum uw_kind kind, uintptr_t handle);

/* Assigns the lowest number from `least` on to the object. Returns the number or -errno. */
int uw_number_give(struct uw_object *object, int least, bool close_on_exec);

/* Assigns a number to a new object and releases the object; without a number this closes the object. */
int uw_number_give_new(struct uw_object *object, bool close_on_exec);

/* Sets the object's handle, if the number still names the object. Returns whether it does. */
bool uw_number_fulfil(int fd, struct uw_object *object, uintptr_t handle);

/* Closes the number, if it still names the object. */
void uw_number_close(int fd, const struct uw_object *object);

/* The object of a number, with a reference; or NULL. */
struct uw_object *uw_number_retain(int fd);
void uw_object_retain(struct uw_object *object);
void uw_object_release(struct uw_object *object);

/* Closes the SOCKET or HANDLE before its numbers are closed. */
void uw_object_end(struct uw_object *object);

/* Prevents other threads from closing the handle, whose value could be reused, until uw_object_leave. The code in
 * between must not block. Returns false when the handle is closed. */
bool uw_object_enter(struct uw_object *object);
void uw_object_leave(struct uw_object *object);

static inline bool uw_object_is_socket(const struct uw_object *object)
{
    return object->kind <= UW_KIND_PIPE_OUT;
}

/* For files that cannot name close. */
int uw_posix_close(int fd);

/* The maximum count of numbers. */
uint64_t uw_numbers_max(void);
bool uw_numbers_set_max(uint64_t max);

#endif
