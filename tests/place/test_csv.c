/* The CSV of google/minimalloc: what is read, and one line for everything that is not in the form. */
#include "cli/corpus.h"
#include "place/place.h"
#include "test.h"

static Arena keep, scratch;

static void reads_requests(void)
{
    Str text = S("id,lower,upper,size\nb1,0,3,4\nb 2,3,2147483647,2147483647\n");
    PlaceProblem p;
    Error err = {0};
    CHECK_OK(place_csv_parse(text, 12, &keep, scratch, &p, &err), err);
    CHECK_EQ_INT(p.tile, -1);
    CHECK_EQ_INT(p.range_count, 1);
    CHECK_EQ_INT(p.ranges[0].begin, 0);
    CHECK_EQ_INT(p.ranges[0].end, 12);
    CHECK_EQ_INT(p.ranges[0].element_bytes, 0);
    CHECK_EQ_INT(p.limit, 12);
    CHECK_EQ_INT(p.requests.len, 2);
    const PlaceRequest *a = &p.requests.at[0], *b = &p.requests.at[1];
    CHECK_STR(a->name, S("b1"));
    CHECK_EQ_INT(a->bytes, 4);
    CHECK_EQ_INT(a->first, 0);
    CHECK_EQ_INT(a->last, 3);
    CHECK_EQ_INT(a->align, 1);
    CHECK_EQ_INT(a->count, 1);
    CHECK_EQ_INT(a->address, PLACE_NOWHERE);
    CHECK_STR(b->name, S("b 2"));
    CHECK_EQ_INT(b->bytes, INT32_MAX);
    CHECK_EQ_INT(b->last, INT32_MAX);
}

static void reads_no_request(void)
{
    PlaceProblem p;
    Error err = {0};
    CHECK_OK(place_csv_parse(S("id,lower,upper,size\n"), UINT32_MAX, &keep, scratch, &p, &err),
             err);
    CHECK_EQ_INT(p.requests.len, 0);
    CHECK_EQ_INT(p.ranges[0].end, UINT32_MAX);
}

/* What is printed is read again by the text form. */
static void is_the_text_form_too(void)
{
    PlaceProblem p;
    PlaceProblemVec again;
    Error err = {0};
    Str text = S("id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\n");
    CHECK_OK(place_csv_parse(text, 12, &keep, scratch, &p, &err), err);
    Writer first = writer_buffer(&keep), second = writer_buffer(&keep);
    place_problem_print(&first, &p, NULL);
    CHECK_OK(place_problem_parse(writer_text(&first), &keep, &again, &err), err);
    CHECK_EQ_INT(again.len, 1);
    place_problem_print(&second, &again.at[0], NULL);
    CHECK_STR(writer_text(&first), writer_text(&second));
}

#define HEADER "id,lower,upper,size\n"

static const struct {
    Str text;
    const char *where, *message;
} refused[] = {
    {S(""), "line 1", "header"},
    {S("\n"), "line 1", "header"},
    {S("1,0,3,4\n"), "line 1", "header"},
    {S("id,lower,upper\n"), "line 1", "header"},
    {S("id,lower,upper,size,alignment\n"), "line 1", "header"},
    {S("\xef\xbb\xbf" HEADER), "line 1", "header"},
    {S("id,lower,upper,size"), "line 1", "cut off"},
    {S("id,lower,upper,size\r\n1,0,3,4\r\n"), "line 1", "found \"id,lower,upper,size\\x0d\""},
    {S(HEADER "1,0,3,4\r\n"), "line 2", "up to a newline"},
    {S(HEADER "1,0,3,4"), "line 2", "cut off"},
    {S(HEADER "\n"), "line 2", "four fields"},
    {S(HEADER "1,0,3\n"), "line 2", "four fields"},
    {S(HEADER "1,0,3,4,5\n"), "line 2", "four fields"},
    {S(HEADER "1;0;3;4\n"), "line 2", "four fields"},
    {S(HEADER ",0,3,4\n"), "line 2", "an id"},
    {S(HEADER "1 ,0,3,4\n"), "line 2", "spaces around"},
    {S(HEADER "\"1\",0,3,4\n"), "line 2", "quotes"},
    {S(HEADER "1,0,3,4\n1,3,5,4\n"), "line 3", "also in line 2"},
    {S(HEADER "1,3,3,4\n"), "line 2", "lower < upper"},
    {S(HEADER "1,4,3,4\n"), "line 2", "lower < upper"},
    {S(HEADER "1,0,3,0\n"), "line 2", "size in 1..2147483647"},
    {S(HEADER "1,-1,3,4\n"), "line 2", "lower in 0..2147483647"},
    {S(HEADER "1,0,2147483648,4\n"), "line 2", "upper in"},
    {S(HEADER "1,0,3,99999999999999999999999\n"), "line 2", "size in"},
    {S(HEADER "1,0,3,0x10\n"), "line 2", "size in"},
    {S(HEADER "1,0,3,1e3\n"), "line 2", "size in"},
    {S(HEADER "1,0,3, 4\n"), "line 2", "size in"},
    {S(HEADER "1,0,,4\n"), "line 2", "upper in"},
    {S(HEADER "1\0,0,3,4\n"), "line 2", "printable"},
    {S(HEADER "1,0,3,4\n\0"), "line 3", "printable"},
    {S(HEADER "\033[2J,0,3,4\n"), "line 2", "printable"},
};

static void refuses_other_forms(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        PlaceProblem p;
        Error err = {0};
        bool is_read = place_csv_parse(refused[i].text, 100, &keep, scratch, &p, &err);
        fprintf(stderr, "%zu: %s: %s\n", i, err.where, err.message);
        CHECK(!is_read);
        CHECK_EQ_INT(err.code, ERROR_INPUT);
        CHECK_CSTR(err.where, refused[i].where);
        CHECK(strstr(err.message, refused[i].message) != NULL);
    }
}

/* Largest live bytes against the published figures, counted step by step. */
static void reads_the_corpus(void)
{
    static const struct {
        const char *name;
        int64_t peak;
    } published[] = {{"A", 1048576}, {"B", 1048576}, {"C", 1039360}, {"D", 986112},
                     {"E", 1048576}, {"F", 1048576}, {"G", 1048576}, {"H", 1048576},
                     {"I", 1048576}, {"J", 989184},  {"K", 1048576}};
    int known = 0;
    for (int k = 0; k < place_file_count; k++) {
        Str name = str_of(place_files[k].name);
        if (!str_ends(name, S(".csv"))) {
            continue;
        }
        int i = known++;
        CHECK(i < 11);
        CHECK(str_starts(name, S("minimalloc-")) && name.at[11] == published[i].name[0]);
        Str text = {place_files[k].text, place_files[k].length};
        PlaceProblem p;
        Error err = {0};
        CHECK_OK(place_csv_parse(text, 1 << 20, &keep, scratch, &p, &err), err);
        int64_t peak = 0;
        for (isize a = 0; a < p.requests.len; a++) {
            int64_t alive = 0;
            for (isize b = 0; b < p.requests.len; b++) {
                const PlaceRequest *r = &p.requests.at[b];
                int32_t step = p.requests.at[a].first;
                alive += r->first <= step && step < r->last ? r->bytes : 0;
            }
            peak = alive > peak ? alive : peak;
        }
        CHECK_EQ_INT(peak, published[i].peak);
    }
    CHECK_EQ_INT(known, 11);
}

static void setup(void)
{
    keep = arena_create((isize)1 << 28);
    scratch = arena_create((isize)1 << 26);
}

TEST_MAIN(setup, reads_requests, reads_no_request, is_the_text_form_too, refuses_other_forms,
          reads_the_corpus)
