/*
 * preview.c - casparian preview: the first rows that a parser makes of a file, or the file as it
 * is.
 *
 * Without --plugin the ending of the file says which parser that ships reads it, or its first line,
 * if that is an object of JSON. What no parser is known for is shown as lines of text, or as bytes;
 * if gzip has packed it, what it holds is shown so.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/utf8.h"
#include "guard/archive.h"
#include "jobs/driver.h"
#include "shell/commands.h"
#include "shell/plugin_ref.h"
#include "shell/print.h"
#include "shell/report.h"
#include "shell/shell.h"

enum { HEAD_MAX = 1 << 20, HEX_WIDTH = 16, HEX_SIZE = 96, POLICY_SIZE = 32 };

static const char *const modes[] = { "none", "truncate", "hash", NULL };

/* clang-format off */
const cli_option casparian_preview_options[] = {
    { .name = "plugin", .type = CLI_STRING, .argument = "REF",
      .help = "the parser: NAME, NAME@VERSION or a path (default: by the file's ending)" },
    { .name = "rows", .letter = 'n', .type = CLI_INT, .argument = "N", .min = 1, .max = 1000,
      .standard = "20", .help = "rows of each output; lines with --raw" },
    { .name = "schema", .type = CLI_FLAG, .help = "the columns and their types in place of rows" },
    { .name = "raw", .type = CLI_FLAG, .help = "the file as it is: lines of text, or bytes" },
    { .name = "head", .type = CLI_INT, .argument = "N", .min = 1, .max = 1000,
      .help = "the first N lines, unpacked if gzip has packed them" },
    { .name = "delimiter", .type = CLI_STRING, .argument = "C",
      .help = "the file is CSV with this delimiter: a character, or tab" },
    { .name = "redact", .type = CLI_CHOICE, .argument = "MODE", .standard = "none", .choices = modes,
      .help = "how values are shown" },
    { 0 },
};
/* clang-format on */

/* The beginning of a file. */
typedef struct head {
    const char *path; /* absolute, without links */
    const char *bytes;
    size_t length;
    bool is_whole;
    bool is_unpacked; /* the bytes are what gzip had packed */
} head;

/* Without the character at its end, which may be half of one. */
static size_t without_last(const char *bytes, size_t length)
{
    while (length > 0 && ((unsigned char)bytes[length - 1] & 0xC0) == 0x80)
        length--;
    return length > 0 && ((unsigned char)bytes[length - 1] & 0x80) ? length - 1 : length;
}

static mcp_status read_head(head *out, const char *name, mcp_arena *arena, mcp_error *err)
{
    char path[PATH_MAX];
    struct stat about;
    if (!realpath(name, path))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no file '%.200s'", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return mcp_error_errno(err, errno, "'%.200s'", name);
    bool is_file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    char *bytes = mcp_arena_alloc(arena, HEAD_MAX);
    ssize_t got = 0;
    size_t length = 0;
    while (bytes && is_file && length < HEAD_MAX) {
        got = read(fd, bytes + length, HEAD_MAX - length);
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    int why = errno;
    close(fd);
    if (!is_file)
        return mcp_error_set(err, MCP_E_PARAMS, "'%.200s' is not a file", name);
    if (got < 0)
        return mcp_error_errno(err, why, "'%.200s'", name);
    bool is_whole = length < HEAD_MAX;
    *out = (head){ .path = mcp_arena_strdup(arena, path),
                   .bytes = bytes,
                   .length = is_whole ? length : without_last(bytes, length),
                   .is_whole = is_whole };
    return bytes && out->path ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a file");
}

/* Puts in the place of packed bytes the first of those that they hold. */
static mcp_status unpack(head *file, mcp_arena *arena, mcp_error *err)
{
    bool is_whole = false;
    if (file->length < 2 || memcmp(file->bytes, "\x1F\x8B", 2) != 0)
        return MCP_OK;
    char *bytes = mcp_arena_alloc(arena, HEAD_MAX);
    if (!bytes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a file");
    size_t length = guard_archive_head(bytes, HEAD_MAX, &is_whole, file->bytes, file->length);
    if (length == 0 && !is_whole)
        return MCP_OK; /* it only begins like a packed file */
    file->is_whole = is_whole && file->is_whole;
    file->bytes = bytes;
    file->length = file->is_whole ? length : without_last(bytes, length);
    file->is_unpacked = true;
    return MCP_OK;
}

static size_t line_length(const char *bytes, size_t length)
{
    const char *end = length > 0 ? memchr(bytes, '\n', length) : NULL;
    return end ? (size_t)(end - bytes) : length;
}

/* ---- as it is -------------------------------------------------------------------------------- */

static bool is_text(const head *file)
{
    return file->length == 0 || (!memchr(file->bytes, '\0', file->length) &&
                                 casparian_utf8_is_valid(file->bytes, file->length));
}

/* "00000010  63 65 0a                                          |ce.|" */
static void put_hex(char out[HEX_SIZE], size_t at, const unsigned char *bytes, size_t count)
{
    int length = snprintf(out, HEX_SIZE, "%08zx ", at);
    for (size_t i = 0; i < HEX_WIDTH; i++)
        length += i < count ? snprintf(out + length, 4, " %02x", bytes[i])
                            : snprintf(out + length, 4, "   ");
    out[length++] = ' ';
    out[length++] = ' ';
    out[length++] = '|';
    for (size_t i = 0; i < count; i++)
        out[length++] = (char)(bytes[i] >= 0x20 && bytes[i] < 0x7F ? bytes[i] : '.');
    out[length++] = '|';
    out[length] = '\0';
}

/* @return where the next line begins */
static size_t write_line(mcp_json_writer *json, const head *file, size_t at, bool is_lines)
{
    char hex[HEX_SIZE];
    if (is_lines) {
        size_t length = line_length(file->bytes + at, file->length - at);
        size_t shown = length > 0 && file->bytes[at + length - 1] == '\r' ? length - 1 : length;
        mcp_write_string_n(json, file->bytes + at, shown);
        return at + length + 1;
    }
    size_t rest = file->length - at;
    put_hex(hex, at, (const unsigned char *)file->bytes + at, rest < HEX_WIDTH ? rest : HEX_WIDTH);
    mcp_write_string(json, hex);
    return at + HEX_WIDTH;
}

static mcp_status print_lines(const cli_line *line, const mcp_json *lines)
{
    mcp_status st = MCP_OK;
    mcp_buf text;
    mcp_buf_init(&text, (size_t)8 * HEAD_MAX);
    for (size_t i = 0; i < mcp_json_count(lines) && st == MCP_OK; i++) {
        mcp_buf_reset(&text);
        st = casparian_shell_line(&text, mcp_json_item(lines, i));
        fprintf(cli_out(line), "%s\n", text.length > 0 ? text.data : "");
    }
    mcp_buf_clear(&text);
    return st;
}

static mcp_status show_raw(const head *file, casparian_app *app, const cli_line *line,
                           mcp_error *err)
{
    int64_t most = cli_given(line, "head") ? cli_int(line, "head", 0) : cli_int(line, "rows", 0);
    bool is_lines = is_text(file);
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    size_t at = 0;
    if (strcmp(cli_string(line, "redact"), "none") != 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--redact is for the rows of a parser: name one with --plugin");
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "path", file->path);
    mcp_write_member_string(&out.json, "format", is_lines ? "text" : "hex");
    if (file->is_unpacked)
        mcp_write_member_string(&out.json, "unpacked", "gzip");
    mcp_write_member_array(&out.json, "lines");
    for (int64_t i = 0; i < most && at < file->length; i++)
        at = write_line(&out.json, file, at, is_lines);
    mcp_write_end(&out.json);
    mcp_write_member_bool(&out.json, "truncated", at < file->length || !file->is_whole);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    return st == MCP_OK && answer ? print_lines(line, mcp_json_get(answer, "lines")) : st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The shipped parser of files with such an ending; NULL: none is known. */
static const char *plugin_of(const char *path)
{
    static const struct {
        const char *ending, *plugin;
    } known[] = {
        { ".csv", "csv_native" },      { ".csv.gz", "csv_native" },
        { ".tsv", "csv_native" },      { ".tsv.gz", "csv_native" },
        { ".jsonl", "jsonl_native" },  { ".jsonl.gz", "jsonl_native" },
        { ".ndjson", "jsonl_native" }, { ".ndjson.gz", "jsonl_native" },
        { ".log", "weblog_native" },   { ".log.gz", "weblog_native" },
        { ".fix", "fix_parser" },      { ".hl7", "hl7_v2" },
        { ".evtx", "evtx_native" },
    };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t ending = strlen(known[i].ending);
        if (length > ending && strcmp(path + length - ending, known[i].ending) == 0)
            return known[i].plugin;
    }
    return NULL;
}

/* Whether the first line is an object of JSON. */
static bool is_ndjson(const head *file, mcp_arena *arena)
{
    const mcp_json *value = NULL;
    size_t length = line_length(file->bytes, file->length);
    return length > 0 && file->bytes[0] == '{' && length < file->length &&
           mcp_json_read(&value, arena, file->bytes, length, NULL) == MCP_OK;
}

/* The parser that reads the file; NULL: none, so it is shown as it is. */
static const char *choose_plugin(const head *file, casparian_app *app, const cli_line *line)
{
    if (cli_flag(line, "raw") || cli_given(line, "head"))
        return NULL;
    if (cli_string(line, "plugin"))
        return cli_string(line, "plugin");
    if (cli_string(line, "delimiter"))
        return "csv_native";
    const char *plugin = plugin_of(file->path);
    return !plugin && is_ndjson(file, app->arena) ? "jsonl_native" : plugin;
}

/* csv_native reads its delimiter from the environment. */
static mcp_status set_delimiter(casparian_plugin *plugin, const char *delimiter, mcp_arena *arena,
                                mcp_error *err)
{
    size_t count = plugin->settings.env_count;
    const char **env = mcp_arena_array(arena, count + 1, sizeof *env);
    if (strcmp(plugin->id, "csv_native") != 0)
        return mcp_error_set(err, MCP_E_PARAMS, "--delimiter is for csv_native, and not for %.63s",
                             plugin->id);
    if (strcmp(delimiter, "tab") != 0 && strlen(delimiter) != 1)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--delimiter: one character of ASCII, or tab, is required");
    if (!env)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the settings of a plugin");
    if (count > 0)
        memcpy(env, plugin->settings.env, count * sizeof *env);
    env[count] = mcp_arena_printf(arena, "CSV_DELIMITER=%s", delimiter);
    plugin->settings.env = env;
    plugin->settings.env_count = count + 1;
    return env[count] ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a delimiter");
}

static mcp_status print_schemas(const cli_line *line, const mcp_json *outputs, mcp_error *err)
{
    static const casparian_shell_column columns[] = { { "COLUMN", "/name", false },
                                                      { "TYPE", "/type", false },
                                                      { "NULLABLE", "/nullable", false } };
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < mcp_json_count(outputs) && st == MCP_OK; i++) {
        fprintf(cli_out(line), "%s%s\n", i ? "\n" : "", mcp_json_name(outputs, i, NULL));
        st = casparian_shell_table(line,
                                   mcp_json_pointer(mcp_json_item(outputs, i), "/schema/columns"),
                                   columns, 3, "No columns.", err);
    }
    return st;
}

static void print_outputs(const cli_line *line, const mcp_json *outputs)
{
    for (size_t i = 0; i < mcp_json_count(outputs); i++) {
        fprintf(cli_out(line), "%s%s\n", i ? "\n" : "", mcp_json_name(outputs, i, NULL));
        casparian_shell_document(cli_out(line),
                                 mcp_json_get(mcp_json_item(outputs, i), "sample_rows"));
    }
}

static mcp_status print_preview(const cli_line *line, const mcp_json *answer, mcp_arena *arena,
                                mcp_error *err)
{
    const mcp_json *outputs = mcp_json_get(answer, "outputs");
    mcp_status st = MCP_OK;
    if (cli_flag(line, "schema"))
        st = print_schemas(line, outputs, err);
    else
        print_outputs(line, outputs);
    if (st == MCP_OK)
        st = casparian_shell_violations(line, outputs, arena, err);
    const mcp_json *errors = mcp_json_get(answer, "errors");
    const mcp_json *warnings = mcp_json_get(answer, "warnings");
    if (mcp_json_count(errors) > 0)
        casparian_shell_document(cli_err(line), errors);
    for (size_t i = 0; i < mcp_json_count(warnings); i++)
        fprintf(cli_err(line), "%s\n", mcp_json_string(mcp_json_item(warnings, i), NULL));
    return st;
}

static mcp_status prepare(casparian_prepared *out, casparian_app *app, const char *plugin,
                          const cli_line *line, mcp_error *err)
{
    static const casparian_spec spec = { .max_files = 0 };
    const char *delimiter = cli_string(line, "delimiter");
    casparian_plugin_problem problem = { .code = NULL };
    casparian_prepare_request how = { .spec = &spec };
    mcp_status st = casparian_shell_plugin_ref(&how.plugin_ref, &how.plugin_path, plugin,
                                               app->arena, err);
    if (st == MCP_OK)
        st = casparian_driver_prepare(out, &problem, app->driver, app->arena, &how, err);
    st = casparian_shell_plugin_failed(app, &problem, st, err);
    return st == MCP_OK && delimiter ? set_delimiter(&out->plugin, delimiter, app->arena, err) : st;
}

static mcp_status show_rows(const head *file, const char *plugin, casparian_app *app,
                            const cli_line *line, mcp_error *err)
{
    const mcp_json *policy = NULL, *answer = NULL;
    casparian_redaction redaction;
    casparian_shell_answer out;
    casparian_prepared work;
    char mode[POLICY_SIZE];
    size_t failed = 0;
    snprintf(mode, sizeof mode, "{\"mode\":\"%s\"}", cli_string(line, "redact"));
    mcp_status st = prepare(&work, app, plugin, line, err);
    if (st == MCP_OK)
        st = mcp_json_read(&policy, app->arena, mode, strlen(mode), err);
    if (st != MCP_OK)
        return st;
    casparian_redaction_read(&redaction, &app->config->redaction, policy, NULL);
    const casparian_preview_request what = { .plugin = &work.plugin,
                                             .schemas = work.schemas,
                                             .schema_count = work.schema_count,
                                             .files = &file->path,
                                             .file_count = 1,
                                             .limit = cli_int(line, "rows", 0),
                                             .redaction = &redaction,
                                             .failed = &failed };
    casparian_shell_answer_begin(&out);
    st = casparian_driver_preview(&out.json, app->driver, app->arena, &what, err);
    if (st != MCP_OK) {
        mcp_buf_clear(&out.text);
        return st;
    }
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = print_preview(line, answer, app->arena, err);
    if (st != MCP_OK || failed == 0)
        return st;
    app->failure->is_answered = true; /* with what was read until it failed */
    return mcp_error_set(err, MCP_E_STOPPED, "%s cannot read '%.200s'", plugin, file->path);
}

static mcp_status preview(casparian_app *app, const cli_line *line, mcp_error *err)
{
    head file;
    mcp_status st = read_head(&file, cli_argument(line, 0), app->arena, err);
    if (st != MCP_OK)
        return st;
    const char *plugin = choose_plugin(&file, app, line);
    if (!plugin && !cli_flag(line, "raw"))
        st = unpack(&file, app->arena, err);
    if (st != MCP_OK)
        return st;
    return plugin ? show_rows(&file, plugin, app, line, err) : show_raw(&file, app, line, err);
}

int casparian_command_preview(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, preview);
}
