/* A ring of buffers into which the kernel receives. */
#include "io/uring.h"

#ifdef UW_HAVE_IO_URING

#include <errno.h>
#include <sys/mman.h>

#define RECEIVE_BUFFERS 512        /* a power of two */
#define RECEIVE_BUFFER_BYTES 16384 /* only pages that were written use memory */

_Static_assert(RECEIVE_BUFFER_BYTES <= UW_RECEIVE_BYTES_MAX, "a buffer holds one result");

char *uw_uring_buffer_at(const struct uw_uring *ring, int id)
{
    return ring->memory + (size_t)id * RECEIVE_BUFFER_BYTES;
}

void uw_uring_provide_buffer(struct uw_uring *ring, int id, int place)
{
    io_uring_buf_ring_add(ring->buffers, uw_uring_buffer_at(ring, id), RECEIVE_BUFFER_BYTES, (unsigned short)id,
                          io_uring_buf_ring_mask(RECEIVE_BUFFERS), place);
}

static void *map_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages == MAP_FAILED ? NULL : pages;
}

static int map_buffers(struct uw_uring *ring)
{
    ring->buffers = map_pages(RECEIVE_BUFFERS * sizeof(struct io_uring_buf));
    if (!ring->buffers)
        return -ENOMEM;
    ring->memory = map_pages((size_t)RECEIVE_BUFFERS * RECEIVE_BUFFER_BYTES);
    if (!ring->memory) {
        munmap(ring->buffers, RECEIVE_BUFFERS * sizeof(struct io_uring_buf));
        return -ENOMEM;
    }
    return 0;
}

void uw_uring_unmap_buffers(struct uw_uring *ring)
{
    munmap(ring->buffers, RECEIVE_BUFFERS * sizeof(struct io_uring_buf));
    munmap(ring->memory, (size_t)RECEIVE_BUFFERS * RECEIVE_BUFFER_BYTES);
}

int uw_uring_register_buffers(struct uw_uring *ring)
{
    struct io_uring_buf_reg registration = {.ring_entries = RECEIVE_BUFFERS, .bgid = UW_URING_RECEIVE_GROUP};
    int error = map_buffers(ring);

    if (error)
        return error;
    registration.ring_addr = (uintptr_t)ring->buffers;
    error = io_uring_register_buf_ring(&ring->uring, &registration, 0);
    if (error) {
        uw_uring_unmap_buffers(ring);
        return error;
    }
    io_uring_buf_ring_init(ring->buffers);
    for (int id = 0; id < RECEIVE_BUFFERS; id++)
        uw_uring_provide_buffer(ring, id, id);
    io_uring_buf_ring_advance(ring->buffers, RECEIVE_BUFFERS);
    return 0;
}

#endif
