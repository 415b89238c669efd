/*
 * tools.c - tools: their files bound to their functions, tools/list and tools/call.
 *
 * A tool is a JSON file that clients are shown as it stands, and a row that binds its name to a
 * function. Everything that can be wrong with the two is found when they are loaded, so that a
 * server that starts has tools that work: names match one to one, schemas compile, no two tools
 * share a name.
 *
 * A call is checked here, on the loop, in this order: does the tool exist for who asks; does the token
 * allow it; may it write; do its arguments fit; is there room for it. Arguments that are large, or take
 * long to check, are checked by the worker instead, once there is room. The first three can be answered
 * without looking at arguments, which may hold anything. What fails from the third on is a result with
 * isError, for the model to read; a call that is no call, or not allowed, is a JSON-RPC error.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mcp/core/call/reply.h"
#include "mcp/core/fields.h"
#include "mcp/core/incoming.h"
#include "mcp/feature/arguments.h"
#include "mcp/feature/feature.h"
#include "mcp/feature/list/exposure.h"
#include "mcp/feature/list/name.h"
#include "mcp/feature/mirror.h"
#include "mcp/feature/shared_defs.h"
#include "mcp/feature/tasks.h"

#define SHOWN_MAX 150 /* bytes of a name in a message */
#define TOOLS_MAX_BYTES ((size_t)256 * 1024 * 1024)

struct tool {
    struct tool *next;
    const mcp_tool *row;
    void *data;
    mcp__tools *owner;
    const mcp_json *definition; /* the file */
    const mcp_json *input;      /* inputSchema, with the shared shapes that it names */
    const mcp_json *output;     /* outputSchema likewise; NULL: none */
    bool gives_object;          /* that is what it describes */
    const char *scopes;         /* that a token needs; NULL: none */
    const mcp__mirror *mirrors; /* arguments that come in headers too; NULL: none */
    mcp_schema *input_schema;
    mcp_schema *output_schema;
    char safe_name[MCP__SAFE_NAME_SIZE];
    int running;    /* the loop's; calls of an MCP_LONG tool */
    mcp__pace pace; /* the loop's; of an MCP_QUICK one */
};

struct mcp__tools {
    const mcp_server_options *options;
    mcp_arena *arena; /* definitions and tools */
    struct tool *first;
    struct tool *last;
    mcp__map by_name; /* both names to struct tool */
    mcp__list *list;
    int long_threads;
    bool check_results;
};

/* ---- loading --------------------------------------------------------------------------------- */

mcp_status mcp__tools_new(mcp__tools **out, const mcp_server_options *options, mcp_error *err)
{
    mcp__tools *tools = mcp__alloc_zeroed(1, sizeof(*tools));

    if (!tools)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    tools->options = options;
#ifndef NDEBUG
    tools->check_results = true;
#endif
    tools->arena = mcp_arena_new(TOOLS_MAX_BYTES);
    mcp__map_init(&tools->by_name, tools->arena);
    mcp_status st = tools->arena ? mcp__list_new(&tools->list, "tools", err)
                                 : mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    if (st != MCP_OK) {
        mcp__tools_free(tools);
        return st;
    }
    *out = tools;
    return MCP_OK;
}

void mcp__tools_free(mcp__tools *tools)
{
    if (!tools)
        return;
    for (struct tool *tool = tools->first; tool; tool = tool->next) {
        mcp_schema_free(tool->input_schema);
        mcp_schema_free(tool->output_schema);
    }
    mcp__list_free(tools->list);
    mcp_arena_free(tools->arena);
    free(tools);
}

static bool is_tool_file(const char *path)
{
    size_t length = strlen(path);

    return strncmp(path, "tools/", 6) == 0 && length > 11 &&
           strcmp(path + length - 5, ".json") == 0 && strcmp(path, "tools/_defs.json") != 0;
}

static mcp_status read_file(const mcp_json **out, mcp__tools *tools, const mcp_file *file,
                            mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp_json_read(out, tools->arena, file->bytes, file->length, &cause);

    if (st == MCP_OK && !mcp_json_is_object(*out))
        return mcp_error_set(err, MCP_E_PARAMS, "%s: not a JSON object", file->path);
    if (st != MCP_OK)
        return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS, "%s: %s", file->path,
                             cause.message);
    return MCP_OK;
}

/* One of the tool's two schemas: completed by shared shapes, and compiled. */
static mcp_status load_schema(const mcp_json **out, mcp_schema **compiled, mcp__tools *tools,
                              const mcp_json *schema, const mcp_json *shared, const char *what,
                              mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__shared_defs_merge(out, tools->arena, schema, shared, &cause);

    if (st == MCP_OK)
        st = mcp_schema_compile(compiled, *out, NULL, &cause);
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, st == MCP_E_NOMEM ? st : MCP_E_PARAMS, "%s: %s", what, cause.message);
}

static bool describes_object(const mcp_json *schema)
{
    const char *type = mcp_json_get_string(schema, "type");

    return type && strcmp(type, "object") == 0;
}

static mcp_status load_mirrors(struct tool *tool, const char *path, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__mirrors_read(&tool->mirrors, tool->owner->arena, tool->input, &cause);

    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: inputSchema: %s", path, cause.message);
}

static mcp_status load_scopes(struct tool *tool, const char *path, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = mcp__exposure_scopes(&tool->scopes, tool->definition, &cause);

    return st == MCP_OK ? st : mcp_error_set(err, st, "%s: %s", path, cause.message);
}

static mcp_status load_schemas(struct tool *tool, const mcp_json *shared, const char *path,
                               mcp_error *err)
{
    const mcp_json *input = mcp_json_get(tool->definition, "inputSchema");
    const mcp_json *output = mcp_json_get(tool->definition, "outputSchema");
    const char *what = mcp_arena_printf(tool->owner->arena, "%s: inputSchema", path);

    if (!describes_object(input))
        return mcp_error_set(err, MCP_E_PARAMS, "%s: inputSchema must have type \"object\"", path);
    mcp_status st = load_schema(&tool->input, &tool->input_schema, tool->owner, input, shared,
                                what ? what : path, err);
    if (st == MCP_OK)
        st = load_mirrors(tool, path, err);
    if (st != MCP_OK || !output)
        return st;
    what = mcp_arena_printf(tool->owner->arena, "%s: outputSchema", path);
    st = load_schema(&tool->output, &tool->output_schema, tool->owner, output, shared,
                     what ? what : path, err);
    tool->gives_object = describes_object(output);
    return st;
}

static struct tool *find(const mcp__tools *tools, const char *name)
{
    return mcp__map_get(&tools->by_name, name, strlen(name));
}

static mcp_status keep_names(mcp__tools *tools, struct tool *tool, mcp_error *err)
{
    const char *name = tool->row->name;
    mcp_status st = mcp__map_put(&tools->by_name, name, strlen(name), tool);

    if (st == MCP_OK) /* the same key, where the two are one */
        st = mcp__map_put(&tools->by_name, tool->safe_name, strlen(tool->safe_name), tool);
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory for tools");
}

static mcp_status check_row(const mcp__tools *tools, const mcp_tool *row, const char *safe_name,
                            mcp_error *err)
{
    bool reads = row->flags & MCP_READS;
    bool writes = row->flags & MCP_WRITES;
    const struct tool *other = find(tools, row->name);

    if (!other)
        other = find(tools, safe_name);
    if (other)
        return mcp_error_set(err, MCP_E_PARAMS, "tools %s and %s have one safe name", row->name,
                             other->row->name);
    if (reads == writes)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "tool %s says neither MCP_READS nor MCP_WRITES, "
                             "or both",
                             row->name);
    if ((row->flags & MCP_QUICK) && (row->flags & MCP_LONG))
        return mcp_error_set(err, MCP_E_PARAMS, "tool %s says both MCP_QUICK and MCP_LONG",
                             row->name);
    if ((row->flags & MCP_QUICK) && (row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED)))
        return mcp_error_set(err, MCP_E_PARAMS, "tool %s says MCP_QUICK and that it may be a task",
                             row->name);
    if ((row->flags & MCP_TASK_LATER) && !(row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED)))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "tool %s says MCP_TASK_LATER, but neither MCP_TASK_OPTIONAL nor "
                             "MCP_TASK_REQUIRED",
                             row->name);
    if (!row->run || row->timeout_ms < 0 || row->max_running < 0)
        return mcp_error_set(err, MCP_E_PARAMS, "tool %s has no function or a negative bound",
                             row->name);
    return MCP_OK;
}

static void render_tool(mcp_json_writer *writer, const void *entry, mcp_revision revision);

static mcp_status add_tool(mcp__tools *tools, const mcp_tool *row, const mcp_json *definition,
                           const mcp_json *shared, const char *path, void *data, mcp_error *err)
{
    struct tool *tool = mcp_arena_alloc(tools->arena, sizeof(*tool));

    if (!tool)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    *tool = (struct tool){ .row = row, .data = data, .owner = tools, .definition = definition };
    mcp__safe_name(tool->safe_name, row->name);
    mcp_status st = check_row(tools, row, tool->safe_name, err);
    if (st == MCP_OK)
        st = load_schemas(tool, shared, path, err);
    if (st == MCP_OK)
        st = load_scopes(tool, path, err);
    if (st == MCP_OK)
        st = keep_names(tools, tool, err);
    if (st == MCP_OK)
        st = mcp__list_add(tools->list, row->name, tool->scopes, render_tool, tool, err);
    if (st != MCP_OK) {
        mcp_schema_free(tool->input_schema);
        mcp_schema_free(tool->output_schema);
        return st;
    }
    if (tools->last)
        tools->last->next = tool;
    else
        tools->first = tool;
    tools->last = tool;
    if (row->flags & MCP_LONG)
        tools->long_threads += row->max_running > 0 ? row->max_running : 1;
    return MCP_OK;
}

/* A tool's file and what it says. */
struct definition {
    const mcp_file *file;
    const mcp_json *value;
    const char *name;
    bool is_bound;
};

static mcp_status read_definitions(struct definition **out, size_t *count, mcp__tools *tools,
                                   const mcp_file *files, mcp_error *err)
{
    size_t most = 0;
    struct definition *all;

    for (const mcp_file *file = files; file && file->path; file++)
        most += is_tool_file(file->path);
    all = mcp_arena_array(tools->arena, most + 1, sizeof(*all));
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for tools");
    *count = 0;
    for (const mcp_file *file = files; file && file->path; file++) {
        struct definition *one = &all[*count];
        if (!is_tool_file(file->path))
            continue;
        mcp_status st = read_file(&one->value, tools, file, err);
        if (st != MCP_OK)
            return st;
        one->file = file;
        one->name = mcp_json_get_string(one->value, "name");
        if (!one->name)
            return mcp_error_set(err, MCP_E_PARAMS, "%s: no name", file->path);
        (*count)++;
    }
    *out = all;
    return MCP_OK;
}

static struct definition *definition_of(struct definition *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0 && !all[i].is_bound)
            return &all[i];
    return NULL;
}

static mcp_status bind(mcp__tools *tools, const mcp_features *features, struct definition *all,
                       size_t count, const mcp_json *shared, mcp_error *err)
{
    for (const mcp_tool *row = features->tools; row->name; row++) {
        struct definition *definition = definition_of(all, count, row->name);
        if (!definition)
            return mcp_error_set(err, MCP_E_PARAMS, "tool %s has no file tools/*.json", row->name);
        definition->is_bound = true;
        mcp_status st = add_tool(tools, row, definition->value, shared, definition->file->path,
                                 features->data, err);
        if (st != MCP_OK)
            return st;
    }
    for (size_t i = 0; i < count; i++)
        if (!all[i].is_bound)
            return mcp_error_set(err, MCP_E_PARAMS, "%s: tool %s has no row in the table",
                                 all[i].file->path, all[i].name);
    return MCP_OK;
}

mcp_status mcp__tools_load(mcp__tools *tools, const mcp_features *features, mcp_error *err)
{
    const mcp_file *shared_file = mcp_files_find(features->files, "tools/_defs.json");
    const mcp_json *shared = NULL;
    struct definition *all = NULL;
    size_t count = 0;
    mcp_status st = MCP_OK;

    if (shared_file)
        st = read_file(&shared, tools, shared_file, err);
    if (st == MCP_OK)
        st = read_definitions(&all, &count, tools, features->files, err);
    if (st == MCP_OK)
        st = bind(tools, features, all, count, shared, err);
    return st;
}

const char *mcp__tools_scopes_of(const mcp__tools *tools, const char *name)
{
    const struct tool *tool = find(tools, name);

    return tool ? tool->scopes : NULL;
}

void mcp__tools_scopes(const mcp__tools *tools, mcp_buf *out)
{
    mcp__list_scopes(tools->list, out);
}

int mcp__tools_long_threads(const mcp__tools *tools)
{
    return tools->long_threads;
}

void mcp__tools_check_results(mcp__tools *tools, bool check)
{
    tools->check_results = check;
}

/* ---- tools/list ------------------------------------------------------------------------------ */

static bool is_disabled(const struct tool *tool)
{
    return (tool->row->flags & MCP_WRITES) && !tool->owner->options->allow_write;
}

/* Whether the revision takes what the tool gives as structured content: at first only objects were. */
static bool is_structured(const struct tool *tool, mcp_revision revision)
{
    const char *member = tool->gives_object ? "structuredContent" : "structuredContent of any type";

    return tool->output && mcp__field_is_known("CallToolResult", member, revision);
}

/* What the library adds to an entry, beside what its file says. */
struct additions {
    bool safe_name;   /* the name is shown in its safe form */
    const char *note; /* that the tool is disabled; NULL: it is not */
};

static struct additions additions_of(const struct tool *tool, mcp_revision revision)
{
    const mcp_server_options *options = tool->owner->options;

    return (struct additions){
        .safe_name = mcp__safe_names_shown(options->tool_names, revision) &&
                     strcmp(tool->safe_name, tool->row->name) != 0,
        .note = is_disabled(tool) ? options->write_note : NULL,
    };
}

static void write_description(mcp_json_writer *writer, const struct tool *tool, const char *note)
{
    const char *own = mcp_json_get_string(tool->definition, "description");
    const char *text = mcp_arena_printf(tool->owner->arena, "%s%s%s", own ? own : "",
                                        own ? " " : "", note);

    mcp_write_member_string(writer, "description", text ? text : note);
}

static void write_meta(mcp_json_writer *writer, const struct tool *tool,
                       const struct additions *added)
{
    const mcp_json *own = mcp_json_get(tool->definition, "_meta");

    if (!own && !added->safe_name && !added->note)
        return;
    mcp_write_member_object(writer, "_meta");
    for (size_t i = 0; i < mcp_json_count(own); i++)
        mcp_write_member_value(writer, mcp_json_name(own, i, NULL), mcp_json_item(own, i));
    if (added->safe_name)
        mcp_write_member_string(writer, "causeway/canonicalName", tool->row->name);
    if (added->note)
        mcp_write_member_string(writer, "causeway/disabled", added->note);
    mcp_write_end(writer);
}

/* What its flags say of tasks; other members are its file's. */
static void write_execution(mcp_json_writer *writer, const struct tool *tool)
{
    const mcp_json *own = mcp_json_get(tool->definition, "execution");
    unsigned flags = tool->row->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED);

    if (!own && !flags)
        return;
    mcp_write_member_object(writer, "execution");
    for (size_t i = 0; i < mcp_json_count(own); i++)
        if (strcmp(mcp_json_name(own, i, NULL), "taskSupport") != 0)
            mcp_write_member_value(writer, mcp_json_name(own, i, NULL), mcp_json_item(own, i));
    if (flags)
        mcp_write_member_string(writer, "taskSupport",
                                flags & MCP_TASK_REQUIRED ? "required" : "optional");
    mcp_write_end(writer);
}

/* One member of the tool's file, as the revision knows it. */
static void write_member(mcp_json_writer *writer, const struct tool *tool, size_t index,
                         const struct additions *added, mcp_revision revision)
{
    const char *name = mcp_json_name(tool->definition, index, NULL);

    if (!mcp__field_is_known("Tool", name, revision) || strcmp(name, "_meta") == 0 ||
        strcmp(name, "execution") == 0)
        return;
    if (strcmp(name, "name") == 0)
        mcp_write_member_string(writer, name, added->safe_name ? tool->safe_name : tool->row->name);
    else if (strcmp(name, "description") == 0 && added->note)
        write_description(writer, tool, added->note);
    else if (strcmp(name, "inputSchema") == 0)
        mcp_write_member_value(writer, name, tool->input);
    else if (strcmp(name, "outputSchema") != 0)
        mcp_write_member_value(writer, name, mcp_json_item(tool->definition, index));
    else if (is_structured(tool, revision))
        mcp_write_member_value(writer, name, tool->output);
}

static void render_tool(mcp_json_writer *writer, const void *entry, mcp_revision revision)
{
    const struct tool *tool = entry;
    struct additions added = additions_of(tool, revision);

    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(tool->definition); i++)
        write_member(writer, tool, i, &added, revision);
    if (added.note && !mcp_json_get(tool->definition, "description"))
        write_description(writer, tool, added.note);
    if (added.safe_name && !mcp_json_get(tool->definition, "title") &&
        mcp__field_is_known("Tool", "title", revision))
        mcp_write_member_string(writer, "title", tool->row->name);
    if (added.note)
        mcp_write_member_string(writer, "annotation", added.note);
    if (mcp__field_is_known("Tool", "execution", revision))
        write_execution(writer, tool);
    if (mcp__field_is_known("Tool", "_meta", revision))
        write_meta(writer, tool, &added);
    mcp_write_end(writer);
}

mcp_status mcp__tools_list(mcp__tools *tools, mcp_call *call)
{
    return mcp__list_answer(tools->list, call);
}

/* ---- the result ------------------------------------------------------------------------------ */

static void write_text_block(mcp_json_writer *writer, const char *text, size_t length)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "type", "text");
    mcp_write_name(writer, "text");
    mcp_write_string_n(writer, text, length);
    mcp_write_end(writer);
}

static void write_refusal(mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_array(writer, "content");
    write_text_block(writer, call->refusal, call->refusal_length);
    mcp_write_end(writer);
    mcp_write_member_bool(writer, "isError", true);
}

/* Where the message was begun early, the blocks stand there already. */
static void write_content(const mcp_call *call, mcp_json_writer *writer)
{
    size_t length = 0;
    const char *blocks = mcp__reply_blocks(call, &length);

    if (!call->is_in_place)
        mcp_write_member_array(writer, "content");
    if (call->result_begun)
        write_text_block(writer, call->result.data, call->result.length);
    if (!call->is_in_place && length > 0) /* several blocks, with the commas between them */
        mcp_write_raw(writer, blocks, length);
    mcp_write_end(writer);
}

static void close_result(mcp_call *call)
{
    mcp_json_writer *writer = &call->result_writer;

    while (writer->depth > 0 && mcp_json_writer_status(writer) == MCP_OK)
        mcp_write_end(writer);
}

static mcp_status check_result(mcp_call *call, const struct tool *tool)
{
    const mcp_json *value = NULL;
    mcp_schema_finding finding;
    mcp_error cause = MCP_ERROR_INIT;

    if (!call->result_begun)
        return mcp_error_set(&call->err, MCP_E_INTERNAL,
                             "the tool has an output schema but wrote no result object");
    mcp_status st = mcp_json_read(&value, call->arena, call->result.data, call->result.length,
                                  &cause);

    call->steps_left += MCP__STEPS_A_BYTE * call->result.length; /* bytes of our own */
    if (st == MCP_OK)
        st = mcp_schema_check_within(tool->output_schema, value, &call->steps_left, call->arena,
                                     &finding, &cause);
    if (st == MCP_OK)
        return MCP_OK;
    return mcp_error_set(&call->err, st == MCP_E_NOMEM ? st : MCP_E_INTERNAL,
                         "the result does not fit the output schema: %s", cause.message);
}

/* The result object goes out as text that every client can show and, where the tool promises a form
 * and the revision knows it, as the value itself: the same bytes twice, written by the handler
 * once. */
static mcp_status finish_tool(mcp_call *call, mcp_json_writer *writer)
{
    const struct tool *tool = call->feature;
    mcp_status st = MCP_OK;

    if (call->is_refused) {
        write_refusal(call, writer);
        return MCP_OK;
    }
    close_result(call);
    if (call->result_begun)
        st = mcp_json_writer_status(&call->result_writer);
    if (st == MCP_OK && tool->output && tool->owner->check_results)
        st = check_result(call, tool);
    if (st != MCP_OK)
        return st;
    write_content(call, writer);
    if (call->result_begun && is_structured(tool, call->revision)) {
        mcp_write_name(writer, "structuredContent");
        mcp_write_raw(writer, call->result.data, call->result.length);
    }
    if (call->options->says_success)
        mcp_write_member_bool(writer, "isError", false);
    return MCP_OK;
}

/* ---- tools/call ------------------------------------------------------------------------------ */

static mcp_status refuse_plainly(mcp_call *call, const struct tool *tool, mcp_refusal reason,
                                 const mcp_schema_finding *finding)
{
    switch (reason) {
    case MCP_REFUSED_ARGUMENTS:
        return mcp_call_refuse(call, "The arguments do not fit: %s", finding->message);
    case MCP_REFUSED_WRITES:
        return mcp_call_refuse(call, "%s", tool->owner->options->write_note);
    case MCP_REFUSED_BUSY:
        break;
    }
    return mcp_call_refuse(call, "%s is running already; try again when it has ended.",
                           tool->row->name);
}

static mcp_status refuse(mcp_call *call, const struct tool *tool, mcp_refusal reason,
                         const mcp_schema_finding *finding)
{
    const mcp_server_options *options = tool->owner->options;
    mcp_status st = MCP_OK;

    call->run = NULL;
    if (options->refuse)
        st = options->refuse(call, reason, finding, options->data);
    if (st == MCP_OK && !call->is_refused)
        st = refuse_plainly(call, tool, reason, finding);
    return st;
}

/* NULL: there is none, or who asks may not know of it. */
static struct tool *find_shown(const mcp__tools *tools, const mcp_call *call, const char *name)
{
    struct tool *tool = find(tools, name);

    return tool && mcp__exposure_shows(call, MCP_FEATURE_TOOL, tool->row->name, tool->scopes)
               ? tool
               : NULL;
}

/* The tool that params name; NULL, with call->err filled, when params are not those of a call. */
static struct tool *read_call(mcp__tools *tools, mcp_call *call)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(call->params, "name"), &length);
    struct tool *tool = name && strlen(name) == length ? find_shown(tools, call, name) : NULL;

    if (!name)
        (void)mcp_error_set(&call->err, MCP_E_PARAMS, "params.name must be the name of a tool");
    else if (mcp__arguments_read(call) == MCP_OK && !tool)
        (void)mcp_error_set(&call->err, MCP_E_PARAMS, "there is no tool %.*s", SHOWN_MAX, name);
    return call->err.status == MCP_OK ? tool : NULL;
}

static int timeout_of(const struct tool *tool)
{
    if (tool->row->timeout_ms > 0 || (tool->row->flags & MCP_LONG))
        return tool->row->timeout_ms;
    return tool->owner->options->timeout_ms;
}

static void prepare(mcp_call *call, struct tool *tool)
{
    call->name = tool->row->name;
    call->is_tool = true;
    call->feature = tool;
    call->schema = tool->input;
    call->properties = mcp_json_get(tool->input, "properties");
    call->flags = tool->row->flags;
    call->pace = tool->row->flags & MCP_QUICK ? &tool->pace : NULL;
    call->timeout_ms = timeout_of(tool);
    call->run = tool->row->run;
    call->data = tool->data;
    call->finish = finish_tool;
}

/* From 2026-07-28 and over HTTP: headers that repeat arguments say the same. */
static mcp_status check_mirrors(mcp_call *call, const struct tool *tool)
{
    const mcp__headers *headers = call->notices->headers;

    if (!headers || call->revision <= MCP_REVISION_NEWEST_SESSION)
        return MCP_OK;
    return mcp__mirrors_check(tool->mirrors, headers, call->arguments, call->arena, &call->err);
}

/* MCP_OK with the call refused when they do not fit; MCP_E_LIMIT: the steps are not enough to tell. */
static mcp_status check_schema(mcp_call *call, uint64_t *steps, mcp_error *cause)
{
    const struct tool *tool = call->feature;
    mcp_schema_finding finding;
    mcp_status st = mcp_schema_check_within(tool->input_schema, call->arguments, steps, call->arena,
                                            &finding, cause);

    return st == MCP_E_SCHEMA ? refuse(call, tool, MCP_REFUSED_ARGUMENTS, &finding) : st;
}

/* No fitter sees a member that stands twice. */
static mcp_status fit_arguments(mcp_call *call)
{
    const struct tool *tool = call->feature;
    const mcp_server_options *options = call->options;
    mcp_status st = mcp__arguments_check(call);

    if (st == MCP_OK && options->fit)
        st = options->fit(call, tool->row->name, &call->arguments, options->data);
    return st;
}

/* On a worker. */
static mcp_status check_there(mcp_call *call)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = check_schema(call, &call->steps_left, &cause);

    if (st == MCP_E_LIMIT) /* neither right nor wrong: too much work to tell */
        return mcp_error_set(&call->err, MCP_E_PARAMS, "the arguments cannot be checked: %s",
                             cause.message);
    return st == MCP_OK || call->err.status != MCP_OK
               ? st
               : mcp_error_set(&call->err, st, "%s", cause.message);
}

/* On a worker. */
static mcp_status fit_and_check_there(mcp_call *call)
{
    mcp_status st = fit_arguments(call);

    return st == MCP_OK ? check_there(call) : st;
}

/* On the loop, as long as that takes no time; what takes longer is left to the worker. */
static mcp_status check_arguments(mcp_call *call)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st;

    if (call->is_large) {
        call->check = fit_and_check_there;
        return MCP_OK;
    }
    st = fit_arguments(call);
    if (st != MCP_OK)
        return st;
    st = check_schema(call, &call->steps_on_loop, &cause);
    if (st == MCP_E_LIMIT) {
        call->check = check_there;
        return MCP_OK;
    }
    return st == MCP_OK || call->err.status != MCP_OK
               ? st
               : mcp_error_set(&call->err, st, "%s", cause.message);
}

mcp_status mcp__tools_call(mcp__tools *tools, mcp_call *call)
{
    struct tool *tool = read_call(tools, call);

    if (!tool)
        return call->err.status;
    prepare(call, tool);
    mcp_status st = check_mirrors(call, tool);
    if (st == MCP_OK && tool->scopes)
        st = mcp_call_require_scopes(call, tool->scopes);
    if (st == MCP_OK)
        st = mcp__tasks_decide(call);
    if (st != MCP_OK)
        return st;
    if (is_disabled(tool))
        return refuse(call, tool, MCP_REFUSED_WRITES, NULL);
    st = check_arguments(call);
    if (st != MCP_OK || call->is_refused || !(call->flags & MCP_LONG))
        return st;
    if (tool->running >= (tool->row->max_running > 0 ? tool->row->max_running : 1))
        return refuse(call, tool, MCP_REFUSED_BUSY, NULL);
    call->tally = &tool->running;
    tool->running++;
    return MCP_OK;
}
