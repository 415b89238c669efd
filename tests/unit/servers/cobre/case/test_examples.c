/*
 * test_examples.c - our own case directories: their inputs, and the costs derived by hand.
 *
 * Each Parquet file of examples/cases/ has a CSV file of the same name, for editing. The first test
 * compares the two; run with CAUSEWAY_REGENERATE=1 it writes the Parquet files instead. The second
 * trains every case and compares with the cost that README.md derives.
 */
#include "base_case.h"

#include "case/inventory.h"
#include "sddp/sddp.h"

struct example {
    const char *name;
    double cost;        /* as examples/cases/README.md derives it; NAN: it derives none */
    sddp_reason reason; /* of the end of the training */
};

/* Two stages of four years at 10 %: a factor of 1 / 1.1^4 from one to the next. */
#define FOUR_YEARS (1 / 1.4641)

static const struct example examples[] = {
    { "four-stages", NAN, SDDP_BOUND_STALLING },
    { "1dtoy", NAN, SDDP_ITERATION_LIMIT },
    { "two-rivers", NAN, SDDP_ITERATION_LIMIT },
    { "wind-and-water", NAN, SDDP_ITERATION_LIMIT },
    { "merit-order", 2994600, SDDP_ITERATION_LIMIT },
    { "water-for-later", 3600000, SDDP_ITERATION_LIMIT },
    { "two-towns", 5095000, SDDP_ITERATION_LIMIT },
    { "short-supply", 18060000 * (1 + FOUR_YEARS), SDDP_ITERATION_LIMIT },
    { "must-release", 6000200, SDDP_ITERATION_LIMIT },
    { "come-and-go", 7820000, SDDP_ITERATION_LIMIT },
    { "lossy-line", 5500000, SDDP_ITERATION_LIMIT },
    { "bought-and-sold", 725000, SDDP_ITERATION_LIMIT },
    { "pumped-storage", 2000000, SDDP_ITERATION_LIMIT },
    { "below-the-minimum", 34800000, SDDP_ITERATION_LIMIT },
    { "new-lake", 4150100, SDDP_ITERATION_LIMIT },
    { "day-before-night", 1800000, SDDP_ITERATION_LIMIT },
    { "round-again", (1200000 + FOUR_YEARS * 2400000) / (1 - FOUR_YEARS * FOUR_YEARS),
      SDDP_ITERATION_LIMIT },
    { "rain-or-none", 1750000, SDDP_ITERATION_LIMIT },
    { "enough-seen", 1600000, SDDP_SIMULATION },
};

#define EXAMPLE_COUNT (sizeof examples / sizeof examples[0])

static int open_example(const char *name)
{
    const char *source = getenv("CAUSEWAY_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s/examples/cases/%s", source ? source : ".", name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        fail_msg("%s: %s", path, strerror(errno));
    return fd;
}

/* ---- CSV against Parquet --------------------------------------------------------------------- */

static columns_type type_of(const cobre_table_spec *spec, const char *column)
{
    for (size_t i = 0; spec->columns[i].name; i++) {
        if (strcmp(spec->columns[i].name, column) == 0)
            return spec->columns[i].type;
    }
    fail_msg("%s is no column of the format", column);
    return COLUMNS_OTHER;
}

struct sheet {
    base_column data[BASE_COLUMNS_MAX];
    columns_column list[BASE_COLUMNS_MAX];
    size_t count;
};

static void read_head(struct sheet *sheet, const cobre_table_spec *spec, char *line)
{
    char *rest = NULL;

    for (char *word = strtok_r(line, ",\n", &rest); word; word = strtok_r(NULL, ",\n", &rest)) {
        base_column *column = &sheet->data[sheet->count];
        assert_true(sheet->count < BASE_COLUMNS_MAX);
        snprintf(column->name, sizeof column->name, "%s", word);
        column->type = type_of(spec, word);
        sheet->list[sheet->count++] = (columns_column){ column->name, column->type, &column->values,
                                                        NULL };
    }
}

static void read_sheet(struct sheet *sheet, const cobre_table_spec *spec, FILE *csv)
{
    char line[512], *rest = NULL;

    *sheet = (struct sheet){ 0 };
    assert_non_null(fgets(line, sizeof line, csv));
    read_head(sheet, spec, line);
    while (fgets(line, sizeof line, csv)) {
        size_t column = 0;
        for (char *word = strtok_r(line, ",\n", &rest); word; word = strtok_r(NULL, ",\n", &rest))
            base_cell(&sheet->data[column++], word);
        assert_int_equal(column, sheet->count);
    }
}

static void compare_column(const columns_table *table, const base_column *column)
{
    const columns_column *found = columns_find(table, column->name);

    assert_non_null(found);
    assert_int_equal(found->type, column->type);
    for (size_t row = 0; row < table->rows; row++) {
        assert_true(columns_is_valid(found, row));
        if (column->type == COLUMNS_F64)
            assert_true(((const double *)found->values)[row] == column->values.f64[row]);
        else
            assert_int_equal(((const int32_t *)found->values)[row], column->values.i32[row]);
    }
}

static void compare_sheet(columns *engine, int dir_fd, const char *name, const struct sheet *sheet)
{
    mcp_arena *arena = mcp_arena_new(0);
    const columns_table *table = NULL;
    mcp_error err = MCP_ERROR_INIT;
    int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    if (columns_read(&table, engine, fd, NULL, arena, &err) != MCP_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(table->rows, sheet->data[0].rows);
    assert_int_equal(table->column_count, sheet->count);
    for (size_t i = 0; i < sheet->count; i++)
        compare_column(table, &sheet->data[i]);
    close(fd);
    mcp_arena_free(arena);
}

/* One CSV of a case, if it is there: write the Parquet file, or compare it with the CSV. */
static bool check_input(columns *engine, int case_fd, const cobre_file *file)
{
    static struct sheet sheet;
    const char *slash = strrchr(file->path, '/');
    char path[128], below[64];

    snprintf(below, sizeof below, "%.*s", (int)(slash - file->path), file->path);
    snprintf(path, sizeof path, "%.*s.csv", (int)(strlen(file->path) - strlen(".parquet")),
             file->path);
    int fd = openat(case_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    FILE *csv = fdopen(fd, "r");
    read_sheet(&sheet, file->table, csv);
    fclose(csv);
    int dir_fd = openat(case_fd, below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (getenv("CAUSEWAY_REGENERATE")) {
        const columns_table table = { sheet.data[0].rows, sheet.count, sheet.list };
        assert_int_equal(columns_write(dir_fd, slash + 1, &table, NULL), MCP_OK);
    }
    compare_sheet(engine, dir_fd, slash + 1, &sheet);
    close(dir_fd);
    return true;
}

static void parquet_files_hold_what_their_csv_files_say(void **state)
{
    for (size_t i = 0; i < EXAMPLE_COUNT; i++) {
        int fd = open_example(examples[i].name);
        size_t checked = 0;
        for (size_t k = 0; k < COBRE_FILE_COUNT; k++) {
            const cobre_file *file = &cobre_files_known[k];
            bool has_csv = file->table && check_input(*state, fd, file);
            checked += has_csv;
            if (file->table && !has_csv)
                assert_int_not_equal(faccessat(fd, file->path, F_OK, 0), 0);
        }
        assert_true(checked > 0);
        close(fd);
    }
}

/* ---- costs ----------------------------------------------------------------------------------- */

static void train(const cobre_case *input, const struct example *example)
{
    sddp_training training;
    sddp_failure failure;
    sddp *study = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, input, 1, &err) != MCP_OK ||
        sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        fail_msg("%s: %s", example->name, err.message);
    double bound = training.rows[training.iterations - 1].lower_bound;
    print_message("  %s: %zu iterations, lower bound %.6f\n", example->name, training.iterations,
                  bound);
    if (isfinite(example->cost) && fabs(bound - example->cost) > 1e-9 * example->cost)
        fail_msg("%s: lower bound %.9g, by hand %.9g", example->name, bound, example->cost);
    if (training.reason != example->reason)
        fail_msg("%s: ended by %s", example->name, sddp_reason_name(training.reason));
    for (size_t i = 1; i < training.iterations; i++)
        assert_true(training.rows[i].lower_bound >=
                    training.rows[i - 1].lower_bound - 1e-6 * fabs(bound));
    sddp_free(study);
}

static void trained_costs_are_those_derived_by_hand(void **state)
{
    for (size_t i = 0; i < EXAMPLE_COUNT; i++) {
        int fd = open_example(examples[i].name);
        loaded result = base_load_at(*state, fd, examples[i].name);
        assert_loads(&result);
        train(result.c, &examples[i]);
        loaded_free(&result);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parquet_files_hold_what_their_csv_files_say),
        cmocka_unit_test(trained_costs_are_those_derived_by_hand),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
