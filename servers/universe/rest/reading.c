/*
 * reading.c - what a universe is made of, where its bodies are, what happened to it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "rest/rest.h"

enum { HISTORY_MAX = 1000, IDS_MAX = 10000, TIMES_MAX = 10000, POSITIONS_MAX = 10000000 };

/* The universe that the path names, or an answer. */
static bool look(universe_version *out, mcp_call *call, const universe_app *app)
{
    const char *id = mcp_arg_string(call, "id");
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = universe_service_get(out, app->service, id, mcp_call_arena(call), &err);
    if (st == MCP_OK)
        return true;
    universe_rest_failed(call, id, st, &err);
    return false;
}

/* Sends the body, or says why there is none; frees the view either way. */
static mcp_status finish(mcp_call *call, universe_version *current, mcp_buf *body, mcp_status st,
                         const mcp_error *err)
{
    const char *id = current->record.id;
    universe_view_free(current->view);
    if (st == MCP_OK)
        st = universe_rest_etag(call, current->record.version);
    if (st == MCP_OK)
        return universe_rest_send(call, 200, body);
    mcp_buf_clear(body);
    return universe_rest_failed(call, id, st, err);
}

/* ---- the state ------------------------------------------------------------------------------- */

/* The next part of a list "a,b,c", decoded already; NULL at its end. */
static char *next_part(char **rest)
{
    char *part = NULL;
    do
        part = strsep(rest, ",");
    while (part && !*part);
    return part;
}

static bool read_fields(mcp_call *call, universe_projection *part, const char *id)
{
    char *list = mcp_arena_strdup(mcp_call_arena(call), mcp_arg_string(call, "fields"));
    for (char *name = next_part(&list); name; name = next_part(&list)) {
        unsigned bit = universe_field_of(name);
        if (bit == 0) {
            universe_rest_error(call, 400, id, "no field of a state is called \"%.64s\"", name);
            return false;
        }
        part->fields |= bit;
    }
    return true;
}

/* The ids of the query, at most IDS_MAX; false: too many, answered. */
static bool read_ids(mcp_call *call, const universe_id **out, size_t *count, const char *id)
{
    mcp_arena *arena = mcp_call_arena(call);
    char *list = mcp_arena_strdup(arena, mcp_arg_string(call, "ids"));
    universe_id *ids = list ? mcp_arena_array(arena, IDS_MAX, sizeof *ids) : NULL;
    *out = ids;
    *count = 0;
    if (!ids)
        return true;
    for (char *one = next_part(&list); one; one = next_part(&list)) {
        if (*count == IDS_MAX) {
            universe_rest_error(call, 400, id, "at most %d ids at once", IDS_MAX);
            return false;
        }
        ids[(*count)++] = (universe_id){ .bytes = one, .length = strlen(one) };
    }
    return true;
}

static mcp_status answer_delta(mcp_call *call, const universe_app *app, universe_version *current,
                               int64_t since)
{
    universe_result result = { .events = "[]", .events_length = 2 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf body;

    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_service_changes(&result.changes, app->service, current, since,
                                             mcp_call_arena(call), &err);
    if (st == MCP_OK && (result.changes.everything || since > current->record.version)) {
        const char *id = current->record.id;
        universe_view_free(current->view);
        return universe_rest_error(call, 410, id,
                                   "what changed since version %lld is not known any more: fetch "
                                   "the state",
                                   (long long)since);
    }
    result.current = *current;
    if (st == MCP_OK)
        st = universe_reply_result(&body, app, &result, UNIVERSE_RETURN_DELTA, NULL, &err);
    return finish(call, current, &body, st, &err);
}

/* All entities of the fields that are wanted, written while they are sent. */
static mcp_status send_large(mcp_call *call, universe_version *current, unsigned fields)
{
    const universe_gap all = { .at = 0, .is_open = true };
    mcp_buf nothing;

    mcp_buf_init(&nothing, UNIVERSE_REST_MAX);
    mcp_status st = universe_rest_etag(call, current->record.version);
    if (st == MCP_OK)
        st = universe_rest_send_state(call, 200, &nothing, &all, current->view, fields);
    universe_view_free(current->view);
    return st;
}

static mcp_status answer_state(mcp_call *call, universe_version *current,
                               const universe_projection *part)
{
    mcp_error err = MCP_ERROR_INIT;
    uint64_t next = 0;
    char cursor[32];
    mcp_buf body;

    if (!part->ids && part->limit == 0 && part->cursor == 0 &&
        universe_reply_is_large(current->view))
        return send_large(call, current, part->fields);
    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_view_write(current->view, part, universe_into_buf, &body, &next, &err);
    if (st == MCP_OK && next != 0) {
        snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)next);
        st = mcp_call_header_set(call, "Next-Cursor", cursor);
    }
    return finish(call, current, &body, st, &err);
}

mcp_status universe_rest_get_state(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    universe_projection part = { 0 };
    universe_version current = { 0 };
    int64_t since = 0, limit = 0, cursor = 0;

    if (!universe_rest_int(call, "since", -1, 0, INT64_MAX, &since) ||
        !universe_rest_int(call, "limit", 0, 1, 1000000, &limit) ||
        !universe_rest_int(call, "cursor", 0, 0, INT64_MAX, &cursor) ||
        !read_fields(call, &part, id) || !read_ids(call, &part.ids, &part.id_count, id))
        return MCP_OK;
    if (!look(&current, call, app))
        return MCP_OK;
    if (since >= 0)
        return answer_delta(call, app, &current, since);
    if (universe_rest_precluded(call, current.record.version)) {
        universe_view_free(current.view);
        return MCP_OK;
    }
    part.limit = (size_t)limit;
    part.cursor = (uint64_t)cursor;
    return answer_state(call, &current, &part);
}

mcp_status universe_rest_summary(mcp_call *call, void *data)
{
    universe_version current = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf body;

    if (!look(&current, call, data))
        return MCP_OK;
    if (universe_rest_precluded(call, current.record.version)) {
        universe_view_free(current.view);
        return MCP_OK;
    }
    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_reply_summary(&body, &current, &err);
    return finish(call, &current, &body, st, &err);
}

/* ---- positions ------------------------------------------------------------------------------- */

struct times {
    double from, to, step;
    size_t count;
    bool is_range;
};

static bool finite_number(const char *text, char **end, double *out)
{
    *out = strtod(text, end);
    return *end != text && isfinite(*out);
}

/* "from:to:step" in `times`, or one `time`, or the universe's own. */
static bool read_times(struct times *out, mcp_call *call, double now)
{
    const char *range = mcp_arg_string(call, "times"), *one = mcp_arg_string(call, "time");
    char *end = NULL;
    *out = (struct times){ .from = now, .to = now, .step = 1, .count = 1 };
    if (range) {
        out->is_range = true;
        bool ok = finite_number(range, &end, &out->from) && *end == ':' &&
                  finite_number(end + 1, &end, &out->to) && *end == ':' &&
                  finite_number(end + 1, &end, &out->step) && *end == '\0' && out->step > 0 &&
                  out->to >= out->from;
        double count = ok ? floor((out->to - out->from) / out->step + 1e-9) + 1 : 0;
        out->count = count <= TIMES_MAX ? (size_t)count : 0;
        return out->count > 0;
    }
    if (one && (!finite_number(one, &end, &out->from) || *end != '\0'))
        return false;
    return true;
}

static mcp_status put_places(mcp_buf *body, mcp_call *call, const universe_view *view,
                             const struct times *times, const universe_which *which,
                             universe_place_format format, mcp_error *err)
{
    bool is_list = times->is_range && format == UNIVERSE_PLACES_JSON;
    mcp_status st = MCP_OK;
    if (is_list)
        mcp_buf_putc(body, '[');
    for (size_t i = 0; st == MCP_OK && i < times->count; i++) {
        if (is_list && i > 0)
            mcp_buf_putc(body, ',');
        if (mcp_call_stop(call) != MCP_STOP_NONE)
            return mcp_error_set(err, MCP_E_STOPPED, "nobody waits for these positions any more");
        st = universe_view_write_places(view, times->from + (double)i * times->step, which, format,
                                        universe_into_buf, body, err);
        if (format == UNIVERSE_PLACES_IDS)
            break;
    }
    if (is_list)
        mcp_buf_putc(body, ']');
    return st;
}

static bool read_format(universe_place_format *out, mcp_call *call)
{
    static const char *const names[] = { "json", "f32", "ids" };
    const char *name = mcp_arg_string(call, "format");
    *out = UNIVERSE_PLACES_JSON;
    for (size_t i = 0; name && i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (universe_place_format)i;
            return true;
        }
    }
    return !name;
}

static mcp_status answer_places(mcp_call *call, universe_version *current,
                                const universe_which *which, const struct times *times,
                                universe_place_format format)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf body;
    const char *id = current->record.id;

    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = put_places(&body, call, current->view, times, which, format, &err);
    if (st == MCP_E_NOT_FOUND) {
        universe_view_free(current->view);
        mcp_buf_clear(&body);
        return universe_rest_error(call, 404, id, "%s", err.message);
    }
    if (st != MCP_OK || format != UNIVERSE_PLACES_F32)
        return finish(call, current, &body, st, &err);
    universe_view_free(current->view);
    st = universe_rest_etag(call, current->record.version);
    return st == MCP_OK ? mcp_call_send_buf(call, "application/octet-stream", &body) : st;
}

mcp_status universe_rest_positions(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id"), *root = mcp_arg_string(call, "root");
    universe_which which = { .root = root, .root_length = root ? strlen(root) : 0 };
    universe_place_format format = UNIVERSE_PLACES_JSON;
    universe_version current = { 0 };
    struct times times;

    if (!read_format(&format, call))
        return universe_rest_error(call, 400, id, "\"format\" is json, f32 or ids");
    if (!read_ids(call, &which.ids, &which.id_count, id) || !look(&current, call, app))
        return MCP_OK;
    size_t bodies = which.ids ? which.id_count : universe_view_count(current.view, UNIVERSE_STARS);
    const char *fault = NULL;
    if (!read_times(&times, call, universe_view_time(current.view)))
        fault = "\"time\" is a finite number, \"times\" is from:to:step with at most 10000 times";
    else if (bodies * times.count > POSITIONS_MAX)
        fault = "these are more than 10000000 positions: ask for fewer bodies or times";
    if (fault) {
        universe_view_free(current.view);
        return universe_rest_error(call, 400, id, "%s", fault);
    }
    if (universe_rest_precluded(call, current.record.version)) {
        universe_view_free(current.view);
        return MCP_OK;
    }
    return answer_places(call, &current, &which, &times, format);
}

/* ---- history --------------------------------------------------------------------------------- */

struct history {
    mcp_json_writer json;
    size_t count;
};

static mcp_status put_entry(const universe_history *entry, void *data, mcp_error *err)
{
    struct history *to = data;
    mcp_json_writer *json = &to->json;
    (void)err;
    to->count++;
    mcp_write_object(json);
    mcp_write_member_int(json, "version", entry->version);
    mcp_write_member_double(json, "time", entry->time);
    if (entry->command) {
        mcp_write_name(json, "command");
        mcp_write_raw(json, entry->command, entry->command_length);
    }
    mcp_write_name(json, "events");
    mcp_write_raw(json, entry->events, entry->events_length);
    if (entry->actor)
        mcp_write_member_string(json, "actor", entry->actor);
    mcp_write_member_int(json, "appliedAt", entry->applied_ms);
    mcp_write_end(json);
    return mcp_json_writer_status(json);
}

mcp_status universe_rest_history(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    struct history to = { 0 };
    int64_t after = 0, limit = 0;
    bool complete = false;
    mcp_error err = MCP_ERROR_INIT;
    mcp_buf body;

    if (!universe_rest_int(call, "after", 0, 0, INT64_MAX, &after) ||
        !universe_rest_int(call, "limit", 100, 1, HISTORY_MAX, &limit))
        return MCP_OK;
    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_json_writer_init(&to.json, &body);
    mcp_write_object(&to.json);
    mcp_write_member_array(&to.json, "entries");
    mcp_status st = universe_service_history(&complete, app->service, id, after, (size_t)limit,
                                             put_entry, &to, &err);
    if (st == MCP_OK) {
        mcp_write_end(&to.json);
        mcp_write_member_bool(&to.json, "complete", complete);
        mcp_write_end(&to.json);
        return universe_rest_send(call, 200, &body);
    }
    mcp_buf_clear(&body);
    return universe_rest_failed(call, id, st, &err);
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Where the stream continues: after Last-Event-ID, else `after`, else from now. An id that is no
 * version of the universe makes the viewer fetch the state: the age of what it shows is not known,
 * and the whole log would be long. */
static bool read_after(mcp_call *call, int64_t *after)
{
    const char *last = mcp_call_last_event_id(call);
    if (!last)
        return universe_rest_int(call, "after", UNIVERSE_ANY_VERSION, 0, INT64_MAX, after);
    if (!bus_read_id(after, last))
        *after = INT64_MAX;
    return true;
}

static bool read_ticks(universe_ticks *out, mcp_call *call)
{
    const char *text = mcp_arg_string(call, "ticks");
    *out = UNIVERSE_TICKS_ALL;
    if (text && strcmp(text, "0") == 0)
        *out = UNIVERSE_TICKS_NONE;
    else if (text && strcmp(text, "coalesce") == 0)
        *out = UNIVERSE_TICKS_COALESCED;
    else if (text && strcmp(text, "1") != 0)
        return false;
    return true;
}

mcp_status universe_rest_events(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id"), *detail = mcp_arg_string(call, "detail");
    universe_subscription what = { .detail = detail && strcmp(detail, "1") == 0 };
    universe_subscriber subscriber;
    mcp_error err = MCP_ERROR_INIT;

    if (!read_ticks(&what.ticks, call))
        return universe_rest_error(call, 400, id, "\"ticks\" is 0, 1 or coalesce");
    if (!read_after(call, &what.after))
        return MCP_OK;
    mcp_status st = universe_service_subscribe(&subscriber, app->service, id, &what, &err);
    if (st == MCP_OK) {
        st = bus_subscribe(subscriber.bus, call, subscriber.topic, &subscriber.how, &err);
        universe_service_subscribed(&subscriber);
    }
    return st == MCP_OK ? st : universe_rest_failed(call, id, st, &err);
}
