/*
 * prompts.c - prompts/list and prompts/get.
 *
 * Every "prompts/ANYTHING.md" among a set's files is one prompt (prompt_file.c) and must have a row
 * of the table, every row its file. A prompt answers to two names, the registered one and its safe
 * form, as tools do.
 *
 * prompts/get checks the arguments on the loop. A prompt without a function is then filled right
 * there; one with a function goes to a worker first, where mcp_call_set_placeholder says what the
 * places become that are no arguments. A place that the function set wins over an argument of that
 * name, so that it can tidy what a client sent; of several, the last.
 */
#include <string.h>

#include "mcp/core/version.h"
#include "mcp/feature/arguments.h"
#include "mcp/feature/prompt_file.h"
#include "mcp/features.h"

enum { SHOWN_MAX = 80 }; /* bytes of a name that a message repeats */

struct prompt {
    mcp__feature base;
    const mcp_prompt *row;
    const mcp__prompt_file *file;
    const mcp_server_options *options;
};

/* ---- loading -------------------------------------------------------------------------------- */

static void render_arguments(mcp_json_writer *writer, const mcp__prompt_file *file,
                             mcp_revision revision)
{
    mcp_write_member_array(writer, "arguments");
    for (size_t i = 0; i < file->argument_count; i++) {
        const mcp__prompt_argument *argument = &file->arguments[i];
        mcp_write_object(writer);
        mcp_write_member_string(writer, "name", argument->name);
        if (argument->title && mcp__field_is_known("PromptArgument", "title", revision))
            mcp_write_member_string(writer, "title", argument->title);
        if (argument->description)
            mcp_write_member_string(writer, "description", argument->description);
        mcp_write_member_bool(writer, "required", argument->is_required);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

/* A list that shows safe names gives the registered one as title, where there is no other, and in
 * _meta, as tools do. */
static void render_prompt(mcp_json_writer *writer, const mcp__feature *feature,
                          mcp_revision revision)
{
    const struct prompt *prompt = (const struct prompt *)feature;
    const mcp__prompt_file *file = prompt->file;
    const char *shown_name = mcp__list_shown_name(feature, prompt->options, revision);
    const char *other_name = shown_name != feature->name ? feature->name : NULL;
    const char *title = file->title ? file->title : other_name;

    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", shown_name);
    if (title && mcp__field_is_known("Prompt", "title", revision))
        mcp_write_member_string(writer, "title", title);
    if (file->description)
        mcp_write_member_string(writer, "description", file->description);
    if (file->argument_count > 0)
        render_arguments(writer, file, revision);
    if (file->icons && mcp__field_is_known("Prompt", "icons", revision))
        mcp_write_member_value(writer, "icons", file->icons);
    if (mcp__field_is_known("Prompt", "_meta", revision))
        mcp__list_write_meta(writer, file->meta, MCP__SCOPES_KEY, file->scopes, MCP__NAME_KEY,
                             other_name);
    mcp_write_end(writer);
}

static mcp_status fault(mcp_error *err, const mcp__prompt_file *file, const char *why)
{
    return mcp_error_set(err, MCP_E_PARAMS, "%s: prompt '%.*s' %s", file->path, SHOWN_MAX,
                         file->name, why);
}

static const mcp_prompt *find_row(const mcp_prompt *rows, const char *name)
{
    for (; rows->name; rows++) {
        if (strcmp(rows->name, name) == 0)
            return rows;
    }
    return NULL;
}

/* Without a function only arguments can fill places. */
static mcp_status check_places(const mcp__prompt_file *file, mcp_error *err)
{
    for (size_t i = 0; i < file->message_count; i++) {
        const mcp__prompt_message *message = &file->messages[i];
        for (size_t k = 0; k < message->part_count; k++) {
            const mcp__prompt_part *part = &message->parts[k];
            if (part->is_place && !mcp__prompt_argument_find(file, part->text, part->length))
                return mcp_error_set(
                    err, MCP_E_PARAMS, "%s: nothing fills the place '%.*s'", file->path,
                    part->length < SHOWN_MAX ? (int)part->length : SHOWN_MAX, part->text);
        }
    }
    return MCP_OK;
}

static mcp_status check_row(const mcp_prompt *row, const mcp__prompt_file *file, mcp_error *err)
{
    if (!row)
        return fault(err, file, "has no row in the table");
    if (row->flags & (MCP_WRITES | MCP_LONG))
        return fault(err, file, "reads, and soon: MCP_WRITES and MCP_LONG are for tools");
    return row->fill ? MCP_OK : check_places(file, err);
}

static bool is_prompt_file(const mcp_file *file)
{
    return mcp__features_has_file(file->path, "prompts", ".md");
}

/* A prompt for each file, with its row. */
static mcp_status read_files(struct prompt *all, mcp__features *set, const mcp_features *features,
                             mcp_error *err)
{
    struct prompt *prompt = all;

    for (const mcp_file *file = features->files; file && file->path; file++) {
        if (!is_prompt_file(file))
            continue;
        mcp_status st = mcp__prompt_file_read(&prompt->file, set->arena, file, err);
        if (st != MCP_OK)
            return st;
        prompt->row = find_row(features->prompts, prompt->file->name);
        prompt->options = set->options;
        prompt->base.name = prompt->file->name;
        prompt->base.scopes = prompt->file->scopes;
        prompt->base.data = features->data;
        st = check_row(prompt->row, prompt->file, err);
        if (st != MCP_OK)
            return st;
        prompt++;
    }
    return MCP_OK;
}

static mcp_status add_prompt(mcp__features *set, struct prompt *prompt, mcp_error *err)
{
    mcp_status st = mcp__list_set_safe_name(&set->prompts, &prompt->base, err);

    if (st != MCP_OK)
        return st;
    const mcp__feature *other = mcp__list_find_namesake(&set->prompts, &prompt->base);
    if (other)
        return mcp_error_set(err, MCP_E_PARAMS, "%s and %s: both prompts answer to '%.*s'",
                             ((const struct prompt *)other)->file->path, prompt->file->path,
                             SHOWN_MAX, prompt->base.safe_name);
    return mcp__list_add(&set->prompts, &prompt->base, render_prompt, err);
}

/* Add the prompts of one row. That two files or rows share a name is seen here, by the name being
 * taken. */
static mcp_status add_row(mcp__features *set, struct prompt *all, size_t count,
                          const mcp_prompt *row, mcp_error *err)
{
    bool is_found = false;
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        if (strcmp(all[i].base.name, row->name) != 0)
            continue;
        is_found = true;
        st = add_prompt(set, &all[i], err);
    }
    if (!is_found)
        return mcp_error_set(err, MCP_E_PARAMS, "prompts/*.md: none is named '%.*s' as a row is",
                             SHOWN_MAX, row->name);
    return st;
}

mcp_status mcp__prompts_load(mcp__features *set, const mcp_features *features, mcp_error *err)
{
    size_t count = 0;
    struct prompt *all;
    mcp_status st;

    for (const mcp_file *file = features->files; file && file->path; file++)
        count += is_prompt_file(file);
    all = mcp_arena_array(set->arena, count + 1, sizeof *all);
    if (!all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for prompts");
    st = read_files(all, set, features, err);
    for (const mcp_prompt *row = features->prompts; st == MCP_OK && row->name; row++)
        st = add_row(set, all, count, row, err);
    return st;
}

/* ---- serving -------------------------------------------------------------------------------- */

static mcp_status check_arguments(mcp_call *call, const struct prompt *prompt)
{
    const mcp_json *arguments = call->request.arguments;
    const mcp__prompt_file *file = prompt->file;

    for (size_t i = 0; i < mcp_json_count(arguments); i++) {
        if (!mcp_json_is_string(mcp_json_item(arguments, i)) &&
            !(prompt->row->flags & MCP_JSON_ARGUMENTS))
            return mcp_error_set(&call->err, MCP_E_PARAMS, "argument '%.*s' must be a string",
                                 SHOWN_MAX, mcp_json_name(arguments, i, NULL));
    }
    for (size_t i = 0; i < file->argument_count; i++) {
        const mcp__prompt_argument *argument = &file->arguments[i];
        if (argument->is_required && !mcp_json_get(arguments, argument->name))
            return mcp_error_set(&call->err, MCP_E_PARAMS,
                                 "prompt '%.*s' needs the argument '%.*s'", SHOWN_MAX, file->name,
                                 SHOWN_MAX, argument->name);
    }
    return MCP_OK;
}

/* What a place becomes; NULL: nothing. */
static const char *place_text(const mcp_call *call, const mcp__prompt_part *place, size_t *length)
{
    const char *text = NULL;

    for (const mcp__placeholder *p = call->answer.placeholders; p; p = p->next) {
        if (strlen(p->name) == place->length && memcmp(p->name, place->text, place->length) == 0)
            text = p->text;
    }
    if (!text)
        return mcp_json_string(mcp_json_get_n(call->request.arguments, place->text, place->length),
                               length);
    *length = strlen(text);
    return text;
}

static mcp_status write_message(const mcp_call *call, const mcp__prompt_message *message,
                                mcp_buf *text, mcp_json_writer *writer)
{
    mcp_buf_reset(text);
    for (size_t i = 0; i < message->part_count; i++) {
        const mcp__prompt_part *part = &message->parts[i];
        const char *bytes = part->text;
        size_t length = part->length;
        if (part->is_place)
            bytes = place_text(call, part, &length);
        if (bytes)
            mcp_buf_append(text, bytes, length);
    }
    if (text->status != MCP_OK)
        return text->status;
    mcp_write_object(writer);
    mcp_write_member_string(writer, "role", message->role);
    mcp_write_member_object(writer, "content");
    mcp_write_member_string(writer, "type", "text");
    mcp_write_name(writer, "text");
    mcp_write_string_n(writer, text->data ? text->data : "", text->length);
    mcp_write_end(writer);
    mcp_write_end(writer);
    return mcp_json_writer_status(writer);
}

static mcp_status write_prompt(mcp_call *call, mcp_json_writer *writer)
{
    const mcp__prompt_file *file = ((const struct prompt *)call->plan.feature)->file;
    mcp_buf text;
    mcp_status st = MCP_OK;

    if (file->description)
        mcp_write_member_string(writer, "description", file->description);
    mcp_write_member_array(writer, "messages");
    /* Several messages, but the commas between them are there already. */
    if (call->answer.content.text.length > 0)
        mcp_write_raw(writer, call->answer.content.text.data, call->answer.content.text.length);
    mcp_buf_init(&text, call->context->options->limits.reply_max_bytes);
    for (size_t i = 0; i < file->message_count && st == MCP_OK; i++)
        st = write_message(call, &file->messages[i], &text, writer);
    mcp_buf_clear(&text);
    if (st != MCP_OK)
        return st;
    mcp_write_end(writer);
    return mcp_json_writer_status(writer);
}

/* Large arguments are looked at by a worker, and the answer is written there. */
static mcp_status check_large(mcp_call *call)
{
    mcp_status st = mcp__arguments_check(call);

    return st == MCP_OK ? check_arguments(call, call->plan.feature) : st;
}

static mcp_status fill_nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static const mcp__call_kind prompt_kind = { .finish = write_prompt, .role = "user" };

mcp_status mcp__prompts_get(mcp_call *call)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(call->request.params, "name"), &length);
    bool is_large = call->request.steps.on_loop == 0;
    struct prompt *prompt;
    mcp_status st;

    if (!name)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.name must be a prompt's name");
    prompt = (struct prompt *)mcp__features_find_shown(call, MCP_FEATURE_PROMPT, name, length);
    if (!prompt)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "no such prompt: %.*s", SHOWN_MAX, name);
    st = mcp__arguments_read(call);
    if (st == MCP_OK && !is_large)
        st = mcp__arguments_check(call);
    if (st == MCP_OK && prompt->base.scopes)
        st = mcp_call_require_scopes(call, prompt->base.scopes);
    if (st == MCP_OK && !is_large)
        st = check_arguments(call, prompt);
    if (st != MCP_OK)
        return st;
    if (is_large)
        call->plan.check = check_large;
    call->request.name = prompt->base.name;
    call->plan.kind = &prompt_kind;
    call->plan.feature = prompt;
    call->plan.run = prompt->row->fill || !is_large ? prompt->row->fill : fill_nothing;
    call->plan.data = prompt->base.data;
    call->plan.flags = prompt->row->flags;
    call->plan.timeout_ms = prompt->row->timeout_ms ? prompt->row->timeout_ms
                                                    : prompt->options->limits.timeout_ms;
    return MCP_OK;
}

bool mcp__prompts_has(const mcp__features *set, const char *name, const char *argument)
{
    const struct prompt *prompt = (const struct prompt *)mcp__list_find(&set->prompts, name,
                                                                        strlen(name));

    return prompt && strcmp(prompt->base.name, name) == 0 &&
           mcp__prompt_argument_find(prompt->file, argument, strlen(argument)) != NULL;
}
