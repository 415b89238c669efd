/*
 * resources.c - universes and their documentation as resources; suggestions for a universe's id.
 *
 * The documentation is Markdown among the program's files, in docs/; the reference of the commands
 * is written from the catalogue, so that it cannot say anything else than what is checked.
 */
#include "features/resources.h"

#include <stdio.h>
#include <string.h>

#include "commands/catalogue.h"
#include "gateway/replies.h"

#define DOCS "docs://universe/"
#define STATE "universe://{id}/state"
#define SUMMARY "universe://{id}/summary"

enum { DOCUMENT_MAX = 8 << 20, LISTED_PAGES_MAX = 10, SUGGESTED_MAX = 100 };

static mcp_status read_file(mcp_call *call, void *data);
static mcp_status read_commands(mcp_call *call, void *data);
static mcp_status read_full(mcp_call *call, void *data);
static mcp_status read_state(mcp_call *call, void *data);
static mcp_status read_summary(mcp_call *call, void *data);
static mcp_status suggest_ids(mcp_call *call, void *data);

/* clang-format off */
const mcp_resource universe_resources[] = {
    { DOCS "system-overview",    read_file,     MCP_READS, 0 },
    { DOCS "universe-structure", read_file,     MCP_READS, 0 },
    { DOCS "commands-reference", read_commands, MCP_READS, 0 },
    { DOCS "validation-rules",   read_file,     MCP_READS, 0 },
    { DOCS "realtime-streaming", read_file,     MCP_READS, 0 },
    { DOCS "full",               read_full,     MCP_READS, 0 },
    { STATE,                     read_state,    MCP_READS, 0 },
    { SUMMARY,                   read_summary,  MCP_READS, 0 },
    { 0 },
};

const mcp_completion universe_completions[] = {
    { STATE,   "id", suggest_ids },
    { SUMMARY, "id", suggest_ids },
    { 0 },
};
/* clang-format on */

void universe_uri(char out[UNIVERSE_URI_SIZE], const char *id, const char *part)
{
    size_t at = (size_t)snprintf(out, UNIVERSE_URI_SIZE, "universe://");
    at += universe_percent_encode(out + at, UNIVERSE_URI_SIZE - 16 - at, id);
    snprintf(out + at, UNIVERSE_URI_SIZE - at, "/%s", part);
}

/* ---- documentation --------------------------------------------------------------------------- */

static mcp_status append_file(mcp_buf *text, const char *topic)
{
    char path[64];
    snprintf(path, sizeof path, "docs/%s.md", topic);
    const mcp_file *file = mcp_files_find(universe_files, path);
    return file ? mcp_buf_append(text, file->bytes, file->length) : MCP_E_RESOURCE;
}

static void append_rejections(mcp_buf *text)
{
    mcp_buf_puts(text,
                 "\n## Rejections\n\nEvery command may be rejected with `invalidCommand` "
                 "(the event says where and why).\n\n| Command | Own rejections |\n|---|---|\n");
    for (size_t i = 0; i < UNIVERSE_COMMANDS; i++) {
        const universe_command_type *command = &universe_command_types[i];
        if (*command->rejections)
            mcp_buf_printf(text, "| `%s` | %s |\n", command->type, command->rejections);
    }
}

static mcp_status append_schemas(mcp_buf *text)
{
    mcp_json_writer json;
    mcp_buf_puts(text, "\n## JSON Schema of all commands\n\n```json\n");
    mcp_json_writer_init(&json, text);
    universe_commands_schema(&json);
    mcp_status st = mcp_json_writer_status(&json);
    mcp_buf_puts(text, "\n```\n");
    return st;
}

static mcp_status append_commands(mcp_buf *text)
{
    mcp_status st = universe_catalogue_markdown(text, NULL);
    append_rejections(text);
    return st == MCP_OK ? append_schemas(text) : st;
}

static mcp_status answer(mcp_call *call, mcp_buf *text, mcp_status st)
{
    if (st == MCP_OK)
        st = text->status;
    if (st == MCP_OK)
        st = mcp_call_contents_text(call, NULL, NULL, text->data, text->length);
    mcp_buf_clear(text);
    return st;
}

static mcp_status read_file(mcp_call *call, void *data)
{
    mcp_buf text;
    (void)data;
    mcp_buf_init(&text, DOCUMENT_MAX);
    return answer(call, &text, append_file(&text, mcp_call_name(call) + strlen(DOCS)));
}

static mcp_status read_commands(mcp_call *call, void *data)
{
    mcp_buf text;
    (void)data;
    mcp_buf_init(&text, DOCUMENT_MAX);
    return answer(call, &text, append_commands(&text));
}

static mcp_status read_full(mcp_call *call, void *data)
{
    static const char *const before[] = { "system-overview", "universe-structure" };
    static const char *const behind[] = { "validation-rules", "realtime-streaming" };
    mcp_status st = MCP_OK;
    mcp_buf text;

    (void)data;
    mcp_buf_init(&text, DOCUMENT_MAX);
    for (size_t i = 0; i < 2 && st == MCP_OK; i++) {
        st = append_file(&text, before[i]);
        mcp_buf_putc(&text, '\n');
    }
    if (st == MCP_OK)
        st = append_commands(&text);
    for (size_t i = 0; i < 2 && st == MCP_OK; i++) {
        mcp_buf_putc(&text, '\n');
        st = append_file(&text, behind[i]);
    }
    return answer(call, &text, st);
}

/* ---- universes ------------------------------------------------------------------------------- */

static mcp_status look(universe_version *out, mcp_call *call, const universe_app *app)
{
    mcp_error *err = mcp_call_error(call);
    const char *id = mcp_arg_string(call, "id");
    mcp_status st = universe_service_get(out, app->service, id, mcp_call_arena(call), err);
    if (st == MCP_E_NOT_FOUND)
        return mcp_error_set(err, MCP_E_RESOURCE, "Universe not found: %.128s", id ? id : "");
    return st;
}

static mcp_status read_state(mcp_call *call, void *data)
{
    universe_version current = { 0 };
    mcp_buf text;
    mcp_status st = look(&current, call, data);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, UNIVERSE_FULL_STATE);
    st = universe_view_write(current.view, NULL, universe_into_buf, &text, NULL,
                             mcp_call_error(call));
    universe_view_free(current.view);
    return answer(call, &text, st);
}

static mcp_status read_summary(mcp_call *call, void *data)
{
    universe_version current = { 0 };
    mcp_buf text;
    mcp_status st = look(&current, call, data);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&text, DOCUMENT_MAX);
    st = universe_reply_summary(&text, &current, mcp_call_error(call));
    universe_view_free(current.view);
    return answer(call, &text, st);
}

/* ---- suggestions ----------------------------------------------------------------------------- */

/* Ids that begin with what was typed, of the newest universes. */
static mcp_status suggest_page(mcp_call *call, const universe_app *app, const char **cursor,
                               size_t *suggested)
{
    const char *typed = mcp_call_completion_value(call);
    universe_record *records = NULL;
    size_t count = 0;
    mcp_status st = universe_service_list(&records, &count, cursor, app->service, *cursor,
                                          UNIVERSE_LIST_MAX, mcp_call_arena(call),
                                          mcp_call_error(call));
    for (size_t i = 0; st == MCP_OK && i < count && *suggested < SUGGESTED_MAX; i++) {
        if (strncmp(records[i].id, typed, strlen(typed)) != 0)
            continue;
        st = mcp_call_add_completion(call, records[i].id);
        (*suggested)++;
    }
    return st;
}

static mcp_status suggest_ids(mcp_call *call, void *data)
{
    const char *cursor = NULL;
    size_t suggested = 0;
    mcp_status st = MCP_OK;
    for (int page = 0; st == MCP_OK && page < LISTED_PAGES_MAX; page++) {
        st = suggest_page(call, data, &cursor, &suggested);
        if (!cursor || suggested == SUGGESTED_MAX)
            break;
    }
    return st;
}
