#include "windows/descriptor_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <winsock2.h>

#include "windows/errno_map.h"
#include "windows/files_flags.h"

#define NUMBERS_MIN 256
#define NUMBERS_MAX 1048576
#define NUMBERS_DEFAULT 65536 /* initial limit of open descriptors */
#define STANDARD_STREAMS 3

struct number {
    struct uw_object *object;
    bool close_on_exec;
};

static SRWLOCK lock = SRWLOCK_INIT;
static struct number *numbers;
static int size, lowest; /* no number below `lowest` is free */
static uint64_t most = NUMBERS_DEFAULT;

struct uw_object *uw_object_new(enum uw_kind kind, uintptr_t handle)
{
    struct uw_object *object = calloc(1, sizeof *object);

    if (!object)
        return NULL;
    object->kind = kind;
    object->handle = handle;
    atomic_store(&object->references, 1);
    return object;
}

void uw_object_retain(struct uw_object *object)
{
    atomic_fetch_add(&object->references, 1);
}

void uw_object_release(struct uw_object *object)
{
    if (atomic_fetch_sub(&object->references, 1) > 1)
        return;
    free(object->delete_path);
    free(object);
}

static SRWLOCK *handle_lock_of(struct uw_object *object)
{
    return (SRWLOCK *)&object->handle_lock; /* calloc has zeroed the lock, like SRWLOCK_INIT */
}

bool uw_object_enter(struct uw_object *object)
{
    AcquireSRWLockShared(handle_lock_of(object));
    if (!atomic_load(&object->closed))
        return true;
    uw_object_leave(object);
    return false;
}

void uw_object_leave(struct uw_object *object)
{
    ReleaseSRWLockShared(handle_lock_of(object));
}

/* Pending calls would keep the socket open, so they are cancelled first. */
static void close_handle(struct uw_object *object)
{
    if (atomic_load(&object->overlapped) > 0)
        (void)CancelIoEx((HANDLE)object->handle, NULL);
    if (object->handle == UW_NO_HANDLE)
        return;
    if (uw_object_is_socket(object))
        (void)closesocket(object->handle);
    else
        (void)CloseHandle((HANDLE)object->handle);
    if (object->delete_path)
        (void)DeleteFileW(object->delete_path);
}

void uw_object_end(struct uw_object *object)
{
    AcquireSRWLockExclusive(handle_lock_of(object));
    if (!atomic_exchange(&object->closed, true))
        close_handle(object);
    ReleaseSRWLockExclusive(handle_lock_of(object));
}

static void close_object(struct uw_object *object)
{
    uw_object_end(object);
    uw_object_release(object);
}

/* The caller holds the lock. */
static int grow_table(int least)
{
    int larger = size ? size : NUMBERS_MIN;
    struct number *grown;

    while (larger <= least)
        larger *= 2;
    grown = realloc(numbers, (size_t)larger * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    memset(grown + size, 0, (size_t)(larger - size) * sizeof *grown);
    numbers = grown;
    size = larger;
    return 0;
}

/* The caller holds the lock. */
static int find_free_number(int least)
{
    int fd = least > lowest ? least : lowest;

    while (fd < size && numbers[fd].object)
        fd++;
    if ((uint64_t)fd >= most)
        return -EMFILE;
    return fd >= size && grow_table(fd) ? -ENOMEM : fd;
}

/* The caller holds the lock. */
static void assign_number(struct uw_object *object, int fd, bool close_on_exec)
{
    uw_object_retain(object);
    object->numbers++;
    numbers[fd] = (struct number){object, close_on_exec};
    if (fd == lowest)
        lowest = fd + 1;
}

/* The caller holds the lock. Returns the object if this was its last number, or else NULL. */
static struct uw_object *remove_number(int fd)
{
    struct uw_object *object = numbers[fd].object;

    numbers[fd] = (struct number){NULL, false};
    if (fd < lowest)
        lowest = fd;
    if (--object->numbers == 0)
        return object;
    uw_object_release(object);
    return NULL;
}

/* Runs before main(): starts Winsock, and adopts the standard streams. */
__attribute__((constructor)) static void initialize(void)
{
    static const DWORD names[STANDARD_STREAMS] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data) || grow_table(STANDARD_STREAMS))
        abort();
    for (int fd = 0; fd < STANDARD_STREAMS; fd++) {
        struct uw_object *object = uw_object_new(UW_KIND_STREAM, (uintptr_t)GetStdHandle(names[fd]));

        if (!object)
            abort();
        assign_number(object, fd, false);
        uw_object_release(object);
    }
}

int uw_number_assign(struct uw_object *object, int least, bool close_on_exec)
{
    int fd;

    AcquireSRWLockExclusive(&lock);
    fd = find_free_number(least);
    if (fd >= 0)
        assign_number(object, fd, close_on_exec);
    ReleaseSRWLockExclusive(&lock);
    return fd;
}

int uw_number_assign_new(struct uw_object *object, bool close_on_exec)
{
    int fd = uw_number_assign(object, 0, close_on_exec);

    if (fd < 0)
        close_object(object);
    else
        uw_object_release(object);
    return fd;
}

/* The caller holds the lock. */
static struct uw_object *object_at(int fd)
{
    return fd >= 0 && fd < size ? numbers[fd].object : NULL;
}

struct uw_object *uw_number_retain(int fd)
{
    struct uw_object *object;

    AcquireSRWLockShared(&lock);
    object = object_at(fd);
    if (object)
        uw_object_retain(object);
    ReleaseSRWLockShared(&lock);
    return object;
}

bool uw_number_set_handle(int fd, struct uw_object *object, uintptr_t handle)
{
    bool still_named;

    /* A closing thread removes the number first. Only then it reads the handle. */
    AcquireSRWLockExclusive(&lock);
    still_named = object_at(fd) == object;
    if (still_named)
        object->handle = handle;
    ReleaseSRWLockExclusive(&lock);
    return still_named;
}

/* Closes the number if `wanted` is NULL or the number's object. Returns true if the number was open. */
static bool close_number(int fd, const struct uw_object *wanted)
{
    struct uw_object *object, *last = NULL;

    AcquireSRWLockExclusive(&lock);
    object = object_at(fd);
    if (object && (!wanted || object == wanted))
        last = remove_number(fd);
    ReleaseSRWLockExclusive(&lock);
    if (last)
        close_object(last);
    return object;
}

void uw_number_close(int fd, const struct uw_object *object)
{
    (void)close_number(fd, object);
}

uint64_t uw_numbers_max(void)
{
    return most;
}

bool uw_numbers_set_max(uint64_t max)
{
    if (max > NUMBERS_MAX)
        return false;
    AcquireSRWLockExclusive(&lock);
    most = max;
    ReleaseSRWLockExclusive(&lock);
    return true;
}

int uw_posix_close(int fd)
{
    return close_number(fd, NULL) ? 0 : uw_lacking(EBADF);
}

static int duplicate_number(int fd, int least, bool close_on_exec)
{
    struct uw_object *object = uw_number_retain(fd);
    int other = object ? uw_number_assign(object, least, close_on_exec) : -EBADF;

    if (object)
        uw_object_release(object);
    return other < 0 ? uw_lacking(-other) : other;
}

int uw_posix_dup(int fd)
{
    return duplicate_number(fd, 0, false);
}

int uw_posix_dup3(int fd, int other, int flags)
{
    struct uw_object *object, *last = NULL;
    int error = 0;

    AcquireSRWLockExclusive(&lock);
    object = object_at(fd);
    if (!object || other < 0 || (uint64_t)other >= most)
        error = EBADF;
    else if (other >= size && grow_table(other))
        error = ENOMEM;
    if (!error && other != fd) {
        if (numbers[other].object)
            last = remove_number(other);
        assign_number(object, other, flags & UW_FILE_CLOEXEC);
    }
    ReleaseSRWLockExclusive(&lock);
    if (last)
        close_object(last);
    return error ? uw_lacking(error) : other;
}

int uw_posix_dup2(int fd, int other)
{
    return uw_posix_dup3(fd, other, 0);
}

static int descriptor_flags(int fd, int set, bool sets)
{
    int flags = -EBADF;

    AcquireSRWLockExclusive(&lock);
    if (object_at(fd)) {
        if (sets)
            numbers[fd].close_on_exec = set;
        flags = numbers[fd].close_on_exec;
    }
    ReleaseSRWLockExclusive(&lock);
    if (flags < 0)
        return uw_lacking(-flags);
    return sets ? 0 : flags;
}

static int status_flags(int fd, int set, bool sets)
{
    struct uw_object *object = uw_number_retain(fd);
    int flags;

    if (!object)
        return uw_lacking(EBADF);
    if (sets)
        atomic_store(&object->nonblocking, set & UW_FILE_NONBLOCK);
    flags = UW_FILE_READ_WRITE | (atomic_load(&object->nonblocking) ? UW_FILE_NONBLOCK : 0);
    uw_object_release(object);
    return sets ? 0 : flags;
}

/* include/fcntl.h defines the commands. */
int uw_posix_fcntl(int fd, int command, ...)
{
    va_list arguments;
    int argument = 0;

    va_start(arguments, command);
    if (command % 2 == 0 || command == 5)
        argument = va_arg(arguments, int);
    va_end(arguments);
    switch (command) {
    case 1:
    case 2:
        return descriptor_flags(fd, argument, command == 2);
    case 3:
    case 4:
        return status_flags(fd, argument, command == 4);
    case 5:
        return duplicate_number(fd, argument, true);
    default:
        return uw_lacking(EINVAL);
    }
}
