/*
 * replies.c - the bodies that REST and MCP answer with.
 *
 * A state is streamed from its view into the buffer that goes to the connection: it is never held
 * twice.
 */
#include "gateway/replies.h"

#include <stdio.h>
#include <string.h>

#include "mcp/clock.h"

enum { SHORT_EVENTS_BYTES = 8192, SHORT_ENTITIES = 16 };
enum { LARGE_STATE = 4 << 20 }; /* bytes; texts of smaller ones are kept by the model */

bool universe_return_find(universe_return *out, const char *name)
{
    static const char *const names[] = { "auto", "full", "delta", "minimal" };
    if (!name)
        name = names[0];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (universe_return)i;
            return true;
        }
    }
    return false;
}

size_t universe_percent_encode(char *out, size_t size, const char *id)
{
    size_t at = 0;
    out[0] = '\0';
    for (; *id && at + 4 < size; id++) {
        unsigned char byte = (unsigned char)*id;
        bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
                        (byte >= 'A' && byte <= 'Z') || strchr("-._~", byte);
        at += (size_t)snprintf(out + at, size - at, is_plain ? "%c" : "%%%02X", byte);
    }
    return at;
}

void universe_log_result(const mcp_call *call, const universe_app *app, universe_log_part part,
                         const char *id, const char *type, int64_t began_ns, mcp_status st,
                         const universe_result *result)
{
    static const char *const outcomes[] = { "applied", "unchanged", "rejected", "conflict" };
    bool is_ours = st == MCP_E_INTERNAL || st == MCP_E_IO || st == MCP_E_NOMEM;
    const universe_logged what = { .id = id,
                                   .type = type,
                                   .outcome = st == MCP_OK ? outcomes[result->answer]
                                                           : mcp_status_words(st),
                                   .began_ns = began_ns,
                                   .trace = mcp_call_trace(call) };
    universe_log_command(app->log, part, is_ours ? MCP_LOG_WARNING : MCP_LOG_DEBUG, &what);
}

mcp_status universe_into_buf(const char *bytes, size_t length, void *data, mcp_error *err)
{
    mcp_buf *body = data;
    mcp_status st = mcp_buf_append(body, bytes, length);
    if (st == MCP_E_LIMIT)
        return mcp_error_set(err, st, "the answer is longer than %zu bytes", body->max_bytes);
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory for the answer");
}

mcp_status universe_into_text(const char *bytes, size_t length, void *data, mcp_error *err)
{
    mcp_status st = mcp_call_text_add_escaped(data, bytes, length);
    return st == MCP_OK
               ? st
               : mcp_error_set(err, st, "the answer cannot be written: %s", mcp_status_words(st));
}

static mcp_status finish(const mcp_buf *body, const mcp_json_writer *json, mcp_error *err)
{
    mcp_status st = json ? mcp_json_writer_status(json) : body->status;
    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "writing the answer: %s", mcp_status_words(st));
}

/* ---- answers to commands --------------------------------------------------------------------- */

/* `,"name":` between members that are written as raw bytes. */
static void put_name(mcp_buf *body, const char *name)
{
    bool is_first = body->length > 0 && body->data[body->length - 1] == '{';
    mcp_buf_printf(body, "%s\"%s\":", is_first ? "" : ",", name);
}

static void put_version(mcp_buf *body, const universe_result *result)
{
    mcp_json_writer json;
    put_name(body, "version");
    mcp_buf_printf(body, "%lld", (long long)result->current.record.version);
    put_name(body, "time");
    mcp_json_writer_init(&json, body);
    mcp_write_double_or_null(&json, result->current.record.time);
}

static void put_events(mcp_buf *body, const universe_result *result)
{
    put_name(body, "events");
    mcp_buf_append(body, result->events, result->events_length);
}

bool universe_reply_is_large(const universe_view *view)
{
    universe_summary summary;

    universe_view_summary(&summary, view);
    return summary.bytes > LARGE_STATE;
}

static mcp_status put_state(mcp_buf *body, const char *name, const universe_view *view,
                            universe_gap *gap, mcp_error *err)
{
    universe_summary summary;

    universe_view_summary(&summary, view);
    put_name(body, name);
    if (gap && universe_reply_is_large(view)) {
        *gap = (universe_gap){ .at = body->length, .is_open = true };
        return MCP_OK;
    }
    size_t expected = universe_reply_bytes(&summary, UNIVERSE_PLAIN);
    if (expected < body->max_bytes - body->length)
        mcp_buf_reserve(body, expected);
    return universe_view_write(view, NULL, universe_into_buf, body, NULL, err);
}

/* Quotes are escaped in a string: there is one in five bytes. */
size_t universe_reply_bytes(const universe_summary *summary, universe_form form)
{
    size_t bytes = (size_t)summary->bytes;
    return form == UNIVERSE_PLAIN ? bytes + bytes / 8 + 4096 : bytes + bytes / 2 + 4096;
}

bool universe_reply_is_full(const universe_app *app, const universe_result *result,
                            universe_return how)
{
    universe_summary summary;

    universe_view_summary(&summary, result->current.view);
    return how == UNIVERSE_RETURN_FULL ||
           (how == UNIVERSE_RETURN_AUTO && summary.bytes <= app->inline_state_bytes);
}

/* What follows the state. */
static void put_full_rest(mcp_buf *body, const universe_result *result)
{
    put_events(body, result);
    put_name(body, "version");
    mcp_buf_printf(body, "%lld", (long long)result->current.record.version);
}

static mcp_status put_full(mcp_buf *body, const universe_result *result, universe_gap *gap,
                           mcp_error *err)
{
    mcp_status st = put_state(body, "nextState", result->current.view, gap, err);
    if (st == MCP_OK)
        put_full_rest(body, result);
    return st;
}

mcp_status universe_reply_full_text(mcp_call *call, const universe_result *result, mcp_error *err)
{
    static const char head[] = "{\"nextState\":";
    const universe_projection part = { .form = UNIVERSE_IN_STRING };
    universe_summary summary;
    mcp_buf rest;

    universe_view_summary(&summary, result->current.view);
    mcp_buf_init(&rest, result->events_length + 256);
    mcp_call_text_begin(call, universe_reply_bytes(&summary, UNIVERSE_IN_STRING));
    mcp_call_text_add(call, head, sizeof head - 1);
    mcp_status st = universe_view_write(result->current.view, &part, universe_into_text, call, NULL,
                                        err);
    put_full_rest(&rest, result);
    mcp_buf_putc(&rest, '}');
    if (st == MCP_OK)
        st = finish(&rest, NULL, err);
    if (st == MCP_OK)
        mcp_call_text_add(call, rest.data, rest.length);
    mcp_buf_clear(&rest);
    return st == MCP_OK ? mcp_call_text_end(call) : st;
}

static mcp_status put_delta(mcp_buf *body, const universe_result *result, mcp_error *err)
{
    const universe_changes *changes = &result->changes;
    put_version(body, result);
    put_events(body, result);
    if (changes->everything) {
        mcp_buf_puts(body, ",\"everything\":true");
        return MCP_OK;
    }
    put_name(body, "delta");
    return universe_view_delta(result->current.view, changes->touches, changes->count,
                               changes->roots, changes->root_groups, universe_into_buf, body, err);
}

bool universe_reply_is_short(const universe_app *app, const universe_submission *ended,
                             universe_return how)
{
    const universe_result *result = &ended->result;

    if (ended->is_stale)
        return false;
    if (ended->status != MCP_OK || result->answer == UNIVERSE_CONFLICT)
        return true;
    if (result->events_length > SHORT_EVENTS_BYTES)
        return false;
    if (result->answer == UNIVERSE_REFUSED && !app->soft_rejections)
        return true;
    return !universe_reply_is_full(app, result, how) &&
           (how == UNIVERSE_RETURN_MINIMAL || result->changes.everything ||
            result->changes.count <= SHORT_ENTITIES);
}

mcp_status universe_reply_result(mcp_buf *body, const universe_app *app,
                                 const universe_result *result, universe_return how,
                                 universe_gap *gap, mcp_error *err)
{
    mcp_status st = MCP_OK;

    mcp_buf_putc(body, '{');
    if (universe_reply_is_full(app, result, how)) {
        st = put_full(body, result, gap, err);
    } else if (how == UNIVERSE_RETURN_MINIMAL) {
        put_version(body, result);
        put_events(body, result);
    } else {
        st = put_delta(body, result, err);
        if (how == UNIVERSE_RETURN_AUTO)
            mcp_buf_puts(body, ",\"stateOmitted\":true");
    }
    mcp_buf_putc(body, '}');
    return st == MCP_OK ? finish(body, NULL, err) : st;
}

mcp_status universe_reply_rejected(mcp_buf *body, const char *id, const universe_result *result,
                                   const char *hint, mcp_error *err)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, body);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", "Command rejected");
    mcp_write_member_string(&json, "universeId", id);
    mcp_write_member_string(&json, "reason", result->reason);
    mcp_write_name(&json, "events");
    mcp_write_raw(&json, result->events, result->events_length);
    mcp_write_member_int(&json, "version", result->current.record.version);
    if (result->is_batch)
        mcp_write_member_int(&json, "at", (int64_t)result->at);
    if (hint)
        mcp_write_member_string(&json, "hint", hint);
    mcp_write_end(&json);
    return finish(body, &json, err);
}

mcp_status universe_reply_conflict(mcp_buf *body, const char *id, int64_t expected, int64_t version,
                                   mcp_error *err)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, body);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", "versionConflict");
    mcp_write_member_string(&json, "universeId", id);
    if (expected != UNIVERSE_ANY_VERSION)
        mcp_write_member_int(&json, "expectedVersion", expected);
    mcp_write_member_int(&json, "version", version);
    mcp_write_end(&json);
    return finish(body, &json, err);
}

mcp_status universe_reply_error(mcp_buf *body, const char *words, const char *id, mcp_error *err)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, body);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "error", words);
    if (id)
        mcp_write_member_string(&json, "universeId", id);
    mcp_write_end(&json);
    return finish(body, &json, err);
}

/* ---- records --------------------------------------------------------------------------------- */

static void write_times(mcp_json_writer *json, const universe_record *record)
{
    char utc[MCP_CLOCK_UTC_SIZE];
    mcp_clock_utc(utc, record->created_ms, 1);
    mcp_write_member_string(json, "createdAt", utc);
    mcp_clock_utc(utc, record->updated_ms, 1);
    mcp_write_member_string(json, "updatedAt", utc);
}

static void put_string(mcp_buf *body, const char *name, const char *text)
{
    mcp_json_writer json;
    put_name(body, name);
    mcp_json_writer_init(&json, body);
    mcp_write_string(&json, text);
}

static void put_time(mcp_buf *body, const char *name, int64_t wall_ms)
{
    char utc[MCP_CLOCK_UTC_SIZE];
    mcp_clock_utc(utc, wall_ms, 1);
    put_string(body, name, utc);
}

mcp_status universe_reply_record(mcp_buf *body, const universe_record *record,
                                 const universe_view *view, bool omitted, const char *repairs,
                                 universe_gap *gap, mcp_error *err)
{
    mcp_status st = MCP_OK;
    mcp_buf_putc(body, '{');
    put_string(body, "id", record->id);
    put_string(body, "name", record->name);
    if (view)
        st = put_state(body, "state", view, gap, err);
    else if (omitted)
        mcp_buf_puts(body, ",\"state\":null,\"stateOmitted\":true");
    if (st != MCP_OK)
        return st;
    put_name(body, "version");
    mcp_buf_printf(body, "%lld", (long long)record->version);
    if (!view) {
        put_name(body, "bodies");
        mcp_buf_printf(body, "%lld", (long long)record->bodies);
    }
    put_time(body, "createdAt", record->created_ms);
    put_time(body, "updatedAt", record->updated_ms);
    if (repairs) {
        put_name(body, "repairs");
        mcp_buf_puts(body, repairs);
    }
    mcp_buf_putc(body, '}');
    return finish(body, NULL, err);
}

mcp_status universe_reply_summary(mcp_buf *body, const universe_version *current, mcp_error *err)
{
    universe_summary summary;
    mcp_json_writer json;

    universe_view_summary(&summary, current->view);
    mcp_json_writer_init(&json, body);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "id", current->record.id);
    mcp_write_member_string(&json, "name", current->record.name);
    mcp_write_member_int(&json, "version", current->record.version);
    mcp_write_member_double(&json, "time", summary.time);
    mcp_write_member_int(&json, "bytes", (int64_t)summary.bytes);
    mcp_write_member_object(&json, "counts");
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        mcp_write_member_int(&json, universe_map_names[map], (int64_t)summary.counts[map]);
    mcp_write_end(&json);
    mcp_write_member_object(&json, "bodyTypes");
    for (int type = 0; type < UNIVERSE_BODY_TYPES; type++)
        mcp_write_member_int(&json, universe_body_type_names[type],
                             (int64_t)summary.body_types[type]);
    mcp_write_end(&json);
    mcp_write_member_int(&json, "roots", (int64_t)summary.roots);
    mcp_write_member_int(&json, "rootGroups", (int64_t)summary.root_groups);
    mcp_write_member_int(&json, "roguePlanets", (int64_t)summary.rogues);
    write_times(&json, &current->record);
    mcp_write_end(&json);
    return finish(body, &json, err);
}

const char *universe_generator_label(mcp_arena *arena, const mcp_json *config)
{
    mcp_json_writer json;
    mcp_buf text;
    mcp_buf_init(&text, 1 << 20);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    mcp_write_member_string(&json, "type", "replaceSnapshot");
    mcp_write_member_value(&json, "generator", config);
    mcp_write_end(&json);
    const char *label = mcp_json_writer_status(&json) == MCP_OK
                            ? mcp_arena_strndup(arena, text.data, text.length)
                            : NULL;
    mcp_buf_clear(&text);
    return label;
}
