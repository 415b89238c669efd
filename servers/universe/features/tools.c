/*
 * tools.c - the three tools (REQ-MCP-1 to 16): each reads its arguments, asks the service, and
 * answers with text. Errors are results with isError and a JSON object that names the universe.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/catalogue.h"
#include "features/resources.h"
#include "features/tools.h"
#include "gateway/submit.h"

enum { TEXT_MAX = UNIVERSE_FULL_STATE };

static mcp_status get_state(mcp_call *call, void *data);
static mcp_status list_commands(mcp_call *call, void *data);
static mcp_status send_command(mcp_call *call, void *data);

const mcp_tool universe_tools[] = {
    { .name = "get_universe_state", .run = get_state, .flags = MCP_READS },
    { .name = "list_universe_commands", .run = list_commands, .flags = MCP_READS },
    { .name = "send_universe_command", .run = send_command, .flags = MCP_WRITES | MCP_NONBLOCKING },
    { 0 },
};

/* ---- answering ------------------------------------------------------------------------------- */

/* Ends a handler with what is in the buffer: an answer, or an error where `is_error`. */
static mcp_status answer(mcp_call *call, mcp_buf *text, mcp_status st, bool is_error)
{
    if (st == MCP_OK)
        st = is_error ? mcp_call_tool_error_text(call, text->data, text->length)
                      : mcp_call_text(call, text->data);
    mcp_buf_clear(text);
    return st;
}

static mcp_status refuse(mcp_call *call, const char *words, const char *id)
{
    mcp_buf text;
    mcp_buf_init(&text, TEXT_MAX);
    return answer(call, &text, universe_reply_error(&text, words, id, mcp_call_error(call)), true);
}

/* A failure of the service. Its words go to the client only where they say what to do. */
static mcp_status refuse_failure(mcp_call *call, const char *id, mcp_status status,
                                 const mcp_error *cause)
{
    bool is_private = status == MCP_E_INTERNAL || status == MCP_E_IO || status == MCP_E_NOMEM;
    mcp_json_writer json;
    mcp_buf text;

    if (status == MCP_E_NOT_FOUND)
        return refuse(call, "Universe not found", id);
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", "Command processing failed");
    mcp_write_member_string(&json, "universeId", id);
    mcp_write_member_string(&json, "message",
                            is_private ? mcp_status_words(status) : cause->message);
    mcp_write_end(&json);
    return answer(call, &text, mcp_json_writer_status(&json), true);
}

/* ---- get_universe_state ---------------------------------------------------------------------- */

static void read_ids(const mcp_call *call, universe_projection *part, mcp_arena *arena)
{
    const mcp_json *list = mcp_arg_json(call, "ids");
    size_t count = mcp_json_count(list);
    universe_id *ids = list ? mcp_arena_array(arena, count + 1, sizeof *ids) : NULL;
    for (size_t i = 0; ids && i < count; i++)
        ids[i].bytes = mcp_json_string(mcp_json_item(list, i), &ids[i].length);
    part->ids = ids;
    part->id_count = ids ? count : 0;
}

static unsigned body_type_bit(const char *name)
{
    for (unsigned type = 0; type < UNIVERSE_BODY_TYPES; type++) {
        if (strcmp(universe_body_type_names[type], name) == 0)
            return 1u << type;
    }
    return 0;
}

/* False: the whole state is wanted. */
static bool read_projection(mcp_call *call, universe_projection *part)
{
    const mcp_json *fields = mcp_arg_json(call, "fields");
    const mcp_json *types = mcp_arg_json(call, "bodyTypes");
    const char *cursor = mcp_arg_string(call, "cursor");

    for (size_t i = 0; i < mcp_json_count(fields); i++)
        part->fields |= universe_field_of(mcp_json_string(mcp_json_item(fields, i), NULL));
    for (size_t i = 0; i < mcp_json_count(types); i++)
        part->body_types |= body_type_bit(mcp_json_string(mcp_json_item(types, i), NULL));
    read_ids(call, part, mcp_call_arena(call));
    part->limit = (size_t)mcp_arg_int(call, "limit", 0);
    part->cursor = cursor ? strtoull(cursor, NULL, 10) : 0;
    return part->fields || part->body_types || part->ids || part->limit || cursor;
}

/* {"partial":true,"version","state":{...},"nextCursor"?} */
static mcp_status put_part(mcp_buf *text, const universe_version *current,
                           const universe_projection *part, mcp_error *err)
{
    uint64_t next = 0;
    mcp_buf_printf(
        text, "{\"partial\":true,\"version\":%lld,\"state\":", (long long)current->record.version);
    mcp_status st = universe_view_write(current->view, part, universe_into_buf, text, &next, err);
    if (st == MCP_OK && next != 0)
        mcp_buf_printf(text, ",\"nextCursor\":\"%llu\"", (unsigned long long)next);
    mcp_buf_putc(text, '}');
    return st == MCP_OK ? text->status : st;
}

static mcp_status refuse_large(mcp_call *call, const universe_app *app,
                               const universe_version *current, const universe_summary *summary)
{
    mcp_json_writer json;
    mcp_buf text;
    const char *id = current->record.id;
    char uri[UNIVERSE_URI_SIZE];

    universe_uri(uri, id, "state");
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", "State too large");
    mcp_write_member_string(&json, "universeId", id);
    mcp_write_member_int(&json, "bytes", (int64_t)summary->bytes);
    mcp_write_member_int(&json, "bodies", (int64_t)summary->counts[UNIVERSE_STARS]);
    mcp_write_member_int(&json, "limit", (int64_t)app->max_state_bytes);
    mcp_write_member_string(&json, "hint",
                            "Ask for a part: summary, fields, ids, bodyTypes, or limit and cursor; "
                            "full: true gives all of it.");
    mcp_write_member_string(&json, "uri", uri);
    mcp_write_end(&json);
    return answer(call, &text, mcp_json_writer_status(&json), true);
}

static mcp_status answer_whole(mcp_call *call, const universe_version *current,
                               const universe_summary *summary, mcp_error *err)
{
    const universe_projection whole = { .form = UNIVERSE_IN_STRING };

    mcp_call_text_begin(call, universe_reply_bytes(summary, UNIVERSE_IN_STRING));
    mcp_status st = universe_view_write(current->view, &whole, universe_into_text, call, NULL, err);
    return st == MCP_OK ? mcp_call_text_end(call) : st;
}

static mcp_status answer_state(mcp_call *call, const universe_app *app,
                               const universe_version *current)
{
    universe_projection part = { 0 };
    universe_summary summary;
    mcp_error *err = mcp_call_error(call);
    mcp_status st = MCP_OK;
    mcp_buf text;

    universe_view_summary(&summary, current->view);
    bool is_part = read_projection(call, &part);
    bool is_summary = mcp_arg_bool(call, "summary", false);
    size_t limit = mcp_arg_bool(call, "full", false) ? UNIVERSE_FULL_STATE : app->max_state_bytes;
    if (!is_part && !is_summary && summary.bytes > limit)
        return refuse_large(call, app, current, &summary);

    if (!is_part && !is_summary) {
        st = answer_whole(call, current, &summary, err);
        return st == MCP_E_LIMIT ? refuse_large(call, app, current, &summary) : st;
    }
    mcp_buf_init(&text, is_part ? app->max_state_bytes : TEXT_MAX);
    if (is_summary)
        st = universe_reply_summary(&text, current, err);
    else
        st = put_part(&text, current, &part, err);
    if (st == MCP_E_LIMIT) {
        mcp_buf_clear(&text);
        return refuse_large(call, app, current, &summary);
    }
    return answer(call, &text, st, false);
}

static mcp_status get_state(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "universeId");
    universe_version current = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = universe_service_get(&current, app->service, id, mcp_call_arena(call), &err);
    if (st != MCP_OK)
        return refuse_failure(call, id ? id : "", st, &err);
    st = answer_state(call, app, &current);
    universe_view_free(current.view);
    return st;
}

/* ---- list_universe_commands ------------------------------------------------------------------ */

static mcp_status refuse_category(mcp_call *call, const char *category)
{
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", "Unknown category");
    mcp_write_member_string(&json, "category", category);
    mcp_write_member_array(&json, "availableCategories");
    for (size_t i = 0; i < UNIVERSE_CATEGORIES; i++)
        mcp_write_string(&json, universe_categories[i].id);
    mcp_write_end(&json);
    mcp_write_end(&json);
    return answer(call, &text, mcp_json_writer_status(&json), true);
}

static mcp_status answer_commands(mcp_call *call, const universe_category *only)
{
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, TEXT_MAX);
    mcp_status st = universe_catalogue_markdown(&text, only);
    st = answer(call, &text, st, false);
    if (st != MCP_OK)
        return st;
    mcp_json_writer_init(&json, &text);
    universe_catalogue_json(&json, only);
    return answer(call, &text, mcp_json_writer_status(&json), false);
}

static mcp_status list_commands(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "universeId");
    const char *name = mcp_arg_string(call, "category");
    const universe_category *only = name ? universe_category_find(name) : NULL;
    universe_record record = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = universe_service_record(&record, app->service, id, mcp_call_arena(call), &err);
    if (st != MCP_OK)
        return refuse_failure(call, id ? id : "", st, &err);
    return name && !only ? refuse_category(call, name) : answer_commands(call, only);
}

/* ---- send_universe_command ------------------------------------------------------------------- */

/* What an agent does about a rejection; NULL where the event says it all. */
static const char *hint_for(const char *reason)
{
    static const char *const hints[][2] = {
        { "invalidCommand", "The event's path names the member, its reason what it must be. "
                            "list_universe_commands with a category has examples and schemas." },
        { "unknownCommand", "list_universe_commands has all types; letters count as they are." },
        { "starAlreadyExists", "Choose another id, or change the body by updateStar." },
        { "groupAlreadyExists", "Choose another id, or change the group by updateGroup." },
        { "invalidPatch", "This member cannot be patched: the hierarchy is changed by attachStar, "
                          "detachStar, addToGroup, removeFromGroup and moveToGroup." },
        { "detachFailed", "The body is a root already, or is not there." },
        { "ringNotFound", "The body is not there, or has no ring; updateRing gives it one." },
        { "universeFull", "Remove what is not needed, or use another universe." },
    };
    static const char not_found[] = "NotFound";
    size_t length = strlen(reason);

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (strcmp(hints[i][0], reason) == 0)
            return hints[i][1];
    if (length >= sizeof not_found &&
        strcmp(reason + length - sizeof not_found + 1, not_found) == 0)
        return "Nothing has this id; get_universe_state shows which ids there are.";
    return NULL;
}

static mcp_status answer_result(mcp_call *call, const universe_app *app,
                                const universe_result *result, universe_return how,
                                int64_t expected)
{
    const char *id = result->current.record.id;
    mcp_error *err = mcp_call_error(call);
    mcp_status st = MCP_OK;
    bool is_rejected = result->answer == UNIVERSE_REFUSED && !app->soft_rejections;
    bool is_error = is_rejected || result->answer == UNIVERSE_CONFLICT;
    mcp_buf text;

    if (!is_error && universe_reply_is_full(app, result, how))
        return universe_reply_full_text(call, result, err);
    mcp_buf_init(&text, TEXT_MAX);
    if (result->answer == UNIVERSE_CONFLICT)
        st = universe_reply_conflict(&text, id, expected, result->current.record.version, err);
    else if (is_rejected)
        st = universe_reply_rejected(&text, id, result, hint_for(result->reason), err);
    else
        st = universe_reply_result(&text, app, result, how, NULL, err);
    return answer(call, &text, st, is_error);
}

/* A call that sends a command. */
struct sending {
    universe_request request;
    universe_command command;
};

static mcp_status answer_command(universe_request *request, mcp_status st, universe_result *result,
                                 const mcp_error *cause)
{
    const char *id = request->submission.id;
    if (st != MCP_OK)
        return refuse_failure(request->call, id ? id : "", st, cause);
    st = answer_result(request->call, request->app, result, request->how,
                       request->submission.expected);
    universe_view_free(result->current.view);
    return st;
}

static mcp_status send_command(mcp_call *call, void *data)
{
    mcp_arena *arena = mcp_call_arena(call);
    struct sending *it = mcp_arena_alloc(arena, sizeof *it);

    if (!it)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
    it->command = (universe_command){ .json = mcp_arg_json(call, "command") };
    it->request = (universe_request){
        .call = call,
        .app = data,
        .part = UNIVERSE_LOG_MCP,
        .type = mcp_json_get_string(it->command.json, "type"),
        .done = answer_command,
        .submission = { .id = mcp_arg_string(call, "universeId"),
                        .commands = &it->command,
                        .count = 1,
                        .expected = mcp_arg_int(call, "expectedVersion", UNIVERSE_ANY_VERSION) },
    };
    universe_return_find(&it->request.how, mcp_arg_string(call, "return"));
    /* The command's own text: it is stored and broadcast as it was sent. */
    mcp_status st = universe_command_write(&it->command, arena, mcp_call_error(call));
    return st == MCP_OK ? universe_submit(&it->request) : st;
}

/* ---- refusals before a handler runs ---------------------------------------------------------- */

mcp_status universe_refuse_call(mcp_call *call, mcp_refusal reason,
                                const mcp_schema_finding *finding, void *data)
{
    const char *id = mcp_arg_string(call, "universeId");
    mcp_json_writer json;
    mcp_buf text;
    (void)data;

    if (reason == MCP_REFUSED_WRITES)
        return refuse(call, "The server is read only", id);
    if (reason == MCP_REFUSED_BUSY)
        return refuse(call, "The server is busy; try again", id);
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", "Invalid arguments");
    mcp_write_member_string(&json, "field", finding->instance_path);
    mcp_write_member_string(&json, "message", finding->message);
    if (id)
        mcp_write_member_string(&json, "universeId", id);
    mcp_write_end(&json);
    return answer(call, &text, mcp_json_writer_status(&json), true);
}
