#include "pub_sub/channel_pattern.h"

#include "check.h"
#include "processor_time.h"

static bool matches(const char *pattern, size_t pattern_length, const char *name, size_t length)
{
    struct uw_channel_pattern *glob = uw_channel_pattern_compile(pattern, pattern_length);
    bool result = glob && uw_channel_pattern_matches(glob, name, length);

    CHECK(glob);
    free(glob);
    return result;
}

static bool is_match(const char *pattern, const char *name)
{
    return matches(pattern, strlen(pattern), name, strlen(name));
}

static void expect(bool expected, const char *pattern, const char *name)
{
    if (is_match(pattern, name) == expected)
        return;
    printf("%s: %s\n", pattern, name);
    CHECK(!"as expected");
}

TEST(each_element)
{
    static const struct {
        const char *pattern, *yes, *no;
    } cases[] = {
        {"", "", "a"},
        {"abc", "abc", "abcd"},
        {"abc", "abc", "ab"},
        {"*", "", NULL},
        {"*", "any\xff thing", NULL},
        {"**", "", NULL},
        {"?", "a", ""},
        {"?", "\n", "ab"},
        {"h?llo", "hello", "hllo"},
        {"h*llo", "hllo", "hell"},
        {"h*llo", "heeeello", "heeeelloo"},
        {"h[ae]llo", "hallo", "hillo"},
        {"h[^e]llo", "hallo", "hello"},
        {"h[a-b]llo", "hbllo", "hcllo"},
        {"h[b-a]llo", "hallo", "hcllo"},
        {"[a-c-e]", "-", "d"},
        {"[]", NULL, "a"},
        {"[]", NULL, "]"},
        {"[^]", "a", ""},
        {"a[^]b", "axb", "ab"},
        {"[a", "a", "b"},
        {"[^a", "b", "a"},
        {"[", NULL, "["},
        {"[a\\]b]", "]", "\\"},
        {"[\\^a]", "^", "b"},
        {"[a^]", "^", "b"},
        {"[a\\", "\\", "b"},
        {"[+-]]", "E", "b"}, /* a range up to the bracket, which another one then ends */
        {"[a-]", "_", "-"},  /* likewise, without an end */
        {"\\*", "*", "a"},
        {"\\?a", "?a", "ba"},
        {"\\[a]", "[a]", "a"},
        {"a\\", "a\\", "a"},
        {"\\\\", "\\", "\\\\"},
        {"*a*b*", "xaxbx", "xbxax"},
        {"*ab", "aab", "aba"},
        {"news.*.sport", "news.x.y.sport", "news.sport"},
        {"*.com", "a.com.com", "a.com.org"},
        {"[\x80-\xff]", "\xc3", "a"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].yes)
            expect(true, cases[i].pattern, cases[i].yes);
        if (cases[i].no)
            expect(false, cases[i].pattern, cases[i].no);
    }
}

TEST(bytes_of_value_nought)
{
    CHECK(matches("a\0*", 3, "a\0b", 3));
    CHECK(!matches("a\0b", 3, "a\0c", 3));
}

/* What it means, in the simplest way, for patterns without sets. */
static bool means(const char *pattern, const char *name)
{
    if (!*pattern)
        return !*name;
    if (*pattern == '*')
        return means(pattern + 1, name) || (*name && means(pattern, name + 1));
    return *name && (*pattern == '?' || *pattern == *name) && means(pattern + 1, name + 1);
}

static unsigned next_number(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static void any_text(char *text, unsigned length_max, const char *letters, uint64_t *state)
{
    unsigned length = next_number(state) % (length_max + 1);

    for (unsigned i = 0; i < length; i++)
        text[i] = letters[next_number(state) % strlen(letters)];
    text[length] = 0;
}

TEST(many_against_what_they_mean)
{
    uint64_t state = 1;
    char pattern[9], name[11];

    for (int i = 0; i < 50000; i++) {
        any_text(pattern, sizeof pattern - 1, "ab*?", &state);
        any_text(name, sizeof name - 1, "ab", &state);
        expect(means(pattern, name), pattern, name);
    }
}

/* Elements beyond the first word of states, at each boundary. */
TEST(long_patterns)
{
    char pattern[UW_CHANNEL_PATTERN_BYTES_MAX], name[1024];

    memset(name, 'a', sizeof name);
    for (size_t length = 1; length <= sizeof pattern; length++) {
        memset(pattern, 'a', sizeof pattern);
        CHECK(matches(pattern, length, name, length));
        CHECK(!matches(pattern, length, name, length - 1));
        CHECK(!matches(pattern, length, name, length + 1));
        pattern[length - 1] = '*';
        CHECK(matches(pattern, length, name, sizeof name));
        CHECK(!matches(pattern, length, name, length > 1 ? length - 2 : 0) == (length > 1));
        pattern[length - 1] = 'b';
        CHECK(!matches(pattern, length, name, length));
    }
    CHECK(!uw_channel_pattern_compile(name, UW_CHANNEL_PATTERN_BYTES_MAX + 1));
}

/* Those that keep others busy for long: none may take a millisecond, of which this allows each many. */
TEST(hostile_patterns)
{
    static const char *const parts[] = {"*a", "*[^b]", "*?", "[a-z]*", "a*[a-zA-Z0-9_]"};
    char pattern[UW_CHANNEL_PATTERN_BYTES_MAX], name[1024];
    int64_t begin_ns = processor_ns();

    memset(name, 'a', sizeof name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = 0;

        while (length + strlen(parts[i]) < sizeof pattern) {
            memcpy(pattern + length, parts[i], strlen(parts[i]));
            length += strlen(parts[i]);
        }
        pattern[length++] = 'b';
        for (int times = 0; times < 100; times++)
            CHECK(!matches(pattern, length, name, sizeof name));
    }
    CHECK(processor_ns() - begin_ns < 10 * UW_NS_PER_SECOND);
}

TEST_MAIN
