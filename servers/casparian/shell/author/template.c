/*
 * template.c - casparian plugin new: a parser that runs, of a template and the columns of a sample.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "check/violation.h"
#include "jobs/promote.h"
#include "shell/author/author.h"
#include "shell/author/guess.h"
#include "shell/commands.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { FILE_MAX = 4 << 20, FILES_MAX = 3 };

static const char *const languages[] = { "py", "c", NULL };

/* clang-format off */
const cli_option casparian_plugin_new_options[] = {
    { .name = "lang", .type = CLI_CHOICE, .argument = "LANGUAGE", .choices = languages, .standard = "py",
      .help = "Python, or C with the SDK (casparian_plugin.h)" },
    { .name = "sample", .type = CLI_STRING, .argument = "FILE",
      .help = "its columns and their types are declared: *.csv, *.tsv, *.jsonl, *.ndjson" },
    { 0 },
};
/* clang-format on */

/* The plugin that is made. */
typedef struct draft {
    casparian_app *app;
    const char *name, *sample; /* `sample` NULL: none */
    bool is_c;
    casparian_guess guess;
    const char *made[FILES_MAX];
    size_t count;
} draft;

/* ---- texts of a template --------------------------------------------------------------------- */

/* A literal of Python and of C. */
static void put_literal(mcp_buf *out, const char *text)
{
    mcp_buf_putc(out, '"');
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            mcp_buf_printf(out, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7F || *at == '?') /* '?': no trigraphs */
            mcp_buf_printf(out, "\\%03o", *at);
        else
            mcp_buf_putc(out, (char)*at);
    }
    mcp_buf_putc(out, '"');
}

/* "" is among them, so that the list is never empty. */
static void put_missing(mcp_buf *out, const draft *self)
{
    put_literal(out, "");
    for (int i = 0; casparian_sentinel_text(i); i++) {
        if (!(self->guess.sentinels >> i & 1) || !*casparian_sentinel_text(i))
            continue;
        mcp_buf_puts(out, ", ");
        put_literal(out, casparian_sentinel_text(i));
    }
}

static bool is_text(const casparian_column *column)
{
    return column->type.kind == CASPARIAN_KIND_STRING && !column->is_nullable;
}

static void put_texts(mcp_buf *out, const draft *self)
{
    const casparian_definition *schema = &self->guess.schema;
    size_t written = 0;
    for (size_t i = 0; i < schema->count; i++) {
        if (!self->is_c && !is_text(&schema->columns[i]))
            continue;
        mcp_buf_puts(out, written++ ? ", " : "");
        if (self->is_c)
            mcp_buf_puts(out, is_text(&schema->columns[i]) ? "true" : "false");
        else
            put_literal(out, schema->columns[i].name);
    }
    if (written == 0)
        put_literal(out, "");
}

static void put_columns(mcp_buf *out, const draft *self)
{
    const casparian_definition *schema = &self->guess.schema;
    for (size_t i = 0; i < schema->count; i++) {
        mcp_buf_puts(out, i ? ",\n    { " : "    { ");
        put_literal(out, schema->columns[i].name);
        mcp_buf_puts(out, ", CF_STRING, 0, 0, NULL }");
    }
}

static void put_schemas(mcp_buf *out, const draft *self)
{
    const casparian_schemas schemas = { 1, &self->guess.schema };
    casparian_promotion code;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = casparian_promote(&code, self->app->arena, &schemas, NULL, "schemas.py", &err);
    const char *begin = st == MCP_OK ? strstr(code.files[0].text, "outputs = {") : NULL;
    if (begin)
        mcp_buf_append(out, begin, strlen(begin) - 1); /* without the newline at its end */
    else
        out->status = st == MCP_OK ? MCP_E_INTERNAL : st;
}

static void put_value(mcp_buf *out, const draft *self, const char *key, size_t length)
{
    const char delimiter[] = { self->guess.delimiter, '\0' };
    const char *sample = self->sample ? strrchr(self->sample, '/') : NULL;
    if (strncmp(key, "NAME", length) == 0)
        mcp_buf_puts(out, self->name);
    else if (strncmp(key, "FOLDER", length) == 0)
        mcp_buf_printf(out, "./%s", self->name);
    else if (strncmp(key, "SAMPLE", length) == 0)
        mcp_buf_puts(out, sample ? sample + 1 : self->sample);
    else if (strncmp(key, "SCHEMAS", length) == 0)
        put_schemas(out, self);
    else if (strncmp(key, "COUNT", length) == 0)
        mcp_buf_printf(out, "%zu", self->guess.schema.count);
    else if (strncmp(key, "COLUMNS", length) == 0)
        put_columns(out, self);
    else if (strncmp(key, "MISSING", length) == 0)
        put_missing(out, self);
    else if (strncmp(key, "TEXTS", length) == 0)
        put_texts(out, self);
    else if (self->is_c) /* DELIMITER */
        mcp_buf_printf(out, "%d", self->guess.delimiter);
    else
        put_literal(out, delimiter);
}

/* Each @KEY@ of the template has its value. */
static mcp_status fill(mcp_buf *out, const draft *self, const char *template_name, mcp_error *err)
{
    const mcp_file *file = mcp_files_find(self->app->files, template_name);
    if (!file)
        return mcp_error_set(err, MCP_E_INTERNAL, "there is no %s", template_name);
    for (size_t at = 0; at < file->length;) {
        const char *from = file->bytes + at;
        size_t rest = file->length - at;
        size_t length = rest > 1 && *from == '@' ? strspn(from + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
                                                 : 0;
        if (length > 0 && length + 1 < rest && from[length + 1] == '@') {
            put_value(out, self, from + 1, length);
            at += length + 2;
        } else {
            mcp_buf_putc(out, *from);
            at++;
        }
    }
    return out->status == MCP_OK ? MCP_OK
                                 : mcp_error_set(err, out->status, "the text of the plugin");
}

/* ---- files ----------------------------------------------------------------------------------- */

static mcp_status write_one(draft *self, const char *relative, const char *text, size_t length,
                            mcp_error *err)
{
    const char *path = mcp_arena_printf(self->app->arena, "%s/%s", self->name, relative);
    if (!path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    mcp_status st = casparian_author_folders(self->app->arena, path, err);
    if (st == MCP_OK)
        st = casparian_author_write(path, text, length, 0644, err);
    self->made[self->count++] = path;
    return st;
}

static mcp_status write_manifest(draft *self, mcp_error *err)
{
    struct utsname host;
    if (uname(&host) != 0)
        return mcp_error_errno(err, errno, "the platform");
    const char *entry = self->is_c ? self->name
                                   : mcp_arena_printf(self->app->arena, "%s.py", self->name);
    const char *platform = self->is_c ? mcp_arena_printf(self->app->arena,
                                                         "platform_os = \"linux\"\n"
                                                         "platform_arch = \"%s\"\n"
                                                         "topics = [\"%s\"]\n",
                                                         host.machine, self->name)
                                      : "";
    const char *text = entry && platform
                           ? mcp_arena_printf(self->app->arena,
                                              "name = \"%s\"\nversion = \"0.1.0\"\n"
                                              "protocol_version = \"0.1\"\n"
                                              "runtime_kind = \"%s\"\nentrypoint = \"%s\"\n%s",
                                              self->name,
                                              self->is_c ? "native_exec" : "python_shim", entry,
                                              platform)
                           : NULL;
    return text ? write_one(self, "casparian.toml", text, strlen(text), err)
                : mcp_error_set(err, MCP_E_NOMEM, "no memory for the manifest");
}

static mcp_status write_code(draft *self, mcp_error *err)
{
    static const char *const templates[][2] = {
        [CASPARIAN_SAMPLE_LINES] = { "templates/lines.py.in", "templates/lines.c.in" },
        [CASPARIAN_SAMPLE_CSV] = { "templates/csv.py.in", "templates/csv.c.in" },
        [CASPARIAN_SAMPLE_NDJSON] = { "templates/ndjson.py.in", NULL },
    };
    const char *name = mcp_arena_printf(self->app->arena, self->is_c ? "%s.c" : "%s.py",
                                        self->name);
    mcp_buf text;
    if (!name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");
    mcp_buf_init(&text, FILE_MAX);
    mcp_status st = fill(&text, self, templates[self->guess.kind][self->is_c], err);
    if (st == MCP_OK)
        st = write_one(self, name, text.data, text.length, err);
    mcp_buf_clear(&text);
    return st;
}

/* A native plugin has its schema in a file. */
static mcp_status write_schema(draft *self, mcp_error *err)
{
    const casparian_schemas schemas = { 1, &self->guess.schema };
    casparian_promotion code;
    const char *name = mcp_arena_printf(self->app->arena, "schemas/%s.schema.json", self->name);
    if (!name)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a name");
    mcp_status st = casparian_promote(&code, self->app->arena, &schemas, NULL, name, err);
    return st == MCP_OK ? write_one(self, name, code.files[0].text, code.files[0].length, err) : st;
}

/* All of the files, or none. */
static mcp_status write_plugin(draft *self, mcp_error *err)
{
    if (mkdir(self->name, 0755) != 0)
        return errno == EEXIST
                   ? mcp_error_set(err, MCP_E_EXISTS, "'%s' exists, and nothing is overwritten",
                                   self->name)
                   : mcp_error_errno(err, errno, "the folder '%s'", self->name);
    mcp_error ignored = MCP_ERROR_INIT; /* the first failure counts */
    mcp_status st = write_manifest(self, err);
    if (st == MCP_OK)
        st = write_code(self, err);
    if (st == MCP_OK && self->is_c)
        st = write_schema(self, err);
    if (st != MCP_OK)
        casparian_author_remove(self->name, &ignored);
    return st;
}

/* ---- the command ----------------------------------------------------------------------------- */

static mcp_status answer(const draft *self, const cli_line *line, mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *json = NULL;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "name", self->name);
    mcp_write_member_array(&out.json, "files");
    for (size_t i = 0; i < self->count; i++)
        mcp_write_string(&out.json, self->made[i]);
    mcp_write_end(&out.json);
    mcp_write_member_string(&out.json, "schema_hash", self->guess.schema.hash);
    mcp_status st = casparian_shell_answer_end(&out, &json, line, self->app->arena, err);
    for (size_t i = 0; st == MCP_OK && json && i < self->count; i++)
        fprintf(cli_out(line), "%s\n", self->made[i]);
    if (st == MCP_OK && json && !cli_flag(line, "quiet") && self->is_c)
        fprintf(cli_err(line), "Next: cc -std=c17 -O2 %s/%s.c -lcasparian_plugin -o %s/%s\n",
                self->name, self->name, self->name, self->name);
    if (st == MCP_OK && json && !cli_flag(line, "quiet"))
        fprintf(cli_err(line), "Next: casparian backtest ./%s %s\n", self->name,
                self->sample ? self->sample : "DIRECTORY");
    return st;
}

static mcp_status make(casparian_app *app, const cli_line *line, mcp_error *err)
{
    draft self = { .app = app,
                   .name = cli_argument(line, 0),
                   .sample = cli_string(line, "sample"),
                   .is_c = strcmp(cli_string(line, "lang"), "c") == 0 };
    if (!casparian_plugin_id_is_valid(self.name))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "'%.80s' is no name of a plugin: letters, digits and '_', and a "
                             "letter first",
                             self.name);
    if (casparian_output_name_is_reserved(self.name))
        return mcp_error_set(
            err, MCP_E_PARAMS,
            "'%.80s' would be the name of its output, too: " CASPARIAN_OUTPUT_NAME_RESERVED,
            self.name);
    mcp_status st = casparian_guess_read(&self.guess, app, self.sample, self.name, err);
    if (st == MCP_OK && self.is_c && self.guess.kind == CASPARIAN_SAMPLE_NDJSON)
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "there is no template in C for JSON; --lang py has one");
    if (st == MCP_OK && self.is_c && casparian_guess_is_packed(self.sample))
        st = mcp_error_set(err, MCP_E_PARAMS,
                           "there is no template in C for packed files; --lang py has one");
    if (st == MCP_OK)
        st = write_plugin(&self, err);
    return st == MCP_OK ? answer(&self, line, err) : st;
}

int casparian_command_plugin_new(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, make);
}
