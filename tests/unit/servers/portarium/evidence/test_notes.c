/*
 * test_notes.c - checkpoints of a file, and what is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "evidence/notes.h"

#define SIGN "\n\xe2\x80\x94 portarium AAAA\n"
#define FIRST "portarium/ws-1\n12\nroot\nchain 00\n" SIGN
#define SECOND "portarium/ws-2\n18446744073709551615\nroot\n" SIGN "\xe2\x80\x94 other BBBB\n"

/* What was found, as "ORIGIN SIZE LENGTH;". */
static char found[512];

static mcp_status on_note(const portarium_stored_note *note, void *data, mcp_error *err)
{
    size_t at = strlen(found);

    (void)data, (void)err;
    snprintf(found + at, sizeof found - at, "%s %llu %zu;", note->origin,
             (unsigned long long)note->size, note->length);
    return MCP_OK;
}

static const char *read_text(const char *text, size_t length)
{
    FILE *file = fmemopen((void *)text, length, "r");

    assert_non_null(file);
    found[0] = '\0';
    assert_int_equal(portarium_notes_read(file, on_note, NULL, NULL), MCP_OK);
    fclose(file);
    return found;
}

static void each_checkpoint_is_found(void **state)
{
    char expected[512];

    (void)state;
    snprintf(expected, sizeof expected,
             "portarium/ws-1 12 %zu;portarium/ws-2 18446744073709551615 %zu;portarium/ws-1 12 %zu;",
             sizeof FIRST - 1, sizeof SECOND - 1, sizeof FIRST - 1);
    static const char text[] = FIRST "\n" SECOND "\n\n" FIRST;
    assert_string_equal(read_text(text, sizeof text - 1), expected);
}

static void pieces_are_passed_over(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } files[] = {
#define FILE_OF(text) { text, sizeof(text) - 1 }
        FILE_OF("portarium/ws-9\n4\nAAAA\n\n" FIRST),
        FILE_OF("portarium/ws-9\n4\nAAAA\n\n\n\n" FIRST),
        FILE_OF("\n\n" FIRST "\nportarium/ws-9\n4\n"),
        FILE_OF(FIRST "\nportarium/ws-9\n4\nroot\n\n\xe2\x80\x94 portarium AA"),
        FILE_OF("no number\nx\nroot\n" SIGN "\n" FIRST),
        FILE_OF("too large\n18446744073709551616000000\nroot\n" SIGN "\n" FIRST),
        FILE_OF("one line\n" SIGN "\n" FIRST),
        FILE_OF("portarium/ws-9\n4\nNUL \0 in a line\n" SIGN "\n" FIRST),
        FILE_OF(SIGN "\n" FIRST),
    };
    char expected[64];

    (void)state;
    snprintf(expected, sizeof expected, "portarium/ws-1 12 %zu;", sizeof FIRST - 1);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_string_equal(read_text(files[i].text, files[i].length), expected);
}

static void what_is_too_long_is_none(void **state)
{
    static char text[3 * PORTARIUM_NOTE_MAX];
    char expected[64];

    (void)state;
    snprintf(expected, sizeof expected, "portarium/ws-1 12 %zu;", sizeof FIRST - 1);
    for (size_t line = 8; line < 2 * PORTARIUM_NOTE_MAX; line += PORTARIUM_NOTE_MAX / 2) {
        size_t length = 0;
        while (length < sizeof text - 200 - line) {
            memset(text + length, 'x', line);
            text[length + line] = '\n';
            length += line + 1;
        }
        length += (size_t)snprintf(text + length, sizeof text - length, "%s\n%s", SIGN, FIRST);
        assert_string_equal(read_text(text, length), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_checkpoint_is_found),
        cmocka_unit_test(pieces_are_passed_over),
        cmocka_unit_test(what_is_too_long_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
