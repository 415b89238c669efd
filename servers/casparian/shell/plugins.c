/*
 * plugins.c - casparian plugin list and show, and casparian schema: what parsers there are and what
 * they declare.
 */
#include <stdio.h>
#include <string.h>

#include "jobs/driver.h"
#include "shell/commands.h"
#include "shell/plugin_ref.h"
#include "shell/print.h"
#include "shell/shell.h"

enum { TEXT_MAX = 1 << 20 };

/* clang-format off */
const cli_option casparian_plugin_list_options[] = {
    { .name = "dev", .type = CLI_FLAG, .help = "also plugins in development" },
    { 0 },
};

const cli_option casparian_schema_options[] = {
    { .name = "output", .type = CLI_STRING, .argument = "NAME", .help = "of this output alone" },
    { .name = "hash", .type = CLI_FLAG, .help = "print the hashes alone" },
    { 0 },
};
/* clang-format on */

/* ---- list and show --------------------------------------------------------------------------- */

static void write_texts(mcp_json_writer *json, const char *name, const char *const *texts,
                        size_t count)
{
    mcp_write_member_array(json, name);
    for (size_t i = 0; i < count; i++)
        mcp_write_string(json, texts[i]);
    mcp_write_end(json);
}

static void write_plugin(mcp_json_writer *json, const casparian_plugin *plugin)
{
    mcp_write_member_string(json, "id", plugin->id);
    mcp_write_member_string(json, "version", plugin->version);
    mcp_write_member_string(json, "runtime", casparian_runtime_text(plugin->runtime));
    mcp_write_member_string(json, "source", casparian_origin_text(plugin->origin));
    write_texts(json, "outputs", plugin->outputs, plugin->output_count);
    write_texts(json, "topics", plugin->topics, plugin->topic_count);
    mcp_write_member_bool(json, "trusted", plugin->is_trusted);
    if (plugin->reason)
        mcp_write_member_string(json, "trust_reason", plugin->reason);
    mcp_write_member_string(json, "artifact_hash", plugin->artifact_hash);
    mcp_write_member_string(json, "path", plugin->entrypoint);
}

static mcp_status list(casparian_app *app, const cli_line *line, mcp_error *err)
{
    static const casparian_shell_column columns[] = {
        { "PLUGIN", "/id", false },       { "VERSION", "/version", false },
        { "RUNTIME", "/runtime", false }, { "SOURCE", "/source", false },
        { "TRUSTED", "/trusted", false }, { "OUTPUTS", "/outputs", false },
    };
    casparian_plugin_list all;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_registry_list(&all, app->arena, app->registry, cli_flag(line, "dev"),
                                            err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    mcp_write_member_array(&out.json, "plugins");
    for (size_t i = 0; i < all.count; i++) {
        mcp_write_object(&out.json);
        write_plugin(&out.json, &all.items[i]);
        mcp_write_end(&out.json);
    }
    mcp_write_end(&out.json);
    mcp_write_member_array(&out.json, "errors");
    for (size_t i = 0; i < all.fault_count; i++) {
        mcp_write_object(&out.json);
        mcp_write_member_string(&out.json, "path", all.faults[i].path);
        mcp_write_member_string(&out.json, "error", all.faults[i].message);
        mcp_write_end(&out.json);
    }
    mcp_write_end(&out.json);
    st = casparian_shell_answer_end(&out, &answer, line, app->arena, err);
    if (st != MCP_OK || !answer)
        return st;
    for (size_t i = 0; i < all.fault_count; i++)
        fprintf(cli_err(line), "%s: %s\n", all.faults[i].path, all.faults[i].message);
    return casparian_shell_table(line, mcp_json_get(answer, "plugins"), columns,
                                 sizeof columns / sizeof columns[0], "There are no plugins.", err);
}

int casparian_command_plugin_list(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, list);
}

static mcp_status write_schemas(mcp_json_writer *json, const casparian_plugin *plugin,
                                const char *output, mcp_error *err)
{
    mcp_status st = MCP_OK;
    mcp_buf text;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_write_member_object(json, "schemas");
    for (size_t i = 0; i < plugin->schemas.count && st == MCP_OK; i++) {
        const casparian_definition *schema = &plugin->schemas.items[i];
        if (output && strcmp(output, schema->output) != 0)
            continue;
        mcp_buf_reset(&text);
        st = casparian_definition_canonical(&text, schema);
        if (st == MCP_OK) {
            mcp_write_name(json, schema->output);
            mcp_write_raw(json, text.data, text.length);
        }
    }
    mcp_write_end(json);
    mcp_buf_clear(&text);
    return st == MCP_OK ? st : mcp_error_set(err, st, "a schema: %s", mcp_status_words(st));
}

static mcp_status write_hashes(mcp_json_writer *json, const casparian_plugin *plugin,
                               const char *output, mcp_error *err)
{
    char protocol[CASPARIAN_HASH_SIZE];
    mcp_status st = MCP_OK;
    mcp_write_member_object(json, "hashes");
    for (size_t i = 0; i < plugin->schemas.count && st == MCP_OK; i++) {
        const casparian_definition *schema = &plugin->schemas.items[i];
        if (output && strcmp(output, schema->output) != 0)
            continue;
        st = casparian_definition_protocol_hash(protocol, schema, err);
        mcp_write_member_object(json, schema->output);
        mcp_write_member_string(json, "schema_hash", schema->hash);
        mcp_write_member_string(json, "protocol_schema_hash", protocol);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    return st;
}

static mcp_status show(casparian_app *app, const cli_line *line, mcp_error *err)
{
    casparian_plugin plugin;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_shell_plugin(&plugin, app, cli_argument(line, 0), err);
    if (st != MCP_OK)
        return st;
    casparian_shell_answer_begin(&out);
    write_plugin(&out.json, &plugin);
    st = write_hashes(&out.json, &plugin, NULL, err);
    st = casparian_shell_answer_close(&out, st, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_plugin_show(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, show);
}

/* ---- schema ---------------------------------------------------------------------------------- */

static mcp_status schema(casparian_app *app, const cli_line *line, mcp_error *err)
{
    const char *output = cli_string(line, "output");
    casparian_plugin plugin;
    casparian_shell_answer out;
    const mcp_json *answer = NULL;
    mcp_status st = casparian_shell_plugin(&plugin, app, cli_argument(line, 0), err);
    if (st != MCP_OK)
        return st;
    if (output && !casparian_schemas_find(&plugin.schemas, output))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%.63s declares no schema of an output '%.63s'",
                             plugin.id, output);
    casparian_shell_answer_begin(&out);
    if (!cli_flag(line, "hash"))
        st = write_schemas(&out.json, &plugin, output, err);
    if (st == MCP_OK)
        st = write_hashes(&out.json, &plugin, output, err);
    st = casparian_shell_answer_close(&out, st, &answer, line, app->arena, err);
    if (st == MCP_OK && answer)
        casparian_shell_document(cli_out(line), answer);
    return st;
}

int casparian_command_schema(const cli_line *line, void *data)
{
    (void)data;
    return casparian_shell_run(line, CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_DRIVER, schema);
}
