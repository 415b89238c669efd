/*
 * schemas.c - casparian schema propose, promote and diff.
 *
 * What a person promotes on the command line is written at once: no approval is asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/ephemeral.h"
#include "jobs/promote.h"
#include "jobs/state/rows.h"
#include "schema/compare.h"
#include "shell/commands.h"
#include "shell/plugin_ref.h"
#include "shell/print.h"
#include "shell/shell.h"

/* clang-format off */
const cli_option casparian_schema_promote_options[] = {
    { .name = "output", .type = CLI_STRING, .argument = "PATH",
      .help = "required: a new file *.py or *.schema.json, or a folder with a '/' at its end" },
    { .name = "from", .type = CLI_STRING, .argument = "FILE",
      .help = "schemas (JSON), in the place of a proposal" },
    { 0 },
};
/* clang-format on */

/* ---- propose --------------------------------------------------------------------------------- */

static mcp_status propose(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_schemas schemas;
    casparian_ephemeral made;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_shell_read_schemas(&schemas, cli_argument(line, 0), app->arena, err);
    if (st == MCP_OK && schemas.count == 0)
        st = mcp_error_set(err, MCP_E_SCHEMA, "'%.200s' has no schema", cli_argument(line, 0));
    if (st == MCP_OK)
        st = casparian_ephemeral_propose(&made, app->store, app->arena, &schemas, "cli_preview",
                                         NULL, err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_string(&out.json, "ephemeral_id", made.id);
    casparian_write_time(&out.json, "expires_at", made.expires_ms);
    mcp_write_member_object(&out.json, "schema_hashes");
    for (size_t i = 0; i < schemas.count; i++)
        mcp_write_member_string(&out.json, schemas.items[i].output, schemas.items[i].hash);
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        fprintf(cli_out(line), "%s\n", made.id);
    return st;
}

int casparian_command_schema_propose(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, propose);
}

/* ---- promote --------------------------------------------------------------------------------- */

/* The path as code is written at it: its folder without links, then its name. */
static mcp_status resolve_target(const char **out, int *folder, const char *path, mcp_arena *arena,
                                 mcp_error *err)
{
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *above = slash ? mcp_arena_strndup(arena, path, (size_t)(slash - path) + 1) : ".";
    if (!above)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    if (!realpath(above, real))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no folder '%.200s'", above);
    *out = mcp_arena_printf(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
    *folder = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *folder >= 0 ? MCP_OK : mcp_error_errno(err, errno, "the folder '%.200s'", real);
}

static mcp_status write_code(casparian_promotion *code, const casparian_schemas *schemas,
                             const char *id, const char *path, mcp_arena *arena, mcp_error *err)
{
    const char *target = NULL;
    int folder = -1;
    mcp_status st = resolve_target(&target, &folder, path, arena, err);
    if (st == MCP_OK)
        st = casparian_promote(code, arena, schemas, id, target, err);
    if (st == MCP_OK)
        st = casparian_promote_write(folder, code, err);
    if (folder >= 0)
        close(folder);
    return st;
}

/* @param proposal NULL: the schemas are those of a file */
static mcp_status answer_promotion(casparian_app *app, const cli_line *line,
                                   const casparian_promotion *code,
                                   const casparian_ephemeral *proposal, mcp_error *err)
{
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_error why = MCP_ERROR_INIT;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "files");
    for (size_t i = 0; i < code->count; i++) {
        mcp_write_object(&out.json);
        mcp_write_member_string(&out.json, "path", code->files[i].path);
        mcp_write_member_int(&out.json, "bytes", (int64_t)code->files[i].length);
        mcp_write_member_string(&out.json, "sha256", code->files[i].sha256);
        mcp_write_end(&out.json);
    }
    mcp_write_end(&out.json);
    if (proposal &&
        casparian_ephemeral_warn(&out.json, app->store, app->arena, proposal, &why) != MCP_OK)
        fprintf(cli_err(line), "warning: %s\n", why.message);
    mcp_status st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    for (size_t i = 0; st == MCP_OK && answer && i < code->count; i++)
        fprintf(cli_out(line), "%s\n", code->files[i].path);
    casparian_shell_warnings(line, mcp_json_get(answer, "warnings"));
    return st;
}

static mcp_status promote(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *id = cli_argument(line, 0), *from = cli_string(line, "from");
    const char *path = cli_string(line, "output");
    casparian_schemas schemas;
    casparian_ephemeral proposal;
    casparian_promotion code;
    if (!path || !*path)
        return mcp_error_set(err, MCP_E_PARAMS, "--output PATH is required");
    if (!id == !from)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "either the id of a proposal or --from FILE is required");
    mcp_status st = from ? casparian_shell_read_schemas(&schemas, from, app->arena, err)
                         : casparian_ephemeral_load(&proposal, app->store, app->arena, id, err);
    if (st == MCP_E_NOT_FOUND && id)
        return mcp_error_set(err, st, "there is no proposal '%.60s', or it has expired", id);
    if (st == MCP_OK)
        st = write_code(&code, from ? &schemas : &proposal.schemas, id, path, app->arena, err);
    return st == MCP_OK ? answer_promotion(app, line, &code, from ? NULL : &proposal, err) : st;
}

int casparian_command_schema_promote(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE, promote);
}

/* ---- diff ------------------------------------------------------------------------------------ */

/* The schemas of a proposal, of a JSON file, or of a plugin. */
static mcp_status find_schemas(casparian_schemas *out, casparian_app *app, const char *text,
                               mcp_error *err)
{
    size_t length = strlen(text);
    casparian_ephemeral proposal;
    casparian_plugin plugin;
    if (length > 5 && strcmp(text + length - 5, ".json") == 0)
        return casparian_shell_read_schemas(out, text, app->arena, err);
    bool is_proposal = casparian_ephemeral_id_is_valid(text);
    mcp_status st = is_proposal
                        ? casparian_ephemeral_load(&proposal, app->store, app->arena, text, err)
                        : casparian_shell_plugin(&plugin, app, text, err);
    if (st == MCP_OK)
        *out = is_proposal ? proposal.schemas : plugin.schemas;
    return st;
}

/* Changes, written as they are found. */
typedef struct changes {
    mcp_json_writer *json; /* in an open array */
    size_t breaking;
} changes;

static void write_change(void *data, const casparian_change *change)
{
    changes *self = data;
    self->breaking += change->breaks;
    mcp_write_object(self->json);
    mcp_write_member_string(self->json, "output", change->output);
    casparian_write_text(self->json, "column", change->column);
    mcp_write_member_string(self->json, "change", change->what);
    casparian_write_text(self->json, "from", change->from);
    casparian_write_text(self->json, "to", change->to);
    mcp_write_member_bool(self->json, "breaks", change->breaks);
    mcp_write_end(self->json);
}

static mcp_status diff(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "OUTPUT", "/output", false }, { "COLUMN", "/column", false },
        { "CHANGE", "/change", false }, { "FROM", "/from", false },
        { "TO", "/to", false },         { "BREAKS", "/breaks", false },
    };
    casparian_schemas older, newer;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = find_schemas(&older, app, cli_argument(line, 0), err);
    if (st == MCP_OK)
        st = find_schemas(&newer, app, cli_argument(line, 1), err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    changes found = { .json = &out.json };
    mcp_write_member_array(&out.json, "changes");
    st = casparian_schemas_compare(&older, &newer, app->arena, write_change, &found, err);
    mcp_write_end(&out.json);
    mcp_write_member_bool(&out.json, "breaks", found.breaking > 0);
    st = casparian_shell_answer_close(&out, st, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        st = casparian_shell_table(line, mcp_json_get(answer, "changes"), columns,
                                   sizeof columns / sizeof columns[0], "Nothing has changed.", err);
    if (st != MCP_OK || found.breaking == 0)
        return st;
    app->failure->is_answered = true;
    return mcp_error_set(err, MCP_E_STOPPED, "%zu changes break readers of %.100s", found.breaking,
                         cli_argument(line, 0));
}

int casparian_command_schema_diff(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, diff);
}
