/* The fuzz target and its seeds as a plain test. Run from core/. */
#include "../../../fuzz/http_conditional.c"

#include "check.h"
#include "fuzz_corpus.h"

TEST(every_seed)
{
    CHECK(corpus_replay("../fuzz/corpus/http_conditional") >= 20);
}

TEST_MAIN
