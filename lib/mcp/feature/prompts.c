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
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/map.h"
#include "mcp/arena.h"
#include "mcp/core/version.h"
#include "mcp/feature/arguments.h"
#include "mcp/feature/feature.h"
#include "mcp/feature/list/exposure.h"
#include "mcp/feature/list/name.h"
#include "mcp/feature/prompt_file.h"

enum { SHOWN_MAX = 80 }; /* bytes of a name that a message repeats */

struct prompt {
    const mcp_prompt *row;
    void *data;
    const mcp__prompt_file *file;
    mcp_tool_names names;
    char safe_name[MCP__SAFE_NAME_SIZE];
};

struct mcp__prompts {
    mcp_arena *arena; /* pays for this struct and all it holds but the list */
    const mcp_server_options *options;
    mcp__list *list;
    mcp__map by_name; /* both names to struct prompt */
};

/* ---- making and ending ---------------------------------------------------------------------- */

mcp_status mcp__prompts_new(mcp__prompts **out, const mcp_server_options *options, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp__prompts *prompts = arena ? mcp_arena_alloc(arena, sizeof *prompts) : NULL;
    mcp_status st;

    if (!prompts) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for prompts");
    }
    prompts->arena = arena;
    prompts->options = options;
    mcp__map_init(&prompts->by_name, arena);
    st = mcp__list_new(&prompts->list, "prompts", err);
    if (st == MCP_OK)
        *out = prompts;
    else
        mcp__prompts_free(prompts);
    return st;
}

void mcp__prompts_free(mcp__prompts *prompts)
{
    if (!prompts)
        return;
    mcp__list_free(prompts->list);
    mcp_arena_free(prompts->arena);
}

/* ---- loading -------------------------------------------------------------------------------- */

/* What the file has, with the registered name behind it where the list shows the safe one. */
static void render_meta(mcp_json_writer *writer, const mcp__prompt_file *file, bool is_safe)
{
    const mcp_json *meta = file->meta;

    if (!meta && !is_safe && !file->scopes)
        return;
    mcp_write_member_object(writer, "_meta");
    for (size_t i = 0; i < mcp_json_count(meta); i++)
        mcp_write_member_value(writer, mcp_json_name(meta, i, NULL), mcp_json_item(meta, i));
    if (file->scopes)
        mcp_write_member_string(writer, MCP__SCOPES_KEY, file->scopes);
    if (is_safe)
        mcp_write_member_string(writer, "causeway/canonicalName", file->name);
    mcp_write_end(writer);
}

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
static void render_prompt(mcp_json_writer *writer, const void *entry, mcp_revision revision)
{
    const struct prompt *prompt = entry;
    const mcp__prompt_file *file = prompt->file;
    bool is_safe = mcp__safe_names_shown(prompt->names, revision) &&
                   strcmp(prompt->safe_name, file->name) != 0;
    const char *title = file->title ? file->title : is_safe ? file->name : NULL;

    mcp_write_object(writer);
    mcp_write_member_string(writer, "name", is_safe ? prompt->safe_name : file->name);
    if (title && mcp__field_is_known("Prompt", "title", revision))
        mcp_write_member_string(writer, "title", title);
    if (file->description)
        mcp_write_member_string(writer, "description", file->description);
    if (file->argument_count > 0)
        render_arguments(writer, file, revision);
    if (file->icons && mcp__field_is_known("Prompt", "icons", revision))
        mcp_write_member_value(writer, "icons", file->icons);
    if (mcp__field_is_known("Prompt", "_meta", revision))
        render_meta(writer, file, is_safe);
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

static mcp_status add_name(mcp__prompts *prompts, const char *name, struct prompt *prompt,
                           mcp_error *err)
{
    const struct prompt *other = mcp__map_get(&prompts->by_name, name, strlen(name));
    mcp_status st;

    if (other == prompt)
        return MCP_OK;
    if (other)
        return mcp_error_set(err, MCP_E_PARAMS, "%s and %s: both prompts answer to '%.*s'",
                             other->file->path, prompt->file->path, SHOWN_MAX, name);
    st = mcp__map_put(&prompts->by_name, name, strlen(name), prompt);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "no memory for prompts");
}

static mcp_status add_prompt(mcp__prompts *prompts, const mcp__prompt_file *file,
                             const mcp_prompt *row, void *data, mcp_error *err)
{
    struct prompt *prompt = mcp_arena_alloc(prompts->arena, sizeof *prompt);
    mcp_status st;

    if (!prompt)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for prompts");
    prompt->row = row;
    prompt->data = data;
    prompt->file = file;
    prompt->names = prompts->options->tool_names;
    mcp__safe_name(prompt->safe_name, file->name);
    st = add_name(prompts, file->name, prompt, err);
    if (st == MCP_OK)
        st = add_name(prompts, prompt->safe_name, prompt, err);
    if (st == MCP_OK)
        st = mcp__list_add(prompts->list, file->name, file->scopes, render_prompt, prompt, err);
    return st;
}

static bool is_prompt_file(const mcp_file *file)
{
    static const char folder[] = "prompts/", end[] = ".md";
    size_t length = strlen(file->path);

    return strncmp(file->path, folder, strlen(folder)) == 0 && length >= strlen(end) &&
           strcmp(file->path + length - strlen(end), end) == 0;
}

static size_t count_files(const mcp_file *files)
{
    size_t count = 0;

    for (const mcp_file *file = files; file && file->path; file++)
        count += is_prompt_file(file);
    return count;
}

/* Read every prompt's file; each has its row afterwards. */
static mcp_status read_files(mcp__prompts *prompts, const mcp_features *features,
                             mcp__prompt_file **read, mcp_error *err)
{
    size_t count = 0;

    for (const mcp_file *file = features->files; file && file->path; file++) {
        mcp_status st;
        if (!is_prompt_file(file))
            continue;
        st = mcp__prompt_file_read(&read[count], prompts->arena, file, err);
        if (st == MCP_OK)
            st = check_row(find_row(features->prompts, read[count]->name), read[count], err);
        if (st != MCP_OK)
            return st;
        count++;
    }
    return MCP_OK;
}

/* Add one row's prompt. That two files may share its name is seen here, by the name being taken. */
static mcp_status add_row(mcp__prompts *prompts, mcp__prompt_file *const *read, size_t count,
                          const mcp_prompt *row, void *data, mcp_error *err)
{
    bool is_found = false;
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        if (strcmp(read[i]->name, row->name) != 0)
            continue;
        is_found = true;
        st = add_prompt(prompts, read[i], row, data, err);
    }
    if (st == MCP_OK && !is_found)
        return mcp_error_set(err, MCP_E_PARAMS, "prompts/*.md: none is named '%.*s' as a row is",
                             SHOWN_MAX, row->name);
    return st;
}

mcp_status mcp__prompts_load(mcp__prompts *prompts, const mcp_features *features, mcp_error *err)
{
    size_t count = count_files(features->files);
    mcp__prompt_file **read = mcp_arena_array(prompts->arena, count + 1, sizeof *read);
    mcp_status st;

    if (!read)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for prompts");
    st = read_files(prompts, features, read, err);
    for (const mcp_prompt *row = features->prompts; st == MCP_OK && row->name; row++)
        st = add_row(prompts, read, count, row, features->data, err);
    return st;
}

/* ---- serving -------------------------------------------------------------------------------- */

mcp_status mcp__prompts_list(mcp__prompts *prompts, mcp_call *call)
{
    return mcp__list_answer(prompts->list, call);
}

static mcp_status check_arguments(mcp_call *call, const mcp__prompt_file *file)
{
    const mcp_json *arguments = call->request.arguments;

    for (size_t i = 0; i < mcp_json_count(arguments); i++) {
        if (!mcp_json_is_string(mcp_json_item(arguments, i)))
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

static mcp_status fill_message(const mcp_call *call, const mcp__prompt_message *message,
                               mcp_buf *text)
{
    for (size_t i = 0; i < message->part_count; i++) {
        const mcp__prompt_part *part = &message->parts[i];
        const char *bytes = part->text;
        size_t length = part->length;
        if (part->is_place)
            bytes = place_text(call, part, &length);
        if (bytes)
            mcp_buf_append(text, bytes, length);
    }
    return text->status;
}

static mcp_status write_message(const mcp_call *call, const mcp__prompt_message *message,
                                mcp_buf *text, mcp_json_writer *writer)
{
    mcp_status st;

    mcp_buf_reset(text);
    st = fill_message(call, message, text);
    if (st != MCP_OK)
        return st;
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

static mcp_status write_messages(mcp_call *call, const mcp__prompt_file *file,
                                 mcp_json_writer *writer)
{
    mcp_buf text;
    mcp_status st = MCP_OK;

    /* Several messages, but the commas between them are there already. */
    if (call->answer.content.text.length > 0)
        mcp_write_raw(writer, call->answer.content.text.data, call->answer.content.text.length);
    mcp_buf_init(&text, call->context->options->limits.reply_max_bytes);
    for (size_t i = 0; i < file->message_count && st == MCP_OK; i++)
        st = write_message(call, &file->messages[i], &text, writer);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status write_prompt(mcp_call *call, mcp_json_writer *writer)
{
    const struct prompt *prompt = call->plan.feature;
    mcp_status st;

    if (prompt->file->description)
        mcp_write_member_string(writer, "description", prompt->file->description);
    mcp_write_member_array(writer, "messages");
    st = write_messages(call, prompt->file, writer);
    if (st != MCP_OK)
        return st;
    mcp_write_end(writer);
    return mcp_json_writer_status(writer);
}

/* By either name; NULL: there is none, or it is hidden from the client. */
static struct prompt *find_shown(const mcp__prompts *prompts, const mcp_call *call,
                                 const char *name, size_t length)
{
    struct prompt *prompt = mcp__map_get(&prompts->by_name, name, length);

    return prompt && mcp__exposure_shows(call, MCP_FEATURE_PROMPT, prompt->file->name,
                                         prompt->file->scopes)
               ? prompt
               : NULL;
}

/* Large arguments are looked at by a worker, and the answer is written there. */
static mcp_status check_large(mcp_call *call)
{
    const struct prompt *prompt = call->plan.feature;
    mcp_status st = mcp__arguments_check(call);

    return st == MCP_OK ? check_arguments(call, prompt->file) : st;
}

static mcp_status fill_nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static const mcp__call_kind prompt_kind = { .finish = write_prompt, .role = "user" };

mcp_status mcp__prompts_get(mcp__prompts *prompts, mcp_call *call)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(call->request.params, "name"), &length);
    struct prompt *prompt;
    mcp_status st;

    if (!name)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.name must be a prompt's name");
    prompt = find_shown(prompts, call, name, length);
    if (!prompt)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "no such prompt: %.*s", SHOWN_MAX, name);
    st = mcp__arguments_read(call);
    if (st == MCP_OK && call->request.steps.on_loop > 0)
        st = mcp__arguments_check(call);
    if (st == MCP_OK && prompt->file->scopes)
        st = mcp_call_require_scopes(call, prompt->file->scopes);
    if (st == MCP_OK && call->request.steps.on_loop > 0)
        st = check_arguments(call, prompt->file);
    if (st != MCP_OK)
        return st;
    if (call->request.steps.on_loop == 0)
        call->plan.check = check_large;
    call->request.name = prompt->file->name;
    call->plan.kind = &prompt_kind;
    call->plan.feature = prompt;
    call->plan.run = prompt->row->fill || call->request.steps.on_loop > 0 ? prompt->row->fill
                                                                          : fill_nothing;
    call->plan.data = prompt->data;
    call->plan.flags = prompt->row->flags;
    call->plan.timeout_ms = prompt->row->timeout_ms ? prompt->row->timeout_ms
                                                    : prompts->options->limits.timeout_ms;
    return MCP_OK;
}

/* ---- for completions ------------------------------------------------------------------------ */

const char *mcp__prompts_scopes_of(const mcp__prompts *prompts, const char *name)
{
    const struct prompt *prompt = mcp__map_get(&prompts->by_name, name, strlen(name));

    return prompt ? prompt->file->scopes : NULL;
}

void mcp__prompts_scopes(const mcp__prompts *prompts, mcp_buf *out)
{
    mcp__list_scopes(prompts->list, out);
}

const char *mcp__prompts_name(const mcp__prompts *prompts, const mcp_call *call, const char *name)
{
    const struct prompt *prompt = find_shown(prompts, call, name, strlen(name));

    return prompt ? prompt->file->name : NULL;
}

bool mcp__prompts_has(const mcp__prompts *prompts, const char *name, const char *argument)
{
    const struct prompt *prompt = mcp__map_get(&prompts->by_name, name, strlen(name));

    return prompt && strcmp(prompt->file->name, name) == 0 &&
           mcp__prompt_argument_find(prompt->file, argument, strlen(argument)) != NULL;
}
