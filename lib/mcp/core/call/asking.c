/*
 * asking.c - a handler asks its client, in both eras by one function.
 *
 *     a session         the questions go out as requests on the call's own stream; the call stays open
 *                       without a worker; when all are answered the handler runs again
 *     2026-07-28        the questions are the result; the client calls again with its answers, and with
 *                       what we need to remember, sealed (state.c)
 *
 * Either way a handler that asks is run from the top each time, so nothing that may happen once only stands
 * before its last question, and no thread ever waits for a person. Answers of earlier rounds come back by
 * themselves: the call holds them, or the sealed text does.
 *
 * An answer that does not fit the form that was asked for counts as none: the question is asked again.
 */
#include "mcp/core/call/asking.h"

#include <inttypes.h>
#include <string.h>

#include "mcp/clock.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/state.h"
#include "mcp/core/incoming.h"
#include "mcp/core/session/errand.h"
#include "mcp/core/session/session.h"
#include "mcp/core/task/task.h"
#include "mcp/random.h"

#define ROUNDS_MAX 16
#define COPY_MAX_BYTES ((size_t)8 * 1024 * 1024)

/* What a client must be able to do to be asked this. */
static const struct kind {
    const char *method;
    const char *mode; /* params.mode; NULL: any */
    unsigned capability;
    mcp_revision since; /* NONE: whichever declares it */
} kinds[] = {
    { "elicitation/create",     "url", MCP_CLIENT_ELICITATION_URL, MCP_2025_11_25 },
    { "elicitation/create",     NULL,  MCP_CLIENT_ELICITATION,     MCP_REVISION_NONE },
    { "sampling/createMessage", NULL,  MCP_CLIENT_SAMPLING,        MCP_REVISION_NONE },
    { "roots/list",             NULL,  MCP_CLIENT_ROOTS,           MCP_REVISION_NONE },
};

static const struct kind *find_kind(const char *method, const mcp_json *params)
{
    const char *mode = mcp_json_get_string(params, "mode");

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].method, method) == 0 &&
            (!kinds[i].mode || (mode && strcmp(kinds[i].mode, mode) == 0)))
            return &kinds[i];
    return NULL;
}

static bool is_stateless(const mcp_call *call)
{
    return call->revision > MCP_REVISION_NEWEST_SESSION;
}

/* ---- what a handler does ---------------------------------------------------------------------- */

static mcp__answer *find_answer(const mcp__asking *asking, const char *key)
{
    mcp__answer *answer = asking->answers;

    while (answer && strcmp(answer->key, key) != 0)
        answer = answer->next;
    return answer;
}

static void fail(mcp_call *call, mcp_status status)
{
    if (call->asking.status == MCP_OK)
        call->asking.status = status;
}

/* MCP_OK when an accepted form holds what was asked for, MCP_E_SCHEMA when it does not. Other answers are
 * their reader's to judge. */
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
        st = mcp_schema_check_within(schema, content, &call->steps_left, call->arena, NULL,
                                     &call->err);
    mcp_schema_free(schema);
    return st;
}

/* MCP_OK; MCP_E_CAPABILITY with call->err filled. */
static mcp_status require_kind(mcp_call *call, const struct kind *kind)
{
    if (call->revision < kind->since)
        return mcp_error_set(&call->err, MCP_E_CAPABILITY, "no client of %s can be asked this",
                             mcp_revision_name(call->revision));
    return mcp_call_require(call, kind->capability);
}

/* Whether this can be asked at all. */
static bool may_ask(mcp_call *call, const char *method, const mcp_json *params)
{
    const struct kind *kind = find_kind(method, params);
    mcp_status st;

    if (!kind || !call->asking.is_allowed)
        st = mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "%s cannot be asked in answering %s",
                           method, call->method);
    else if (call->asking.rounds >= ROUNDS_MAX)
        st = mcp_error_set(&call->err, MCP_E_LIMIT, "the client was asked %d times", ROUNDS_MAX);
    else
        st = require_kind(call, kind);
    if (st != MCP_OK)
        fail(call, st);
    return st == MCP_OK;
}

static void add_question(mcp_call *call, const char *key, const char *method,
                         const mcp_json *params)
{
    mcp__question *fresh = mcp_arena_alloc(call->arena, sizeof(*fresh));
    char *own_key = mcp_arena_strdup(call->arena, key);
    char *own_method = mcp_arena_strdup(call->arena, method);
    mcp__question **end = &call->asking.questions;

    if (!fresh || !own_key || !own_method) {
        fail(call, mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a question"));
        return;
    }
    *fresh = (mcp__question){ .key = own_key, .method = own_method, .params = params };
    for (; *end; end = &(*end)->next)
        if (strcmp((*end)->key, key) == 0)
            return;
    *end = fresh;
}

static const mcp_json *ask(mcp_call *call, const char *key, const char *method,
                           const mcp_json *params)
{
    mcp__answer *answer = find_answer(&call->asking, key);

    if (answer && !answer->result) {
        call->asking.is_refused = true;
        fail(call, mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "the client could not answer %s",
                                 method));
        return NULL;
    }
    mcp_status st = answer ? check_form(call, params, answer->result) : MCP_E_SCHEMA;
    if (st == MCP_OK) {
        answer->is_used = true;
        return answer->result;
    }
    if (st != MCP_E_SCHEMA) /* it could not be found out, and asking again would not help */
        fail(call, st);
    else if (may_ask(call, method, params))
        add_question(call, key, method, params);
    return NULL;
}

const mcp_json *mcp_call_ask(mcp_call *call, const char *key, const char *method,
                             const char *params)
{
    const mcp_json *read = NULL;

    if (params && (mcp_json_read(&read, call->arena, params, strlen(params), NULL) != MCP_OK ||
                   !mcp_json_is_object(read))) {
        fail(call, mcp_error_set(&call->err, MCP_E_INTERNAL,
                                 "the params of the question '%s' are no JSON object", key));
        return NULL;
    }
    return ask(call, key, method, read);
}

const mcp_json *mcp_call_ask_form(mcp_call *call, const char *key, const char *message,
                                  const char *schema)
{
    const mcp_json *answer = NULL;
    mcp_json_writer writer;
    mcp_buf params;

    mcp_buf_init(&params, COPY_MAX_BYTES);
    mcp_json_writer_init(&writer, &params);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "message", message);
    mcp_write_name(&writer, "requestedSchema");
    mcp_write_raw(&writer, schema, strlen(schema));
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        answer = mcp_call_ask(call, key, "elicitation/create", params.data);
    else
        fail(call, mcp_error_set(&call->err, st, "the question '%s' cannot be written", key));
    mcp_buf_clear(&params);
    return answer;
}

/* ---- errands: addresses that the user is sent to ----------------------------------------------- */

static void write_errand(mcp_json_writer *writer, const mcp_call *call, const char *message,
                         const char *url, const char *id)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "mode", "url");
    mcp_write_member_string(writer, "message", message);
    mcp_write_member_string(writer, "url", url);
    if (!is_stateless(call))
        mcp_write_member_string(writer, "elicitationId", id);
    mcp_write_end(writer);
}

/* Within a session the client is told when it is done. */
static mcp_status keep_errand(mcp_call *call, const char *id)
{
    mcp__errand *errand = mcp_arena_alloc(call->arena, sizeof(*errand));
    char *copy = mcp_arena_strdup(call->arena, id);

    if (!errand || !copy)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for an errand");
    *errand = (mcp__errand){ .id = copy, .next = call->asking.errands };
    call->asking.errands = errand;
    return MCP_OK;
}

/* The params of the question, parsed; NULL with the reason in call->asking. */
static const mcp_json *errand_params(mcp_call *call, const char *message, const char *url,
                                     const char *id)
{
    const mcp_json *params = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, COPY_MAX_BYTES);
    mcp_json_writer_init(&writer, &text);
    write_errand(&writer, call, message, url, id);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(&params, call->arena, text.data, text.length, NULL);
    if (st == MCP_OK)
        st = keep_errand(call, id);
    else
        (void)mcp_error_set(&call->err, st, "the errand '%s' cannot be written", id);
    mcp_buf_clear(&text);
    if (st != MCP_OK)
        fail(call, st);
    return st == MCP_OK ? params : NULL;
}

const mcp_json *mcp_call_ask_url(mcp_call *call, const char *key, const char *message,
                                 const char *url, const char *id)
{
    const mcp_json *params = errand_params(call, message, url, id);

    return params ? ask(call, key, "elicitation/create", params) : NULL;
}

static bool agreed(const mcp_json *answer)
{
    const char *action = mcp_json_get_string(answer, "action");

    return action && strcmp(action, "accept") == 0;
}

/* That the user agreed to go does not mean that it is done: the question stays. */
static mcp_status require_by_question(mcp_call *call, const char *message, const char *url,
                                      const char *id)
{
    const char *key = mcp_arena_printf(call->arena, "url:%s", id);

    if (call->asking.is_refused)
        return call->asking.status;
    const mcp_json *params = key ? errand_params(call, message, url, id) : NULL;
    mcp__answer *answer = params ? find_answer(&call->asking, key) : NULL;

    if (!key)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for an errand");
    if (answer && !agreed(answer->result)) {
        call->asking.is_refused = true;
        fail(call, mcp_error_set(&call->err, MCP_E_UNSUPPORTED, "the user did not agree: %s",
                                 message));
        return call->asking.status;
    }
    if (params && may_ask(call, "elicitation/create", params))
        add_question(call, key, "elicitation/create", params);
    return mcp_call_asked(call);
}

mcp_status mcp_call_require_url(mcp_call *call, const char *message, const char *url,
                                const char *id)
{
    mcp_json_writer *data = NULL;

    if (is_stateless(call))
        return require_by_question(call, message, url, id);
    if (!errand_params(call, message, url, id))
        return call->asking.status;
    mcp_status st = require_kind(call, &kinds[0]);
    if (st != MCP_OK)
        return st;
    bool is_first = !call->error_data_begun;
    data = mcp__call_error_data(call);
    if (is_first)
        mcp_write_member_array(data, "elicitations");
    write_errand(data, call, message, url, id);
    return mcp_error_set(&call->err, MCP_E_URL, "%s", message);
}

mcp_status mcp_call_asked(mcp_call *call)
{
    return call->asking.questions ? MCP_E_ASKED : call->asking.status;
}

const char *mcp_call_kept(const mcp_call *call)
{
    return call->asking.kept;
}

mcp_status mcp_call_keep(mcp_call *call, const char *text)
{
    call->asking.keep = mcp_arena_strdup(call->arena, text);
    return call->asking.keep ? MCP_OK
                             : mcp_error_set(&call->err, MCP_E_NOMEM, "no memory to keep a text");
}

/* ---- without a session: the questions are the result ------------------------------------------ */

/* The answers that this run took, and what the handler keeps. */
static mcp_status write_payload(const mcp__asking *asking, mcp_buf *out)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_int(&writer, "rounds", asking->rounds + 1);
    if (asking->keep)
        mcp_write_member_string(&writer, "kept", asking->keep);
    mcp_write_member_object(&writer, "answers");
    for (const mcp__answer *answer = asking->answers; answer; answer = answer->next)
        if (answer->is_used)
            mcp_write_member_value(&writer, answer->key, answer->result);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

static bool has_used_answer(const mcp__asking *asking)
{
    const mcp__answer *answer = asking->answers;

    while (answer && !answer->is_used)
        answer = answer->next;
    return answer != NULL;
}

static mcp_status write_state(mcp_call *call, mcp_json_writer *writer)
{
    const char *sealed = NULL;
    mcp_buf payload;

    if (!call->asking.keep && !has_used_answer(&call->asking))
        return MCP_OK;
    mcp_buf_init(&payload, COPY_MAX_BYTES);
    mcp_status st = write_payload(&call->asking, &payload);
    if (st == MCP_OK)
        st = mcp__state_seal(&sealed, call, payload.data, payload.length, mcp_clock_wall_ms());
    if (st == MCP_OK)
        mcp_write_member_string(writer, "requestState", sealed);
    mcp_buf_clear(&payload);
    return st;
}

static void write_question(mcp_json_writer *writer, const char *name, const mcp__question *question)
{
    mcp_write_member_object(writer, name);
    mcp_write_member_string(writer, "method", question->method);
    if (question->params)
        mcp_write_member_value(writer, "params", question->params);
    mcp_write_end(writer);
}

mcp_status mcp__asking_write(mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "inputRequests");
    for (const mcp__question *question = call->asking.questions; question;
         question = question->next)
        write_question(writer, question->key, question);
    mcp_write_end(writer);
    return write_state(call, writer);
}

static mcp_status add_answer(mcp_call *call, const char *key, const mcp_json *result)
{
    mcp__answer *fresh = mcp_arena_alloc(call->arena, sizeof(*fresh));

    if (!fresh)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for an answer");
    *fresh = (mcp__answer){ .key = key, .result = result, .next = call->asking.answers };
    call->asking.answers = fresh;
    return MCP_OK;
}

/* Members that are no objects are no answers to anything: those questions are asked again. */
static mcp_status add_answers(mcp_call *call, const mcp_json *answers)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < mcp_json_count(answers) && st == MCP_OK; i++)
        if (mcp_json_is_object(mcp_json_item(answers, i)))
            st = add_answer(call, mcp_json_name(answers, i, NULL), mcp_json_item(answers, i));
    return st;
}

static mcp_status read_state(mcp_call *call)
{
    const mcp_json *state = mcp_json_get(call->params, "requestState");
    const mcp_json *payload = NULL;
    const char *text = NULL;
    size_t length = 0;
    size_t sealed_length = 0;
    const char *sealed = mcp_json_string(state, &sealed_length);
    int64_t rounds = 0;

    if (!state)
        return MCP_OK;
    mcp_status st = mcp__state_open(&text, &length, call, sealed ? sealed : "", sealed_length,
                                    mcp_clock_wall_ms());
    if (st == MCP_OK)
        st = mcp_json_read(&payload, call->arena, text, length, &call->err);
    if (st != MCP_OK)
        return st;
    if (mcp_json_int(mcp_json_get(payload, "rounds"), &rounds))
        call->asking.rounds = (int)rounds;
    call->asking.kept = mcp_json_get_string(payload, "kept");
    return add_answers(call, mcp_json_get(payload, "answers"));
}

mcp_status mcp__asking_read(mcp_call *call)
{
    const mcp_json *answers = mcp_json_get(call->params, "inputResponses");
    mcp_status st;

    if (!is_stateless(call))
        return MCP_OK;
    if (answers && !mcp_json_is_object(answers))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.inputResponses must be an object");
    st = read_state(call);
    return st == MCP_OK ? add_answers(call, answers) : st;
}

/* ---- within a session: the questions are requests of ours -------------------------------------- */

/* What a task asks says that the task does. */
static void write_params(mcp_json_writer *writer, const mcp_json *params, const char *task)
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
    mcp__task_write_related(writer, task);
    mcp_write_end(writer);
    mcp_write_end(writer);
}

static mcp_status write_request(mcp_buf *out, const mcp__question *question, const char *task)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_int(&writer, "id", question->request_id);
    mcp_write_member_string(&writer, "method", question->method);
    if (task)
        write_params(&writer, question->params, task);
    else if (question->params)
        mcp_write_member_value(&writer, "params", question->params);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

mcp_status mcp__asking_send(mcp_call *call, mcp__session *session, mcp__peer *peer)
{
    mcp_status st = MCP_OK;

    call->asking.session = session;
    mcp__errand_keep(call);
    for (mcp__question *question = call->asking.questions; question && st == MCP_OK;
         question = question->next) {
        mcp_buf message;
        if (question->is_answered)
            continue;
        mcp_buf_init(&message, call->options->reply_max_bytes);
        question->request_id = ++session->last_question;
        st = write_request(&message, question, mcp__task_id(call));
        if (st == MCP_OK)
            peer->notify(peer, &message);
        else
            (void)mcp_error_set(&call->err, st, "a question to the client cannot be written");
        mcp_buf_clear(&message);
    }
    return st;
}

void mcp__asking_unsend(mcp_call *call)
{
    call->asking.session = NULL;
    for (mcp__question *question = call->asking.questions; question; question = question->next)
        question->request_id = 0;
}

static mcp_call *find_asker(const mcp__call_table *calls, const mcp__session *session, int64_t id,
                            mcp__question **question)
{
    for (mcp_call *call = calls->first; call; call = call->loop.next) {
        if (!call->loop.is_asking || call->asking.session != session)
            continue;
        for (*question = call->asking.questions; *question; *question = (*question)->next)
            if ((*question)->request_id == id && !(*question)->is_answered)
                return call;
    }
    return NULL;
}

/* The answer is what the response holds, and the response's memory the call's from now on, within the bound
 * that the call has. One without a result, or too large, is an answer as well: that there is none. */
static void take_answer(mcp_call *call, const char *key, mcp__element *response)
{
    const mcp_json *result = mcp_json_get(response->value, "result");
    size_t bytes = mcp_arena_used(response->arena);
    mcp__asking *asking = &call->asking;
    bool fits = bytes <= call->options->arena_max_bytes - asking->answered_bytes;

    if (add_answer(call, key, fits && mcp_json_is_object(result) ? result : NULL) != MCP_OK || !fits)
        return;
    asking->answered_bytes += bytes;
    asking->answers->arena = response->arena;
    response->arena = NULL;
    call->steps_left = response->steps;
}

void mcp__asking_clear(mcp__asking *asking)
{
    for (mcp__answer *answer = asking->answers; answer; answer = answer->next)
        mcp_arena_free(answer->arena);
}

/* Returns whether all is answered. */
static bool end_round(mcp_call *call)
{
    for (const mcp__question *question = call->asking.questions; question;
         question = question->next)
        if (!question->is_answered)
            return false;
    call->asking.rounds++;
    return true;
}

mcp_call *mcp__asking_answer(mcp__session *session, mcp__element *response)
{
    mcp__question *question = NULL;
    int64_t id = 0;
    mcp_call *call = NULL;

    if (!mcp_json_int(mcp_json_get(response->value, "id"), &id))
        return NULL;
    call = find_asker(&session->calls, session, id, &question);
    if (!call && session->setup.tasks)
        call = find_asker(&session->setup.tasks->session.calls, session, id, &question);
    if (!call)
        return NULL;
    question->is_answered = true;
    take_answer(call, question->key, response);
    return end_round(call) ? call : NULL;
}

void mcp__asking_withdraw(mcp_call *call)
{
    for (const mcp__question *question = call->asking.questions; question;
         question = question->next) {
        mcp_buf message;
        if (question->request_id == 0 || question->is_answered)
            continue;
        mcp_buf_init(&message, 256);
        if (mcp_buf_printf(&message,
                           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                           "\"params\":{\"requestId\":%" PRId64 "}}",
                           question->request_id) == MCP_OK)
            call->notices->notify(call->notices, &message);
        mcp_buf_clear(&message);
    }
}

/* ---- a task without a session: its questions stand in what tasks/get says ----------------------- */

/* The round's number is what makes a name that was answered badly another one when it is asked again. */
mcp_status mcp__asking_name(mcp_call *call)
{
    for (mcp__question *question = call->asking.questions; question; question = question->next) {
        question->name = mcp_arena_printf(call->arena, "%s-%d", question->key,
                                          call->asking.rounds + 1);
        if (!question->name)
            return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a question");
    }
    return MCP_OK;
}

void mcp__asking_write_open(const mcp_call *call, mcp_json_writer *writer)
{
    for (const mcp__question *question = call->asking.questions; question;
         question = question->next)
        if (!question->is_answered)
            write_question(writer, question->name, question);
}

/* A copy in the call's arena; NULL where it does not fit into memory. */
static const mcp_json *copy_result(mcp_call *call, const mcp_json *result)
{
    const mcp_json *out = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, COPY_MAX_BYTES);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, result);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        (void)mcp_json_read(&out, call->arena, text.data, text.length, NULL);
    mcp_buf_clear(&text);
    return out;
}

/* Only objects are answers. */
static mcp_status check_answers(const mcp_call *call, const mcp_json *answers, mcp_error *err)
{
    for (const mcp__question *question = call->asking.questions; question;
         question = question->next) {
        const mcp_json *answer = mcp_json_get(answers, question->name);
        if (answer && !question->is_answered && !mcp_json_is_object(answer))
            return mcp_error_set(err, MCP_E_PARAMS, "the answer to %s must be an object",
                                 question->name);
    }
    return MCP_OK;
}

mcp_status mcp__asking_take(bool *is_ready, mcp_call *call, const mcp_json *answers, uint64_t steps,
                            mcp_error *err)
{
    mcp_status st = check_answers(call, answers, err);

    if (st != MCP_OK)
        return st;
    for (mcp__question *question = call->asking.questions; question; question = question->next) {
        const mcp_json *answer = mcp_json_get(answers, question->name);
        const mcp_json *copied = answer && !question->is_answered ? copy_result(call, answer) : NULL;
        if (!answer || question->is_answered)
            continue;
        if (!copied || add_answer(call, question->key, copied) != MCP_OK)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for an answer");
        question->is_answered = true;
    }
    call->steps_left = steps;
    *is_ready = end_round(call);
    return MCP_OK;
}
