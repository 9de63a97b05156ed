/* POSIX' descriptors on Windows: small numbers, the lowest that is free, for what Windows has as a SOCKET or a HANDLE.
 * A pipe is a pair of connected sockets, so that all that is waited for is one. */
#ifndef UW_WINDOWS_NUMBERS_H
#define UW_WINDOWS_NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum uw_kind {
    UW_KIND_SOCKET,
    UW_KIND_PIPE_IN,  /* a socket to be read from */
    UW_KIND_PIPE_OUT, /* one to be written to */
    UW_KIND_FILE,
    UW_KIND_FOLDER,
    UW_KIND_STREAM, /* standard input and such */
};

/* Of a socket that is yet to come: a client's, who is accepted when there is a number. */
#define UW_NO_HANDLE UINTPTR_MAX

/* What several numbers may stand for. Its SOCKET or HANDLE is closed with the last of them; the memory goes when nobody
 * holds it any more. */
struct uw_object {
    atomic_uint holds;
    unsigned numbers; /* under the table's lock */
    enum uw_kind kind;
    atomic_bool closed, nonblocking, appends;
    void *ending; /* an SRWLOCK: whoever lets the kernel begin what uses the handle shares it */
    uintptr_t handle;
    int family;
    atomic_int wait_ms;    /* to receive and to accept; 0: for ever */
    _Atomic uint64_t port; /* the completion port it is of, for good; or 0 */
    atomic_int overlapped; /* calls of the kernel that have not ended */
    _Atomic int64_t position;
    void *delete_path; /* of a file that is to go when it is closed; or NULL */
};

/* A new object of no number, held once; NULL when memory is exhausted, and then the handle is the caller's. */
struct uw_object *uw_object_new(enum uw_kind kind, uintptr_t handle);

/* Gives it the lowest number from `least` on. Returns it; or -errno. */
int uw_number_give(struct uw_object *object, int least, bool close_on_exec);

/* The same for one that is new: it is let go in any case, and so closed when there is no number. */
int uw_number_give_new(struct uw_object *object, bool close_on_exec);

/* Whether the number still stands for the object, which has its handle then. */
bool uw_number_fulfil(int fd, struct uw_object *object, uintptr_t handle);

/* Closes the number, if it still stands for the object. */
void uw_number_close(int fd, const struct uw_object *object);

/* The object of a number, held; or NULL. */
struct uw_object *uw_number_hold(int fd);
void uw_object_hold(struct uw_object *object);
void uw_object_release(struct uw_object *object);

/* Closes what it stands for, before its numbers are. */
void uw_object_end(struct uw_object *object);

/* Keeps another thread from closing the handle, which would be given anew, until uw_object_leave; nothing in between
 * may wait. False: it is closed. */
bool uw_object_enter(struct uw_object *object);
void uw_object_leave(struct uw_object *object);

static inline bool uw_object_is_socket(const struct uw_object *object)
{
    return object->kind <= UW_KIND_PIPE_OUT;
}

/* For whoever cannot name close. */
int uw_posix_close(int fd);

/* How many numbers there may be. */
uint64_t uw_numbers_max(void);
bool uw_numbers_set_max(uint64_t max);

#endif
