/*
 * completions.c - completion/complete: values for a prompt's argument or a template's variable.
 *
 * A row binds one argument of one prompt or template to a function. What is asked about must exist, and the
 * client's token must have the scopes that its use needs; an argument that nobody completes has no
 * suggestions, which is an answer and no error.
 */
#include <string.h>

#include "base/map.h"
#include "mcp/arena.h"
#include "mcp/feature/feature.h"

enum { SHOWN_MAX = 80 }; /* bytes of a name that a message repeats */

struct completion {
    const mcp_completion *row;
    void *data;
};

struct mcp__completions {
    mcp_arena *arena; /* pays for this struct and all it holds */
    const mcp_server_options *options;
    const mcp__prompts *prompts;
    const mcp__resources *resources;
    mcp__map rows; /* "<of>\n<argument>" to struct completion */
};

mcp_status mcp__completions_new(mcp__completions **out, const mcp_server_options *options,
                                const mcp__prompts *prompts, const mcp__resources *resources,
                                mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp__completions *completions = arena ? mcp_arena_alloc(arena, sizeof *completions) : NULL;

    if (!completions) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for completions");
    }
    *completions = (mcp__completions){
        .arena = arena, .options = options, .prompts = prompts, .resources = resources
    };
    mcp__map_init(&completions->rows, arena);
    *out = completions;
    return MCP_OK;
}

void mcp__completions_free(mcp__completions *completions)
{
    if (completions)
        mcp_arena_free(completions->arena);
}

static mcp_status add_row(mcp__completions *completions, const mcp_completion *row, void *data,
                          mcp_error *err)
{
    struct completion *completion = mcp_arena_alloc(completions->arena, sizeof *completion);
    char *key = mcp_arena_printf(completions->arena, "%s\n%s", row->of, row->argument);
    mcp_status st = MCP_E_NOMEM;

    if (completion && key) {
        *completion = (struct completion){ .row = row, .data = data };
        if (mcp__map_get(&completions->rows, key, strlen(key)))
            return mcp_error_set(err, MCP_E_PARAMS, "'%s' of %.*s is completed by two rows",
                                 row->argument, SHOWN_MAX, row->of);
        st = mcp__map_put(&completions->rows, key, strlen(key), completion);
    }
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no memory for completions");
}

mcp_status mcp__completions_load(mcp__completions *completions, const mcp_features *features,
                                 mcp_error *err)
{
    for (const mcp_completion *row = features->completions; row->of; row++) {
        bool is_known = row->argument &&
                        (mcp__prompts_has(completions->prompts, row->of, row->argument) ||
                         mcp__resources_has(completions->resources, row->of, row->argument));
        if (!is_known || !row->complete)
            return mcp_error_set(
                err, MCP_E_PARAMS,
                "a completion of '%s' of %.*s has nothing to complete, or no function",
                row->argument ? row->argument : "", SHOWN_MAX, row->of);
        mcp_status st = add_row(completions, row, features->data, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

/* ---- serving ---------------------------------------------------------------------------------- */

static mcp_status write_completion(mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "completion");
    mcp_write_member_array(writer, "values");
    if (call->content.length > 0) /* several values, the commas between them are there already */
        mcp_write_raw(writer, call->content.data, call->content.length);
    mcp_write_end(writer);
    mcp_write_member_int(writer, "total", (int64_t)call->suggested);
    mcp_write_member_bool(writer, "hasMore", call->suggested > MCP__SUGGESTIONS_MAX);
    mcp_write_end(writer);
    return mcp_json_writer_status(writer);
}

/* The prompt or template that params.ref names, as registered. */
static mcp_status read_reference(const char **out, const mcp__completions *completions,
                                 mcp_call *call)
{
    const mcp_json *reference = mcp_json_get(call->params, "ref");
    const char *type = mcp_json_get_string(reference, "type");
    const char *name = mcp_json_get_string(reference, "name");
    const char *uri = mcp_json_get_string(reference, "uri");
    bool is_prompt = type && strcmp(type, "ref/prompt") == 0 && name;
    bool is_resource = type && strcmp(type, "ref/resource") == 0 && uri;

    if (!is_prompt && !is_resource)
        return mcp_error_set(
            &call->err, MCP_E_PARAMS,
            "params.ref must be a ref/prompt with a name or a ref/resource with a uri");
    *out = is_prompt ? mcp__prompts_name(completions->prompts, call, name)
                     : mcp__resources_name(completions->resources, call, uri);
    if (!*out)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "there is no %s %.*s to complete",
                             is_prompt ? "prompt" : "resource", SHOWN_MAX, is_prompt ? name : uri);
    const char *scopes = is_prompt ? mcp__prompts_scopes_of(completions->prompts, *out)
                                   : mcp__resources_scopes_of(completions->resources, *out);
    return scopes ? mcp_call_require_scopes(call, scopes) : MCP_OK;
}

static mcp_status read_argument(const char **name, mcp_call *call)
{
    const mcp_json *argument = mcp_json_get(call->params, "argument");
    const mcp_json *chosen = mcp_json_get(mcp_json_get(call->params, "context"), "arguments");
    size_t length = 0;
    const char *typed = mcp_json_string(mcp_json_get(argument, "value"), &length);

    *name = mcp_json_get_string(argument, "name");
    if (!*name || !typed || strlen(typed) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.argument must have a name and a value, which are strings");
    if (chosen && !mcp_json_is_object(chosen))
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.context.arguments must be an object");
    call->typed = typed;
    if (chosen)
        call->arguments = chosen;
    return MCP_OK;
}

mcp_status mcp__completions_complete(mcp__completions *completions, mcp_call *call)
{
    const char *argument = NULL;
    const char *of = NULL;
    mcp_status st = read_reference(&of, completions, call);

    if (st == MCP_OK)
        st = read_argument(&argument, call);
    if (st != MCP_OK)
        return st;
    const char *key = mcp_arena_printf(call->arena, "%s\n%s", of, argument);
    if (!key)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a completion");
    const struct completion *found = mcp__map_get(&completions->rows, key, strlen(key));
    call->name = of;
    call->finish = write_completion;
    if (!found)
        return MCP_OK;
    call->run = found->row->complete;
    call->data = found->data;
    call->timeout_ms = completions->options->timeout_ms;
    return MCP_OK;
}
