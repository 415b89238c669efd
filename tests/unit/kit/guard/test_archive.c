/*
 * test_archive.c - files of lines, compressed and not: the same lines, and damage that is reported.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "guard/archive.h"
#include "scratch.h"

#define TEXT "one\n\nthree \0 x\nlast"

static void expect_lines(const char *path)
{
    static const struct {
        const char *text;
        size_t length;
    } rows[] = { { "one", 3 }, { "", 0 }, { "three \0 x", 9 }, { "last", 4 } };
    guard_archive *file = NULL;
    const char *line = NULL;
    size_t length = 0;

    assert_int_equal(guard_archive_open(&file, path, NULL), MCP_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(guard_archive_line(&line, &length, file, NULL), MCP_OK);
        assert_non_null(line);
        assert_int_equal(length, rows[i].length);
        assert_memory_equal(line, rows[i].text, length);
    }
    assert_int_equal(guard_archive_line(&line, &length, file, NULL), MCP_OK);
    assert_null(line);
    guard_archive_close(file);
}

static void a_packed_file_has_the_same_lines_mode_and_time(void **state)
{
    const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    char path[SCRATCH_PATH_MAX], packed[SCRATCH_PATH_MAX];
    struct stat about;
    scratch folder;

    (void)state;
    scratch_open(&folder);
    scratch_write(&folder, "log", TEXT, sizeof TEXT - 1);
    assert_int_equal(utimensat(folder.fd, "log", old, 0), 0);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "log"));
    snprintf(packed, sizeof packed, "%s", scratch_path(&folder, "log.gz"));
    expect_lines(path);
    assert_int_equal(guard_archive_pack(path, NULL), MCP_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(stat(packed, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(about.st_mtim.tv_sec, 1000000000);
    expect_lines(packed);
    scratch_close(&folder);
}

static void what_is_damaged_or_no_file_is_reported(void **state)
{
    char path[SCRATCH_PATH_MAX], *many = malloc(GUARD_ARCHIVE_LINE_MAX + 1);
    guard_archive *file = NULL;
    const char *line = NULL;
    mcp_status st = MCP_OK;
    size_t length = 0;
    scratch folder;

    (void)state;
    assert_non_null(many);
    scratch_open(&folder);
    scratch_write(&folder, "log", TEXT, sizeof TEXT - 1);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "log"));
    assert_int_equal(guard_archive_pack(path, NULL), MCP_OK);
    assert_int_equal(guard_archive_pack(path, NULL), MCP_E_NOT_FOUND);
    assert_int_equal(guard_archive_pack("/dev/null", NULL), MCP_E_PARAMS);
    assert_int_equal(guard_archive_open(&file, path, NULL), MCP_E_NOT_FOUND);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "log.gz"));
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(guard_archive_open(&file, path, NULL), MCP_OK);
    do
        st = guard_archive_line(&line, &length, file, NULL);
    while (st == MCP_OK && line);
    assert_int_equal(st, MCP_E_IO);
    guard_archive_close(file);

    memset(many, 'x', GUARD_ARCHIVE_LINE_MAX + 1);
    scratch_write(&folder, "long", many, GUARD_ARCHIVE_LINE_MAX + 1);
    assert_int_equal(guard_archive_open(&file, scratch_path(&folder, "long"), NULL), MCP_OK);
    assert_int_equal(guard_archive_line(&line, &length, file, NULL), MCP_E_LIMIT);
    guard_archive_close(file);
    free(many);
    scratch_close(&folder);
}

/* However much of a packed file there is, and whatever of it is changed, no more is unpacked than
 * there is room for, and what is unpacked of a part is the beginning of the text. */
static void the_beginning_of_packed_bytes_is_unpacked(void **state)
{
    enum { PACKED_MAX = 256, ROOM = 64 };
    char packed[PACKED_MAX], *out = malloc(ROOM);
    bool is_whole = false;
    scratch folder;

    (void)state;
    assert_non_null(out);
    scratch_open(&folder);
    scratch_write(&folder, "log", TEXT, sizeof TEXT - 1);
    assert_int_equal(guard_archive_pack(scratch_path(&folder, "log"), NULL), MCP_OK);
    FILE *file = fopen(scratch_path(&folder, "log.gz"), "rb");
    assert_non_null(file);
    size_t length = fread(packed, 1, sizeof packed, file);
    fclose(file);
    assert_int_equal(guard_archive_head(out, ROOM, &is_whole, packed, length), sizeof TEXT - 1);
    assert_true(is_whole);
    assert_memory_equal(out, TEXT, sizeof TEXT - 1);
    assert_int_equal(guard_archive_head(out, 5, &is_whole, packed, length), 5);
    assert_false(is_whole);
    for (size_t cut = 0; cut < length; cut++) {
        size_t part = guard_archive_head(out, ROOM, &is_whole, packed, cut);
        assert_false(is_whole);
        assert_true(part < sizeof TEXT);
        assert_memory_equal(out, TEXT, part);
        packed[cut] ^= 0x55;
        assert_true(guard_archive_head(out, ROOM, &is_whole, packed, length) <= ROOM);
        packed[cut] ^= 0x55;
    }
    assert_int_equal(guard_archive_head(out, ROOM, &is_whole, TEXT, sizeof TEXT - 1), 0);
    memcpy(packed + length, packed, length); /* one packed file after another */
    assert_int_equal(guard_archive_head(out, ROOM, &is_whole, packed, 2 * length),
                     2 * (sizeof TEXT - 1));
    assert_true(is_whole);
    free(out);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_file_has_the_same_lines_mode_and_time),
        cmocka_unit_test(what_is_damaged_or_no_file_is_reported),
        cmocka_unit_test(the_beginning_of_packed_bytes_is_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
