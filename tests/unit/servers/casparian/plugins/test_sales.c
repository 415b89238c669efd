/*
 * test_sales.c - the dirty sample of sales has the defects of the specification, each on rows of
 * its own.
 */
#include "rig.h"

static rig all;

static int set_up(void **state)
{
    rig_open(&all);
    *state = &all;
    return 0;
}

static int tear_down(void **state)
{
    rig_close(*state);
    return 0;
}

/* Of all rows: how many there are, and how many have each defect. */
struct counts {
    size_t rows, na, empty, extra, digits, iso, several;
};

static bool has_four_digits(const char *row)
{
    const char *price = strstr(row, " unit_price=string:");
    const char *point = price ? strchr(price, '.') : NULL;
    return point && strcspn(point, " ") == 5;
}

static void count_row(struct counts *counts, const char *row)
{
    size_t extra = strstr(row, " extra=string:checked") != NULL;
    size_t na = strstr(row, " unit_price=string:N/A") || strstr(row, " unit_price=null");
    size_t empty = strstr(row, " quantity=string: ") != NULL;
    size_t digits = has_four_digits(row);
    counts->rows++;
    counts->extra += extra;
    counts->na += na;
    counts->empty += empty;
    counts->digits += digits;
    counts->iso += strstr(row, " order_date=string:2024-") != NULL;
    counts->several += extra + na + empty + digits > 1;
}

static void parse_samples(rig *self, const char *parser, struct counts *counts)
{
    static const char *const files[] = { "north.csv", "south.csv", "web.csv" };
    static char text[64 << 10];
    const char *top = getenv("CAUSEWAY_SOURCE");
    char path[600];

    rig_module(self, "");
    self->plugin.dir = mcp_arena_printf(self->arena, "%s/examples/casparian/parsers", top);
    self->plugin.entrypoint = mcp_arena_printf(self->arena, "%s/%s", self->plugin.dir, parser);
    memset(counts, 0, sizeof *counts);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/examples/casparian/samples/sales/%s", top, files[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t length = fread(text, 1, sizeof text, file);
        fclose(file);
        scratch_write(&self->folder, "inputs/sales.csv", text, length);
        rig_parse(self, "sales.csv");
        rig_expect(self, CASPARIAN_FAILURE_NONE);
        char *rows = mcp_arena_strdup(self->arena, rig_rows(self)), *rest = NULL;
        for (char *row = strtok_r(rows, "\n", &rest); row; row = strtok_r(NULL, "\n", &rest)) {
            if (strncmp(row, "demo: ", 6) == 0)
                count_row(counts, row);
        }
    }
}

static void the_first_parser_shows_every_defect(void **state)
{
    struct counts counts;
    parse_samples(*state, "sales_csv.py", &counts);
    assert_int_equal(counts.rows, 400);
    assert_int_equal(counts.digits, 60);
    assert_int_equal(counts.na, 12);
    assert_int_equal(counts.empty, 30);
    assert_int_equal(counts.extra, 5);
    assert_int_equal(counts.iso, 100);
    assert_int_equal(counts.several, 0);
}

static void the_second_parser_has_no_sentinels(void **state)
{
    rig *self = *state;
    struct counts counts;
    parse_samples(self, "sales_csv_2.py", &counts);
    assert_int_equal(counts.rows, 400);
    assert_int_equal(counts.na, 12);
    assert_null(strstr(rig_rows(self), "N/A"));
    assert_int_equal(counts.extra, 5);
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RIG(the_first_parser_shows_every_defect),
        WITH_RIG(the_second_parser_has_no_sentinels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
