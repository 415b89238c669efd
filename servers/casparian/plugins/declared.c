/*
 * declared.c - what a plugin declares.
 *
 * Schemas come from two places: the files of a bundle, and the `outputs` of a Python module. Both
 * become JSON in the one form that definitions are read from; the file counts where both have an
 * output.
 */
#include "plugins/declared.h"

#include <string.h>

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a plugin");
}

static mcp_status wrong(const casparian_bundle *bundle, mcp_error *err, const char *what)
{
    return mcp_error_set(err, MCP_E_PARSE, "%s: %s", bundle->entrypoint, what);
}

/* The strings of a list. */
static const char *const *strings_of(size_t *count, mcp_arena *arena, const mcp_json *list)
{
    const char **out = mcp_arena_array(arena, mcp_json_count(list) + 1, sizeof *out);
    for (size_t i = 0; out && i < mcp_json_count(list); i++) {
        const char *text = mcp_json_string(mcp_json_item(list, i), NULL);
        if (text)
            out[(*count)++] = text;
    }
    return out;
}

static void write_column(mcp_json_writer *out, const mcp_json *column)
{
    const mcp_json *type = mcp_json_get(column, "type");
    mcp_write_object(out);
    mcp_write_member_value(out, "name", mcp_json_get(column, "name"));
    mcp_write_member_value(out, "type", type ? type : mcp_json_get(column, "data_type"));
    if (mcp_json_get(column, "nullable"))
        mcp_write_member_value(out, "nullable", mcp_json_get(column, "nullable"));
    if (mcp_json_get(column, "format") && !mcp_json_is_null(mcp_json_get(column, "format")))
        mcp_write_member_value(out, "format", mcp_json_get(column, "format"));
    mcp_write_end(out);
}

/* An output without columns is declared by its name alone. */
static void write_schema(mcp_json_writer *out, const char *output, const mcp_json *schema)
{
    const mcp_json *columns = mcp_json_get(schema, "columns");
    if (mcp_json_count(columns) == 0)
        return;
    mcp_write_member_object(out, output);
    mcp_write_member_string(out, "output_name", output);
    if (mcp_json_get(schema, "mode"))
        mcp_write_member_value(out, "mode", mcp_json_get(schema, "mode"));
    mcp_write_member_array(out, "columns");
    for (size_t i = 0; i < mcp_json_count(columns); i++)
        write_column(out, mcp_json_item(columns, i));
    mcp_write_end(out);
    mcp_write_end(out);
}

/* Outputs by name: those of `first`, then those of `second` that are not among them. */
struct outputs {
    const mcp_json *first, *second;
    const char **names;
    size_t count;
};

static mcp_status add_outputs(struct outputs *self, const mcp_json *all, const mcp_json *except,
                              const casparian_bundle *bundle, mcp_json_writer *out, mcp_error *err)
{
    for (size_t i = 0; i < mcp_json_count(all); i++) {
        const char *name = mcp_json_name(all, i, NULL);
        if (mcp_json_get(except, name))
            continue;
        if (!casparian_plugin_id_is_valid(name))
            return mcp_error_set(err, MCP_E_PARSE, "%s: %.80s is no name of an output",
                                 bundle->entrypoint, name);
        if (casparian_output_name_is_reserved(name))
            return mcp_error_set(err, MCP_E_PARSE,
                                 "%s: no output is called %.80s: " CASPARIAN_OUTPUT_NAME_RESERVED,
                                 bundle->entrypoint, name);
        self->names[self->count++] = name;
        write_schema(out, name, mcp_json_item(all, i));
    }
    return MCP_OK;
}

static mcp_status read_outputs(casparian_plugin *plugin, mcp_arena *arena,
                               const casparian_bundle *bundle, struct outputs *self, mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer writer;
    const mcp_json *json = NULL;
    size_t most = mcp_json_count(self->first) + mcp_json_count(self->second);

    if (most > CASPARIAN_OUTPUTS_MAX)
        return wrong(bundle, err, "it declares too many outputs; at most 64");
    self->names = mcp_arena_array(arena, most + 1, sizeof *self->names);
    if (!self->names)
        return no_memory(err);
    mcp_buf_init(&text, 2 * CASPARIAN_BUNDLE_TEXT_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_status st = add_outputs(self, self->first, NULL, bundle, &writer, err);
    if (st == MCP_OK)
        st = add_outputs(self, self->second, self->first, bundle, &writer, err);
    if (st == MCP_OK) {
        mcp_write_end(&writer);
        st = mcp_json_writer_status(&writer) == MCP_OK
                 ? mcp_json_read(&json, arena, text.data, text.length, err)
                 : wrong(bundle, err, "its schemas cannot be written as JSON");
    }
    mcp_buf_clear(&text);
    if (st == MCP_OK && mcp_json_count(json))
        st = casparian_schemas_read(&plugin->schemas, arena, json, NULL, NULL, err);
    if (st == MCP_E_SCHEMA) {
        mcp_error why = err ? *err : (mcp_error)MCP_ERROR_INIT;
        st = mcp_error_set(err, MCP_E_PARSE, "%s: outputs%s", bundle->entrypoint, why.message);
    }
    plugin->outputs = self->names;
    plugin->output_count = self->count;
    return st;
}

/* The name of a module's file, where it is an id. */
static const char *stem_of(mcp_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".py") == 0)
        length -= 3;
    const char *stem = mcp_arena_strndup(arena, name, length);
    return stem && casparian_plugin_id_is_valid(stem) ? stem : NULL;
}

/* A module without a manifest says what it is itself; with one, both say the same. */
static mcp_status read_identity(casparian_plugin *plugin, mcp_arena *arena,
                                const casparian_bundle *bundle, const mcp_json *metadata,
                                mcp_error *err)
{
    const char *name = mcp_json_get_string(metadata, "name");
    const char *version = mcp_json_get_string(metadata, "version");

    plugin->id = bundle->id;
    plugin->version = bundle->version;
    if (bundle->manifest) {
        if ((name && strcmp(name, bundle->id) != 0) ||
            (version && strcmp(version, bundle->version) != 0))
            return wrong(bundle, err, "its name and version are not those of casparian.toml");
        return MCP_OK;
    }
    plugin->id = name ? name : stem_of(arena, bundle->entrypoint);
    plugin->version = version ? version : "0.0.0-dev";
    if (!plugin->id || !casparian_plugin_id_is_valid(plugin->id))
        return wrong(bundle, err,
                     "it has no name: declare name = \"...\" of lower-case letters, digits and _");
    if (!casparian_version_is_valid(plugin->version))
        return wrong(bundle, err, "its version is no semantic version, as in 1.2.0");
    return MCP_OK;
}

mcp_status casparian_declared_read(casparian_plugin *plugin, mcp_arena *arena,
                                   const casparian_bundle *bundle, const mcp_json *metadata,
                                   mcp_error *err)
{
    struct outputs outputs = { .first = bundle->schemas,
                               .second = mcp_json_get(metadata, "outputs") };
    const mcp_json *topics = mcp_json_get(metadata, "topics");
    bool has_parse = true;

    mcp_json_bool(mcp_json_get(metadata, "has_parse"), &has_parse);
    mcp_json_bool(mcp_json_get(metadata, "incomplete"), &plugin->has_incomplete_metadata);
    if (!has_parse)
        return wrong(bundle, err, "it has no function parse(file_path)");
    mcp_status st = read_identity(plugin, arena, bundle, metadata, err);
    if (st == MCP_OK)
        st = read_outputs(plugin, arena, bundle, &outputs, err);
    if (st != MCP_OK)
        return st;
    plugin->topics = strings_of(&plugin->topic_count, arena,
                                topics ? topics : mcp_json_get(bundle->manifest, "topics"));
    plugin->import_warnings = strings_of(&plugin->import_warning_count, arena,
                                         mcp_json_get(metadata, "warnings"));
    plugin->default_output = mcp_json_get_string(metadata, "default_output");
    if (!plugin->default_output)
        plugin->default_output = plugin->output_count == 1 ? plugin->outputs[0] : plugin->id;
    return plugin->topics && plugin->import_warnings ? MCP_OK : no_memory(err);
}
