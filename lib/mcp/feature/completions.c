/*
 * completions.c - completion/complete: values for a prompt's argument or a template's variable.
 *
 * A row binds one argument of one prompt or template to a function. What is asked about must exist,
 * and the client's token must have the scopes that its use needs; an argument that nobody completes
 * has no suggestions, which is an answer and no error.
 */
#include <string.h>

#include "mcp/features.h"

enum { SHOWN_MAX = 80 }; /* bytes of a name that a message repeats */

#define VALUES_MAX 100 /* of one answer, by the specification */

struct completion {
    const mcp_completion *row;
    void *data;
};

static mcp_status add_row(mcp__features *set, const mcp_completion *row, void *data, mcp_error *err)
{
    struct completion *completion = mcp_arena_alloc(set->arena, sizeof *completion);
    char *key = mcp_arena_printf(set->arena, "%s\n%s", row->of, row->argument);
    mcp_status st = MCP_E_NOMEM;

    if (completion && key) {
        *completion = (struct completion){ .row = row, .data = data };
        if (mcp__map_get(&set->completions, key, strlen(key)))
            return mcp_error_set(err, MCP_E_PARAMS, "'%s' of %.*s is completed by two rows",
                                 row->argument, SHOWN_MAX, row->of);
        st = mcp__map_put(&set->completions, key, strlen(key), completion);
    }
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no memory for completions");
}

mcp_status mcp__completions_load(mcp__features *set, const mcp_features *features, mcp_error *err)
{
    for (const mcp_completion *row = features->completions; row->of; row++) {
        bool is_known = row->argument && (mcp__prompts_has(set, row->of, row->argument) ||
                                          mcp__resources_has(set, row->of, row->argument));
        if (!is_known || !row->complete)
            return mcp_error_set(
                err, MCP_E_PARAMS,
                "a completion of '%s' of %.*s has nothing to complete, or no function",
                row->argument ? row->argument : "", SHOWN_MAX, row->of);
        mcp_status st = add_row(set, row, features->data, err);
        if (st != MCP_OK)
            return st;
    }
    return MCP_OK;
}

/* ---- serving -------------------------------------------------------------------------------- */

/* What a call of this kind has: its `feature`. */
struct answer {
    const char *typed;
    size_t count; /* of values; the first hundred are in the call's content */
};

static mcp_status write_completion(mcp_call *call, mcp_json_writer *writer)
{
    const struct answer *answer = call->plan.feature;

    mcp_write_member_object(writer, "completion");
    mcp_write_member_array(writer, "values");
    /* Several values, but the commas between them are there already. */
    if (call->answer.content.text.length > 0)
        mcp_write_raw(writer, call->answer.content.text.data, call->answer.content.text.length);
    mcp_write_end(writer);
    mcp_write_member_int(writer, "total", (int64_t)answer->count);
    mcp_write_member_bool(writer, "hasMore", answer->count > VALUES_MAX);
    mcp_write_end(writer);
    return mcp_json_writer_status(writer);
}

static const mcp__call_kind completion_kind = { .finish = write_completion };

const char *mcp_call_completion_value(const mcp_call *call)
{
    const struct answer *answer = call->plan.kind == &completion_kind ? call->plan.feature : NULL;

    return answer ? answer->typed : "";
}

mcp_status mcp_call_add_completion(mcp_call *call, const char *text)
{
    struct answer *answer = call->plan.kind == &completion_kind ? call->plan.feature : NULL;
    mcp__draft *content = &call->answer.content;
    mcp_json_writer writer;

    if (!answer || !text) {
        content->status = answer ? MCP_E_PARAMS : MCP_E_UNSUPPORTED;
        return mcp_error_set(&call->err, content->status,
                             answer
                                 ? "a value is NULL"
                                 : "mcp_call_add_completion: the call is not completion/complete");
    }
    if (++answer->count > VALUES_MAX)
        return MCP_OK;
    if (content->text.length > 0)
        (void)mcp_buf_putc(&content->text, ',');
    mcp_json_writer_init(&writer, &content->text);
    mcp_write_string(&writer, text);
    if (content->status == MCP_OK)
        content->status = mcp_json_writer_status(&writer);
    return content->status == MCP_OK
               ? MCP_OK
               : mcp_error_set(&call->err, content->status, "a value cannot be written");
}

/* The prompt, resource or template that params.ref names, as registered. */
static mcp_status read_reference(const char **out, mcp_call *call)
{
    const mcp_json *reference = mcp_json_get(call->request.params, "ref");
    const char *type = mcp_json_get_string(reference, "type");
    bool is_prompt = type && strcmp(type, "ref/prompt") == 0;
    bool is_resource = type && strcmp(type, "ref/resource") == 0;
    const char *name = is_prompt     ? mcp_json_get_string(reference, "name")
                       : is_resource ? mcp_json_get_string(reference, "uri")
                                     : NULL;
    const mcp__feature *feature;

    if (!name)
        return mcp_error_set(
            &call->err, MCP_E_PARAMS,
            "params.ref must be a ref/prompt with a name or a ref/resource with a uri");
    feature = mcp__features_find_shown(call, is_prompt ? MCP_FEATURE_PROMPT : MCP_FEATURE_RESOURCE,
                                       name, strlen(name));
    if (!feature)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "there is no %s %.*s to complete",
                             is_prompt ? "prompt" : "resource", SHOWN_MAX, name);
    *out = feature->name;
    return feature->scopes ? mcp_call_require_scopes(call, feature->scopes) : MCP_OK;
}

static mcp_status read_argument(const char **name, mcp_call *call)
{
    const mcp_json *argument = mcp_json_get(call->request.params, "argument");
    const mcp_json *chosen = mcp_json_get(mcp_json_get(call->request.params, "context"),
                                          "arguments");
    size_t length = 0;
    const char *typed = mcp_json_string(mcp_json_get(argument, "value"), &length);

    *name = mcp_json_get_string(argument, "name");
    if (!*name || !typed || strlen(typed) != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.argument must have a name and a value, which are strings");
    if (chosen && !mcp_json_is_object(chosen))
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.context.arguments must be an object");
    struct answer *answer = mcp_arena_alloc(call->arena, sizeof *answer);
    if (!answer)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a completion");
    *answer = (struct answer){ .typed = typed };
    call->plan.kind = &completion_kind;
    call->plan.feature = answer;
    if (chosen)
        call->request.arguments = chosen;
    return MCP_OK;
}

mcp_status mcp__completions_complete(mcp_call *call)
{
    const char *argument = NULL;
    const char *of = NULL;
    mcp_status st = read_reference(&of, call);

    if (st == MCP_OK)
        st = read_argument(&argument, call);
    if (st != MCP_OK)
        return st;
    const char *key = mcp_arena_printf(call->arena, "%s\n%s", of, argument);
    if (!key)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a completion");
    const struct completion *found = mcp__map_get(&call->features->completions, key, strlen(key));
    call->request.name = of;
    if (!found)
        return MCP_OK;
    call->plan.run = found->row->complete;
    call->plan.data = found->data;
    call->plan.timeout_ms = call->context->options->limits.timeout_ms;
    return MCP_OK;
}
