/*
 * report.c - how a job ended: one line, its outputs, and what to look at.
 */
#include "shell/report.h"

#include <inttypes.h>
#include <string.h>

/* clang-format off */
static const casparian_shell_column output_columns[] = {
    { "OUTPUT", "/name", false },         { "ROWS", "/output/rows_emitted", true },
    { "INVALID", "/output/rows_quarantined", true },
    { "VALID %", "/percent", true },      { "FILE", "/file", false },
};
static const casparian_shell_column violation_columns[] = {
    { "OUTPUT", "/output_name", false },  { "COLUMN", "/column", false },
    { "VIOLATION", "/violation_type", false },
    { "ROWS", "/count", true },           { "LIKE", "/sample_patterns/0", false },
    { "FIX", "/suggested_fix/action", false },
};
static const casparian_shell_column error_columns[] = {
    { "FILE", "/file", false },           { "KIND", "/kind", false }, { "ERROR", "/error", false },
};
/* clang-format on */

static int64_t number(const mcp_json *object, const char *name)
{
    int64_t value = 0;
    mcp_json_int(mcp_json_get(object, name), &value);
    return value;
}

static void write_output(mcp_json_writer *json, const char *name, const mcp_json *output)
{
    const mcp_json *files = mcp_json_get(output, "locations");
    double rate = 1;
    char percent[16];
    mcp_json_double(mcp_json_get(output, "pass_rate"), &rate);
    snprintf(percent, sizeof percent, "%.4g", 100 * rate);
    mcp_write_object(json);
    mcp_write_member_string(json, "name", name);
    mcp_write_member_string(json, "percent", percent);
    const char *path = mcp_json_string(mcp_json_item(files, 0), NULL);
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (path)
        mcp_write_member_string(json, "file", slash ? slash + 1 : path);
    mcp_write_member_value(json, "output", output);
    mcp_write_end(json);
}

/* The outputs as rows of a table. */
static void write_outputs(mcp_json_writer *json, const mcp_json *outputs)
{
    for (size_t i = 0; i < mcp_json_count(outputs); i++)
        write_output(json, mcp_json_name(outputs, i, NULL), mcp_json_item(outputs, i));
}

/* The violations of all outputs. */
static void write_violations(mcp_json_writer *json, const mcp_json *outputs)
{
    for (size_t i = 0; i < mcp_json_count(outputs); i++) {
        const mcp_json *all = mcp_json_get(mcp_json_item(outputs, i), "violations");
        for (size_t v = 0; v < mcp_json_count(all); v++)
            mcp_write_value(json, mcp_json_item(all, v));
    }
}

static void print_head(FILE *stream, const mcp_json *job, const mcp_json *result)
{
    const char *sink = mcp_json_string(mcp_json_get(job, "output_sink"), NULL);
    int64_t failed = number(result, "files_failed"), skipped = number(result, "files_skipped");
    fprintf(stream, "job %s %s: %" PRId64 " of %" PRId64 " files",
            mcp_json_string(mcp_json_get(job, "job_id"), NULL),
            mcp_json_string(mcp_json_get(job, "status"), NULL), number(result, "files_processed"),
            number(result, "files_total"));
    if (failed > 0)
        fprintf(stream, ", %" PRId64 " failed", failed);
    if (skipped > 0)
        fprintf(stream, ", %" PRId64 " done before (--force runs them again)", skipped);
    fprintf(stream, ", %.1f s%s%s\n", (double)number(result, "elapsed_ms") / 1000,
            sink ? ", into " : "", sink ? sink : "");
}

static mcp_status print_some(const cli_line *line, const mcp_json *rows,
                             const casparian_shell_column *columns, size_t count, mcp_error *err)
{
    if (mcp_json_count(rows) == 0)
        return MCP_OK;
    fputc('\n', cli_out(line));
    return casparian_shell_table(line, rows, columns, count, "", err);
}

/* A table of what `write` makes of the outputs. */
static mcp_status print_made(const cli_line *line, const mcp_json *outputs,
                             void (*write)(mcp_json_writer *json, const mcp_json *outputs),
                             const casparian_shell_column *columns, size_t count, mcp_arena *arena,
                             mcp_error *err)
{
    casparian_shell_answer rows;
    const mcp_json *table = NULL;
    casparian_shell_answer_begin(&rows);
    mcp_write_member_array(&rows.json, "rows");
    write(&rows.json, outputs);
    mcp_write_end(&rows.json);
    mcp_status st = casparian_shell_answer_end(&rows, &table, line, arena, err);
    return st == MCP_OK ? print_some(line, mcp_json_get(table, "rows"), columns, count, err) : st;
}

mcp_status casparian_shell_violations(const cli_line *line, const mcp_json *outputs,
                                      mcp_arena *arena, mcp_error *err)
{
    return print_made(line, outputs, write_violations, violation_columns,
                      sizeof violation_columns / sizeof violation_columns[0], arena, err);
}

mcp_status casparian_shell_report(const cli_line *line, const mcp_json *job, mcp_arena *arena,
                                  mcp_error *err)
{
    const mcp_json *result = mcp_json_get(job, "result");
    if (!result)
        result = mcp_json_get(job, "partial_result");
    if (cli_flag(line, "quiet") || !result)
        return MCP_OK;
    const mcp_json *outputs = mcp_json_get(result, "outputs");
    print_head(cli_out(line), job, result);
    mcp_status st = print_made(line, outputs, write_outputs, output_columns,
                               sizeof output_columns / sizeof output_columns[0], arena, err);
    if (st == MCP_OK)
        st = casparian_shell_violations(line, outputs, arena, err);
    if (st == MCP_OK)
        st = print_some(line, mcp_json_get(result, "errors"), error_columns,
                        sizeof error_columns / sizeof error_columns[0], err);
    if (st == MCP_OK)
        casparian_shell_warnings(line, mcp_json_get(result, "warnings"));
    return st;
}
