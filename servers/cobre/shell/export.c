/*
 * export.c - cobre export: rows of an output directory as a CSV, JSON or Arrow file below its
 * exports/.
 *
 * The flags are the arguments of the tool cobre/export-results; they become its filters, so both
 * accept and refuse the same.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "query/entities.h"
#include "query/export.h"
#include "report/console.h"
#include "shell/work.h"

#define FILTERS_MAX ((size_t)1 << 20)

struct exported {
    const char *path;
    const query_export_result *result;
};

static bool should_stop(void *data)
{
    (void)data;
    return serve_signals() > 0;
}

/* ---- flags to filters ------------------------------------------------------------------------ */

/* "A,B" as an array of texts. */
static void write_list(mcp_json_writer *writer, const char *name, const char *list)
{
    if (!list)
        return;
    mcp_write_member_array(writer, name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        mcp_write_string_n(writer, at, strcspn(at, ","));
    }
    mcp_write_end(writer);
}

/* "A-B" or "A" as an array of two numbers. False: it is neither. */
static bool write_range(mcp_json_writer *writer, const char *name, const char *range)
{
    char *end = NULL;
    if (!range)
        return true;
    long first = strtol(range, &end, 10);
    bool is_number = end != range;
    long last = first;
    if (is_number && *end == '-' && end[1]) {
        const char *rest = end + 1;
        last = strtol(rest, &end, 10);
        is_number = end != rest;
    }
    if (!is_number || *end != '\0')
        return false;
    mcp_write_member_array(writer, name);
    mcp_write_int(writer, first);
    mcp_write_int(writer, last);
    mcp_write_end(writer);
    return true;
}

/* The filters of the line; `*wrong` is the flag that is no range. */
static mcp_status read_filters(const mcp_json **out, const char **wrong, shell_work *work)
{
    const cli_line *line = work->line;
    mcp_buf text;
    mcp_json_writer writer;
    mcp_buf_init(&text, FILTERS_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    write_list(&writer, "entity_id", cli_string(line, "entity"));
    write_list(&writer, "columns", cli_string(line, "columns"));
    if (!write_range(&writer, "stage_range", cli_string(line, "stages")))
        *wrong = "--stages";
    else if (!write_range(&writer, "scenario_range", cli_string(line, "scenarios")))
        *wrong = "--scenarios";
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK && !*wrong)
        st = mcp_json_read(out, work->arena, text.data, text.length, &work->error);
    mcp_buf_clear(&text);
    return st;
}

/* ---- the export ------------------------------------------------------------------------------ */

static void write_members(const void *of, mcp_json_writer *writer)
{
    const struct exported *exported = of;
    mcp_write_member_string(writer, "file_path", exported->path);
    mcp_write_member_int(writer, "rows", (int64_t)exported->result->rows);
    mcp_write_member_int(writer, "size_bytes", exported->result->size_bytes);
}

static int refuse_range(const shell_work *work, const char *flag)
{
    const char *value = cli_string(work->line, flag + 2);
    return shell_refuse(work, COBRE_EXIT_INVALID,
                        cobre_record_new(work->arena, "SchemaViolation",
                                         "Give the first and the last, as in --stages 0-11.",
                                         COBRE_MEMBERS(COBRE_TEXT("field", flag),
                                                       COBRE_TEXT("expected", "FIRST-LAST"),
                                                       COBRE_TEXT("actual", value)),
                                         "%s wants a range of numbers, not '%s'", flag, value));
}

static int refuse_table(const shell_work *work, const char *name)
{
    const char *names[32] = { NULL };
    for (size_t i = 0; query_tables[i].name && i + 1 < sizeof names / sizeof *names; i++)
        names[i] = query_tables[i].name;
    return shell_refuse(
        work, COBRE_EXIT_INVALID,
        cobre_record_new(work->arena, "InvalidEnum", "Name one of the tables.",
                         COBRE_MEMBERS(COBRE_TEXT("field", "TABLE"), COBRE_TEXT("value", name),
                                       COBRE_LIST("allowed_values", names)),
                         "There is no table '%s'", name));
}

/* `file` is at fault; NULL: the export could not be written. */
static int refuse_files(shell_work *work, mcp_status st, const char *file)
{
    if (st == MCP_E_NOMEM || st == MCP_E_UNSUPPORTED || st == MCP_E_INTERNAL)
        return shell_fail(work);
    if (!file)
        return shell_refuse(
            work, COBRE_EXIT_FILES,
            cobre_record_new(work->arena, "CheckpointFailed", "Check the permissions and the disk.",
                             COBRE_MEMBERS(COBRE_TEXT("checkpoint_path", work->dir),
                                           COBRE_TEXT("operation", "write"),
                                           COBRE_TEXT("detail", work->error.message)),
                             "The export cannot be written: %s", work->error.message));
    bool is_running = results_is_locked(work->dir_fd);
    if (st == MCP_E_NOT_FOUND)
        return shell_refuse(
            work, COBRE_EXIT_FILES,
            cobre_record_new(
                work->arena, "OutputNotFound",
                is_running ? "Repeat it when the run has come to them."
                           : "Run the case with the phase that writes it.",
                COBRE_MEMBERS(COBRE_TEXT("path", work->dir), COBRE_TEXT("expected_content", file)),
                is_running ? "%s holds no %s yet: a run is in progress" : "%s holds no %s",
                work->dir, file));
    return shell_refuse(work, COBRE_EXIT_FILES,
                        cobre_record_new(work->arena, "OutputCorrupted", "Run the case again.",
                                         COBRE_MEMBERS(COBRE_TEXT("file", file),
                                                       COBRE_TEXT("detail", work->error.message)),
                                         "%s cannot be read: %s", file, work->error.message));
}

static query_format format_of(const char *word)
{
    if (strcmp(word, "arrow") == 0)
        return QUERY_ARROW;
    return strcmp(word, "json") == 0 ? QUERY_JSON : QUERY_CSV;
}

static int write_export(shell_work *work, query_question *question, const query_filters *filters)
{
    query_format format = format_of(cli_string(work->line, "format"));
    query_export_result result = { 0 };
    struct exported exported = { .result = &result };
    const shell_answer answer = { .members = write_members, .of = &exported };
    question->rows_max = UINT64_MAX;
    serve_count_signals(2, SA_RESTART);
    mcp_status st = query_export(&result, work->engine, work->dir_fd, question, filters, format,
                                 should_stop, NULL, work->arena, &work->error);
    if (st == MCP_E_STOPPED)
        return serve_signal_status();
    bool is_write = !result.answer.file && (st == MCP_E_IO || st == MCP_E_STORAGE);
    if (st != MCP_OK)
        return refuse_files(work, st,
                            is_write || result.answer.file ? result.answer.file : "such table");
    exported.path = mcp_arena_printf(work->arena, "%s/" QUERY_EXPORTS "/%s", work->dir,
                                     result.name);
    if (!exported.path)
        return shell_fail(work);
    if (work->format == SHELL_WORDS) {
        console_put(cli_out(work->line), exported.path);
        fputc('\n', cli_out(work->line));
    }
    return shell_print(work, &answer);
}

static int export_table(shell_work *work)
{
    const char *name = cli_argument(work->line, 1), *wrong = NULL;
    const query_table *table = query_table_find(name);
    const mcp_json *json = NULL;
    const cobre_record *refusal = NULL;
    query_filters filters;
    query_question question;
    if (!table)
        return refuse_table(work, name);
    mcp_status st = read_filters(&json, &wrong, work);
    if (wrong)
        return refuse_range(work, wrong);
    if (st == MCP_OK)
        st = query_filters_read(&filters, &refusal, json, table, work->arena, &work->error);
    if (st != MCP_OK)
        return shell_fail(work);
    if (!refusal)
        st = query_filters_resolve(&question, &refusal, &filters, table, work->dir_fd, work->arena,
                                   &work->error);
    if (refusal)
        return shell_refuse(work, COBRE_EXIT_INVALID, refusal);
    return st == MCP_OK ? write_export(work, &question, &filters)
                        : refuse_files(work, st, QUERY_ENTITIES);
}

int cobre_command_export(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "export", SHELL_OUTPUT);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = export_table(&work);
    shell_end(&work);
    return exit_status;
}
