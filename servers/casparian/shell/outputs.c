/*
 * outputs.c - casparian query, verify and lineage: what was committed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/catalog.h"
#include "jobs/state/control.h"
#include "query/query.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"
#include "sinks/lineage.h"
#include "sinks/verify.h"

enum { LIMIT = 1000, SQL_MAX = CASPARIAN_QUERY_SQL_MAX };

#define ROWS_MAX ((size_t)64 << 20)

static const char *const modes[] = { "none", "truncate", "hash", NULL };
static const char *const formats[] = { "table", "csv", "json", "ndjson", NULL };

/* clang-format off */
const cli_option casparian_query_options[] = {
    { .name = "limit", .type = CLI_INT, .argument = "N", .min = 1, .max = 10000, .standard = "1000",
      .help = "rows" },
    { .name = "timeout", .type = CLI_INT, .argument = "SECONDS", .min = 1, .max = 300,
      .standard = "30", .help = "of the statement" },
    { .name = "redact", .type = CLI_CHOICE, .argument = "MODE", .standard = "none", .choices = modes,
      .help = "how texts are shown" },
    { .name = "format", .type = CLI_CHOICE, .argument = "FORM", .standard = "table",
      .choices = formats, .help = "of the rows" },
    { .name = "file", .letter = 'f', .type = CLI_STRING, .argument = "FILE",
      .help = "the statement is in this file" },
    { 0 },
};

const cli_option casparian_verify_options[] = {
    { .name = "key", .type = CLI_STRING, .argument = "FILE",
      .help = "the public key (PEM) that all manifests must be signed with" },
    { 0 },
};

const cli_option casparian_lineage_options[] = {
    { .name = "dir", .type = CLI_STRING, .argument = "DIR",
      .help = "the directory of the outputs (default: where this home has them, else output)" },
    { .name = "job", .type = CLI_STRING, .argument = "ID", .help = "_cf_job_id of the row" },
    { .name = "source", .type = CLI_STRING, .argument = "SHA256",
      .help = "_cf_source_hash of the row" },
    { .name = "row", .type = CLI_INT, .argument = "N", .min = 0, .max = INT64_MAX,
      .help = "__cf_row_id of the row" },
    { 0 },
};
/* clang-format on */

/* ---- query ----------------------------------------------------------------------------------- */

static mcp_status read_statement(const char **out, casparian_app *app, const cli_line *line,
                                 mcp_error *err)
{
    const char *path = cli_string(line, "file");
    if (!path == !cli_argument(line, 0))
        return mcp_error_set(err, MCP_E_PARAMS, "a statement or --file is required, and not both");
    if (!path) {
        *out = cli_argument(line, 0);
        return MCP_OK;
    }
    FILE *file = fopen(path, "re");
    char *text = file ? mcp_arena_alloc(app->arena, SQL_MAX + 2) : NULL;
    if (!text) {
        if (file)
            fclose(file);
        return mcp_error_set(err, MCP_E_NOT_FOUND, "'%.200s' cannot be read", path);
    }
    size_t length = fread(text, 1, SQL_MAX + 1, file);
    text[length] = '\0';
    fclose(file);
    *out = text;
    return MCP_OK;
}

/* A field of CSV (RFC 4180): a text as it is, but on a terminal, which might obey it. */
static void print_field(FILE *stream, const mcp_json *value)
{
    size_t length = 0;
    mcp_buf text;
    if (mcp_json_is_null(value))
        return;
    mcp_buf_init(&text, ROWS_MAX);
    if (mcp_json_is_string(value) && !isatty(fileno(stream))) {
        const char *whole = mcp_json_string(value, &length);
        mcp_buf_append(&text, whole, length);
    } else {
        casparian_shell_line(&text, value);
    }
    bool is_quoted = text.length == 0 || text.data[0] == ' ' || text.data[text.length - 1] == ' ';
    for (size_t i = 0; i < text.length && !is_quoted; i++)
        is_quoted = text.data[i] && strchr("\",\r\n", text.data[i]);
    if (is_quoted)
        fputc('"', stream);
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '"')
            fputc('"', stream);
        fputc(text.data[i], stream);
    }
    if (is_quoted)
        fputc('"', stream);
    mcp_buf_clear(&text);
}

static void print_csv(FILE *stream, const mcp_json *answer)
{
    const mcp_json *columns = mcp_json_get(answer, "columns");
    const mcp_json *rows = mcp_json_get(answer, "rows");
    for (size_t i = 0; i < mcp_json_count(columns); i++) {
        fprintf(stream, "%s", i ? "," : "");
        print_field(stream, mcp_json_get(mcp_json_item(columns, i), "name"));
    }
    fputc('\n', stream);
    for (size_t i = 0; i < mcp_json_count(rows); i++) {
        const mcp_json *row = mcp_json_item(rows, i);
        for (size_t j = 0; j < mcp_json_count(row); j++) {
            fprintf(stream, "%s", j ? "," : "");
            print_field(stream, mcp_json_item(row, j));
        }
        fputc('\n', stream);
    }
}

/* Each row as an object on a line. */
static mcp_status print_ndjson(FILE *stream, const mcp_json *answer, mcp_error *err)
{
    const mcp_json *columns = mcp_json_get(answer, "columns");
    const mcp_json *rows = mcp_json_get(answer, "rows");
    mcp_status st = MCP_OK;
    mcp_buf text;
    mcp_buf_init(&text, ROWS_MAX);
    for (size_t i = 0; i < mcp_json_count(rows) && st == MCP_OK; i++) {
        mcp_json_writer json;
        mcp_buf_reset(&text);
        mcp_json_writer_init(&json, &text);
        mcp_write_object(&json);
        for (size_t j = 0; j < mcp_json_count(columns); j++)
            mcp_write_member_value(&json, mcp_json_get_string(mcp_json_item(columns, j), "name"),
                                   mcp_json_item(mcp_json_item(rows, i), j));
        mcp_write_end(&json);
        st = mcp_json_writer_status(&json);
        if (st == MCP_OK)
            fprintf(stream, "%s\n", text.data);
    }
    mcp_buf_clear(&text);
    return st == MCP_OK ? st : mcp_error_set(err, st, "a row: %s", mcp_status_words(st));
}

static mcp_status print_table(const cli_line *line, casparian_app *app, const mcp_json *answer,
                              mcp_error *err)
{
    casparian_shell_column heads[16];
    const mcp_json *columns = mcp_json_get(answer, "columns");
    size_t count = mcp_json_count(columns);
    if (count > sizeof heads / sizeof heads[0])
        return print_ndjson(cli_out(line), answer, err); /* too wide for a screen */
    for (size_t i = 0; i < count; i++) {
        const char *type = mcp_json_get_string(mcp_json_item(columns, i), "type");
        heads[i] = (casparian_shell_column){
            .title = mcp_json_get_string(mcp_json_item(columns, i), "name"),
            .pointer = mcp_arena_printf(app->arena, "/%zu", i),
            .is_right = strstr(type, "INT") || strstr(type, "DECIMAL") ||
                        strcmp(type, "DOUBLE") == 0,
        };
        if (!heads[i].pointer)
            return MCP_E_NOMEM;
    }
    return casparian_shell_table(line, mcp_json_get(answer, "rows"), heads, count, "No rows.", err);
}

/* What the rows that are printed do not show. */
static void print_omitted(const cli_line *line, const mcp_json *answer)
{
    bool is_truncated = false;
    int64_t cut = 0;
    mcp_json_bool(mcp_json_get(answer, "truncated"), &is_truncated);
    mcp_json_int(mcp_json_get(answer, "truncated_cells"), &cut);
    if (is_truncated)
        fprintf(cli_err(line), "There are more rows: --limit.\n");
    if (cut > 0)
        fprintf(cli_err(line), "Values that are cut: %" PRId64 " ([mcp] max_cell_bytes).\n", cut);
}

static mcp_status print_rows(const cli_line *line, casparian_app *app, const mcp_json *answer,
                             mcp_error *err)
{
    const char *format = cli_string(line, "format");
    const mcp_json *warnings = mcp_json_get(answer, "warnings");
    for (size_t i = 0; i < mcp_json_count(warnings); i++)
        fprintf(cli_err(line), "%s\n", mcp_json_string(mcp_json_item(warnings, i), NULL));
    mcp_status st = MCP_OK;
    if (strcmp(format, "ndjson") == 0)
        st = print_ndjson(cli_out(line), answer, err);
    else if (strcmp(format, "csv") == 0)
        print_csv(cli_out(line), answer);
    else
        st = print_table(line, app, answer, err);
    if (!cli_flag(line, "quiet"))
        print_omitted(line, answer);
    return st;
}

static mcp_status write_result(const mcp_json **answer, const casparian_query_result *result,
                               casparian_app *app, const cli_line *line, mcp_error *err)
{
    const casparian_query_facts *facts = casparian_query_result_facts(result);
    const char *policy = mcp_arena_printf(app->arena, "{\"mode\":\"%s\"}",
                                          cli_string(line, "redact"));
    const casparian_query_room room = { ROWS_MAX / 2, app->config->mcp.max_cell_bytes };
    casparian_query_written written = { 0 };
    casparian_redaction redaction;
    casparian_shell_answer out;
    const mcp_json *json = NULL;
    mcp_status st = policy ? mcp_json_read(&json, app->arena, policy, strlen(policy), err)
                           : MCP_E_NOMEM;
    if (st != MCP_OK)
        return st;
    casparian_redaction_read(&redaction, &app->config->redaction, json, NULL);
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "columns");
    for (size_t i = 0; i < facts->column_count; i++) {
        mcp_write_object(&out.json);
        mcp_write_member_string(&out.json, "name", facts->columns[i].name);
        mcp_write_member_string(&out.json, "type", facts->columns[i].type);
        mcp_write_end(&out.json);
    }
    mcp_write_end(&out.json);
    mcp_write_name(&out.json, "rows");
    casparian_query_write_rows(&written, &out.json, result, &redaction, &room);
    mcp_write_member_int(&out.json, "row_count", (int64_t)written.rows);
    mcp_write_member_bool(&out.json, "truncated", facts->is_truncated || written.is_out_of_room);
    mcp_write_member_int(&out.json, "elapsed_ms", facts->elapsed_ms);
    if (written.cut_cells > 0)
        mcp_write_member_int(&out.json, "truncated_cells", (int64_t)written.cut_cells);
    mcp_write_member_array(&out.json, "warnings");
    for (size_t i = 0; i < facts->warning_count; i++)
        mcp_write_string(&out.json, facts->warnings[i]);
    mcp_write_end(&out.json);
    return casparian_shell_answer_end(&out, answer, line, app->arena, err);
}

static mcp_status print_json(const cli_line *line, const mcp_json *answer, mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, SIZE_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, answer);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        casparian_shell_print(line, &text);
    mcp_buf_clear(&text);
    return st == MCP_OK ? st : mcp_error_set(err, st, "the answer: %s", mcp_status_words(st));
}

static mcp_status query(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_query_failure failure = { .code = NULL };
    casparian_query_result *result = NULL;
    const mcp_json *answer = NULL;
    casparian_catalog catalog;
    const char *sql = NULL;
    mcp_status st = read_statement(&sql, app, line, err);
    if (st == MCP_OK)
        st = casparian_catalog_read(&catalog, app->store, app->arena, err);
    if (st == MCP_OK && app->config->query_exposes_control)
        st = casparian_control_add(&catalog, app->store, app->arena, err);
    if (st != MCP_OK)
        return st;
    const casparian_query_request what = { .sql = sql,
                                           .length = strlen(sql),
                                           .limit = (size_t)cli_int(line, "limit", LIMIT),
                                           .timeout_ms = cli_int(line, "timeout", 30) * 1000 };
    st = casparian_query_run(&result, app->query, &catalog, &what, &failure, app->arena, err);
    if (st != MCP_OK && failure.message) {
        app->failure->code = casparian_code_of(st);
        app->failure->message = failure.message;
        app->failure->suggestions[0] = failure.suggestion;
    }
    if (st == MCP_OK)
        st = write_result(&answer, result, app, line, err);
    if (st == MCP_OK && answer && strcmp(cli_string(line, "format"), "json") == 0)
        st = print_json(line, answer, err);
    else if (st == MCP_OK && answer)
        st = print_rows(line, app, answer, err);
    casparian_query_result_free(result);
    return st;
}

int casparian_command_query(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_QUERY, query);
}

/* ---- verify ---------------------------------------------------------------------------------- */

/* Findings, as they come. */
typedef struct findings {
    mcp_json_writer *json;
} findings;

static void add_finding(void *data, casparian_finding_kind kind, const char *file, const char *why)
{
    findings *self = data;
    mcp_write_object(self->json);
    mcp_write_member_string(self->json, "finding", casparian_finding_text(kind));
    mcp_write_member_string(self->json, "file", file);
    mcp_write_member_string(self->json, "why", why);
    mcp_write_end(self->json);
}

static mcp_status read_key(uint8_t out[KEYS_PUBLIC_SIZE], const char *path, mcp_error *err)
{
    char text[4096];
    FILE *file = fopen(path, "re");
    if (!file)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the key '%.200s' cannot be read", path);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    return keys_public_read(out, text, length, err);
}

static mcp_status open_folder(int *fd, const char *path, mcp_error *err)
{
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? MCP_OK
                    : mcp_error_set(err, MCP_E_NOT_FOUND, "there is no directory '%.200s'", path);
}

static mcp_status print_verified(const cli_line *line, const mcp_json *answer,
                                 const casparian_verified *verified, mcp_error *err)
{
    static const casparian_shell_column columns[] = { { "FINDING", "/finding", false },
                                                      { "FILE", "/file", false },
                                                      { "WHY", "/why", false } };
    const mcp_json *found = mcp_json_get(answer, "findings");
    mcp_status st = MCP_OK;
    if (mcp_json_count(found) > 0)
        st = casparian_shell_table(line, found, columns, 3, "", err);
    if (!cli_flag(line, "quiet"))
        fprintf(cli_out(line), "%zu outputs of %zu jobs, %" PRIu64 " bytes: %s\n",
                verified->outputs, verified->manifests, verified->bytes,
                verified->failures ? "not as the manifests say" : "as the manifests say");
    return st;
}

static mcp_status verify_folder(casparian_app *app, const cli_line *line, int fd, mcp_error *err)
{
    const char *key_path = cli_string(line, "key");
    uint8_t key[KEYS_PUBLIC_SIZE];
    casparian_verified verified = { 0 };
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = key_path ? read_key(key, key_path, err) : MCP_OK;
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "findings");
    findings found = { .json = &out.json };
    st = casparian_verify(&verified, fd, key_path ? key : NULL, add_finding, &found, err);
    mcp_write_end(&out.json);
    mcp_write_member_int(&out.json, "manifests", (int64_t)verified.manifests);
    mcp_write_member_int(&out.json, "outputs", (int64_t)verified.outputs);
    mcp_write_member_int(&out.json, "bytes", (int64_t)verified.bytes);
    mcp_write_member_int(&out.json, "failures", (int64_t)verified.failures);
    st = casparian_shell_answer_close(&out, st, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = print_verified(line, answer, &verified, err);
    if (st == MCP_OK && verified.failures) {
        app->failure->is_answered = true;
        st = mcp_error_set(err, MCP_E_STOPPED, "%zu findings in '%.200s'", verified.failures,
                           cli_argument(line, 0));
    }
    if (st == MCP_OK && verified.manifests == 0) {
        app->failure->is_answered = true;
        st = mcp_error_set(err, MCP_E_NOT_FOUND,
                           "'%.200s' has no manifests: no run has written there, or they are gone",
                           cli_argument(line, 0));
    }
    return st;
}

static mcp_status verify(casparian_app *app, const cli_line *line, mcp_error *err)
{
    int fd = -1;
    mcp_status st = open_folder(&fd, cli_argument(line, 0), err);
    if (st != MCP_OK)
        return st;
    st = verify_folder(app, line, fd, err);
    close(fd);
    return st;
}

int casparian_command_verify(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, 0, verify);
}

/* ---- lineage --------------------------------------------------------------------------------- */

static void write_member(mcp_json_writer *json, const char *name, const char *text)
{
    if (text)
        mcp_write_member_string(json, name, text);
}

static void write_lineage(mcp_json_writer *json, const casparian_lineage *found)
{
    mcp_write_member_array(json, "source");
    for (size_t i = 0; i < found->path_count; i++)
        mcp_write_string(json, found->paths[i]);
    mcp_write_end(json);
    if (found->row >= 0)
        mcp_write_member_int(json, "row", found->row);
    write_member(json, "plugin", found->plugin);
    write_member(json, "version", found->version);
    write_member(json, "artifact_hash", found->artifact_hash);
    write_member(json, "signer", found->signer);
    write_member(json, "approval_id", found->approval_id);
    write_member(json, "decided_by", found->decided_by);
    write_member(json, "decided_at", found->decided_at);
    write_member(json, "snapshot_sha256", found->snapshot_sha256);
    write_member(json, "file", found->file);
    write_member(json, "table", found->table);
    write_member(json, "created_at", found->created_at);
    write_member(json, "program", found->program);
    write_member(json, "manifest", found->manifest);
    write_member(json, "manifest_sha256", found->manifest_sha256);
    mcp_write_member_bool(json, "is_signed", found->is_signed);
    if (found->unchecked)
        mcp_write_member_string(json, "row_unchecked", found->unchecked);
}

/* The manifest knows files, not rows: the output was asked. */
static mcp_status check_row(const casparian_lineage *found, const casparian_lineage_row *row,
                            mcp_error *err)
{
    if (found->check != CASPARIAN_ROW_ABSENT)
        return MCP_OK;
    if (row->row >= 0 && !found->has_row_ids)
        return mcp_error_set(err, MCP_E_STOPPED,
                             "no such row: the output '%.63s' has no __cf_row_id; leave --row out",
                             row->output);
    if (row->row < 0)
        return mcp_error_set(err, MCP_E_STOPPED,
                             "no such row: the output '%.63s' has %" PRId64
                             " rows, and none of job %.20s and this source",
                             row->output, found->rows, row->job);
    return mcp_error_set(
        err, MCP_E_STOPPED,
        "no such row: the output '%.63s' has %" PRId64 " rows, %" PRId64
        " of job %.20s and this source, and none of these with __cf_row_id %" PRId64,
        row->output, found->rows, found->source_rows, row->job, row->row);
}

/* The directory of the outputs: without --dir that of the job in this home. */
static mcp_status open_outputs(int *fd, casparian_app *app, const cli_line *line,
                               const casparian_lineage_row *row, mcp_error *err)
{
    const char *folder = cli_string(line, "dir");
    mcp_status st = MCP_OK;
    int64_t job = 0;
    if (folder)
        return open_folder(fd, folder, err);
    if (casparian_job_id_read(&job, row->job))
        st = casparian_catalog_folder(&folder, app->store, app->arena, row->output, job, err);
    if (st == MCP_OK)
        st = open_folder(fd, folder ? folder : "output", err);
    if (st == MCP_E_NOT_FOUND && !folder)
        st = mcp_error_set(
            err, st,
            "this home has no output '%.63s' of job %.20s, and there is no directory "
            "'output': --dir names the directory of the outputs",
            row->output, row->job);
    return st;
}

static mcp_status lineage(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const casparian_lineage_row row = { .output = cli_argument(line, 0),
                                        .job = cli_string(line, "job"),
                                        .source_hash = cli_string(line, "source"),
                                        .row = cli_int(line, "row", -1) };
    casparian_lineage found;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    int fd = -1;
    if (!row.job || !row.source_hash)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--job and --source are required: _cf_job_id and _cf_source_hash of "
                             "the row");
    mcp_status st = open_outputs(&fd, app, line, &row, err);
    if (st != MCP_OK)
        return st;
    st = casparian_lineage_find(&found, fd, &row, app->arena, err);
    close(fd);
    if (st == MCP_OK)
        st = check_row(&found, &row, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    write_lineage(&out.json, &found);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_lineage(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, cli_string(line, "dir") ? 0 : CASPARIAN_NEEDS_STORE, lineage);
}
