/*
 * test_read.c - broken files, bounds, and the files of the shared cases.
 */
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "columns/columns.h"
#include "scratch.h"

struct world {
    scratch folder;
    columns *engine;
    mcp_arena *arena;
    mcp_error err;
};

static struct world world;

static int set_up(void **state)
{
    (void)state;
    scratch_open(&world.folder);
    world.arena = mcp_arena_new(0);
    return columns_open(&world.engine, &world.err) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    columns_close(world.engine);
    mcp_arena_free(world.arena);
    scratch_close(&world.folder);
    return 0;
}

static mcp_status read_file(const columns_table **out, const char *path, size_t rows_max,
                            mcp_arena *arena)
{
    const columns_read_options options = { .rows_max = rows_max };
    int fd = openat(world.folder.fd, path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    mcp_status st = columns_read(out, world.engine, fd, &options, arena, &world.err);
    close(fd);
    return st;
}

static mcp_status read_bytes(const void *bytes, size_t length)
{
    const columns_table *table = NULL;
    mcp_arena *arena = mcp_arena_new(0);

    scratch_write(&world.folder, "bytes", bytes, length);
    mcp_status st = read_file(&table, "bytes", 0, arena);
    mcp_arena_free(arena);
    return st;
}

/* A file with numbers, texts and missing values; its bytes. */
static size_t sample(char *bytes, size_t room)
{
    enum { ROWS = 300 };
    static double numbers[ROWS];
    static const char *texts[ROWS];
    static char words[ROWS][16];
    static uint8_t valid[ROWS];
    const columns_column both[] = { { "number", COLUMNS_F64, numbers, valid },
                                    { "text", COLUMNS_TEXT, texts, NULL } };
    const columns_table table = { .rows = ROWS, .column_count = 2, .columns = both };

    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = (double)(i * i) / 7;
        snprintf(words[i], sizeof words[i], "word %zu", i * 31);
        texts[i] = words[i];
        valid[i] = i % 5 != 0;
    }
    assert_int_equal(columns_write(world.folder.fd, "sample", &table, &world.err), MCP_OK);
    int fd = openat(world.folder.fd, "sample", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, bytes, room);
    close(fd);
    assert_true(length > 0 && (size_t)length < room);
    return (size_t)length;
}

static void files_cut_short_are_refused(void **state)
{
    static char bytes[65536];
    size_t length = sample(bytes, sizeof bytes);

    (void)state;
    assert_int_equal(read_bytes(bytes, length), MCP_OK);
    for (size_t cut = 0; cut < length; cut += 97) {
        assert_int_equal(read_bytes(bytes, cut), MCP_E_PARSE);
        assert_true(world.err.message[0] != '\0');
    }
    assert_int_equal(read_bytes(bytes, length), MCP_OK);
}

/* Any answer will do but a crash; and whatever was broken, the next good file is read. */
static void files_with_wrong_bytes_do_no_harm(void **state)
{
    static char bytes[65536];
    size_t length = sample(bytes, sizeof bytes);

    (void)state;
    for (size_t at = 4; at < length; at += 41) {
        bytes[at] = (char)~bytes[at];
        mcp_status st = read_bytes(bytes, length);
        assert_true(st == MCP_OK || st == MCP_E_PARSE || st == MCP_E_NOMEM || st == MCP_E_LIMIT ||
                    st == MCP_E_INTERNAL);
        bytes[at] = (char)~bytes[at];
    }
    assert_int_equal(read_bytes(bytes, length), MCP_OK);
}

static void what_is_no_parquet_is_refused(void **state)
{
    (void)state;
    assert_int_equal(read_bytes("", 0), MCP_E_PARSE);
    assert_int_equal(read_bytes("PAR1", 4), MCP_E_PARSE);
    assert_int_equal(read_bytes("PAR1PAR1PAR1", 12), MCP_E_PARSE);
    assert_int_equal(read_bytes("hydro_id,mean\n1,2\n3,4\n5,6\n", 26), MCP_E_PARSE);
}

static void folders_and_closed_descriptors_are_bad_arguments(void **state)
{
    const columns_table *table = NULL;
    int pipes[2];

    (void)state;
    assert_int_equal(
        columns_read(&table, world.engine, world.folder.fd, NULL, world.arena, &world.err),
        MCP_E_PARAMS);
    assert_int_equal(columns_read(&table, world.engine, -1, NULL, world.arena, &world.err),
                     MCP_E_PARAMS);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(columns_read(&table, world.engine, pipes[0], NULL, world.arena, &world.err),
                     MCP_E_PARAMS);
    close(pipes[0]);
    close(pipes[1]);
    assert_null(table);
}

static void rows_and_memory_are_bounded(void **state)
{
    static char bytes[65536];
    const columns_table *table = NULL;

    (void)state;
    (void)sample(bytes, sizeof bytes);
    assert_int_equal(read_file(&table, "sample", 300, world.arena), MCP_OK);
    assert_int_equal(table->rows, 300);
    table = NULL;
    assert_int_equal(read_file(&table, "sample", 299, world.arena), MCP_E_LIMIT);
    mcp_arena *small = mcp_arena_new(4000);
    assert_int_equal(read_file(&table, "sample", 0, small), MCP_E_NOMEM);
    mcp_arena_free(small);
    assert_null(table);
}

/* The file behind the descriptor is read, whatever its name leads to now. */
static void the_descriptor_counts_not_the_name(void **state)
{
    static char bytes[65536];
    const columns_table *table = NULL;

    (void)state;
    (void)sample(bytes, sizeof bytes);
    int fd = openat(world.folder.fd, "sample", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unlinkat(world.folder.fd, "sample", 0), 0);
    scratch_write(&world.folder, "sample", "something else", 14);
    assert_int_equal(columns_read(&table, world.engine, fd, NULL, world.arena, &world.err), MCP_OK);
    assert_int_equal(table->rows, 300);
    close(fd);
}

/* ---- selections ------------------------------------------------------------------------------ */

enum { FILES = 3, FILE_ROWS = 4 };

/* File f has the rows (k, 10 f + k) for k = 3, 2, 1, 0, and a null among the tens of file 2. */
static void write_files(int fds[FILES])
{
    for (int f = 0; f < FILES; f++) {
        const int32_t keys[FILE_ROWS] = { 3, 2, 1, 0 };
        int64_t tens[FILE_ROWS];
        const uint8_t valid[FILE_ROWS] = { 1, f != 2, 1, 1 };
        char name[] = "0.parquet";
        for (int i = 0; i < FILE_ROWS; i++)
            tens[i] = 10 * f + keys[i];
        const columns_column both[] = { { "key", COLUMNS_I32, keys, NULL },
                                        { "a \"ten\"", COLUMNS_I64, tens, valid } };
        const columns_table table = { .rows = FILE_ROWS, .column_count = 2, .columns = both };
        name[0] = (char)('0' + f);
        assert_int_equal(columns_write(world.folder.fd, name, &table, &world.err), MCP_OK);
        fds[f] = openat(world.folder.fd, name, O_RDONLY | O_CLOEXEC);
        assert_true(fds[f] >= 0);
    }
}

static void rows_are_selected_sorted_and_counted(void **state)
{
    static const char *const names[] = { "a \"ten\"", "key", "a \"ten\"" };
    static const char *const order[] = { "key" };
    const int64_t wanted[] = { 1, 2, 7 };
    const columns_condition conditions[] = { { .column = "key", .values = wanted, .count = 3 },
                                             { .column = "key", .least = 0, .most = 2 } };
    columns_selection what = { .fd_count = FILES,
                               .names = names,
                               .name_count = 3,
                               .conditions = conditions,
                               .condition_count = 2,
                               .order = order,
                               .order_count = 1,
                               .rows_max = 5 };
    const columns_table *table = NULL;
    uint64_t total = 0;
    int fds[FILES];

    (void)state;
    write_files(fds);
    what.fds = fds;
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_OK);
    assert_int_equal(total, 6); /* the keys 1 and 2 of each file */
    assert_int_equal(table->rows, 5);
    assert_int_equal(table->column_count, 4);
    const uint64_t *file = table->columns[0].values;
    const int64_t *ten = table->columns[1].values;
    const int32_t *key = table->columns[2].values;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(file[i], i / 2);
        assert_int_equal(key[i], i % 2 + 1);
        assert_int_equal(ten[i], 10 * (i / 2) + i % 2 + 1);
    }
    what.rows_max = 6;
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_OK);
    assert_int_equal(table->rows, 6);
    assert_false(columns_is_valid(&table->columns[1], 5));

    what.rows_max = 0;
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_OK);
    assert_int_equal(total, 6);
    assert_int_equal(table->rows, 0);
    for (int f = 0; f < FILES; f++)
        close(fds[f]);
}

static void what_cannot_be_selected(void **state)
{
    static const char *const names[] = { "none" };
    columns_selection what = { .rows_max = 1 };
    const columns_table *table = NULL;
    uint64_t total = 9;
    int fds[FILES];

    (void)state;
    write_files(fds);
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_OK);
    assert_int_equal(total, 0); /* of no file */
    what.fds = fds;
    what.fd_count = 1;
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_OK);
    assert_int_equal(table->column_count, 3); /* all, after the file */
    assert_int_equal(total, FILE_ROWS);
    what.names = names;
    what.name_count = 1;
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_E_PARSE);
    what.fds = &world.folder.fd;
    assert_int_equal(columns_select(&table, &total, world.engine, &what, world.arena, &world.err),
                     MCP_E_PARAMS);
    for (int f = 0; f < FILES; f++)
        close(fds[f]);
}

static int read_shared(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    const columns_table *table = NULL;
    size_t length = strlen(path);

    (void)st;
    (void)where;
    if (kind != FTW_F || length < 8 || strcmp(path + length - 8, ".parquet") != 0)
        return 0;
    if (read_file(&table, path, 0, world.arena) != MCP_OK)
        fail_msg("%s: %s", path, world.err.message);
    for (size_t i = 0; i < table->column_count; i++)
        assert_int_not_equal(table->columns[i].type, COLUMNS_OTHER);
    if (strstr(path, "/inflow_seasonal_stats.parquet")) {
        assert_int_equal(columns_find(table, "hydro_id")->type, COLUMNS_I32);
        assert_int_equal(columns_find(table, "stage_id")->type, COLUMNS_I32);
        assert_int_equal(columns_find(table, "mean_m3s")->type, COLUMNS_F64);
        assert_int_equal(columns_find(table, "std_m3s")->type, COLUMNS_F64);
    }
    /* One hydro, four stages; the thermal case has none and ships a file without rows. */
    if (strstr(path, "/1dtoy/scenarios/inflow_seasonal_stats.parquet"))
        assert_int_equal(table->rows, 4);
    if (strstr(path, "/d01-thermal-dispatch/scenarios/inflow_seasonal_stats.parquet"))
        assert_int_equal(table->rows, 0);
    return 0;
}

static void files_of_the_shared_cases_are_read(void **state)
{
    char path[4096];
    const char *source = getenv("CAUSEWAY_SOURCE");

    (void)state;
    snprintf(path, sizeof path, "%s/../shared/data/cobre", source ? source : ".");
    char *canonical = realpath(path, NULL);
    if (!canonical) {
        print_message("the shared cases are absent (%s)\n", path);
        return;
    }
    assert_int_equal(nftw(canonical, read_shared, 16, FTW_PHYS), 0);
    free(canonical);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(files_cut_short_are_refused),
        EACH(files_with_wrong_bytes_do_no_harm),
        EACH(what_is_no_parquet_is_refused),
        EACH(folders_and_closed_descriptors_are_bad_arguments),
        EACH(rows_and_memory_are_bounded),
        EACH(the_descriptor_counts_not_the_name),
        EACH(rows_are_selected_sorted_and_counted),
        EACH(what_cannot_be_selected),
        EACH(files_of_the_shared_cases_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
