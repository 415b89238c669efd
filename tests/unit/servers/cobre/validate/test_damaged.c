/*
 * test_damaged.c - files that are cut short, or hold a wrong byte anywhere: each loads or has
 * findings, and never ends the program, waits, or asks for the memory that a damaged size claims.
 *
 * A Parquet file keeps its sizes as variable-length integers, so bytes set to 0xff and 0x7f claim
 * sizes up to 2^31-1 and beyond.
 */
#include "../case/base_case.h"
#include "case/read/parse.h"

enum { ARENA_MAX = 64 << 20 };

/* Read a file with the reader of inflow statistics. */
static void read_bytes(columns *engine, const scratch *folder, const char *bytes, size_t length,
                       size_t *readable)
{
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    cobre_input *input = mcp_arena_alloc(arena, sizeof *input);
    const columns_table *data = NULL;
    mcp_error err = MCP_ERROR_INIT;

    scratch_write(folder, "damaged.parquet", bytes, length);
    int fd = openat(folder->fd, "damaged.parquet", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    input->arena = arena;
    input->report = cobre_report_new(arena);
    mcp_status st = columns_read(&data, engine, fd, NULL, arena, &err);
    close(fd);
    if (st != MCP_OK && st != MCP_E_PARSE && st != MCP_E_LIMIT)
        fail_msg("status %d: %s", (int)st, err.message);
    if (st == MCP_OK) {
        (*readable)++;
        assert_int_equal(cobre_parse_table(input, COBRE_FILE_INFLOW_STATS, data, &err), MCP_OK);
    } else {
        assert_true(strlen(err.message) > 5);
    }
    mcp_arena_free(arena);
}

static char *good_file(const scratch *folder, size_t *length)
{
    struct stat about;

    base_write_table(folder->fd, "good.parquet",
                     "hydro_id i32: 1 1 1 2 2 2; stage_id i32: 2 1 0 0 1 2;"
                     "mean_m3s f64: 30 35 40 8 7 6; std_m3s f64: 9 - 12 2 2 2");
    int fd = openat(folder->fd, "good.parquet", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &about), 0);
    char *bytes = malloc((size_t)about.st_size);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)about.st_size), about.st_size);
    close(fd);
    *length = (size_t)about.st_size;
    return bytes;
}

static void cut_short(void **state)
{
    size_t length = 0, readable = 0;
    scratch folder;

    scratch_open(&folder);
    char *bytes = good_file(&folder, &length);
    for (size_t cut = 0; cut < length; cut += 7)
        read_bytes(*state, &folder, bytes, cut, &readable);
    assert_int_equal(readable, 0);
    read_bytes(*state, &folder, bytes, length, &readable);
    assert_int_equal(readable, 1);
    free(bytes);
    scratch_close(&folder);
}

static void one_byte_wrong(void **state)
{
    static const unsigned char wrong[] = { 0xff, 0x7f, 0x00 };
    size_t length = 0, readable = 0;
    scratch folder;

    scratch_open(&folder);
    char *bytes = good_file(&folder, &length);
    for (size_t at = 0; at < length; at += 2) {
        char before = bytes[at];
        bytes[at] = (char)wrong[at / 2 % 3];
        read_bytes(*state, &folder, bytes, length, &readable);
        bytes[at] = before;
    }
    print_message("  %zu bytes, %zu readable files\n", length / 2, readable);
    free(bytes);
    scratch_close(&folder);
}

/* From the directory: the finding is ParseError of layer 2, next to those of other files. */
static void a_damaged_file_is_one_finding(void **state)
{
    scratch folder;

    scratch_open(&folder);
    base_write_all(&folder);
    scratch_write(&folder, "scenarios/inflow_seasonal_stats.parquet", "PAR1PAR1", 8);
    scratch_write(&folder, "penalties.json", "{\"version\":1e400}", 17);
    loaded result = base_load_at(*state, folder.fd, "damaged");
    assert_int_equal(result.status, MCP_OK);
    assert_int_equal(cobre_report_count(result.report, COBRE_SEVERITY_ERROR), 2);
    for (size_t i = 0; i < 2; i++) {
        const cobre_finding *finding = cobre_report_finding(result.report, COBRE_SEVERITY_ERROR, i);
        assert_int_equal(finding->kind, COBRE_KIND_PARSE_ERROR);
        assert_int_equal(finding->layer, 2);
    }
    assert_int_equal(cobre_report_coverage(result.report)->layers_completed, 2);
    loaded_free(&result);
    scratch_close(&folder);
}

/* Texts of numbers that no double holds, and of NaN, are no JSON. */
static void numbers_that_no_double_holds(void **state)
{
    static const char *const texts[] = { "1e400", "-1e400", "NaN", "Infinity", "1e", "0x10", "01" };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[256];
        scratch folder;
        scratch_open(&folder);
        base_write_all(&folder);
        snprintf(text, sizeof text,
                 "{'storage':[{'hydro_id':2,'value_hm3':%s}],'filling_storage':[]}", texts[i]);
        base_write(&folder, "initial_conditions.json", text);
        loaded result = base_load_at(*state, folder.fd, "numbers");
        assert_int_equal(result.status, MCP_OK);
        const cobre_finding *finding = cobre_report_finding(result.report, COBRE_SEVERITY_ERROR, 0);
        if (!finding || finding->kind != COBRE_KIND_PARSE_ERROR)
            fail_msg("%s is accepted", texts[i]);
        assert_string_equal(finding->file, "initial_conditions.json");
        loaded_free(&result);
        scratch_close(&folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_short),
        cmocka_unit_test(one_byte_wrong),
        cmocka_unit_test(a_damaged_file_is_one_finding),
        cmocka_unit_test(numbers_that_no_double_holds),
    };

    return cmocka_run_group_tests(tests, engine_setup, engine_teardown);
}
