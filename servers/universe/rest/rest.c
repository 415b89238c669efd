/*
 * rest.c - the parts of requests that several routes read, and how they answer.
 */
#include "rest/rest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/tags.h"
#include "rest/condition.h"

enum { REPAIRS_MAX_BYTES = 64 << 20 };

/* ---- answering ------------------------------------------------------------------------------- */

mcp_status universe_rest_send(mcp_call *call, int http_status, mcp_buf *body)
{
    mcp_call_status(call, http_status);
    return mcp_call_send_buf(call, "application/json", body);
}

mcp_status universe_rest_error(mcp_call *call, int http_status, const char *id, const char *format,
                               ...)
{
    char words[512];
    mcp_buf body;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    mcp_status st = universe_reply_error(&body, words, id, mcp_call_error(call));
    if (st == MCP_OK)
        return universe_rest_send(call, http_status, &body);
    mcp_buf_clear(&body);
    return st;
}

static int http_of(mcp_status status)
{
    switch (status) {
    case MCP_E_NOT_FOUND:
        return 404;
    case MCP_E_DENIED:
        return 403;
    case MCP_E_PARSE:
    case MCP_E_PARAMS:
    case MCP_E_SCHEMA:
        return 400;
    case MCP_E_LIMIT:
    case MCP_E_BUSY:
    case MCP_E_NOMEM:
    case MCP_E_STOPPED:
        return 503;
    case MCP_E_TIMEOUT:
        return 504;
    case MCP_E_UNSUPPORTED:
        return 501;
    case MCP_E_STORAGE:
        return 507;
    default:
        return 500;
    }
}

mcp_status universe_rest_failed(mcp_call *call, const char *id, mcp_status status,
                                const mcp_error *cause)
{
    int http = http_of(status);
    if (http == 503)
        mcp_call_header_set(call, "Retry-After", "1");
    if (status == MCP_E_NOT_FOUND && id)
        return universe_rest_error(call, 404, id, "%s",
                                   strncmp(cause->message, "Universe not found", 18) == 0
                                       ? "Universe not found"
                                       : cause->message);
    if (http == 500) /* the library logs it, and the client gets no more than that */
        return mcp_error_set(mcp_call_error(call), status, "%s", cause->message);
    return universe_rest_error(call, http, id, "%s", cause->message);
}

bool universe_rest_no_json(mcp_call *call, const mcp_json *body, const mcp_error *err)
{
    const char *id = mcp_arg_string(call, "id");
    size_t length = 0;

    mcp_call_body(call, &length);
    if (body || length == 0)
        return false;
    if (err->status == MCP_E_NOMEM || err->status == MCP_E_BUSY)
        universe_rest_failed(call, id, err->status, err);
    else
        universe_rest_error(call, 400, id, "the body is not JSON: %s", err->message);
    return true;
}

mcp_status universe_rest_problem(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                                 void *data)
{
    (void)mime_type;
    (void)data;
    const char *words = problem->http_status == 500 ? "Internal server error" : problem->message;
    return universe_reply_error(body, words, NULL, NULL);
}

mcp_status universe_rest_etag(mcp_call *call, int64_t version)
{
    char tag[UNIVERSE_TAG_SIZE];
    universe_tag_of(tag, version);
    return mcp_call_header_set(call, "ETag", tag);
}

mcp_status universe_rest_result(mcp_call *call, const universe_app *app, const char *id,
                                universe_result *result, int64_t expected, int conflict_status)
{
    universe_return how = UNIVERSE_RETURN_AUTO;
    int http = 200;
    mcp_buf body;
    universe_gap gap = { 0 };
    mcp_error *err = mcp_call_error(call);
    bool is_soft = result->answer == UNIVERSE_REFUSED && app->soft_rejections;

    mcp_buf_init(&body, UNIVERSE_REST_MAX);
    universe_return_find(&how, mcp_arg_string(call, "return"));
    mcp_status st = universe_rest_etag(call, result->current.record.version);
    if (st == MCP_OK && result->answer == UNIVERSE_CONFLICT) {
        http = conflict_status;
        st = universe_reply_conflict(&body, id, expected, result->current.record.version, err);
    } else if (st == MCP_OK && result->answer == UNIVERSE_REFUSED && !is_soft) {
        http = 422;
        st = universe_reply_rejected(&body, id, result, NULL, err);
    } else if (st == MCP_OK) {
        st = universe_reply_result(&body, app, result, how, &gap, err);
    }
    if (st == MCP_OK)
        st = universe_rest_send_state(call, http, &body, &gap, result->current.view, 0);
    else
        st = universe_rest_failed(call, id, st, err);
    mcp_buf_clear(&body);
    universe_view_free(result->current.view);
    return st;
}

void universe_rest_location(char *out, size_t size, const char *id)
{
    size_t at = (size_t)snprintf(out, size, "/universes/");
    universe_percent_encode(out + at, size - at, id);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool universe_rest_precluded(mcp_call *call, int64_t version)
{
    char tag[UNIVERSE_TAG_SIZE];
    const char *match = mcp_call_header(call, "If-Match");
    const char *known = mcp_call_header(call, "If-None-Match");
    universe_tag_of(tag, version);
    if (match && page_tags_find(match, tag, true) != PAGE_TAGS_WITH) {
        universe_rest_error(call, 412, mcp_arg_string(call, "id"), "the version is %s now", tag);
        return true;
    }
    if (!known || page_tags_find(known, tag, false) != PAGE_TAGS_WITH)
        return false;
    mcp_call_status(call, 304);
    mcp_call_header_set(call, "ETag", tag);
    mcp_call_send(call, "application/json", "", 0);
    return true;
}

bool universe_rest_int(mcp_call *call, const char *name, int64_t fallback, int64_t min, int64_t max,
                       int64_t *out)
{
    const char *text = mcp_arg_string(call, name);
    char *end = NULL;
    *out = fallback;
    if (!text)
        return true;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && value >= min && value <= max) {
        *out = value;
        return true;
    }
    universe_rest_error(call, 400, NULL, "\"%s\" is a whole number from %lld to %lld", name,
                        (long long)min, (long long)max);
    return false;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* A state that is read, and what was repaired in it. */
struct reading {
    const universe_app *app;
    bool repairs;
    bool is_repairable;    /* it was refused, and would not be with `repairs` */
    mcp_json_writer words; /* an array of them */
    mcp_arena *arena;
};

static void add_repair(const char *words, void *data)
{
    mcp_write_string(data, words);
}

/* The value's text through the importer: the one place that judges states. */
static mcp_status import_text(universe_state **out, struct reading *reading, const mcp_buf *text,
                              mcp_error *err)
{
    universe_rules rules = reading->app->rules;
    universe_import *import = NULL;

    rules.repair = reading->repairs;
    mcp_status st = universe_import_new(&import, &rules, err);
    if (st != MCP_OK)
        return st;
    st = universe_import_feed(import, text->data, text->length, err);
    if (st == MCP_OK)
        st = universe_import_end(out, import, err);
    reading->is_repairable = st != MCP_OK && universe_import_is_repairable(import);
    for (size_t i = 0; st == MCP_OK && universe_import_repair(import, i); i++)
        add_repair(universe_import_repair(import, i), &reading->words);
    universe_import_free(import);
    if (st == MCP_OK && reading->repairs)
        st = universe_repair(*out, add_repair, &reading->words, reading->arena, err);
    return st;
}

static mcp_status import_state(universe_state **out, struct reading *reading, const mcp_json *state,
                               mcp_error *err)
{
    mcp_json_writer json;
    mcp_buf text;

    mcp_buf_init(&text, UNIVERSE_REST_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, state);
    mcp_status st = mcp_json_writer_status(&json);
    st = st == MCP_OK ? import_text(out, reading, &text, err)
                      : mcp_error_set(err, st, "no memory for a state");
    mcp_buf_clear(&text);
    return st;
}

static bool read_repair(mcp_call *call, const char *id, bool *out)
{
    const char *text = mcp_arg_string(call, "repair");

    *out = text && strcmp(text, "true") == 0;
    if (!text || *out || strcmp(text, "false") == 0)
        return true;
    universe_rest_error(call, 400, id, "\"repair\" is true or false");
    return false;
}

static bool read_state(mcp_call *call, struct reading *reading, const mcp_json *json,
                       const char *id, universe_view **out)
{
    universe_state *state = NULL;
    mcp_error err = MCP_ERROR_INIT;

    mcp_status st = import_state(&state, reading, json, &err);
    if (st == MCP_OK)
        st = universe_state_freeze(out, state, &err);
    universe_state_free(state);
    if (st == MCP_OK)
        return true;
    if (reading->is_repairable)
        universe_rest_error(call, 400, id,
                            "%s; ?repair=true repairs such a state, and a server with --validation "
                            "lenient accepts it",
                            err.message);
    else if (st == MCP_E_LIMIT)
        universe_rest_error(call, 413, id, "%s", err.message);
    else
        universe_rest_failed(call, id, st, &err);
    return false;
}

bool universe_rest_state(mcp_call *call, const universe_app *app, const mcp_json *json,
                         const char *id, universe_view **out, const char **repairs)
{
    struct reading reading = { .app = app, .arena = mcp_call_arena(call) };
    mcp_buf words;

    *repairs = NULL;
    if (!read_repair(call, id, &reading.repairs))
        return false;
    mcp_buf_init(&words, REPAIRS_MAX_BYTES);
    mcp_json_writer_init(&reading.words, &words);
    mcp_write_array(&reading.words);
    bool is_read = read_state(call, &reading, json, id, out);
    mcp_write_end(&reading.words);
    if (is_read && reading.repairs) {
        bool fits = mcp_json_writer_status(&reading.words) == MCP_OK;
        *repairs = fits ? mcp_arena_strndup(reading.arena, words.data, words.length) : "[]";
    }
    mcp_buf_clear(&words);
    return is_read;
}
