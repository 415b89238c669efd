/*
 * work.c - opening what a command works with, and printing its answer.
 */
#include "shell/work.h"

#include <string.h>
#include <unistd.h>

#include "report/console.h"
#include "report/output.h"
#include "run/run.h"

#define JSON_MAX ((size_t)64 << 20)
#define ENVELOPE_SCHEMA "urn:cobre:response:v1"

const char *const cobre_stream_formats[] = { "human", "json", "json-lines", NULL };
const char *const cobre_formats[] = { "human", "json", NULL };

static const char *const color_choices[] = { "auto", "always", "never", NULL };

const cli_option cobre_program_options[] = {
    { .name = "color",
      .type = CLI_CHOICE,
      .argument = "WHEN",
      .help = "colours on standard error",
      .env = "COBRE_COLOR",
      .standard = "auto",
      .choices = color_choices },
    { 0 },
};

const char cobre_usage_envelope[] = "{\"$schema\":\"" ENVELOPE_SCHEMA
                                    "\",\"command\":\"cobre\",\"success\":false,\"exit_code\":2,"
                                    "\"cobre_version\":\"" COBRE_VERSION
                                    "\",\"errors\":[" COBRE_USAGE_RECORD
                                    "],\"warnings\":[],\"data\":null,\"summary\":null}";

const char cobre_exit_notes[] =
    "Exit status: 0 done; 1 the input is not valid; 2 a file, a directory or the\n"
    "command line; 3 the solver; 4 an internal failure; 129, 130 or 143 stopped by\n"
    "SIGHUP, SIGINT or SIGTERM, with what was completed on disk.";

/* ---- one JSON object on standard output ------------------------------------------------------ */

struct text {
    mcp_buf bytes;
    mcp_json_writer writer;
};

static void text_begin(struct text *text)
{
    mcp_buf_init(&text->bytes, JSON_MAX);
    mcp_json_writer_init(&text->writer, &text->bytes);
}

/* main checks standard output for write errors, once for all commands. */
static int text_print(struct text *text, const shell_work *work, int exit_status)
{
    static const char failed[] = "{\"kind\":\"InternalError\",\"message\":\"the answer cannot be "
                                 "written\",\"context\":{},\"suggestion\":null}";
    bool is_whole = mcp_json_writer_status(&text->writer) == MCP_OK;
    if (is_whole)
        fwrite(text->bytes.data, 1, text->bytes.length, cli_out(work->line));
    else
        fputs(failed, cli_out(work->line));
    fputc('\n', cli_out(work->line));
    mcp_buf_clear(&text->bytes);
    return is_whole ? exit_status : COBRE_EXIT_INTERNAL;
}

static bool has_errors(const cobre_report *report)
{
    return report && cobre_report_count(report, COBRE_SEVERITY_ERROR) > 0;
}

/* ---- the envelope ---------------------------------------------------------------------------- */

static void write_errors(const shell_answer *answer, mcp_json_writer *writer)
{
    mcp_write_name(writer, "errors");
    if (!answer->record && has_errors(answer->report)) {
        cobre_report_write(answer->report, COBRE_SEVERITY_ERROR, writer);
        return;
    }
    mcp_write_array(writer);
    if (answer->record)
        cobre_record_write(answer->record, writer);
    mcp_write_end(writer);
}

static void write_warnings(const shell_answer *answer, mcp_json_writer *writer)
{
    mcp_write_name(writer, "warnings");
    if (answer->report) {
        cobre_report_write(answer->report, COBRE_SEVERITY_WARNING, writer);
        return;
    }
    mcp_write_array(writer);
    mcp_write_end(writer);
}

static void write_part(const char *name, shell_write *members, const void *of,
                       mcp_json_writer *writer)
{
    if (!members) {
        mcp_write_member_null(writer, name);
        return;
    }
    mcp_write_member_object(writer, name);
    members(of, writer);
    mcp_write_end(writer);
}

static void write_envelope(const shell_work *work, const shell_answer *answer,
                           mcp_json_writer *writer)
{
    mcp_write_member_string(writer, "$schema", ENVELOPE_SCHEMA);
    mcp_write_member_string(writer, "command", work->command);
    mcp_write_member_bool(writer, "success", answer->exit_status == COBRE_EXIT_DONE);
    mcp_write_member_int(writer, "exit_code", answer->exit_status);
    mcp_write_member_string(writer, "cobre_version", COBRE_VERSION);
    write_errors(answer, writer);
    write_warnings(answer, writer);
    write_part("data", answer->data ? answer->data : answer->members, answer->of, writer);
    write_part("summary", answer->summary, answer->of, writer);
}

/* ---- printing -------------------------------------------------------------------------------- */

/* The tool's object, else the record, else the findings as one failure. */
static void write_object(const shell_answer *answer, mcp_json_writer *writer)
{
    if (answer->record) {
        cobre_record_write(answer->record, writer);
    } else if (answer->members) {
        mcp_write_object(writer);
        answer->members(answer->of, writer);
        mcp_write_end(writer);
    } else {
        cobre_report_write_failure(answer->report, writer);
    }
}

int shell_print(const shell_work *work, const shell_answer *answer)
{
    struct text text;
    if (answer->record)
        console_complain(cli_err(work->line), "error", answer->record->message,
                         answer->record->suggestion);
    if (work->format == SHELL_WORDS ||
        (work->format == SHELL_LINES && cli_flag(work->line, "quiet")))
        return answer->exit_status;
    text_begin(&text);
    if (work->format == SHELL_OBJECT) {
        write_object(answer, &text.writer);
    } else {
        mcp_write_object(&text.writer);
        if (work->format == SHELL_LINES)
            mcp_write_member_string(&text.writer, "type", "result");
        write_envelope(work, answer, &text.writer);
        mcp_write_end(&text.writer);
    }
    return text_print(&text, work, answer->exit_status);
}

int shell_refuse(const shell_work *work, int exit_status, const cobre_record *record)
{
    const shell_answer answer = { .exit_status = exit_status, .record = record };
    return record ? shell_print(work, &answer) : shell_fail(work);
}

/* The contract has no kind for an internal failure, and there may be no memory for a record in the
 * arena. */
int shell_fail(const shell_work *work)
{
    static const cobre_member none = { 0 };
    const cobre_record record = { "InternalError", work->error.message, NULL, &none };
    return shell_refuse(work, COBRE_EXIT_INTERNAL, &record);
}

int shell_refuse_output(const shell_work *work, const char *dir, mcp_status st)
{
    if (st == MCP_E_NOT_FOUND)
        return shell_refuse(
            work, COBRE_EXIT_FILES,
            cobre_record_new(work->arena, "OutputNotFound",
                             "Name the output directory of a run, as in CASE/output.",
                             COBRE_MEMBERS(COBRE_TEXT("path", dir),
                                           COBRE_TEXT("expected_content", REPORT_TRAINING)),
                             "%s holds no finished training: %s", dir, work->error.message));
    if (st == MCP_E_PARSE || st == MCP_E_DENIED || st == MCP_E_LIMIT)
        return shell_refuse(
            work, COBRE_EXIT_FILES,
            cobre_record_new(
                work->arena, "OutputCorrupted", "Run the case again.",
                COBRE_MEMBERS(COBRE_TEXT("file", dir), COBRE_TEXT("detail", work->error.message)),
                "The output cannot be read: %s", work->error.message));
    return shell_fail(work);
}

void shell_print_line(const shell_work *work, const char *type, shell_write *members,
                      const void *of)
{
    struct text text;
    if (work->format != SHELL_LINES || cli_flag(work->line, "quiet"))
        return;
    text_begin(&text);
    mcp_write_object(&text.writer);
    mcp_write_member_string(&text.writer, "type", type);
    members(of, &text.writer);
    mcp_write_end(&text.writer);
    text_print(&text, work, 0);
    fflush(cli_out(work->line));
}

void shell_print_findings(const shell_work *work, FILE *stream, const cobre_report *report,
                          cobre_severity severity)
{
    const char *word = severity == COBRE_SEVERITY_ERROR ? "error" : "warning";
    const cobre_finding *finding;
    size_t count = cobre_report_count(report, severity), i = 0;
    for (finding = cobre_report_finding(report, severity, i); finding != NULL;
         finding = cobre_report_finding(report, severity, i)) {
        console_complain(stream, word, cobre_finding_line(finding, work->arena),
                         finding->suggestion);
        i++;
    }
    if (i < count)
        fprintf(stream, "%s: %zu more are not listed\n", word, count - i);
}

bool shell_use_color(const shell_work *work, FILE *stream)
{
    return cli_use_color(cli_string(work->line, "color"), stream);
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* The flag --json decides before --output-format. */
static shell_format format_of(const cli_line *line)
{
    const char *name = cli_has(line, "output-format") ? cli_string(line, "output-format") : "human";
    if (cli_has(line, "json") && cli_flag(line, "json"))
        return SHELL_OBJECT;
    if (strcmp(name, "json") == 0)
        return SHELL_ENVELOPE;
    return strcmp(name, "json-lines") == 0 ? SHELL_LINES : SHELL_WORDS;
}

void shell_end(shell_work *work)
{
    if (work->dir_fd >= 0)
        close(work->dir_fd);
    columns_close(work->engine);
    guard_free(work->guard);
    mcp_arena_free(work->arena);
}

static const cobre_record *absence_of(const shell_work *work, bool is_case, const char *path,
                                      const mcp_error *cause)
{
    static const char check[] = "Check the path and that it is a directory.";
    if (is_case)
        return cobre_record_new(work->arena, "MissingFile", check,
                                COBRE_MEMBERS(COBRE_TEXT("file", path)), "%s", cause->message);
    return cobre_record_new(work->arena, "OutputNotFound", check,
                            COBRE_MEMBERS(COBRE_TEXT("path", path),
                                          COBRE_TEXT("expected_content", "an output directory")),
                            "%s", cause->message);
}

static int open_dir(int *fd, const char **canonical, const shell_work *work, bool is_case,
                    const char *path)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = guard_open_dir(fd, canonical, work->guard, path, work->arena, &cause);
    if (st == MCP_OK)
        return COBRE_EXIT_DONE;
    return shell_refuse(work, COBRE_EXIT_FILES,
                        st == MCP_E_NOMEM ? NULL : absence_of(work, is_case, path, &cause));
}

int shell_open_output(int *fd, const char **canonical, const shell_work *work, const char *path)
{
    return open_dir(fd, canonical, work, false, path);
}

int shell_begin(shell_work *work, const cli_line *line, const char *command, shell_subject subject)
{
    static const char *const roots[] = { "/" };
    memset(work, 0, sizeof *work);
    work->line = line;
    work->command = command;
    work->format = format_of(line);
    work->dir_fd = -1;
    work->error.offset = -1;
    work->arena = mcp_arena_new(COBRE_CASE_ARENA_MAX);
    mcp_error_set(&work->error, MCP_E_NOMEM, "out of memory");
    if (!work->arena || guard_new(&work->guard, roots, 1, &work->error) != MCP_OK ||
        columns_open(&work->engine, &work->error) != MCP_OK)
        return shell_fail(work);
    if (subject == SHELL_NOTHING)
        return COBRE_EXIT_DONE;
    return open_dir(&work->dir_fd, &work->dir, work, subject == SHELL_CASE, cli_argument(line, 0));
}
