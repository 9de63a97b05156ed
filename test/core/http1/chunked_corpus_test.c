/* The fuzz target and its seeds as a plain test. Run from core/. */
#include "../../../fuzz/http_chunked.c"

#include "check.h"
#include "http/fuzz_corpus.h"

TEST(every_seed)
{
    CHECK(corpus_replay("../fuzz/corpus/http_chunked") >= 30);
}

TEST_MAIN
