/*
 * tools.c - the three tools (REQ-MCP-1 to 16): each reads its arguments, asks the service, and answers with
 * text. Errors are results with isError and a JSON object that names the universe.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/catalogue.h"
#include "mcp/clock.h"
#include "replies.h"
#include "resources.h"
#include "tools.h"

enum { TEXT_MAX = UNIVERSE_FULL_STATE };

static mcp_status get_state(mcp_call *call, void *data);
static mcp_status list_commands(mcp_call *call, void *data);
static mcp_status send_command(mcp_call *call, void *data);

const mcp_tool universe_tools[] = {
    { .name = "get_universe_state", .run = get_state, .flags = MCP_READS },
    { .name = "list_universe_commands", .run = list_commands, .flags = MCP_READS },
    { .name = "send_universe_command", .run = send_command,
      .flags = MCP_WRITES | MCP_QUICK },
    { 0 },
};

/* ---- answering -------------------------------------------------------------------------------- */

/* Ends a handler with what is in the buffer: an answer, or an error where `is_error`. */
static mcp_status answer(mcp_call *call, mcp_buf *text, mcp_status st, bool is_error)
{
    if (st == MCP_OK)
        st = is_error ? mcp_call_refuse_text(call, text->data, text->length)
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

/* What went wrong behind the service. Only what a client can act on is told in words. */
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

/* ---- get_universe_state ----------------------------------------------------------------------- */

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
static mcp_status put_part(mcp_buf *text, const universe_moment *moment,
                           const universe_projection *part, mcp_error *err)
{
    uint64_t next = 0;
    mcp_buf_printf(text, "{\"partial\":true,\"version\":%lld,\"state\":",
                   (long long)moment->record.version);
    mcp_status st = universe_view_write(moment->view, part, universe_into_buf, text, &next, err);
    if (st == MCP_OK && next != 0)
        mcp_buf_printf(text, ",\"nextCursor\":\"%llu\"", (unsigned long long)next);
    mcp_buf_putc(text, '}');
    return st == MCP_OK ? text->status : st;
}

static mcp_status refuse_large(mcp_call *call, const universe_app *app,
                               const universe_moment *moment, const universe_summary *summary)
{
    mcp_json_writer json;
    mcp_buf text;
    const char *id = moment->record.id;
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

static mcp_status answer_whole(mcp_call *call, const universe_moment *moment,
                               const universe_summary *summary, mcp_error *err)
{
    const universe_projection whole = { .form = UNIVERSE_IN_STRING };

    mcp_call_text_begin(call, universe_reply_bytes(summary, UNIVERSE_IN_STRING));
    mcp_status st = universe_view_write(moment->view, &whole, universe_into_text, call, NULL, err);
    return st == MCP_OK ? mcp_call_text_end(call) : st;
}

static mcp_status answer_state(mcp_call *call, const universe_app *app,
                               const universe_moment *moment)
{
    universe_projection part = { 0 };
    universe_summary summary;
    mcp_error *err = mcp_call_error(call);
    mcp_status st = MCP_OK;
    mcp_buf text;

    universe_view_summary(&summary, moment->view);
    bool is_part = read_projection(call, &part);
    bool is_summary = mcp_arg_bool(call, "summary", false);
    size_t limit = mcp_arg_bool(call, "full", false) ? UNIVERSE_FULL_STATE : app->max_state_bytes;
    if (!is_part && !is_summary && summary.bytes > limit)
        return refuse_large(call, app, moment, &summary);

    if (!is_part && !is_summary) {
        st = answer_whole(call, moment, &summary, err);
        return st == MCP_E_LIMIT ? refuse_large(call, app, moment, &summary) : st;
    }
    mcp_buf_init(&text, is_part ? app->max_state_bytes : TEXT_MAX);
    if (is_summary)
        st = universe_reply_summary(&text, moment, err);
    else
        st = put_part(&text, moment, &part, err);
    if (st == MCP_E_LIMIT) {
        mcp_buf_clear(&text);
        return refuse_large(call, app, moment, &summary);
    }
    return answer(call, &text, st, false);
}

static mcp_status get_state(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "universeId");
    universe_moment moment = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = universe_service_look(&moment, app->service, id, mcp_call_arena(call), &err);
    if (st != MCP_OK)
        return refuse_failure(call, id ? id : "", st, &err);
    st = answer_state(call, app, &moment);
    universe_view_free(moment.view);
    return st;
}

/* ---- list_universe_commands ------------------------------------------------------------------- */

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

/* ---- send_universe_command -------------------------------------------------------------------- */

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
    if (length >= sizeof not_found && strcmp(reason + length - sizeof not_found + 1, not_found) == 0)
        return "Nothing has this id; get_universe_state shows which ids there are.";
    return NULL;
}

static mcp_status answer_sent(mcp_call *call, const universe_app *app, const universe_sent *sent,
                              universe_return how, int64_t expected)
{
    const char *id = sent->moment.record.id;
    mcp_error *err = mcp_call_error(call);
    mcp_status st = MCP_OK;
    bool is_rejected = sent->answer == UNIVERSE_REFUSED && !app->soft_rejections;
    bool is_error = is_rejected || sent->answer == UNIVERSE_CONFLICT;
    mcp_buf text;

    if (!is_error && universe_reply_is_full(app, sent, how))
        return universe_reply_full_text(call, sent, err);
    mcp_buf_init(&text, TEXT_MAX);
    if (sent->answer == UNIVERSE_CONFLICT)
        st = universe_reply_conflict(&text, id, expected, sent->moment.record.version, err);
    else if (is_rejected)
        st = universe_reply_rejected(&text, id, sent, hint_for(sent->reason), err);
    else
        st = universe_reply_sent(&text, app, sent, how, NULL, err);
    return answer(call, &text, st, is_error);
}

/* The command's own text: it is stored and broadcast as it was sent. */
static mcp_status order_of(universe_order *out, mcp_call *call)
{
    mcp_json_writer json;
    mcp_buf text;

    out->command = mcp_arg_json(call, "command");
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, out->command);
    if (mcp_json_writer_status(&json) == MCP_OK)
        out->text = mcp_arena_strndup(mcp_call_arena(call), text.data, text.length);
    out->length = text.length;
    mcp_buf_clear(&text);
    return out->text ? MCP_OK
                     : mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
}

/* A command on its way; the call's. */
struct command {
    mcp_call *call;
    const universe_app *app;
    universe_order order;
    universe_return how;
    int64_t began_ns;
    universe_sending sending;
};

/* What the service said, without a commit or after it. */
static mcp_status answer_command(struct command *it, mcp_status st, universe_sent *sent,
                                 const mcp_error *err)
{
    const char *id = it->sending.id;

    universe_log_sent(it->app, UNIVERSE_LOG_MCP, id, mcp_json_get_string(it->order.command, "type"),
                      it->began_ns, st, sent);
    if (st != MCP_OK)
        return refuse_failure(it->call, id ? id : "", st, err);
    st = answer_sent(it->call, it->app, sent, it->how, it->sending.expected);
    universe_view_free(sent->moment.view);
    return st;
}

static mcp_status end_command(mcp_call *call, void *data)
{
    struct command *it = data;
    universe_sent sent = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = universe_service_end_send(&sent, &it->sending, &err);

    (void)call;
    return answer_command(it, st, &sent, &err);
}

/* On the committing thread. */
static void command_told(void *data)
{
    struct command *it = data;

    if (universe_reply_is_short(it->app, &it->sending, it->how))
        mcp_call_resume_quick(it->call, end_command, it);
    else
        mcp_call_resume(it->call, end_command, it);
}

static mcp_status load_and_begin(mcp_call *call, void *data);

/* Hands the command to the service. */
static mcp_status begin_command(struct command *it, bool may_wait)
{
    universe_sent nothing = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = universe_service_begin_send(&it->sending, it->app->service, may_wait, &err);

    if (st == MCP_E_LATER) /* the universe has to be loaded, by a worker */
        mcp_call_resume(it->call, load_and_begin, it);
    if (st == MCP_OK || st == MCP_E_LATER)
        return MCP_E_LATER;
    return answer_command(it, st, &nothing, &err);
}

static mcp_status load_and_begin(mcp_call *call, void *data)
{
    (void)call;
    return begin_command(data, true);
}

static mcp_status send_command(mcp_call *call, void *data)
{
    mcp_arena *arena = mcp_call_arena(call);
    struct command *it = mcp_arena_alloc(arena, sizeof *it);

    if (!it)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a command");
    *it = (struct command){ .call = call, .app = data, .began_ns = mcp_clock_mono_ns() };
    it->sending = (universe_sending){
        .id = mcp_arg_string(call, "universeId"),
        .orders = &it->order,
        .count = 1,
        .expected = mcp_arg_int(call, "expectedVersion", UNIVERSE_ANY_VERSION),
        .actor = mcp_call_principal(call),
        .arena = arena,
        .told = command_told,
        .data = it,
    };
    universe_return_find(&it->how, mcp_arg_string(call, "return"));
    mcp_status st = order_of(&it->order, call);
    return st == MCP_OK ? begin_command(it, false) : st;
}

/* ---- refusals before a handler runs ----------------------------------------------------------- */

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
