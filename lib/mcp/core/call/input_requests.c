/*
 * input_requests.c - a handler requests input of its client, by the same functions in both eras.
 *
 *     a session         the requests go out on the call's own stream; the call is suspended without a worker;
 *                       when all responses are there the handler runs again
 *     2026-07-28        the requests are the result; the client calls again with its responses, and with the
 *                       sealed state that the handler needs
 *
 * Either way the handler runs from the top each time, so that what may happen only once belongs
 * after its last request, and no thread ever waits for a person. Responses of earlier rounds are
 * kept: by the call, or in the sealed text.
 *
 * A response that does not fit the requested schema counts as none: the request is made again.
 */
#include "mcp/core/call/input_requests.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena_int.h"
#include "base/base64.h"

#include "mcp/clock.h"
#include "mcp/core/call/trace.h"
#include "mcp/hash.h"

#define ROUNDS_MAX 16
#define PREFIX "v1."
#define PREFIX_LENGTH (sizeof PREFIX - 1)
#define HEAD_SIZE ((size_t)8 + MCP_SHA256_SIZE)
#define TEXT_MAX ((size_t)256 * 1024)

/* The capability that a client must have declared. */
static const struct kind {
    const char *method;
    const char *mode; /* params.mode; NULL: any */
    unsigned capability;
    mcp_revision since; /* NONE: whichever declares it */
} kinds[] = {
    { "elicitation/create", "url", MCP_CLIENT_ELICITATION_URL, MCP_2025_11_25 },
    { "elicitation/create", NULL, MCP_CLIENT_ELICITATION, MCP_REVISION_NONE },
    { "sampling/createMessage", NULL, MCP_CLIENT_SAMPLING, MCP_REVISION_NONE },
    { "roots/list", NULL, MCP_CLIENT_ROOTS, MCP_REVISION_NONE },
};

static const struct kind *find_kind(const char *method, const mcp_json *params)
{
    const char *mode = mcp_json_get_string(params, "mode");

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].method, method) == 0 &&
            (!kinds[i].mode || (mode && strcmp(kinds[i].mode, mode) == 0)))
            return &kinds[i];
    return NULL;
}

/* ---- requests of a handler ------------------------------------------------------------------- */

static mcp__input_response *find_response(const mcp__input_requests *input, const char *key)
{
    mcp__input_response *response = input->responses;

    while (response && strcmp(response->key, key) != 0)
        response = response->next;
    return response;
}

/* Note the first failure. @return NULL */
static const mcp_json *fail(mcp_call *call, mcp_status status)
{
    if (call->input.status == MCP_OK)
        call->input.status = status;
    return NULL;
}

/* MCP_OK when an accepted form holds what was requested, MCP_E_SCHEMA when it does not. Other
 * responses are for their reader to judge. */
static mcp_status check_form(mcp_call *call, const mcp_json *params, const mcp_json *result)
{
    const mcp_json *form = mcp_json_get(params, "requestedSchema");
    const char *action = mcp_json_get_string(result, "action");
    mcp_schema *schema = NULL;

    if (!form)
        return MCP_OK;
    if (!action)
        return MCP_E_SCHEMA;
    if (strcmp(action, "accept") != 0)
        return strcmp(action, "decline") == 0 || strcmp(action, "cancel") == 0 ? MCP_OK
                                                                               : MCP_E_SCHEMA;
    if (mcp_schema_compile(&schema, form, NULL, NULL) != MCP_OK)
        return MCP_E_SCHEMA;
    const mcp_json *content = mcp_json_get(result, "content");
    mcp_status st = MCP_E_SCHEMA;
    if (mcp_json_is_object(content))
        st = mcp_schema_check_within(schema, content, &call->request.steps.left, call->arena, NULL,
                                     &call->err);
    mcp_schema_free(schema);
    return st;
}

/* MCP_OK; MCP_E_CAPABILITY with call->err filled. */
static mcp_status require_kind(mcp_call *call, const struct kind *kind)
{
    if (call->request.revision < kind->since)
        return mcp_error_set(&call->err, MCP_E_CAPABILITY, "no client of %s can be asked this",
                             mcp_revision_name(call->request.revision));
    return mcp_call_require(call, kind->capability);
}

/* Whether this can be requested at all. */
static mcp_status check_request(mcp_call *call, const char *method, const mcp_json *params)
{
    const struct kind *kind = find_kind(method, params);

    if (!kind || !call->input.is_allowed)
        return mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "%s cannot be asked in answering %s",
                             method, call->request.method);
    if (call->input.rounds >= ROUNDS_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT, "the client was asked %d times", ROUNDS_MAX);
    return require_kind(call, kind);
}

/* @return NULL */
static const mcp_json *add_request(mcp_call *call, const char *key, const char *method,
                                   const mcp_json *params)
{
    mcp_status st = check_request(call, method, params);
    mcp__input_request **end = &call->input.requests;

    if (st != MCP_OK)
        return fail(call, st);
    for (; *end; end = &(*end)->next)
        if (strcmp((*end)->key, key) == 0)
            return NULL;
    mcp__input_request *fresh = mcp_arena_alloc(call->arena, sizeof *fresh);
    char *own_key = mcp_arena_strdup(call->arena, key);
    char *own_method = mcp_arena_strdup(call->arena, method);
    if (!fresh || !own_key || !own_method)
        return fail(call, mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a request"));
    *fresh = (mcp__input_request){ .key = own_key, .method = own_method, .params = params };
    *end = fresh;
    return NULL;
}

static const mcp_json *request_input(mcp_call *call, const char *key, const char *method,
                                     const mcp_json *params)
{
    mcp__input_response *response = find_response(&call->input, key);

    if (response && !response->result) {
        call->input.is_refused = true;
        return fail(call, mcp_error_set(&call->err, MCP_E_UNSUPPORTED,
                                        "the client could not answer %s", method));
    }
    mcp_status st = response ? check_form(call, params, response->result) : MCP_E_SCHEMA;
    if (st == MCP_OK) {
        response->is_used = true;
        return response->result;
    }
    if (st != MCP_E_SCHEMA) /* it could not be found out, and input again would not help */
        return fail(call, st);
    return add_request(call, key, method, params);
}

static const mcp_json *missing(mcp_call *call, const char *what)
{
    return fail(call,
                mcp_error_set(&call->err, MCP_E_PARAMS, "a request for input has no %s", what));
}

const mcp_json *mcp_call_request_input(mcp_call *call, const char *key, const char *method,
                                       const char *params)
{
    const mcp_json *read = NULL;

    if (!key || !method)
        return missing(call, key ? "method" : "key");
    if (params && (mcp_json_read(&read, call->arena, params, strlen(params), NULL) != MCP_OK ||
                   !mcp_json_is_object(read)))
        return fail(call, mcp_error_set(&call->err, MCP_E_INTERNAL,
                                        "the params of the question '%s' are no JSON object", key));
    return request_input(call, key, method, read);
}

const mcp_json *mcp_call_elicit_form(mcp_call *call, const char *key, const char *message,
                                     const char *schema)
{
    const mcp_json *response = NULL;
    mcp_json_writer writer;
    mcp_buf params;

    if (!key || !message || !schema)
        return missing(call, !key ? "key" : !message ? "message" : "schema");
    mcp_buf_init(&params, MCP__INPUT_COPY_MAX);
    mcp_json_writer_init(&writer, &params);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "message", message);
    mcp_write_name(&writer, "requestedSchema");
    mcp_write_raw(&writer, schema, strlen(schema));
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        response = mcp_call_request_input(call, key, "elicitation/create", params.data);
    else
        (void)fail(call, mcp_error_set(&call->err, st, "the question '%s' cannot be written", key));
    mcp_buf_clear(&params);
    return response;
}

/* ---- URLs that the user is sent to ----------------------------------------------------------- */

static void write_url_params(mcp_json_writer *writer, const mcp_call *call, const char *message,
                             const char *url, const char *id)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "mode", "url");
    mcp_write_member_string(writer, "message", message);
    mcp_write_member_string(writer, "url", url);
    if (!mcp__call_is_stateless(call))
        mcp_write_member_string(writer, "elicitationId", id);
    mcp_write_end(writer);
}

/* Within a session the completion is notified. */
static mcp_status keep_elicitation(mcp_call *call, const char *id)
{
    mcp__url_elicitation *elicitation = mcp_arena_alloc(call->arena, sizeof *elicitation);
    char *copy = mcp_arena_strdup(call->arena, id);

    if (!elicitation || !copy)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for an elicitation");
    *elicitation = (mcp__url_elicitation){ .id = copy, .next = call->input.elicitations };
    call->input.elicitations = elicitation;
    return MCP_OK;
}

/* The params of the request, parsed; NULL with the reason in call->input. */
static const mcp_json *url_params(mcp_call *call, const char *message, const char *url,
                                  const char *id)
{
    const mcp_json *params = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    if (!message || !url || !id)
        return missing(call, !message ? "message" : !url ? "URL" : "id");
    mcp_buf_init(&text, MCP__INPUT_COPY_MAX);
    mcp_json_writer_init(&writer, &text);
    write_url_params(&writer, call, message, url, id);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(&params, call->arena, text.data, text.length, NULL);
    if (st == MCP_OK)
        st = keep_elicitation(call, id);
    else
        (void)mcp_error_set(&call->err, st, "the elicitation '%s' cannot be written", id);
    mcp_buf_clear(&text);
    return st == MCP_OK ? params : fail(call, st);
}

const mcp_json *mcp_call_sample(mcp_call *call, const char *key, const char *params)
{
    return mcp_call_request_input(call, key, "sampling/createMessage", params);
}

const mcp_json *mcp_call_list_roots(mcp_call *call, const char *key)
{
    return mcp_call_request_input(call, key, "roots/list", NULL);
}

const mcp_json *mcp_call_elicit_url(mcp_call *call, const char *key, const char *message,
                                    const char *url, const char *id)
{
    const mcp_json *params = key ? url_params(call, message, url, id) : missing(call, "key");

    return params ? request_input(call, key, "elicitation/create", params) : NULL;
}

/* That the user agreed to go does not mean that it is done: the request stays. */
static mcp_status require_by_request(mcp_call *call, const char *message, const char *url,
                                     const char *id)
{
    const char *key = mcp_arena_printf(call->arena, "url:%s", id ? id : "");

    if (call->input.is_refused)
        return call->input.status;
    const mcp_json *params = key ? url_params(call, message, url, id) : NULL;
    mcp__input_response *response = params ? find_response(&call->input, key) : NULL;

    if (!key)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for an elicitation");
    const char *action = response ? mcp_json_get_string(response->result, "action") : NULL;
    if (response && (!action || strcmp(action, "accept") != 0)) {
        call->input.is_refused = true;
        (void)fail(call, mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "the user did not agree: %s",
                                       message));
        return call->input.status;
    }
    if (params)
        (void)add_request(call, key, "elicitation/create", params);
    return mcp_call_input_required(call);
}

mcp_status mcp_call_require_url_elicitation(mcp_call *call, const char *message, const char *url,
                                            const char *id)
{
    mcp_json_writer *data = NULL;

    if (mcp__call_is_stateless(call))
        return require_by_request(call, message, url, id);
    if (!url_params(call, message, url, id))
        return call->input.status;
    mcp_status st = require_kind(call, &kinds[0]);
    if (st != MCP_OK)
        return st;
    bool is_first = call->answer.error_data.holds == MCP__DRAFT_EMPTY;
    data = mcp_call_error_data(call);
    if (is_first)
        mcp_write_member_array(data, "elicitations");
    write_url_params(data, call, message, url, id);
    return mcp_error_set(&call->err, MCP_E_URL_ELICITATION, "%s", message);
}

mcp_status mcp_call_input_required(mcp_call *call)
{
    if (call->input.requests)
        return MCP_E_INPUT_REQUIRED;
    if (call->input.status != MCP_OK)
        return call->input.status;
    return mcp_error_set(&call->err, MCP_E_INTERNAL,
                         "mcp_call_input_required: nothing was requested, or all has its response");
}

const char *mcp_call_request_state(const mcp_call *call)
{
    return call->input.state;
}

mcp_status mcp_call_set_request_state(mcp_call *call, const char *text)
{
    call->input.next_state = mcp_arena_strdup(call->arena, text);
    return call->input.next_state || !text
               ? MCP_OK
               : mcp_error_set(&call->err, MCP_E_NOMEM, "no memory to keep a text");
}

/* ---- requestState: what is called ------------------------------------------------------------ */

/*
 * The sealed state, requestState:
 *
 *     "v1." base64url( expiry, 8 bytes | SHA-256 of what is called, 32 bytes | payload ) "." base64url( HMAC )
 *
 * The client holds the text and may do to it what it likes, so it is signed, and bound to the call
 * that it belongs to: caller, method, name and arguments, the latter in an order of our own, since
 * a client may write them in another one when it calls again. It is not secret: nothing goes in
 * that the client did not say or may not know. It can be used again within its life; what may
 * happen only once must be guarded elsewhere.
 */

struct member {
    const char *name;
    size_t length;
    const mcp_json *value;
};

static int by_name(const void *a, const void *b)
{
    const struct member *left = a;
    const struct member *right = b;
    size_t shorter = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->name, right->name, shorter);

    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

static void write_sorted(mcp_json_writer *writer, const mcp_json *value, mcp_arena *arena);

static void write_sorted_object(mcp_json_writer *writer, const mcp_json *object, mcp_arena *arena)
{
    size_t count = mcp_json_count(object);
    struct member *members = mcp_arena_array(arena, count + 1, sizeof *members);

    if (!members) {
        writer->status = MCP_E_NOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        members[i].name = mcp_json_name(object, i, &members[i].length);
        members[i].value = mcp_json_item(object, i);
    }
    qsort(members, count, sizeof *members, by_name);
    /* As pairs, because a writer has no way to write a name that holds NUL. */
    mcp_write_array(writer);
    for (size_t i = 0; i < count; i++) {
        mcp_write_string_n(writer, members[i].name, members[i].length);
        write_sorted(writer, members[i].value, arena);
    }
    mcp_write_bool(writer, true); /* an object, and no array of the same things */
    mcp_write_end(writer);
}

static void write_sorted(mcp_json_writer *writer, const mcp_json *value, mcp_arena *arena)
{
    if (mcp_json_is_object(value)) {
        write_sorted_object(writer, value, arena);
    } else if (mcp_json_is_array(value)) {
        mcp_write_array(writer);
        for (size_t i = 0; i < mcp_json_count(value); i++)
            write_sorted(writer, mcp_json_item(value, i), arena);
        mcp_write_bool(writer, false);
        mcp_write_end(writer);
    } else {
        mcp_write_value(writer, value);
    }
}

static mcp_status digest(uint8_t out[MCP_SHA256_SIZE], mcp_call *call)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, call->context->options->limits.arena_max_bytes);
    mcp_json_writer_init(&writer, &text);
    mcp_write_array(&writer);
    mcp_write_string(&writer, call->principal ? call->principal->name : NULL);
    mcp_write_string(&writer, call->request.method);
    mcp_write_string(&writer, mcp_call_name(call));
    write_sorted(&writer, mcp_call_arguments(call), call->arena);
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_sha256(out, text.data, text.length, &call->err);
    else
        st = mcp_error_set(&call->err, st, "what is called cannot be written");
    mcp_buf_clear(&text);
    return st;
}

/* ---- requestState: sealing ------------------------------------------------------------------- */

static mcp_status sign(uint8_t out[MCP_SHA256_SIZE], mcp_call *call, const char *text,
                       size_t length)
{
    return mcp_hmac_sha256(out, call->context->state_key, MCP__STATE_KEY_SIZE, text, length,
                           &call->err);
}

static mcp_status no_memory_to_seal(mcp_call *call)
{
    return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for the state of a call");
}

mcp_status mcp__request_state_seal(const char **out, mcp_call *call, const char *payload,
                                   size_t length, int64_t now_ms)
{
    uint8_t signature[MCP_SHA256_SIZE];
    uint64_t expiry = htobe64((uint64_t)(now_ms + MCP__STATE_LIFE_MS));
    uint8_t *bytes = mcp_arena_alloc(call->arena, HEAD_SIZE + length);
    mcp_status st;

    if (!bytes)
        return no_memory_to_seal(call);
    memcpy(bytes, &expiry, sizeof expiry);
    st = digest(bytes + 8, call);
    if (st != MCP_OK)
        return st;
    memcpy(bytes + HEAD_SIZE, payload, length);
    const char *body = mcp__base64url_encode(call->arena, bytes, HEAD_SIZE + length);
    if (!body)
        return no_memory_to_seal(call);
    st = sign(signature, call, body, strlen(body));
    if (st != MCP_OK)
        return st;
    const char *tail = mcp__base64url_encode(call->arena, signature, sizeof signature);
    const char *text = tail ? mcp_arena_printf(call->arena, PREFIX "%s.%s", body, tail) : NULL;
    if (!text)
        return no_memory_to_seal(call);
    if (strlen(text) > TEXT_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT,
                             "the state of a call is too large to be kept");
    *out = text;
    return MCP_OK;
}

/* ---- requestState: opening ------------------------------------------------------------------- */

static bool is_signed(mcp_call *call, const char *body, size_t body_length, const char *tail,
                      size_t tail_length)
{
    uint8_t wanted[MCP_SHA256_SIZE];
    size_t length = 0;
    const char *got = mcp__base64url_decode(call->arena, tail, tail_length, &length);

    return got && length == sizeof wanted && sign(wanted, call, body, body_length) == MCP_OK &&
           mcp_hash_equal(got, wanted, sizeof wanted);
}

static bool is_ours(mcp_call *call, const uint8_t *bytes, size_t length, int64_t now_ms)
{
    uint8_t wanted[MCP_SHA256_SIZE];
    uint64_t expiry = 0;

    if (length < HEAD_SIZE)
        return false;
    memcpy(&expiry, bytes, sizeof expiry);
    return (int64_t)be64toh(expiry) >= now_ms && digest(wanted, call) == MCP_OK &&
           mcp_hash_equal(bytes + 8, wanted, sizeof wanted);
}

mcp_status mcp__request_state_open(const char **out, size_t *length, mcp_call *call,
                                   const char *text, size_t text_length, int64_t now_ms)
{
    const char *body = text + PREFIX_LENGTH;
    size_t decoded_length = 0;
    const char *decoded = NULL;
    const char *dot = NULL;

    if (text_length > PREFIX_LENGTH && text_length <= TEXT_MAX &&
        memcmp(text, PREFIX, PREFIX_LENGTH) == 0)
        dot = memchr(body, '.', text_length - PREFIX_LENGTH);
    if (dot && is_signed(call, body, (size_t)(dot - body), dot + 1,
                         text_length - (size_t)(dot + 1 - text)))
        decoded = mcp__base64url_decode(call->arena, body, (size_t)(dot - body), &decoded_length);
    if (!decoded || !is_ours(call, (const uint8_t *)decoded, decoded_length, now_ms)) {
        if (call->err.status == MCP_E_NOMEM || mcp__arena_failure(call->arena) == MCP_E_NOMEM)
            return no_memory_to_seal(call); /* the client's text may be good */
        return mcp_error_set(&call->err, MCP_E_PARAMS, "invalid requestState");
    }
    *out = decoded + HEAD_SIZE;
    *length = decoded_length - HEAD_SIZE;
    return MCP_OK;
}

/* ---- without a session: the requests are the result ------------------------------------------ */

/* The responses that this run took, and what the handler keeps. */
static mcp_status write_payload(const mcp__input_requests *input, mcp_buf *out)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_int(&writer, "rounds", input->rounds + 1);
    if (input->next_state)
        mcp_write_member_string(&writer, "kept", input->next_state);
    mcp_write_member_object(&writer, "answers");
    for (const mcp__input_response *response = input->responses; response;
         response = response->next)
        if (response->is_used)
            mcp_write_member_value(&writer, response->key, response->result);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

static mcp_status write_state(mcp_call *call, mcp_json_writer *writer)
{
    const mcp__input_response *used = call->input.responses;
    const char *sealed = NULL;
    mcp_buf payload;

    while (used && !used->is_used)
        used = used->next;
    if (!call->input.next_state && !used)
        return MCP_OK;
    mcp_buf_init(&payload, MCP__INPUT_COPY_MAX);
    mcp_status st = write_payload(&call->input, &payload);
    if (st == MCP_OK)
        st = mcp__request_state_seal(&sealed, call, payload.data, payload.length,
                                     mcp_clock_wall_ms());
    if (st == MCP_OK)
        mcp_write_member_string(writer, "requestState", sealed);
    mcp_buf_clear(&payload);
    return st;
}

/* The params, with the call's own members in their _meta. */
static void write_params(mcp_json_writer *writer, const mcp_call *call, const mcp_json *params,
                         const mcp__note *notes)
{
    const mcp_json *meta = mcp_json_get(params, "_meta");

    mcp_write_member_object(writer, "params");
    for (size_t i = 0; i < mcp_json_count(params); i++)
        if (strcmp(mcp_json_name(params, i, NULL), "_meta") != 0)
            mcp_write_member_value(writer, mcp_json_name(params, i, NULL),
                                   mcp_json_item(params, i));
    mcp_write_member_object(writer, "_meta");
    for (size_t i = 0; i < mcp_json_count(meta); i++)
        mcp_write_member_value(writer, mcp_json_name(meta, i, NULL), mcp_json_item(meta, i));
    mcp__trace_write(call, meta, writer);
    mcp__call_write_notes(notes, writer);
    mcp_write_end(writer);
    mcp_write_end(writer);
}

void mcp__input_request_write(mcp_json_writer *writer, const mcp_call *call,
                              const mcp__input_request *request, const mcp__note *notes)
{
    mcp_write_member_string(writer, "method", request->method);
    if (notes || call->request.trace)
        write_params(writer, call, request->params, notes);
    else if (request->params)
        mcp_write_member_value(writer, "params", request->params);
}

mcp_status mcp__input_requests_write(mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "inputRequests");
    for (const mcp__input_request *request = call->input.requests; request;
         request = request->next) {
        mcp_write_member_object(writer, request->key);
        mcp__input_request_write(writer, call, request, NULL);
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
    return write_state(call, writer);
}

mcp_status mcp__input_requests_add(mcp_call *call, const char *key, const mcp_json *result)
{
    mcp__input_response *fresh = mcp_arena_alloc(call->arena, sizeof *fresh);

    if (!fresh)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for an answer");
    *fresh = (mcp__input_response){ .key = key, .result = result, .next = call->input.responses };
    call->input.responses = fresh;
    return MCP_OK;
}

/* Members that are no objects are no responses to anything: those requests are made again. */
static mcp_status add_responses(mcp_call *call, const mcp_json *responses)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < mcp_json_count(responses) && st == MCP_OK; i++)
        if (mcp_json_is_object(mcp_json_item(responses, i)))
            st = mcp__input_requests_add(call, mcp_json_name(responses, i, NULL),
                                         mcp_json_item(responses, i));
    return st;
}

static mcp_status read_state(mcp_call *call)
{
    const mcp_json *state = mcp_json_get(call->request.params, "requestState");
    const mcp_json *payload = NULL;
    const char *text = NULL;
    size_t length = 0;
    size_t sealed_length = 0;
    const char *sealed = mcp_json_string(state, &sealed_length);
    int64_t rounds = 0;

    if (!state)
        return MCP_OK;
    mcp_status st = mcp__request_state_open(&text, &length, call, sealed ? sealed : "",
                                            sealed_length, mcp_clock_wall_ms());
    if (st == MCP_OK)
        st = mcp_json_read(&payload, call->arena, text, length, &call->err);
    if (st != MCP_OK)
        return st;
    if (mcp_json_int(mcp_json_get(payload, "rounds"), &rounds))
        call->input.rounds = (int)rounds;
    call->input.state = mcp_json_get_string(payload, "kept");
    return add_responses(call, mcp_json_get(payload, "answers"));
}

mcp_status mcp__input_requests_read(mcp_call *call)
{
    const mcp_json *responses = mcp_json_get(call->request.params, "inputResponses");

    if (responses && !mcp_json_is_object(responses))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.inputResponses must be an object");
    mcp_status st = read_state(call);
    return st == MCP_OK ? add_responses(call, responses) : st;
}

void mcp__input_requests_clear(mcp__input_requests *input)
{
    for (mcp__input_response *response = input->responses; response; response = response->next)
        mcp_arena_free(response->arena);
}
