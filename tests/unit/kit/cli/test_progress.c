/*
 * test_progress.c - lines in a file, a bar on a terminal.
 */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/progress.h"

static void numbers_have_five_decimals(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = { { 1036240.0, "1.03624e6" },        { 0.0, "0.00000e0" },
                 { -0.00012345678, "-1.23457e-4" }, { 1e100, "1.00000e100" },
                 { 9.999999e5, "1.00000e6" },       { 1.0 / 0.0, "inf" } };
    char out[CLI_FORMAT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_format_number(out, rows[i].number);
        assert_string_equal(out, rows[i].text);
    }
}

static void durations_change_their_units(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = { { 0, "0.0s" },        { 9100, "9.1s" },     { 59900, "59.9s" },
                 { 59960, "1m 0s" },   { 125000, "2m 5s" },  { 3599400, "59m 59s" },
                 { 3600000, "1h 0m" }, { 4320000, "1h 12m" } };
    char out[CLI_FORMAT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cli_format_duration(out, rows[i].ms);
        assert_string_equal(out, rows[i].text);
    }
}

static size_t file_text(FILE *file, char *out, size_t room)
{
    rewind(file);
    size_t length = fread(out, 1, room - 1, file);
    out[length] = '\0';
    return length;
}

static void files_get_a_line_a_step(void **state)
{
    FILE *file = tmpfile();
    char text[4000];
    cli_progress progress;

    (void)state;
    cli_progress_begin(&progress, file, "Training", "iter", 128, CLI_PROGRESS_LINES);
    progress.began_ms -= 1000; /* a second has passed: 127 more for the rest */
    cli_progress_step(&progress, 1, "LB: 1.03624e6");
    cli_progress_step(&progress, 128, NULL);
    cli_progress_say(&progress, "a word between");
    cli_progress_end(&progress);
    cli_progress_begin(&progress, file, "Simulation", "scenarios", 0, CLI_PROGRESS_LINES);
    cli_progress_step(&progress, 7, "");
    file_text(file, text, sizeof text);
    assert_string_equal(text, "Training   1/128 iter  LB: 1.03624e6  [00:00:01 < 00:02:07]\n"
                              "Training   128/128 iter  [00:00:01]\n"
                              "a word between\n"
                              "Simulation 7 scenarios  [00:00:00]\n");
    fclose(file);
}

static void a_bar_is_for_terminals_alone(void **state)
{
    FILE *file = tmpfile();
    char text[100];
    cli_progress progress;

    (void)state;
    cli_progress_begin(&progress, file, "Importing", "MB", 128, CLI_PROGRESS_BAR);
    cli_progress_step(&progress, 1, NULL);
    cli_progress_say(&progress, "a word between");
    cli_progress_step(&progress, 128, NULL);
    cli_progress_end(&progress);
    file_text(file, text, sizeof text);
    assert_string_equal(text, "a word between\n");
    fclose(file);
}

static void quiet_says_nothing(void **state)
{
    FILE *file = tmpfile();
    char text[100];
    cli_progress progress;

    (void)state;
    cli_progress_begin(&progress, file, "Training", "iter", 128, CLI_PROGRESS_NONE);
    cli_progress_step(&progress, 1, "x");
    cli_progress_say(&progress, "x");
    cli_progress_end(&progress);
    assert_int_equal(file_text(file, text, sizeof text), 0);
    fclose(file);
}

/* A terminal; what was printed to it. */
static FILE *open_terminal(int *master, unsigned short columns)
{
    struct winsize size = { .ws_col = columns, .ws_row = 20 };

    *master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    assert_true(*master >= 0 && grantpt(*master) == 0 && unlockpt(*master) == 0);
    FILE *terminal = fopen(ptsname(*master), "r+");
    assert_non_null(terminal);
    assert_int_equal(ioctl(*master, TIOCSWINSZ, &size), 0);
    return terminal;
}

/* What was printed, up to and with the sequence that ends it: a terminal hands it over in
 * pieces. */
static size_t terminal_text(int master, char *out, size_t room, const char *end)
{
    struct pollfd ready = { .fd = master, .events = POLLIN };
    size_t length = 0;

    out[0] = '\0';
    while (length < strlen(end) || strcmp(out + length - strlen(end), end) != 0) {
        assert_int_equal(poll(&ready, 1, 5000), 1);
        ssize_t got = read(master, out + length, room - 1 - length);
        assert_true(got > 0);
        length += (size_t)got;
        out[length] = '\0';
    }
    return length;
}

static void terminals_get_one_line_redrawn(void **state)
{
    int master = -1;
    FILE *terminal = open_terminal(&master, 60);
    char text[8000];
    cli_progress progress;
    size_t draws = 0, characters = 0;

    (void)state;
    assert_int_equal(cli_width(terminal), 60);
    cli_progress_begin(&progress, terminal, "Training", "iter", 1000, CLI_PROGRESS_BAR);
    for (uint64_t i = 1; i <= 1000; i++) {
        progress.drawn_ms = progress.drawn_ms ? INT64_MAX / 2 : 0; /* no time passes */
        cli_progress_step(&progress, i, "LB: 1.03624e6  UB: 1.40000e6  gap: 26.0%");
    }
    cli_progress_end(&progress);
    terminal_text(master, text, sizeof text, "\r\033[K");
    for (char *at = strchr(text, '\r'); at; at = strchr(at + 1, '\r'))
        draws++;
    assert_int_equal(draws, 3); /* the first step, the last, the clearing */
    assert_null(strchr(text, '\n'));
    for (const char *at = text + 1; *at != '\033'; at++)
        characters += ((unsigned char)*at & 0xC0) != 0x80;
    assert_int_equal(characters, 59);
    fclose(terminal);
    close(master);
}

/* How many cells the bar of the first draw has, and the line without them. */
static size_t drawn_at(unsigned short columns, char line[200])
{
    int master = -1;
    FILE *terminal = open_terminal(&master, columns);
    char text[2000];
    cli_progress progress;
    size_t cells = 0, length = 0;

    cli_progress_begin(&progress, terminal, "Training", "iter", 128, CLI_PROGRESS_LINES);
    cli_progress_step(&progress, 12, "LB: 1.03624e6  UB: 1.40000e6  gap: 26.0%");
    terminal_text(master, text, sizeof text, "\033[K");
    for (const char *at = text + 1; *at != '\033'; at++) {
        if ((unsigned char)*at == 0xE2)
            cells++;
        if ((unsigned char)*at < 0x80)
            line[length++] = *at;
    }
    line[length] = '\0';
    fclose(terminal);
    close(master);
    return cells;
}

/* 11 for the label, 1 + 11 for the count, 2 + 40 for the detail; with the times ("[00:00:00 < ..]",
 * 2 + 21) the line is 88 without the bar. */
static void narrow_windows_lose_the_bar_then_the_times(void **state)
{
    char line[200];

    (void)state;
    assert_int_equal(drawn_at(200, line), 40);
    assert_int_equal(line[strlen(line) - 1], ']');
    assert_int_equal(drawn_at(129, line), 40);
    assert_int_equal(drawn_at(120, line), 31);
    assert_int_equal(line[strlen(line) - 1], ']');
    assert_int_equal(drawn_at(99, line), 10);
    assert_int_equal(line[strlen(line) - 1], ']');
    assert_int_equal(drawn_at(98, line), 32); /* there is room again */
    assert_null(strchr(line, '['));
    assert_int_equal(drawn_at(80, line), 14);
    assert_string_equal(line + strlen(line) - 10, "gap: 26.0%");
    assert_int_equal(drawn_at(40, line), 10);
    assert_int_equal(strlen(line) + 10, 39);
}

static void the_width_falls_back(void **state)
{
    FILE *file = tmpfile();

    (void)state;
    setenv("COLUMNS", "77", 1);
    assert_int_equal(cli_width(file), 77);
    setenv("COLUMNS", "-3", 1);
    assert_int_equal(cli_width(file), 120);
    unsetenv("COLUMNS");
    assert_int_equal(cli_width(file), 120);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_five_decimals),
        cmocka_unit_test(durations_change_their_units),
        cmocka_unit_test(files_get_a_line_a_step),
        cmocka_unit_test(a_bar_is_for_terminals_alone),
        cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(terminals_get_one_line_redrawn),
        cmocka_unit_test(narrow_windows_lose_the_bar_then_the_times),
        cmocka_unit_test(the_width_falls_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
