/*
 * progress.c - a bar that is redrawn in place, or lines.
 *
 * On a terminal the line is written between a carriage return and "erase to the end", and fits the
 * window, because a line that wraps cannot be erased: first the bar shrinks, then the times are
 * omitted, then the line is cut. The first and the last step are always drawn, between them at most
 * one each 125 ms.
 */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "mcp/clock.h"

#define REDRAW_MS 125
#define BAR_CELLS 40
#define BAR_CELLS_MIN 10
#define WIDTH_DEFAULT 120
#define LINE_MAX 1024

unsigned cli_width(FILE *stream)
{
    struct winsize size = { 0 };
    const char *columns = getenv("COLUMNS");

    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    long wanted = columns ? strtol(columns, NULL, 10) : 0;
    return wanted > 0 && wanted < 10000 ? (unsigned)wanted : WIDTH_DEFAULT;
}

void cli_format_number(char out[CLI_FORMAT_SIZE], double number)
{
    char digits[CLI_FORMAT_SIZE];

    snprintf(digits, sizeof digits, "%.5e", number);
    char *exponent = strchr(digits, 'e');
    if (!exponent) { /* nan, inf */
        snprintf(out, CLI_FORMAT_SIZE, "%s", digits);
        return;
    }
    *exponent = '\0';
    snprintf(out, CLI_FORMAT_SIZE, "%.20se%ld", digits, strtol(exponent + 1, NULL, 10));
}

void cli_format_duration(char out[CLI_FORMAT_SIZE], int64_t ms)
{
    int64_t seconds = (ms + 500) / 1000;

    if (ms < 59950)
        snprintf(out, CLI_FORMAT_SIZE, "%.1fs", (double)ms / 1000);
    else if (seconds < 3600)
        snprintf(out, CLI_FORMAT_SIZE, "%" PRId64 "m %" PRId64 "s", seconds / 60, seconds % 60);
    else
        snprintf(out, CLI_FORMAT_SIZE, "%" PRId64 "h %" PRId64 "m", seconds / 3600,
                 seconds / 60 % 60);
}

/* "00:01:09" */
static void format_clock(char out[CLI_FORMAT_SIZE], int64_t ms)
{
    int64_t seconds = ms / 1000;

    snprintf(out, CLI_FORMAT_SIZE, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600,
             seconds / 60 % 60, seconds % 60);
}

static size_t count_characters(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* "[00:00:01 < 00:00:09]": elapsed and estimated; the second only before the end. */
static void format_times(const cli_progress *progress, uint64_t done, int64_t now_ms, char *out,
                         size_t size)
{
    char passed[CLI_FORMAT_SIZE], left[CLI_FORMAT_SIZE];
    int64_t spent = now_ms - progress->began_ms;

    format_clock(passed, spent);
    if (done == 0 || done >= progress->total) {
        snprintf(out, size, "[%s]", passed);
        return;
    }
    format_clock(left, (int64_t)((double)spent / (double)done * (double)(progress->total - done)));
    snprintf(out, size, "[%s < %s]", passed, left);
}

static void format_bar(const cli_progress *progress, uint64_t done, size_t cells, char *out)
{
    size_t full = 0, at = 0;

    if (progress->total > 0)
        full = (size_t)((double)done / (double)progress->total * (double)cells);
    full = full > cells ? cells : full;
    for (size_t i = 0; progress->total > 0 && i < cells; i++) {
        const char *cell = i < full ? "\xE2\x96\x88" : "\xE2\x96\x91"; /* full block, light shade */
        memcpy(out + at, cell, 3);
        at += 3;
    }
    out[at] = '\0';
}

/* `cells` 0: no bar. Gives the length in characters. */
static size_t format_line(const cli_progress *progress, uint64_t done, const char *detail,
                          size_t cells, bool with_times, char out[LINE_MAX])
{
    char count[64], times[2 * CLI_FORMAT_SIZE + 8] = "", bar[BAR_CELLS * 3 + 1];

    if (progress->total > 0)
        snprintf(count, sizeof count, "%" PRIu64 "/%" PRIu64, done, progress->total);
    else
        snprintf(count, sizeof count, "%" PRIu64, done);
    if (with_times)
        format_times(progress, done, mcp_clock_mono_ms(), times, sizeof times);
    format_bar(progress, done, cells, bar);
    snprintf(out, LINE_MAX, "%-10s %s%s%s %s%s%s%s%s", progress->label, bar, bar[0] ? " " : "",
             count, progress->unit, detail && detail[0] ? "  " : "", detail ? detail : "",
             times[0] ? "  " : "", times);
    return count_characters(out);
}

/* The line for a window of `width` columns. */
static void fit_line(const cli_progress *progress, uint64_t done, const char *detail, size_t width,
                     char out[LINE_MAX])
{
    for (int with_times = 1; with_times >= 0; with_times--) {
        size_t cells = BAR_CELLS;
        size_t length = format_line(progress, done, detail, cells, with_times, out);
        if (length > width) {
            size_t excess = length - width;
            cells = excess < BAR_CELLS - BAR_CELLS_MIN ? BAR_CELLS - excess : BAR_CELLS_MIN;
            length = format_line(progress, done, detail, cells, with_times, out);
        }
        if (length <= width)
            return;
    }
}

/* Cut the text after `width` characters. */
static void cut_to_width(char *text, unsigned width)
{
    unsigned characters = 0;

    for (; *text; text++) {
        if (((unsigned char)*text & 0xC0) == 0x80)
            continue;
        if (characters++ == width) {
            *text = '\0';
            return;
        }
    }
}

void cli_progress_begin(cli_progress *progress, FILE *stream, const char *label, const char *unit,
                        uint64_t total, cli_progress_style style)
{
    *progress = (cli_progress){
        .stream = stream,
        .label = label,
        .unit = unit,
        .total = total,
        .style = style,
        .is_terminal = isatty(fileno(stream)),
        .width = cli_width(stream),
        .began_ms = mcp_clock_mono_ms(),
    };
}

static void draw_bar(cli_progress *progress, uint64_t done, const char *detail)
{
    char line[LINE_MAX];
    int64_t now = mcp_clock_mono_ms();

    if (progress->is_drawn && done != progress->total && now - progress->drawn_ms < REDRAW_MS)
        return;
    progress->width = cli_width(progress->stream);
    unsigned width = progress->width > 1 ? progress->width - 1 : 1;
    fit_line(progress, done, detail, width, line);
    cut_to_width(line, width);
    fprintf(progress->stream, "\r%s\033[K", line);
    fflush(progress->stream);
    progress->is_drawn = true;
    progress->drawn_ms = now;
}

void cli_progress_step(cli_progress *progress, uint64_t done, const char *detail)
{
    char line[LINE_MAX];

    if (progress->style != CLI_PROGRESS_NONE && progress->is_terminal)
        draw_bar(progress, done, detail);
    if (progress->style != CLI_PROGRESS_LINES || progress->is_terminal)
        return;
    format_line(progress, done, detail, 0, true, line);
    fprintf(progress->stream, "%s\n", line);
    fflush(progress->stream);
}

static void clear_bar(cli_progress *progress)
{
    if (progress->is_drawn)
        fputs("\r\033[K", progress->stream);
    progress->is_drawn = false;
}

void cli_progress_say(cli_progress *progress, const char *line)
{
    if (progress->style == CLI_PROGRESS_NONE)
        return;
    clear_bar(progress);
    fprintf(progress->stream, "%s\n", line);
    fflush(progress->stream);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->style == CLI_PROGRESS_NONE)
        return;
    clear_bar(progress);
    fflush(progress->stream);
}
