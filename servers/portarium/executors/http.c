/*
 * http.c - an action as one HTTP request.
 *
 * The answer's status decides: 2xx is done, all others have been refused by the system. A request
 * that was sent and not answered may have happened.
 */
#include <stdio.h>
#include <string.h>

#include "executors/kinds.h"
#include "fetch/fetch.h"
#include "fetch/url.h"

enum { URL_MAX = FETCH_URL_MAX, BODY_MAX = 1 << 20, HEADER_MAX = 32 << 10, OWN_HEADERS = 6 };

/* A request while it is made; its texts live until the answer has come. */
typedef struct making {
    const portarium_attempt *attempt;
    mcp_arena *arena;
    portarium_scope scope;
    mcp_buf url, body, secret;
    fetch_header headers[FETCH_HEADERS_MAX];
    size_t header_count;
} making;

static bool is_read(const mcp_json *binding)
{
    const char *method = mcp_json_get_string(binding, "method");
    return method && strcmp(method, "GET") == 0;
}

static bool is_idempotent(const mcp_json *binding)
{
    return is_read(binding) || portarium_binding_is_idempotent(binding);
}

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool has_header(const making *self, const char *name)
{
    for (size_t i = 0; i < self->header_count; i++) {
        if (strcasecmp(self->headers[i].name, name) == 0)
            return true;
    }
    return false;
}

static void add_header(making *self, const char *name, const char *value)
{
    if (value && !has_header(self, name))
        self->headers[self->header_count++] = (fetch_header){ name, value };
}

static bool wants_credential(const mcp_json *binding)
{
    const mcp_json *headers = mcp_json_get(binding, "headers");
    for (size_t i = 0; i < mcp_json_count(headers); i++) {
        if (strstr(mcp_json_string(mcp_json_item(headers, i), NULL), "${credential}"))
            return true;
    }
    return false;
}

/* A secret goes only where nobody on the way reads it. */
static mcp_status take_credential(making *self, portarium_vault *vault, mcp_error *err)
{
    fetch_url url;
    const portarium_attempt *attempt = self->attempt;
    const char *name = portarium_credential_name(attempt->binding, attempt->provider, self->arena);
    if (!wants_credential(attempt->binding))
        return MCP_OK;
    mcp_status st = fetch_url_read(&url, self->url.data, err);
    if (st == MCP_OK && !fetch_url_is_trustworthy(&url))
        st = mcp_error_set(err, MCP_E_DENIED, "a credential is sent by https only");
    if (st == MCP_OK && !name)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "the binding names no credential");
    if (st == MCP_OK)
        st = portarium_credential_of(&self->secret, vault, attempt, name, err);
    if (st == MCP_OK)
        self->scope.credential = self->secret.data;
    return st;
}

static mcp_status make_header(making *self, const char *name, const char *text, mcp_error *err)
{
    mcp_buf value;
    if (self->header_count >= FETCH_HEADERS_MAX - OWN_HEADERS)
        return mcp_error_set(err, MCP_E_PARAMS, "a request has too many headers");
    mcp_buf_init(&value, HEADER_MAX);
    mcp_status st = portarium_template_header(&value, text, &self->scope, err);
    char *kept = st == MCP_OK
                     ? mcp_arena_strndup(self->arena, value.data ? value.data : "", value.length)
                     : NULL;
    if (st == MCP_OK && !kept)
        st = no_memory(err);
    if (st == MCP_OK)
        add_header(self, name, kept);
    portarium_credential_wipe(&value);
    return st;
}

static mcp_status make_headers(making *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    const portarium_attempt *attempt = self->attempt;
    const mcp_json *headers = mcp_json_get(attempt->binding, "headers");
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(headers); i++)
        st = make_header(self, mcp_json_name(headers, i, NULL),
                         mcp_json_string(mcp_json_item(headers, i), NULL), err);
    if (self->body.length > 0)
        add_header(self, "Content-Type", "application/json");
    add_header(self, "Accept", "application/json");
    add_header(self, "Idempotency-Key", attempt->key);
    add_header(self, "X-Correlation-Id", attempt->correlation_id);
    add_header(self, "traceparent", attempt->trace.parent);
    add_header(self, "tracestate", attempt->trace.state);
    return st;
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Without a body of its own a request that writes has the input as its body. */
static mcp_status make_body(making *self, mcp_error *err)
{
    mcp_json_writer writer;
    const mcp_json *binding = self->attempt->binding;
    const mcp_json *body = mcp_json_get(binding, "body");
    const char *method = mcp_json_get_string(binding, "method");
    bool is_bare = is_read(binding) || (method && strcmp(method, "DELETE") == 0);
    mcp_json_writer_init(&writer, &self->body);
    if (body)
        return portarium_template_body(&writer, body, &self->scope, err);
    if (is_bare || !self->attempt->input)
        return MCP_OK;
    mcp_write_value(&writer, self->attempt->input);
    mcp_status st = mcp_json_writer_status(&writer);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "the input is too large for a request");
}

static mcp_status make(making *self, portarium_vault *vault, mcp_error *err)
{
    const char *url = mcp_json_get_string(self->attempt->binding, "url");
    if (!url)
        return mcp_error_set(err, MCP_E_PARAMS, "the binding has no url");
    mcp_status st = portarium_template_url(&self->url, url, &self->scope, err);
    if (st == MCP_OK)
        st = make_body(self, err);
    if (st == MCP_OK)
        st = take_credential(self, vault, err);
    return st == MCP_OK ? make_headers(self, err) : st;
}

static void clear(making *self)
{
    for (size_t i = 0; self->secret.length > 0 && i < self->header_count; i++) {
        if (strstr(self->headers[i].value, self->secret.data))
            explicit_bzero((char *)self->headers[i].value, strlen(self->headers[i].value));
    }
    portarium_credential_wipe(&self->secret);
    mcp_buf_clear(&self->url);
    mcp_buf_clear(&self->body);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static portarium_error_class class_of(int status)
{
    switch (status) {
    case 408:
        return PORTARIUM_CLASS_TIMEOUT;
    case 429:
        return PORTARIUM_CLASS_RATE_LIMIT;
    case 401:
    case 403:
        return PORTARIUM_CLASS_AUTH_DENY;
    case 409:
        return PORTARIUM_CLASS_CONFLICT;
    default:
        return status >= 500 ? PORTARIUM_CLASS_SERVER_ERROR : PORTARIUM_CLASS_VALIDATION;
    }
}

/* JSON as it is, other text as a string, other bytes not at all. */
static const mcp_json *read_body(const mcp_buf *body, mcp_arena *arena)
{
    mcp_buf text;
    mcp_json_writer writer;
    const mcp_json *json = NULL;
    if (body->length == 0 || mcp_json_read(&json, arena, body->data, body->length, NULL) == MCP_OK)
        return json;
    mcp_buf_init(&text, 2 * FETCH_BODY_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_string_n(&writer, body->data, body->length);
    if (mcp_json_writer_status(&writer) != MCP_OK ||
        mcp_json_read(&json, arena, text.data, text.length, NULL) != MCP_OK)
        json = NULL;
    mcp_buf_clear(&text);
    return json;
}

static void take_answer(portarium_result *out, const making *self, const fetch_result *answer)
{
    char status[8];
    portarium_error_class class = class_of(answer->status);
    snprintf(status, sizeof status, "%d", answer->status);
    const char *word = mcp_json_get_string(mcp_json_get(self->attempt->binding, "statusClasses"),
                                           status);
    bool is_mapped = portarium_error_class_read(&class, word ? word : "");
    portarium_end_done(out, read_body(&answer->body, self->arena), &self->secret, self->arena);
    if (answer->status >= 200 && answer->status < 300 && !is_mapped)
        return;
    portarium_end(out, PORTARIUM_OUTCOME_FAILED, class, "the system answered with status %d",
                  answer->status);
    out->retry_after_ms = answer->retry_after_ms > 0 ? answer->retry_after_ms : 0;
}

/* ---- the executor ---------------------------------------------------------------------------- */

mcp_status portarium_pool_open(fetch **out, const mcp_json *egress, mcp_arena *arena,
                               mcp_error *err)
{
    size_t count = mcp_json_count(egress);
    const char **entries = mcp_arena_array(arena, count + 1, sizeof *entries);
    *out = NULL;
    if (!entries)
        return no_memory(err);
    for (size_t i = 0; i < count; i++)
        entries[i] = mcp_json_string(mcp_json_item(egress, i), NULL);
    const fetch_options options = { .egress = entries, .egress_count = count };
    return fetch_open(out, &options, err);
}

static void send_request(portarium_result *out, making *self, const portarium_stop *stop,
                         mcp_error *err)
{
    fetch *pool = NULL;
    fetch_result answer = { .status = 0 };
    const portarium_attempt *attempt = self->attempt;
    const char *method = mcp_json_get_string(attempt->binding, "method");
    const fetch_request request = { .method = method ? method : "POST",
                                    .url = self->url.data,
                                    .headers = self->headers,
                                    .header_count = self->header_count,
                                    .body = self->body.data,
                                    .body_length = self->body.length,
                                    .timeout_ms = portarium_time_left(attempt),
                                    .may_repeat = is_idempotent(attempt->binding),
                                    .should_stop = stop->is_set,
                                    .data = stop->data };
    mcp_status st = portarium_pool_open(&pool, attempt->egress, self->arena, err);
    if (st != MCP_OK) {
        portarium_end_unsent(out, st, err);
        return;
    }
    st = fetch_run(&answer, pool, &request, err);
    if (st == MCP_OK) {
        take_answer(out, self, &answer);
    } else {
        bool may_have_happened = answer.may_have_arrived && !is_read(attempt->binding);
        portarium_end_unanswered(out, st, err, may_have_happened);
    }
    fetch_result_clear(&answer);
    fetch_close(pool);
}

static void perform(portarium_result *out, const portarium_attempt *attempt,
                    const portarium_stop *stop, mcp_arena *arena, void *data)
{
    const portarium_room *room = data;
    mcp_error err = MCP_ERROR_INIT;
    making self = { .attempt = attempt, .arena = arena, .scope = portarium_scope_of(attempt) };
    mcp_buf_init(&self.url, URL_MAX);
    mcp_buf_init(&self.body, BODY_MAX);
    mcp_buf_init(&self.secret, PORTARIUM_CREDENTIAL_MAX);
    mcp_status st = make(&self, room->vault, &err);
    if (st == MCP_OK)
        send_request(out, &self, stop, &err);
    else
        portarium_end_unsent(out, st, &err);
    clear(&self);
}

const portarium_executor portarium_http = {
    .kind = "http",
    .perform = perform,
    .is_idempotent = is_idempotent,
};
