/*
 * tools.c - tools as they are loaded and listed: their files bound to their functions.
 *
 * A tool is a JSON file, which clients get, and a row that binds its name to a function. Everything
 * that can be wrong with the two is found when they are loaded, so that a server that starts has
 * tools that work: names match one to one, schemas compile, no two tools share a name.
 *
 * tools/list shows the file in the form of a revision. The library leaves out what the revision
 * does not know and `$schema`, and adds the safe name, the note that the tool is disabled, and what
 * its flags say of tasks. A list that shows safe names has them in descriptions, too.
 */
#include <string.h>

#include "mcp/core/version.h"
#include "mcp/feature/tool_int.h"

#define SCHEMA_MAX_BYTES ((size_t)8 * 1024 * 1024)

/* ---- shared shapes --------------------------------------------------------------------------- */

struct defs_search {
    const mcp_json *own;    /* the schema's `$defs` */
    const mcp_json *shared; /* definitions by name */
    bool *named;            /* one for each member of `shared` */
    bool any;
};

static void look_through(struct defs_search *search, const mcp_json *value);

static void note_reference(struct defs_search *search, const char *reference)
{
    static const char prefix[] = "#/$defs/";
    const char *name = reference + sizeof prefix - 1;

    if (strncmp(reference, prefix, sizeof prefix - 1) != 0)
        return;
    size_t length = strcspn(name, "/");
    if (mcp_json_get_n(search->own, name, length))
        return;
    for (size_t i = 0; i < mcp_json_count(search->shared); i++) {
        size_t n = 0;
        const char *candidate = mcp_json_name(search->shared, i, &n);
        if (n != length || memcmp(candidate, name, n) != 0 || search->named[i])
            continue;
        search->named[i] = true;
        search->any = true;
        look_through(search, mcp_json_item(search->shared, i));
    }
}

/* Depth is bounded by what the reader lets through; each shared shape is entered once. */
static void look_through(struct defs_search *search, const mcp_json *value)
{
    bool is_object = mcp_json_is_object(value);

    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const mcp_json *item = mcp_json_item(value, i);
        const char *text = is_object ? mcp_json_string(item, NULL) : NULL;
        if (text && strcmp(mcp_json_name(value, i, NULL), "$ref") == 0)
            note_reference(search, text);
        else
            look_through(search, item);
    }
}

static void write_merged(mcp_json_writer *writer, const mcp_json *schema,
                         const struct defs_search *search)
{
    mcp_write_object(writer);
    mcp__list_write_members(writer, schema, "$defs");
    mcp_write_member_object(writer, "$defs");
    mcp__list_write_members(writer, search->own, NULL);
    for (size_t i = 0; i < mcp_json_count(search->shared); i++)
        if (search->named[i])
            mcp_write_member_value(writer, mcp_json_name(search->shared, i, NULL),
                                   mcp_json_item(search->shared, i));
    mcp_write_end(writer);
    mcp_write_end(writer);
}

static mcp_status rewrite(const mcp_json **out, mcp_arena *arena, const mcp_json *schema,
                          const struct defs_search *search, mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, SCHEMA_MAX_BYTES);
    mcp_json_writer_init(&writer, &text);
    write_merged(&writer, schema, search);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(out, arena, text.data, text.length, err);
    else
        (void)mcp_error_set(err, st, "the schema with its shared shapes cannot be written");
    mcp_buf_clear(&text);
    return st;
}

mcp_status mcp__tool_complete_schema(const mcp_json **out, mcp_arena *arena, const mcp_json *schema,
                                     const mcp_json *shared, mcp_error *err)
{
    const mcp_json *inner = mcp_json_get(shared, "$defs");
    struct defs_search search = { .own = mcp_json_get(schema, "$defs"),
                                  .shared = inner ? inner : shared };

    search.named = mcp_arena_array(arena, mcp_json_count(search.shared) + 1, sizeof(bool));
    if (!search.named)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a schema");
    look_through(&search, schema);
    if (search.any)
        return rewrite(out, arena, schema, &search, err);
    *out = schema;
    return MCP_OK;
}

/* ---- the entry of tools/list ----------------------------------------------------------------- */

bool mcp__tool_is_structured(const mcp__tool *tool, mcp_revision revision)
{
    const char *member = tool->gives_object ? "structuredContent" : "structuredContent of any type";

    return tool->output && mcp__field_is_known("CallToolResult", member, revision);
}

static bool is_name(const mcp__features *set, const char *name, size_t length)
{
    for (const mcp_tool *row = set->tool_rows; row && row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
            return true;
    return length > 0 && mcp__list_find(&set->tools, name, length);
}

static bool is_word(char c)
{
    return c != '\0' && (mcp__list_safe_byte(c) == c || strchr("/-.", c));
}

const char *mcp__tools_text(const mcp__features *set, mcp_arena *arena, const char *text,
                            mcp_revision revision)
{
    char *safe = mcp__list_shows_safe_names(set->options, revision) ? mcp_arena_strdup(arena, text)
                                                                    : NULL;

    for (char *at = safe; at && *at;) {
        size_t length = 0;
        while (is_word(at[length]))
            length++;
        char *next = at[length] ? at + length + 1 : at + length;
        while (length > 0 && at[length - 1] == '.') /* the end of a sentence */
            length--;
        if (length <= MCP__SAFE_NAME_MAX && is_name(set, at, length))
            for (size_t i = 0; i < length; i++)
                at[i] = mcp__list_safe_byte(at[i]);
        at = next;
    }
    return safe ? safe : text;
}

/* A value of the file, with the names of tools in descriptions as the list shows them. */
static void write_value(mcp_json_writer *writer, const mcp__tool *tool, const mcp_json *value,
                        mcp_revision revision)
{
    if (!mcp__list_shows_safe_names(tool->owner->options, revision) ||
        (!mcp_json_is_object(value) && !mcp_json_is_array(value))) {
        mcp_write_value(writer, value);
        return;
    }
    if (mcp_json_is_object(value))
        mcp_write_object(writer);
    else
        mcp_write_array(writer);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_name(value, i, NULL);
        const char *text = mcp_json_string(mcp_json_item(value, i), NULL);
        if (name)
            mcp_write_name(writer, name);
        if (name && text && strcmp(name, "description") == 0)
            mcp_write_string(writer,
                             mcp__tools_text(tool->owner, tool->owner->arena, text, revision));
        else
            write_value(writer, tool, mcp_json_item(value, i), revision);
    }
    mcp_write_end(writer);
}

/* The note that the tool is disabled; NULL: it is not. */
static const char *note_of(const mcp__tool *tool)
{
    return mcp__tool_is_disabled(tool) ? tool->owner->options->write_note : NULL;
}

static void write_description(mcp_json_writer *writer, const mcp__tool *tool, mcp_revision revision)
{
    const char *own = mcp_json_get_string(tool->definition, "description");
    const char *note = note_of(tool);
    const char *text = mcp_arena_printf(tool->owner->arena, "%s%s%s", own ? own : "",
                                        own && note ? " " : "", note ? note : "");

    mcp_write_member_string(writer, "description",
                            text ? mcp__tools_text(tool->owner, tool->owner->arena, text, revision)
                                 : NULL);
}

/* What its flags say of tasks; other members are its file's. */
static void write_execution(mcp_json_writer *writer, const mcp__tool *tool)
{
    const mcp_json *own = mcp_json_get(tool->definition, "execution");
    unsigned flags = tool->row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED);

    if (!own && !flags)
        return;
    mcp_write_member_object(writer, "execution");
    mcp__list_write_members(writer, own, "taskSupport");
    if (flags)
        mcp_write_member_string(writer, "taskSupport",
                                flags & MCP_TASK_REQUIRED ? "required" : "optional");
    mcp_write_end(writer);
}

/* Without `$schema`: validators of an older draft refuse a schema that names 2020-12, the
 * default. */
static void write_schema(mcp_json_writer *writer, const char *name, const mcp__tool *tool,
                         const mcp_json *schema, mcp_revision revision)
{
    bool keeps_uri = tool->owner->options->keep_schema_uri;

    mcp_write_name(writer, name);
    if (!mcp_json_is_object(schema)) {
        mcp_write_value(writer, schema);
        return;
    }
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(schema); i++) {
        const char *keyword = mcp_json_name(schema, i, NULL);
        if (!keeps_uri && strcmp(keyword, "$schema") == 0)
            continue;
        mcp_write_name(writer, keyword);
        write_value(writer, tool, mcp_json_item(schema, i), revision);
    }
    mcp_write_end(writer);
}

/* One member of the tool's file, as the revision knows it. */
static void write_member(mcp_json_writer *writer, const mcp__tool *tool, size_t index,
                         const char *shown_name, mcp_revision revision)
{
    const char *name = mcp_json_name(tool->definition, index, NULL);

    if (!mcp__field_is_known("Tool", name, revision) || strcmp(name, "_meta") == 0 ||
        strcmp(name, "execution") == 0)
        return;
    if (strcmp(name, "name") == 0)
        mcp_write_member_string(writer, name, shown_name);
    else if (strcmp(name, "description") == 0)
        write_description(writer, tool, revision);
    else if (strcmp(name, "inputSchema") == 0)
        write_schema(writer, name, tool, tool->input, revision);
    else if (strcmp(name, "outputSchema") != 0)
        mcp_write_member_value(writer, name, mcp_json_item(tool->definition, index));
    else if (mcp__tool_is_structured(tool, revision))
        write_schema(writer, name, tool, tool->output, revision);
}

static void write_tool(mcp_json_writer *writer, const mcp__feature *feature, mcp_revision revision)
{
    const mcp__tool *tool = (const mcp__tool *)feature;
    const char *shown_name = mcp__list_shown_name(feature, tool->owner->options, revision);
    const char *note = note_of(tool);

    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(tool->definition); i++)
        write_member(writer, tool, i, shown_name, revision);
    if (note && !mcp_json_get(tool->definition, "description"))
        write_description(writer, tool, revision);
    if (shown_name != feature->name && !mcp_json_get(tool->definition, "title") &&
        mcp__field_is_known("Tool", "title", revision))
        mcp_write_member_string(writer, "title", feature->name);
    if (note)
        mcp_write_member_string(writer, "annotation", note);
    if (mcp__field_is_known("Tool", "execution", revision))
        write_execution(writer, tool);
    if (mcp__field_is_known("Tool", "_meta", revision))
        mcp__list_write_meta(writer, mcp_json_get(tool->definition, "_meta"), MCP__NAME_KEY,
                             shown_name != feature->name ? feature->name : NULL,
                             "causeway/disabled", note);
    mcp_write_end(writer);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void free_schemas(mcp__tool *tool)
{
    mcp_schema_free(tool->input_schema);
    mcp_schema_free(tool->output_schema);
}

void mcp__tools_free(mcp__features *set)
{
    for (mcp__feature *tool = set->tools.first; tool; tool = tool->next)
        free_schemas((mcp__tool *)tool);
}

static bool is_tool_file(const char *path)
{
    return mcp__features_has_file(path, "tools", ".json") && strcmp(path, "tools/_defs.json") != 0;
}

/* The error of something in a file. */
static mcp_status in_file(const mcp_file *file, mcp_status st, const mcp_error *cause,
                          mcp_error *err)
{
    return st == MCP_OK ? st
                        : mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS, "%s: %s",
                                        file->path, cause->message);
}

static mcp_status read_file(const mcp_json **out, mcp_arena *arena, const mcp_file *file,
                            mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp_json_read(out, arena, file->bytes, file->length, &cause);

    if (st == MCP_OK && !mcp_json_is_object(*out))
        st = mcp_error_set(&cause, MCP_E_PARAMS, "not a JSON object");
    return in_file(file, st, &cause, err);
}

/* One of the tool's two schemas: completed by shared shapes, and compiled. */
static mcp_status load_schema(const mcp_json **out, mcp_schema **compiled, const mcp__tool *tool,
                              const mcp_json *shared, const char *member, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__tool_complete_schema(
        out, tool->owner->arena, mcp_json_get(tool->definition, member), shared, &cause);

    if (st == MCP_OK)
        st = mcp_schema_compile(compiled, *out, NULL, &cause);
    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: %s", member, cause.message);
}

static bool describes_object(const mcp_json *definition, const char *member)
{
    const char *type = mcp_json_get_string(mcp_json_get(definition, member), "type");

    return type && strcmp(type, "object") == 0;
}

/* Clients refuse a whole list for one entry that is not as the revisions define it. */
static mcp_status check_definition(const mcp_json *definition, mcp_error *err)
{
    /* clang-format off */
    static const mcp__list_member members[] = {
        { "name", MCP_JSON_STRING },        { "title", MCP_JSON_STRING },
        { "description", MCP_JSON_STRING }, { "annotations", MCP_JSON_OBJECT },
        { "icons", MCP_JSON_ARRAY },        { "execution", MCP_JSON_OBJECT },
        { "_meta", MCP_JSON_OBJECT },       { 0 }
    };
    static const mcp__list_member hints[] = {
        { "title", MCP_JSON_STRING },       { "readOnlyHint", MCP_JSON_BOOL },
        { "destructiveHint", MCP_JSON_BOOL }, { "idempotentHint", MCP_JSON_BOOL },
        { "openWorldHint", MCP_JSON_BOOL }, { 0 }
    };
    /* clang-format on */
    const mcp_json *annotations = mcp_json_get(definition, "annotations");
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__list_check_members(definition, members, err);

    if (st == MCP_OK && mcp__list_check_members(annotations, hints, &cause) != MCP_OK)
        st = mcp_error_set(err, MCP_E_PARAMS, "annotations: %s", cause.message);
    if (st == MCP_OK && mcp_json_get_string(definition, "name")[0] == '\0')
        st = mcp_error_set(err, MCP_E_PARAMS, "'name' is empty");
    return st;
}

/* What the tool's file says. */
static mcp_status load_definition(mcp__tool *tool, const mcp_json *shared, mcp_error *err)
{
    const mcp_json *definition = tool->definition;
    mcp_status st = check_definition(definition, err);

    if (st != MCP_OK)
        return st;
    if (!describes_object(definition, "inputSchema"))
        return mcp_error_set(err, MCP_E_PARAMS, "inputSchema must have type \"object\"");
    tool->gives_object = describes_object(definition, "outputSchema");
    st = load_schema(&tool->input, &tool->input_schema, tool, shared, "inputSchema", err);
    if (st == MCP_OK)
        st = mcp__param_headers_read(&tool->headers, tool->owner->arena, tool->input, err);
    if (st == MCP_OK && mcp_json_get(definition, "outputSchema"))
        st = load_schema(&tool->output, &tool->output_schema, tool, shared, "outputSchema", err);
    return st == MCP_OK ? mcp__list_read_scopes(&tool->base.scopes, definition, err) : st;
}

int mcp__tool_max_running(const mcp__tool *tool)
{
    return tool->row->max_running > 0 ? tool->row->max_running : 1;
}

static mcp_status check_row(const mcp__tool *tool, mcp_error *err)
{
    const mcp_tool *row = tool->row;
    const unsigned tasks = row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED);
    const mcp__feature *other = mcp__list_find_namesake(&tool->owner->tools, &tool->base);
    const char *fault = NULL;

    if (other && strcmp(other->name, row->name) == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "there are two tools %s", row->name);
    if (other)
        return mcp_error_set(err, MCP_E_PARAMS, "tools %s and %s have one safe name", row->name,
                             other->name);
    if (!(row->flags & MCP_READS) == !(row->flags & MCP_WRITES))
        fault = "says neither MCP_READS nor MCP_WRITES, or both";
    else if ((row->flags & MCP_NONBLOCKING) && (row->flags & MCP_LONG))
        fault = "says both MCP_NONBLOCKING and MCP_LONG";
    else if ((row->flags & MCP_NONBLOCKING) && tasks)
        fault = "says MCP_NONBLOCKING and that it may be a task";
    else if ((row->flags & MCP_TASK_DEFERRED) && !tasks)
        fault = "says MCP_TASK_DEFERRED, but neither MCP_TASK_OPTIONAL nor MCP_TASK_REQUIRED";
    else if (!row->run || row->timeout_ms < 0 || row->max_running < 0)
        fault = "has no function or a negative bound";
    return fault ? mcp_error_set(err, MCP_E_PARAMS, "tool %s %s", row->name, fault) : MCP_OK;
}

static mcp_status add_tool(mcp__tool *tool, const mcp_json *shared, mcp_error *err)
{
    mcp__features *set = tool->owner;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__list_set_safe_name(&set->tools, &tool->base, err);

    if (st == MCP_OK)
        st = check_row(tool, err);
    if (st == MCP_OK)
        st = in_file(tool->file, load_definition(tool, shared, &cause), &cause, err);
    if (st == MCP_OK)
        st = mcp__list_add(&set->tools, &tool->base, write_tool, err);
    if (st != MCP_OK)
        free_schemas(tool);
    else if (tool->row->flags & MCP_LONG)
        set->long_threads += mcp__tool_max_running(tool);
    return st;
}

/* A tool for each file, with its name; without a row. */
static mcp_status read_files(mcp__tool **out, size_t *count, mcp__features *set,
                             const mcp_file *files, mcp_error *err)
{
    size_t most = 0;
    mcp__tool *all;

    for (const mcp_file *file = files; file && file->path; file++)
        most += is_tool_file(file->path);
    all = mcp_arena_array(set->arena, most + 1, sizeof *all);
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    for (const mcp_file *file = files; file && file->path; file++) {
        mcp__tool *tool = &all[*count];
        if (!is_tool_file(file->path))
            continue;
        mcp_status st = read_file(&tool->definition, set->arena, file, err);
        if (st != MCP_OK)
            return st;
        tool->owner = set;
        tool->file = file;
        tool->base.name = mcp_json_get_string(tool->definition, "name");
        if (!tool->base.name)
            return mcp_error_set(err, MCP_E_PARAMS, "%s: no name", file->path);
        (*count)++;
    }
    *out = all;
    return MCP_OK;
}

/* The tool of that name among those read, but for `except`, which may be NULL. */
static mcp__tool *find_read(mcp__tool *all, size_t count, const char *name, const mcp__tool *except)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].base.name, name) == 0 && &all[i] != except)
            return &all[i];
    return NULL;
}

/* A tool that no row has bound: it has no row, or another file has its name. */
static mcp_status refuse_unbound(mcp__tool *all, size_t count, const mcp__tool *tool,
                                 mcp_error *err)
{
    const mcp__tool *other = find_read(all, count, tool->base.name, tool);

    if (other)
        return mcp_error_set(err, MCP_E_PARAMS, "%s and %s: both have the tool %s",
                             other->file->path, tool->file->path, tool->base.name);
    return mcp_error_set(err, MCP_E_PARAMS, "%s: tool %s has no row in the table", tool->file->path,
                         tool->base.name);
}

static mcp_status bind(mcp__tool *all, size_t count, const mcp_features *features,
                       const mcp_json *shared, mcp_error *err)
{
    for (const mcp_tool *row = features->tools; row->name; row++) {
        mcp__tool *tool = find_read(all, count, row->name, NULL);
        if (!tool)
            return mcp_error_set(err, MCP_E_PARAMS, "tool %s has no file tools/*.json", row->name);
        if (tool->row)
            return mcp_error_set(err, MCP_E_PARAMS, "tool %s has two rows in the table", row->name);
        tool->row = row;
        tool->base.data = features->data;
        mcp_status st = add_tool(tool, shared, err);
        if (st != MCP_OK)
            return st;
    }
    for (size_t i = 0; i < count; i++)
        if (!all[i].row)
            return refuse_unbound(all, count, &all[i], err);
    return MCP_OK;
}

mcp_status mcp__tools_load(mcp__features *set, const mcp_features *features, mcp_error *err)
{
    const mcp_file *shared_file = mcp_files_find(features->files, "tools/_defs.json");
    const mcp_json *shared = NULL;
    mcp__tool *all = NULL;
    size_t count = 0;
    mcp_status st = MCP_OK;

    if (shared_file)
        st = read_file(&shared, set->arena, shared_file, err);
    if (st == MCP_OK)
        st = read_files(&all, &count, set, features->files, err);
    set->tool_rows = features->tools;
    if (st == MCP_OK)
        st = bind(all, count, features, shared, err);
    set->tool_rows = NULL;
    return st;
}
