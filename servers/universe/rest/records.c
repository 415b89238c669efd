/*
 * records.c - universes as records: list, create, read, change, delete; and how the server is.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "rest/condition.h"
#include "rest/rest.h"

enum { PAGE = 100 };

/* ---- how the server is ----------------------------------------------------------------------- */

mcp_status universe_rest_health(mcp_call *call, void *data)
{
    const universe_app *app = data;
    mcp_json_writer *json = mcp_call_result(call);
    mcp_write_member_bool(json, "ok", true);
    mcp_write_member_int(json, "uptime", (mcp_clock_mono_ms() - app->started_ms) / 1000);
    return MCP_OK;
}

mcp_status universe_rest_ready(mcp_call *call, void *data)
{
    const universe_app *app = data;
    mcp_json_writer *json = mcp_call_result(call);
    universe_figures figures;

    universe_service_figures(&figures, app->service);
    mcp_call_status(call, figures.database_ok ? 200 : 503);
    mcp_write_member_bool(json, "ready", figures.database_ok);
    mcp_write_member_int(json, "waiting", figures.waiting);
    mcp_write_member_int(json, "loaded", figures.loaded);
    mcp_write_member_int(json, "bodies", figures.bodies);
    mcp_write_member_int(json, "commands", figures.commands);
    mcp_write_member_int(json, "rejected", figures.rejected);
    mcp_write_member_int(json, "commits", figures.commits);
    mcp_write_member_int(json, "viewers", figures.viewers);
    mcp_write_member_int(json, "snapshots", figures.snapshots);
    if (figures.snapshot_ms > 0)
        mcp_write_member_int(json, "snapshotAgeMs", mcp_clock_wall_ms() - figures.snapshot_ms);
    return MCP_OK;
}

void universe_rest_metrics(mcp_buf *out, void *data)
{
    static const char *const outcomes[] = { "applied", "unchanged", "rejected", "conflict" };
    static const char commands[] = "universe_commands_total";
    const universe_app *app = data;
    universe_figures figures;

    universe_service_figures(&figures, app->service);
    serve_metric_begin(out, commands, "counter", "Commands, by what became of them.");
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
        serve_metric_put(out, commands, "outcome", outcomes[i], (double)figures.judged[i]);
    serve_metric_put(out, commands, "outcome", "failed", (double)figures.failed);
    serve_metric_times(out, "universe_commit_seconds", "Time of a transaction, with its retries.",
                       &figures.commit_times);
    serve_metric(out, "universe_changes_waiting", "gauge", "Changes that wait for a commit.",
                 (double)figures.waiting);
    serve_metric(out, "universe_loaded", "gauge", "Universes in memory.", (double)figures.loaded);
    serve_metric(out, "universe_bodies", "gauge", "Bodies in them.", (double)figures.bodies);
    serve_metric(out, "universe_viewers", "gauge", "Open streams of viewers.",
                 (double)figures.viewers);
    serve_metric(out, "universe_snapshots_total", "counter", "Snapshots written.",
                 (double)figures.snapshots);
    serve_metric(out, "universe_database_up", "gauge", "1: the last commit succeeded.",
                 figures.database_ok);
}

/* ---- the list -------------------------------------------------------------------------------- */

struct list {
    const universe_app *app;
    mcp_call *call;
    mcp_buf body;
    size_t count;
};

/* One universe of the full form. Those that would make the answer too long have no state; where the
 * record shows that, they are not even loaded. */
static mcp_status put_full(struct list *list, const universe_record *record, mcp_error *err)
{
    universe_version current = { 0 };
    universe_summary summary = { 0 };
    mcp_status st = MCP_OK;
    size_t known = record->bytes > 0 ? (size_t)record->bytes : 0;
    bool has_room = list->body.length < list->app->list_bytes &&
                    list->body.length + known <= list->app->list_bytes;

    if (has_room)
        st = universe_service_get(&current, list->app->service, record->id,
                                  mcp_call_arena(list->call), err);
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;       /* deleted since the list was read */
    if (st == MCP_E_LIMIT) { /* too many are loaded to load this one too */
        has_room = false;
        st = MCP_OK;
    }
    if (st == MCP_OK && current.view) {
        universe_view_summary(&summary, current.view);
        has_room = list->body.length + summary.bytes <= list->app->list_bytes;
    }
    if (st == MCP_OK && list->count++ > 0)
        mcp_buf_putc(&list->body, ',');
    if (st == MCP_OK)
        st = universe_reply_record(&list->body, current.view ? &current.record : record,
                                   has_room ? current.view : NULL, !has_room, NULL, NULL, err);
    universe_view_free(current.view);
    return st;
}

static mcp_status put_page(struct list *list, const universe_record *records, size_t count,
                           bool is_full, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        if (mcp_call_stop(list->call) != MCP_STOP_NONE)
            return mcp_error_set(err, MCP_E_STOPPED, "nobody waits for this list any more");
        if (is_full) {
            st = put_full(list, &records[i], err);
            continue;
        }
        if (list->count++ > 0)
            mcp_buf_putc(&list->body, ',');
        st = universe_reply_record(&list->body, &records[i], NULL, false, NULL, NULL, err);
    }
    return st;
}

/* Without `limit` every page, one after the other; with it one page, and a Link to the next. */
static mcp_status put_list(struct list *list, const char *cursor, size_t limit, bool is_full,
                           mcp_error *err)
{
    bool one_page = limit > 0;
    mcp_status st = MCP_OK;
    do {
        universe_record *records = NULL;
        size_t count = 0;
        const char *next = NULL;
        st = universe_service_list(&records, &count, &next, list->app->service, cursor,
                                   one_page ? limit : PAGE, mcp_call_arena(list->call), err);
        if (st == MCP_OK)
            st = put_page(list, records, count, is_full, err);
        cursor = next;
    } while (st == MCP_OK && cursor && !one_page);
    if (st == MCP_OK && cursor)
        st = mcp_call_header_set(list->call, "Next-Cursor", cursor);
    return st;
}

mcp_status universe_rest_list(mcp_call *call, void *data)
{
    struct list list = { .app = data, .call = call };
    const char *view = mcp_arg_string(call, "view");
    mcp_error *err = mcp_call_error(call);
    int64_t limit = 0;

    if (!universe_rest_int(call, "limit", 0, 1, UNIVERSE_LIST_MAX - 1, &limit))
        return MCP_OK;
    if (view && strcmp(view, "full") != 0 && strcmp(view, "summary") != 0)
        return universe_rest_error(call, 400, NULL, "\"view\" is full or summary");
    bool is_full = view ? strcmp(view, "full") == 0 : !list.app->lists_summaries;
    mcp_buf_init(&list.body, UNIVERSE_REST_MAX);
    mcp_buf_putc(&list.body, '[');
    mcp_status st = put_list(&list, mcp_arg_string(call, "cursor"), (size_t)limit, is_full, err);
    mcp_buf_putc(&list.body, ']');
    if (st == MCP_OK)
        return universe_rest_send(call, 200, &list.body);
    mcp_buf_clear(&list.body);
    return universe_rest_failed(call, NULL, st, err);
}

/* ---- one record ------------------------------------------------------------------------------ */

static mcp_status answer_record(mcp_call *call, int http, const universe_version *current,
                                const char *repairs)
{
    mcp_error *err = mcp_call_error(call);
    universe_gap gap = { 0 };
    mcp_buf body;

    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_rest_etag(call, current->record.version);
    if (st == MCP_OK)
        st = universe_reply_record(&body, &current->record, current->view, false, repairs, &gap,
                                   err);
    if (st == MCP_OK)
        return universe_rest_send_state(call, http, &body, &gap, current->view, 0);
    mcp_buf_clear(&body);
    return universe_rest_failed(call, current->record.id, st, err);
}

mcp_status universe_rest_get(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    universe_version current = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = universe_service_get(&current, app->service, id, mcp_call_arena(call), &err);
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    if (!universe_rest_precluded(call, current.record.version))
        st = answer_record(call, 200, &current, NULL);
    universe_view_free(current.view);
    return st;
}

/* The name without white space around it; NULL where there is none. */
static const char *trimmed(mcp_call *call, const mcp_json *name)
{
    size_t length = 0;
    const char *text = mcp_json_string(name, &length);
    if (!text || strlen(text) != length)
        return NULL;
    while (length > 0 && strchr(" \t\r\n", text[0])) {
        text++;
        length--;
    }
    while (length > 0 && strchr(" \t\r\n", text[length - 1]))
        length--;
    return length > 0 ? mcp_arena_strndup(mcp_call_arena(call), text, length) : NULL;
}

static mcp_status create(mcp_call *call, const universe_app *app, const char *id, const char *name,
                         universe_view *start, const char *repairs)
{
    universe_version current = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    bool taken = false;
    char location[512];

    mcp_status st = universe_service_create(&current, &taken, app->service, id, name, start, NULL,
                                            mcp_call_arena(call), &err);
    if (taken)
        return universe_rest_error(call, 409, id, "a universe has this id already");
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    universe_rest_location(location, sizeof location, current.record.id);
    mcp_call_header_set(call, "Location", location);
    st = answer_record(call, 201, &current, repairs);
    universe_view_free(current.view);
    return st;
}

mcp_status universe_rest_create(mcp_call *call, void *data)
{
    const universe_app *app = data;
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = mcp_call_body_json(call, &err);
    const char *name = trimmed(call, mcp_json_get(body, "name"));
    const mcp_json *state = mcp_json_get(body, "state"), *id = mcp_json_get(body, "id");
    universe_view *start = NULL;
    const char *repairs = NULL;
    size_t length = 0;

    if (universe_rest_no_json(call, body, &err))
        return MCP_OK;
    if (!name)
        return universe_rest_error(call, 400, NULL,
                                   "\"name\" is required and must be a non-empty string");
    if (!mcp_json_is_object(state))
        return universe_rest_error(call, 400, NULL,
                                   "\"state\" is required and must be a JSON object");
    const char *own = mcp_json_string(id, &length);
    if (id && (!own || strlen(own) != length))
        return universe_rest_error(call, 400, NULL, "\"id\" must be a string when provided");
    if (!universe_rest_state(call, app, state, own, &start, &repairs))
        return MCP_OK;
    mcp_status st = create(call, app, own, name, start, repairs);
    universe_view_free(start);
    return st;
}

/* Nothing is to be changed: the record is answered, where it is as the request demands. */
static mcp_status look(universe_result *out, mcp_call *call, const universe_app *app,
                       const char *id, const universe_condition *when, mcp_error *err)
{
    mcp_status st = universe_service_get(&out->current, app->service, id, mcp_call_arena(call),
                                         err);
    if (st == MCP_OK && !universe_condition_holds(when, out->current.record.version))
        out->answer = UNIVERSE_CONFLICT;
    return st;
}

static mcp_status put(mcp_call *call, const universe_app *app, const char *id,
                      const universe_replacement *by, const char *repairs)
{
    universe_result result = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    universe_condition when;

    if (!universe_condition_read(&when, call, app, id))
        return MCP_OK;
    mcp_status st = MCP_OK;
    do
        st = by->view || by->name
                 ? universe_service_replace(&result, app->service, id, by, when.expected,
                                            mcp_call_principal(call), mcp_call_arena(call), &err)
                 : look(&result, call, app, id, &when, &err);
    while (st == MCP_OK && universe_condition_again(&when, &result));
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    if (result.answer == UNIVERSE_CONFLICT)
        return universe_rest_result(call, app, id, &result, when.expected, when.http_status);
    st = answer_record(call, 200, &result.current, repairs);
    universe_view_free(result.current.view);
    return st;
}

mcp_status universe_rest_put(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    mcp_error err = MCP_ERROR_INIT;
    const mcp_json *body = mcp_call_body_json(call, &err);
    const mcp_json *name = mcp_json_get(body, "name"), *state = mcp_json_get(body, "state");
    universe_replacement by = { .name = trimmed(call, name) };
    const char *repairs = NULL;

    if (universe_rest_no_json(call, body, &err))
        return MCP_OK;
    if (!mcp_json_is_object(body))
        return universe_rest_error(call, 400, id, "Request body must be a JSON object");
    if (name && !by.name)
        return universe_rest_error(call, 400, id,
                                   "\"name\" must be a non-empty string when provided");
    if (state && !mcp_json_is_object(state))
        return universe_rest_error(call, 400, id, "\"state\" must be a JSON object when provided");
    by.keeps_time = !mcp_json_get(state, "time");
    if (state && !universe_rest_state(call, app, state, id, &by.view, &repairs))
        return MCP_OK;
    mcp_status st = put(call, app, id, &by, repairs);
    universe_view_free(by.view);
    return st;
}

mcp_status universe_rest_delete(mcp_call *call, void *data)
{
    const universe_app *app = data;
    const char *id = mcp_arg_string(call, "id");
    mcp_error err = MCP_ERROR_INIT;
    universe_result result = { 0 };
    int64_t *version = &result.current.record.version;
    universe_condition when;

    if (!universe_condition_read(&when, call, app, id))
        return MCP_OK;
    mcp_status st = MCP_OK;
    do {
        st = universe_service_delete(version, app->service, id, when.expected, &err);
        if (when.expected != UNIVERSE_ANY_VERSION && when.expected != *version)
            result.answer = UNIVERSE_CONFLICT;
    } while (st == MCP_OK && universe_condition_again(&when, &result));
    if (st != MCP_OK)
        return universe_rest_failed(call, id, st, &err);
    if (result.answer == UNIVERSE_CONFLICT)
        return universe_rest_result(call, app, id, &result, when.expected, when.http_status);
    mcp_call_status(call, 204);
    return MCP_OK;
}
