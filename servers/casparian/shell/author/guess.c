/*
 * guess.c - a sample is previewed as it is, and each column gets the type that all of its values
 * fit, by the rules of suggested fixes.
 */
#include "shell/author/guess.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/fix.h"
#include "guard/archive.h"
#include "shell/print.h"

enum { ROWS = 1000, HEAD_MAX = 65536 };

#define ROW_ID "__cf_row_id"

/* ---- the kind of a file ---------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

bool casparian_guess_is_packed(const char *path)
{
    return path && ends_in(path, ".gz");
}

/* Packed or not. */
static casparian_sample_kind kind_of(const char *path)
{
    static const struct {
        const char *end, *packed;
        casparian_sample_kind kind;
    } ends[] = {
        { ".csv", ".csv.gz", CASPARIAN_SAMPLE_CSV },
        { ".tsv", ".tsv.gz", CASPARIAN_SAMPLE_CSV },
        { ".jsonl", ".jsonl.gz", CASPARIAN_SAMPLE_NDJSON },
        { ".ndjson", ".ndjson.gz", CASPARIAN_SAMPLE_NDJSON },
    };
    for (size_t i = 0; path && i < sizeof ends / sizeof ends[0]; i++)
        if (ends_in(path, ends[i].end) || ends_in(path, ends[i].packed))
            return ends[i].kind;
    return CASPARIAN_SAMPLE_LINES;
}

/* The first bytes of a file, unpacked. */
static size_t read_head(char *out, size_t size, const char *path)
{
    char bytes[HEAD_MAX];
    bool is_whole = false;
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(bytes, 1, size < sizeof bytes ? size : sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    size_t unpacked = guard_archive_head(out, size, &is_whole, bytes, length);
    if (unpacked == 0)
        memcpy(out, bytes, length);
    return unpacked > 0 ? unpacked : length;
}

/* The byte that divides the first line that is not empty into so many names. */
static char delimiter_of(const char *path, size_t columns)
{
    char header[HEAD_MAX];
    size_t length = read_head(header, sizeof header, path), begin = 0;
    while (begin < length && (header[begin] == '\n' || header[begin] == '\r'))
        begin++;
    for (const char *one = ",;\t|"; *one; one++) {
        bool is_quoted = false;
        size_t count = 1;
        for (size_t i = begin; i < length && header[i] != '\n'; i++) {
            is_quoted = is_quoted != (header[i] == '"');
            count += header[i] == *one && !is_quoted;
        }
        if (count == columns)
            return *one;
    }
    return ',';
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The rows that the parser that ships makes of the sample. */
static mcp_status read_rows(const mcp_json **out, casparian_app *app, const char *path,
                            casparian_sample_kind kind, mcp_error *err)
{
    const char *name = kind == CASPARIAN_SAMPLE_CSV ? "\"csv_native\"" : "\"jsonl_native\"";
    const casparian_spec spec = { .max_files = 0 };
    casparian_prepare_request how = { .spec = &spec };
    casparian_plugin_problem problem = { .code = NULL };
    casparian_prepared work;
    casparian_redaction shown;
    casparian_shell_answer answer;
    const mcp_json *policy = NULL, *all = NULL;
    mcp_status st = mcp_json_read(&how.plugin_ref, app->arena, name, strlen(name), err);
    if (st == MCP_OK)
        st = mcp_json_read(&policy, app->arena, "{\"mode\":\"none\"}", 15, err);
    if (st == MCP_OK)
        st = casparian_driver_prepare(&work, &problem, app->driver, app->arena, &how, err);
    if (st != MCP_OK)
        return st;
    casparian_redaction_read(&shown, &app->config->redaction, policy, NULL);
    const casparian_preview_request what = { .plugin = &work.plugin,
                                             .schemas = work.schemas,
                                             .schema_count = work.schema_count,
                                             .files = &path,
                                             .file_count = 1,
                                             .limit = ROWS,
                                             .redaction = &shown };
    casparian_shell_answer_begin(&answer);
    st = casparian_driver_preview(&answer.json, app->driver, app->arena, &what, err);
    mcp_write_end(&answer.json);
    if (st == MCP_OK)
        st = mcp_json_writer_status(&answer.json);
    if (st == MCP_OK)
        st = mcp_json_read(&all, app->arena, answer.text.data, answer.text.length, err);
    mcp_buf_clear(&answer.text);
    *out = mcp_json_pointer(all, "/outputs/rows");
    if (st != MCP_OK)
        return st;
    bool has_rows = mcp_json_count(mcp_json_get(*out, "sample_rows")) > 0;
    const char *why = mcp_json_string(
        mcp_json_pointer(all, has_rows ? "/warnings/0" : "/errors/0/error"), NULL);
    if (why)
        return mcp_error_set(err, MCP_E_STOPPED, "'%.200s': %.500s", path, why);
    return has_rows ? MCP_OK : mcp_error_set(err, MCP_E_STOPPED, "'%.200s' has no rows", path);
}

static bool read_cell(casparian_cell *out, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    *out = (casparian_cell){ .kind = CASPARIAN_KIND_STRING };
    if (text) {
        out->text.bytes = text;
        out->text.length = length;
    } else if (mcp_json_bool(value, &boolean)) {
        *out = (casparian_cell){ .kind = CASPARIAN_KIND_BOOLEAN, .boolean = boolean };
    } else if (mcp_json_int(value, &integer)) {
        *out = (casparian_cell){ .kind = CASPARIAN_KIND_INT64, .integer = integer };
    } else if (mcp_json_double(value, &number)) {
        *out = (casparian_cell){ .kind = CASPARIAN_KIND_FLOAT64, .number = number };
    } else {
        return false; /* null, or not there */
    }
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void guess_column(casparian_column *out, casparian_guess *guess, const mcp_json *rows,
                         const casparian_patterns *patterns)
{
    casparian_profile profile = { 0 };
    int64_t count = (int64_t)mcp_json_count(rows), missing = 0;
    uint32_t sentinels = 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        casparian_cell cell;
        bool has_value = read_cell(&cell, mcp_json_get(mcp_json_item(rows, i), out->name));
        int sentinel = has_value && cell.kind == CASPARIAN_KIND_STRING
                           ? casparian_sentinel_of(cell.text.bytes, cell.text.length)
                           : -1;
        sentinels |= sentinel >= 0 ? 1u << sentinel : 0;
        missing += !has_value || sentinel >= 0;
        if (has_value)
            casparian_profile_add(&profile, patterns, &cell, CASPARIAN_FAILS_ALONE);
    }
    casparian_fix fix = { .action = CASPARIAN_NO_FIX };
    const casparian_fault fault = { .violation = CASPARIAN_VIOLATION_TYPE_MISMATCH,
                                    .name = out->name,
                                    .column = out,
                                    .profile = &profile,
                                    .patterns = patterns,
                                    .rows = count,
                                    .count = count };
    if (missing < count)
        casparian_fix_choose(&fix, &fault);
    out->type.kind = CASPARIAN_KIND_STRING;
    if (fix.action == CASPARIAN_CHANGE_TYPE) {
        out->type = fix.to;
        out->pattern = fix.pattern;
    }
    out->is_nullable = missing > 0;
    if (out->type.kind != CASPARIAN_KIND_STRING)
        guess->sentinels |= sentinels;
}

/* Canonical JSON of the columns, read back, so that they are held against the rules of schemas. */
static mcp_status define(casparian_guess *guess, const char *output,
                         const casparian_column *columns, size_t count, mcp_arena *arena,
                         mcp_error *err)
{
    /* an object of JSON leaves out what it has no value for */
    const casparian_definition draft = { .output = output,
                                         .mode = guess->kind == CASPARIAN_SAMPLE_NDJSON
                                                     ? CASPARIAN_MODE_ALLOW_MISSING_OPTIONAL
                                                     : CASPARIAN_MODE_STRICT,
                                         .count = count,
                                         .columns = columns };
    const mcp_json *json = NULL;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    mcp_status st = casparian_definition_canonical(&text, &draft);
    if (st == MCP_OK)
        st = mcp_json_read(&json, arena, text.data, text.length, err);
    mcp_buf_clear(&text);
    return st == MCP_OK ? casparian_definition_read(&guess->schema, arena, json, NULL, NULL, err)
                        : st;
}

static mcp_status guess_schema(casparian_guess *out, casparian_app *app, const mcp_json *rows,
                               const char *output, mcp_error *err)
{
    const mcp_json *found = mcp_json_pointer(rows, "/schema/columns");
    size_t room = mcp_json_count(found), count = 0;
    casparian_column *columns = mcp_arena_array(app->arena, room + 1, sizeof *columns);
    casparian_patterns patterns;
    if (!columns)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for columns");
    mcp_status st = casparian_patterns_compile(&patterns, app->arena, err);
    for (size_t i = 0; st == MCP_OK && i < room; i++) {
        const char *name = mcp_json_get_string(mcp_json_item(found, i), "name");
        bool is_row_id = strcmp(name, ROW_ID) == 0;
        if (is_row_id && out->kind == CASPARIAN_SAMPLE_CSV)
            break; /* what follows is more than the header has */
        if (is_row_id)
            continue;
        columns[count] = (casparian_column){ .name = name };
        guess_column(&columns[count++], out, mcp_json_get(rows, "sample_rows"), &patterns);
    }
    return st == MCP_OK ? define(out, output, columns, count, app->arena, err) : st;
}

mcp_status casparian_guess_read(casparian_guess *out, casparian_app *app, const char *path,
                                const char *output, mcp_error *err)
{
    static const casparian_column lines[] = {
        { .name = "line", .type = { .kind = CASPARIAN_KIND_INT64 } },
        { .name = "text", .type = { .kind = CASPARIAN_KIND_STRING } },
    };
    char real[PATH_MAX];
    const mcp_json *rows = NULL;
    *out = (casparian_guess){ .kind = kind_of(path) };
    if (path && !realpath(path, real))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no file '%.200s'", path);
    if (out->kind == CASPARIAN_SAMPLE_LINES)
        return define(out, output, lines, 2, app->arena, err);
    mcp_status st = read_rows(&rows, app, mcp_arena_strdup(app->arena, real), out->kind, err);
    if (st == MCP_OK)
        st = guess_schema(out, app, rows, output, err);
    if (st == MCP_OK && out->kind == CASPARIAN_SAMPLE_CSV)
        out->delimiter = delimiter_of(real, out->schema.count);
    return st;
}
