/* What leaves by one operation: the memory of several chunks, in order and without gaps; files alone. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "transport/chunk_send.h"

#define CHUNKS_MAX 16

static struct uw_endpoint endpoint = {.fd = 1};
static struct uw_chunk *chunks[CHUNKS_MAX];
static unsigned chunk_count;

static struct uw_chunk *add(const char *bytes, const char *memory, size_t memory_length)
{
    struct uw_chunk *chunk = uw_chunk_copy(bytes, strlen(bytes));

    CHECK(chunk != NULL);
    chunk->memory = memory;
    chunk->rest_left = (int64_t)memory_length;
    if (chunk_count)
        chunks[chunk_count - 1]->next = chunk;
    chunks[chunk_count++] = chunk;
    return chunk;
}

static struct uw_chunk *add_text(const char *bytes, const char *memory)
{
    return add(bytes, memory, memory ? strlen(memory) : 0);
}

static void drop(void)
{
    while (chunk_count)
        uw_chunk_free(chunks[--chunk_count]);
}

/* Returns how many. */
static size_t bytes_of_send(char *text)
{
    size_t length = 0;

    if (endpoint.send.opcode == UW_SEND) {
        memcpy(text, endpoint.send.data, endpoint.send.length);
        return endpoint.send.length;
    }
    CHECK_EQUAL(UW_SEND_VECTOR, endpoint.send.opcode);
    CHECK(endpoint.vector.msg_iovlen <= UW_SEND_PIECES_MAX);
    for (size_t i = 0; i < (size_t)endpoint.vector.msg_iovlen; i++) {
        memcpy(text + length, endpoint.pieces[i].iov_base, endpoint.pieces[i].iov_len);
        length += endpoint.pieces[i].iov_len;
    }
    return length;
}

static void check_send(const char *expected)
{
    static char text[UW_SEND_BYTES_MAX + 1];

    uw_chunk_prepare_send(&endpoint, chunks[0]);
    CHECK_EQUAL(endpoint.fd, endpoint.send.fd);
    text[bytes_of_send(text)] = '\0';
    CHECK(strcmp(text, expected) == 0);
}

TEST(memory_of_several_chunks_leaves_at_once)
{
    add_text("one ", "two ");
    add_text("", "three ");
    add_text("four", NULL);
    check_send("one two three four");
    CHECK_EQUAL(UW_SEND_VECTOR, endpoint.send.opcode);
    drop();
}

TEST(one_piece_is_no_vector)
{
    add_text("alone", NULL);
    check_send("alone");
    CHECK_EQUAL(UW_SEND, endpoint.send.opcode);
    drop();
    add_text("", "borrowed");
    check_send("borrowed");
    CHECK_EQUAL(UW_SEND, endpoint.send.opcode);
    drop();
}

TEST(what_has_been_sent_is_left_out)
{
    struct uw_chunk *first = add_text("one ", "two ");

    add_text("three", NULL);
    first->sent = 2;
    check_send("e two three");
    first->sent = first->length;
    first->rest_offset = 1;
    first->rest_left = 3;
    check_send("wo three");
    drop();
}

TEST(more_pieces_than_fit_end_without_a_gap)
{
    for (int i = 0; i < 2 * UW_SEND_PIECES_MAX; i++)
        add_text("", i % 2 ? "b" : "a");
    check_send("ababab");
    drop();
    add_text("1", NULL);
    for (int i = 0; i < UW_SEND_PIECES_MAX; i++)
        add_text("2", "3");
    check_send("123232"); /* a chunk may be cut in two */
    drop();
}

TEST(more_bytes_than_fit_end_without_a_gap)
{
    static char large[UW_SEND_BYTES_MAX - 1];
    static char sent[UW_SEND_BYTES_MAX];

    memset(large, 'x', sizeof large);
    add("", large, sizeof large);
    add_text("yz", NULL);
    add_text("no", NULL);
    uw_chunk_prepare_send(&endpoint, chunks[0]);
    CHECK_EQUAL(UW_SEND_BYTES_MAX, bytes_of_send(sent));
    CHECK_EQUAL('y', sent[UW_SEND_BYTES_MAX - 1]);
    drop();
}

TEST(a_file_leaves_alone_behind_what_is_before_it)
{
    int file = memfd_create("file", MFD_CLOEXEC);
    struct uw_chunk *chunk;

    add_text("before", NULL);
    chunk = add_text("head", NULL);
    uw_chunk_add_file(chunk, file, 0, 5);
    add_text("behind", NULL);
    check_send("before");
    uw_chunk_prepare_send(&endpoint, chunk);
    CHECK_EQUAL(UW_SEND, endpoint.send.opcode);
    CHECK_EQUAL(4, endpoint.send.length);
    CHECK(endpoint.send.more);
    chunk->sent = chunk->length;
    uw_chunk_prepare_send(&endpoint, chunk);
    CHECK_EQUAL(UW_SEND_FILE, endpoint.send.opcode);
    CHECK_EQUAL(5, endpoint.send.length);
    drop();
}

TEST_MAIN
