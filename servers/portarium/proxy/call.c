/*
 * call.c - the way of a proxied call.
 *
 * The key of a proposal is the SHA-256 of the canonical JSON of upstream, tool and arguments, so
 * the same call finds what became of the one before. Who claims an approval performs the call;
 * a proxy that dies in between leaves it Executing, for a person to end. What was claimed is
 * performed and reported although the client has cancelled its call, as far as the server's end
 * allows: who has approved it must learn how it ended. The result of an upstream is kept with the
 * approval as far as it fits a request to the plane, otherwise its hash is. While the plane does
 * not answer, the report is repeated.
 *
 * The plane gets neither arguments that are secret nor their texts in results (proxy/secrets.h).
 */
#include "proxy/call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/actors.h"
#include "gateway/wait.h"
#include "keys/canonical.h"
#include "mcp/clock.h"
#include "model/identity.h"
#include "proxy/kept.h"

enum { RESULT_MAX = PORTARIUM_RESULT_MAX, PLANE_MS = 30000, PART_MS = 20000 };

/* Of a remote plane: POLLS_MAX calls wait by a long poll, each on a thread; the others ask again
 * after PAUSE_MS. */
enum { POLLS_MAX = 8, PAUSE_MS = 1000 };

/* LAST_MS: what a claimed call may still take when the server goes down. CHECK_STEPS: of the check
 * of a result, of at most 16 MiB, against its schema. */
enum { LAST_MS = 5000, CHECK_STEPS = 50000000, MESSAGE_MAX = 160 };

/* An end is reported again and again for so long, which is less than the time that a call has
 * besides its waits. */
enum { REPORT_MS = 25000, REPORT_PAUSE_MS = 1000 };

/* A call on its way, in its arena. */
typedef struct passing {
    portarium_waiting waiting; /* first, see portarium_plane_waits */
    mcp_call *call;
    portarium_proxy_options *proxy;
    portarium_actor actor; /* who calls the plane */
    const portarium_upstream_tools *tools;
    const portarium_upstream_tool *tool;
    const mcp_json *arguments, *shown; /* as the plane gets them */
    const char *key, *correlation_id;
    const char *approval, *proposal;
    int64_t wait_until_ms, last_ms; /* last_ms: when the server's end was seen; 0: not yet */
    portarium_request request;      /* of the wait */
} passing;

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Begin an object; end it with end_object. */
static void begin_object(mcp_buf *text, mcp_json_writer *json)
{
    mcp_buf_init(text, RESULT_MAX);
    mcp_json_writer_init(json, text);
    mcp_write_object(json);
}

static mcp_status end_object(const mcp_json **out, passing *self, mcp_buf *text,
                             mcp_json_writer *json)
{
    mcp_error *err = mcp_call_error(self->call);
    mcp_write_end(json);
    mcp_status st = mcp_json_writer_status(json);
    st = st == MCP_OK
             ? mcp_json_read(out, mcp_call_arena(self->call), text->data, text->length, err)
             : mcp_error_set(err, st, "a request to the control plane: %s", mcp_status_words(st));
    mcp_buf_clear(text);
    return st;
}

static mcp_status make_key(passing *self)
{
    mcp_buf text;
    mcp_json_writer json;
    const mcp_json *subject = NULL;
    char hex[KEYS_HEX_SIZE];
    begin_object(&text, &json);
    mcp_write_member_string(&json, "upstream", portarium_upstream_name(self->tools->upstream));
    mcp_write_member_string(&json, "tool", self->tool->inner);
    mcp_write_member_value(&json, "arguments", self->arguments);
    mcp_status st = end_object(&subject, self, &text, &json);
    if (st == MCP_OK)
        st = keys_canonical_hash(hex, subject, mcp_call_error(self->call));
    if (st != MCP_OK)
        return st;
    self->key = mcp_arena_strdup(mcp_call_arena(self->call), hex);
    return self->key
               ? MCP_OK
               : mcp_error_set(mcp_call_error(self->call), MCP_E_NOMEM, "no memory for a key");
}

/* ---- the plane ------------------------------------------------------------------------------- */

static bool should_stop(void *call)
{
    return mcp_call_stop(call) != MCP_STOP_NONE;
}

/* A claimed call is given up only when the server goes down. */
static bool must_give_up(void *data)
{
    passing *self = data;
    int64_t now_ms = mcp_clock_mono_ms();
    if (mcp_call_stop(self->call) != MCP_STOP_SHUTDOWN)
        return false;
    if (self->last_ms == 0)
        self->last_ms = now_ms;
    return now_ms - self->last_ms >= LAST_MS;
}

/* A question to the plane. NULL: none. */
typedef struct question {
    const char *operation;
    const char *name, *id; /* a variable of the path, and its value */
    const char *wait;      /* "20": a long poll */
    const mcp_json *body;
    bool must_arrive; /* also when the client no longer waits */
} question;

static mcp_status write_arguments(const mcp_json **out, passing *self, const question *what)
{
    mcp_buf text;
    mcp_json_writer json;
    begin_object(&text, &json);
    if (what->id)
        mcp_write_member_string(&json, what->name, what->id);
    if (what->wait)
        mcp_write_member_string(&json, "wait", what->wait);
    return end_object(out, self, &text, &json);
}

/* Ask. A remote plane is asked again when the connection breaks, so it gets a key for what must
 * happen once. @param answer NULL, with a reply of 400 or above */
static mcp_status ask(passing *self, const question *what, portarium_reply *reply,
                      const mcp_json **answer)
{
    const portarium_app *app = self->proxy->app;
    mcp_arena *arena = mcp_call_arena(self->call);
    mcp_error *err = mcp_call_error(self->call);
    portarium_request request = { .actor = &self->actor,
                                  .workspace = self->proxy->workspace,
                                  .body = what->body,
                                  .correlation_id = self->correlation_id,
                                  .trace = portarium_trace_of(self->call) };
    portarium_client_call call = { .actor = &self->actor,
                                   .correlation_id = self->correlation_id,
                                   .trace = request.trace,
                                   .deadline_mono_ms = mcp_clock_mono_ms() + PLANE_MS +
                                                       (what->wait ? PART_MS : 0),
                                   .should_stop = what->must_arrive ? NULL : should_stop,
                                   .stop_data = self->call,
                                   .arena = arena };
    mcp_status st = write_arguments(&request.arguments, self, what);
    if (st == MCP_OK && what->body && !app->plane)
        st = portarium_id_new(&request.idempotency_key, "", arena, err);
    if (st != MCP_OK)
        return st;
    call.arguments = request.arguments;
    call.idempotency_key = request.idempotency_key;
    *answer = NULL;
    app->client.send(app->client.data, portarium_operation_find(what->operation), &request, &call,
                     reply);
    return reply->status < 400 && reply->text
               ? mcp_json_read(answer, arena, reply->text, reply->length, err)
               : MCP_OK;
}

/* The owner of the token as it is now: it may be revoked, and the agent may have another tier. A
 * remote plane checks by itself. @param is_valid false: the token is not valid any more */
static mcp_status read_actor(passing *self, bool *is_valid)
{
    portarium_app *app = self->proxy->app;
    mcp_arena *arena = mcp_call_arena(self->call);
    mcp_error *err = mcp_call_error(self->call);
    mcp_principal principal;
    *is_valid = true;
    self->actor = app->local;
    if (!app->plane || !self->proxy->token)
        return MCP_OK;
    mcp_status st = portarium_verify_token(&principal, self->proxy->token, arena, app, err);
    *is_valid = st != MCP_E_NOT_FOUND && st != MCP_E_DENIED;
    if (!*is_valid)
        return MCP_OK;
    return st == MCP_OK ? portarium_actor_read(&self->actor, principal.scopes, arena, err) : st;
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* Members of the record that a refused call answers with; NULL: left out. */
typedef struct refusal {
    const char *error, *detail;
    const char *approval, *status, *policy, *rule, *rationale, *retry;
} refusal;

static mcp_status refuse(passing *self, const refusal *why)
{
    mcp_buf text;
    mcp_json_writer json;
    const struct {
        const char *name, *value;
    } members[] = { { "error", why->error },         { "detail", why->detail },
                    { "approvalId", why->approval }, { "status", why->status },
                    { "policyId", why->policy },     { "ruleId", why->rule },
                    { "rationale", why->rationale }, { "retry", why->retry } };
    begin_object(&text, &json);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].value)
            mcp_write_member_string(&json, members[i].name, members[i].value);
    }
    mcp_write_member_string(&json, "correlationId", self->correlation_id);
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        st = mcp_call_tool_error_text(self->call, text.data, text.length);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status refuse_as(passing *self, const char *error, const char *detail)
{
    return refuse(self, &(refusal){ .error = error, .detail = detail });
}

/* The plane does not answer, or refuses by itself. */
static mcp_status refuse_reply(passing *self, const portarium_reply *reply)
{
    return refuse(self, &(refusal){ .error = portarium_problem_slug(reply),
                                    .detail = reply->status < 500 && reply->detail
                                                  ? reply->detail
                                                  : portarium_client_failed,
                                    .approval = self->approval });
}

static mcp_status refuse_decided(passing *self, const char *status, const mcp_json *record)
{
    return refuse(self, &(refusal){ .error = "not-approved",
                                    .detail = "A person has not approved this call.",
                                    .approval = self->approval,
                                    .status = status,
                                    .rationale = mcp_json_get_string(record, "rationale") });
}

static mcp_status refuse_pending(passing *self, const char *status)
{
    return refuse(self, &(refusal){ .error = "approval-pending",
                                    .detail = strcmp(status, "Pending") == 0
                                                  ? "A person has not decided yet."
                                              : strcmp(status, "Approved") == 0
                                                  ? "It is approved, and was not performed: the "
                                                    "call was cancelled."
                                                  : "The call is being performed, or a person must "
                                                    "say how it ended.",
                                    .approval = self->approval,
                                    .status = status,
                                    .retry = "the same call" });
}

/* ---- performing ------------------------------------------------------------------------------ */

/* How a call of the upstream has ended. */
typedef enum ending { DONE, FAILED, UNKNOWN, UNSENT } ending;

/* Whether a block of content has the texts that its type requires. */
static bool is_block(const mcp_json *block)
{
    static const struct {
        const char *type, *member;
    } required[] = { { "text", "text" },         { "image", "data" },
                     { "image", "mimeType" },    { "audio", "data" },
                     { "audio", "mimeType" },    { "resource_link", "uri" },
                     { "resource_link", "name" } };
    const char *type = mcp_json_get_string(block, "type");
    if (!type)
        return false;
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (strcmp(required[i].type, type) == 0 && !mcp_json_get_string(block, required[i].member))
            return false;
    }
    return strcmp(type, "resource") != 0 ||
           mcp_json_get_string(mcp_json_get(block, "resource"), "uri");
}

/* Whether the result is a CallToolResult, and what the tool's schema promises. */
static mcp_status check_result(passing *self, const mcp_json *result, mcp_error *err)
{
    uint64_t steps = CHECK_STEPS;
    bool is_error = false;
    const mcp_json *content = mcp_json_get(result, "content");
    const mcp_json *structured = mcp_json_get(result, "structuredContent");
    mcp_json_bool(mcp_json_get(result, "isError"), &is_error);
    if (!mcp_json_is_array(content))
        return mcp_error_set(err, MCP_E_SCHEMA, "its result has no content");
    for (size_t i = 0; i < mcp_json_count(content); i++) {
        if (!is_block(mcp_json_item(content, i)))
            return mcp_error_set(err, MCP_E_SCHEMA, "content block %zu of its result is invalid",
                                 i);
    }
    if (is_error || !self->tool->output_schema)
        return MCP_OK;
    if (!structured)
        return mcp_error_set(err, MCP_E_SCHEMA, "its result has no structuredContent");
    return mcp_schema_check_within(self->tool->output_schema, structured, &steps,
                                   mcp_call_arena(self->call), NULL, err);
}

/* A message with the credential of the connection in it is left out. */
static void on_progress(void *data, double progress, double total, const char *message)
{
    const passing *self = data;
    const char *credential = portarium_upstream_credential(self->tools->upstream);
    bool is_shown = !message || !credential || !strstr(message, credential);
    const mcp_progress report = { .progress = progress,
                                  .total = isnan(total) ? 0 : total,
                                  .message = is_shown ? message : NULL };
    mcp_call_progress(self->call, &report);
}

static bool has_stopped(void *data)
{
    const passing *self = data;
    return should_stop(self->call);
}

/* A text of the upstream without the secrets of the call and the credential of its connection. */
static mcp_status clean_text(mcp_buf *out, passing *self, const char *text, size_t length,
                             mcp_error *err)
{
    return portarium_marks_clean(out, &self->tool->marks, self->arguments,
                                 portarium_upstream_credential(self->tools->upstream), text, length,
                                 err);
}

/* What the error of the upstream says, without secrets. */
static mcp_status say_refusal(passing *self, const mcp_json *error, mcp_error *why)
{
    mcp_buf clean;
    const char *message = mcp_json_get_string(error, "message");
    mcp_buf_init(&clean, RESULT_MAX);
    mcp_status st = message ? clean_text(&clean, self, message, strlen(message), why) : MCP_OK;
    if (st == MCP_OK)
        mcp_error_set(why, MCP_E_PARAMS, "upstream %s refused the call: %.*s",
                      portarium_upstream_name(self->tools->upstream),
                      (int)(clean.length < MESSAGE_MAX ? clean.length : MESSAGE_MAX),
                      clean.data ? clean.data : "");
    mcp_buf_clear(&clean);
    return st;
}

static mcp_status send_call(client_result *got, passing *self, const char *key, bool is_claimed,
                            mcp_error *why)
{
    mcp_buf text;
    mcp_json_writer json;
    client_call call = { .name = self->tool->inner,
                         .arguments = self->arguments,
                         .schema = self->tool->input_schema,
                         .timeout_ms = self->proxy->call_ms,
                         .should_stop = is_claimed ? must_give_up : has_stopped,
                         .on_progress = mcp_call_wants_progress(self->call) ? on_progress : NULL,
                         .data = self };
    const portarium_trace trace = portarium_trace_of(self->call);
    begin_object(&text, &json);
    mcp_write_member_string(&json, "portarium/idempotencyKey", key);
    portarium_trace_write(&json, &trace);
    mcp_status st = end_object(&call.meta, self, &text, &json);
    if (st != MCP_OK)
        return mcp_error_set(why, st, "the call cannot be written");
    st = client_call_tool(got, portarium_upstream_client(self->tools->upstream),
                          mcp_call_arena(self->call), &call, why);
    if (st == MCP_E_IO)
        portarium_upstream_lost(self->tools->upstream);
    return st;
}

/* Call the upstream. @param key of the execution, or of the proposal that needed none
 * @param result set for DONE, and for FAILED with a result. @param why says what is wrong */
static ending perform(passing *self, const char *key, bool is_claimed, const mcp_json **result,
                      mcp_error *why)
{
    client_result got = { .may_have_run = false };
    const mcp_json *shown = NULL;
    bool is_error = false;
    if (send_call(&got, self, key, is_claimed, why) != MCP_OK)
        return got.may_have_run ? UNKNOWN : UNSENT;
    if (got.error)
        return say_refusal(self, got.error, why) == MCP_OK ? FAILED : UNKNOWN;
    if (check_result(self, got.result, why) != MCP_OK)
        return UNKNOWN;
    if (portarium_credential_hide(&shown, got.result,
                                  portarium_upstream_credential(self->tools->upstream),
                                  mcp_call_arena(self->call), why) != MCP_OK)
        return UNKNOWN;
    *result = shown;
    mcp_json_bool(mcp_json_get(got.result, "isError"), &is_error);
    return is_error ? FAILED : DONE;
}

/* What the plane keeps of the result. @param out NULL: there is none */
static mcp_status kept_result(const mcp_json **out, passing *self, const mcp_json *result)
{
    *out = NULL;
    return result
               ? portarium_kept_result(out, &self->tool->marks, self->arguments,
                                       portarium_upstream_credential(self->tools->upstream), result,
                                       mcp_call_arena(self->call), mcp_call_error(self->call))
               : MCP_OK;
}

/* Ask until the plane answers, as long as an end is reported. */
static mcp_status ask_until_answered(passing *self, const question *what, portarium_reply *reply)
{
    const mcp_json *ignored = NULL;
    int64_t until_ms = mcp_clock_mono_ms() + REPORT_MS;
    for (;;) {
        mcp_status st = ask(self, what, reply, &ignored);
        bool is_answered = st != MCP_OK || reply->status < 502 || reply->status > 504;
        if (is_answered || must_give_up(self) || mcp_clock_mono_ms() + REPORT_PAUSE_MS >= until_ms)
            return st;
        usleep(REPORT_PAUSE_MS * 1000);
    }
}

/* The report to the plane. @param execution NULL: of a call that needed no approval */
static mcp_status report(passing *self, const char *execution, ending how, const mcp_json *result,
                         const char *message, portarium_reply *reply)
{
    static const char *const outcomes[] = {
        [DONE] = "executed", [FAILED] = "failed", [UNKNOWN] = "unknown", [UNSENT] = "released"
    };
    mcp_buf text;
    mcp_json_writer json;
    const mcp_json *kept = NULL, *body = NULL;
    /* Without its result the end is recorded all the same. */
    if (kept_result(&kept, self, result) != MCP_OK)
        mcp_call_log_line(self->call, MCP_LOG_WARNING,
                          "the result of a call of %s is not recorded: %s", self->tool->name,
                          mcp_call_error(self->call)->message);
    begin_object(&text, &json);
    if (execution)
        mcp_write_member_string(&json, "executionId", execution);
    mcp_write_member_string(&json, "outcome", outcomes[how]);
    if (kept)
        mcp_write_member_value(&json, "output", kept);
    if (message && *message)
        mcp_write_member_string(&json, "errorMessage", message);
    mcp_status st = end_object(&body, self, &text, &json);
    if (st != MCP_OK)
        return st;
    const question end = { .operation = execution ? "completeExecution" : "recordAction",
                           .name = execution ? "approvalId" : "proposalId",
                           .id = execution ? self->approval : self->proposal,
                           .body = body,
                           .must_arrive = true };
    return ask_until_answered(self, &end, reply);
}

/* Report. A failure is logged: what has happened has happened. */
static void report_end(passing *self, const char *execution, ending how, const mcp_json *result,
                       const char *message)
{
    portarium_reply reply = { .status = 0 };
    mcp_status st = report(self, execution, how, result, message, &reply);
    if (st != MCP_OK || reply.status >= 400)
        mcp_call_log_line(self->call, MCP_LOG_WARNING,
                          "the end of a call of %s is not recorded: %s", self->tool->name,
                          st != MCP_OK   ? mcp_call_error(self->call)->message
                          : reply.detail ? reply.detail
                                         : portarium_client_failed);
}

/* Perform the call, report it, answer. The client gets the result also when the plane cannot be
 * told: what has happened has happened. */
static mcp_status perform_and_answer(passing *self, const char *execution)
{
    const mcp_json *result = NULL;
    mcp_error why = MCP_ERROR_INIT;
    ending how = perform(self, execution ? execution : self->proposal, execution != NULL, &result,
                         &why);
    if (how != UNKNOWN || !execution)
        report_end(self, execution, how, result, why.message);
    if (result)
        return mcp_call_tool_result(self->call, result);
    if (how == UNKNOWN)
        return refuse(self, &(refusal){ .error = "unknown-outcome",
                                        .detail = why.message,
                                        .approval = self->approval,
                                        .status = execution ? "Executing" : NULL });
    return refuse(self,
                  &(refusal){ .error = how == UNSENT ? "upstream-unreachable" : "upstream-refused",
                              .detail = why.message,
                              .approval = self->approval,
                              .retry = how == UNSENT ? "the same call" : NULL });
}

/* ---- approvals ------------------------------------------------------------------------------- */

static mcp_status decide(passing *self);

/* Answer with the result that is kept, of the execution or proposal. */
static mcp_status answer_kept(passing *self, const mcp_json *record)
{
    const mcp_json *output = mcp_json_get(record, "output");
    const char *message = mcp_json_get_string(record, "errorMessage");
    if (mcp_json_is_array(mcp_json_get(output, "content")))
        return mcp_call_tool_result(self->call, output);
    if (message)
        return refuse(self, &(refusal){ .error = "upstream-refused",
                                        .detail = message,
                                        .approval = self->approval,
                                        .status = "Executed" });
    return refuse(self, &(refusal){ .error = "result-not-kept",
                                    .detail = "The call was performed; its result could not be "
                                              "kept.",
                                    .approval = self->approval,
                                    .status = "Executed" });
}

/* Claim the execution. Another proxy may be faster: then its end is waited for. */
static mcp_status execute(passing *self)
{
    mcp_buf text;
    mcp_json_writer json;
    portarium_reply reply = { .status = 0 };
    const mcp_json *body = NULL, *claim = NULL;
    bool is_mine = false;
    begin_object(&text, &json);
    mcp_write_member_string(&json, "flowRef", self->tool->name);
    mcp_write_member_value(&json, "payload", self->shown);
    mcp_status st = end_object(&body, self, &text, &json);
    const question what = { .operation = "executeAction",
                            .name = "approvalId",
                            .id = self->approval,
                            .body = body,
                            .must_arrive = true };
    if (st == MCP_OK)
        st = ask(self, &what, &reply, &claim);
    if (st != MCP_OK)
        return st;
    if (!claim)
        return refuse_reply(self, &reply);
    mcp_json_bool(mcp_json_get(claim, "claimed"), &is_mine);
    return is_mine ? perform_and_answer(self, mcp_json_get_string(claim, "executionId"))
                   : decide(self);
}

static mcp_status on_change(mcp_call *call, const portarium_request *request,
                            const portarium_reply *reply, void *data)
{
    (void)call;
    (void)request;
    (void)reply;
    return decide(data);
}

/* Of a plane in this process: without a thread. */
static mcp_status wait_here(passing *self, int64_t left_ms)
{
    mcp_buf text;
    mcp_json_writer json;
    portarium_app *app = self->proxy->app;
    const mcp_json *arguments = NULL;
    begin_object(&text, &json);
    mcp_write_member_string(&json, "approvalId", self->approval);
    mcp_status st = end_object(&arguments, self, &text, &json);
    if (st != MCP_OK)
        return st;
    self->request = (portarium_request){ .actor = &self->actor,
                                         .workspace = self->proxy->workspace,
                                         .arguments = arguments,
                                         .correlation_id = self->correlation_id,
                                         .trace = portarium_trace_of(self->call) };
    self->waiting = (portarium_waiting){ .call = self->call,
                                         .app = app,
                                         .operation = portarium_operation_find("getApproval"),
                                         .request = &self->request,
                                         .seconds = (int)((left_ms + 999) / 1000),
                                         .answer = on_change,
                                         .data = self };
    return portarium_wait_and_answer(&self->waiting);
}

/* ---- of a remote plane ----------------------------------------------------------------------- */

static mcp_status look_again(mcp_call *call, void *data)
{
    (void)call;
    return decide(data);
}

/* On the thread of the waits. */
static void resume(void *data, jobs_outcome outcome)
{
    passing *self = data;
    (void)outcome;
    mcp_call_resume(self->call, look_again, self, 0);
}

static mcp_status ask_later(passing *self, int64_t left_ms)
{
    jobs_waits *waits = self->proxy->waits;
    self->waiting.call = self->call;
    mcp_status st = jobs_wait(waits, self->approval, jobs_waits_mark(waits, self->approval),
                              mcp_clock_mono_ms() + (left_ms < PAUSE_MS ? left_ms : PAUSE_MS),
                              resume, self, mcp_call_error(self->call));
    return st == MCP_OK ? MCP_E_DEFERRED : st;
}

static mcp_status poll_long(passing *self, int64_t left_ms, const char *status)
{
    char seconds[24];
    portarium_reply reply = { .status = 0 };
    const mcp_json *approval = NULL;
    if (left_ms > PART_MS)
        left_ms = PART_MS;
    snprintf(seconds, sizeof seconds, "%lld", (long long)((left_ms + 999) / 1000));
    const question what = {
        .operation = "getApproval", .name = "approvalId", .id = self->approval, .wait = seconds
    };
    mcp_status st = ask(self, &what, &reply, &approval);
    if (st != MCP_OK)
        return st;
    if (!approval && should_stop(self->call))
        return refuse_pending(self, status);
    return approval ? decide(self) : refuse_reply(self, &reply);
}

static mcp_status wait_there(passing *self, int64_t left_ms, const char *status)
{
    if (atomic_fetch_add(&self->proxy->polls, 1) >= POLLS_MAX) {
        atomic_fetch_sub(&self->proxy->polls, 1);
        return ask_later(self, left_ms);
    }
    mcp_status st = poll_long(self, left_ms, status);
    atomic_fetch_sub(&self->proxy->polls, 1);
    return st;
}

/* ---- following an approval ------------------------------------------------------------------- */

/* Wait until the approval changes, as long as the call may wait. */
static mcp_status wait_for_change(passing *self, const char *status)
{
    int64_t left_ms = self->wait_until_ms - mcp_clock_mono_ms();
    if (left_ms <= 0 || should_stop(self->call))
        return refuse_pending(self, status);
    return self->proxy->app->plane ? wait_here(self, left_ms) : wait_there(self, left_ms, status);
}

static mcp_status follow_approval(passing *self, const mcp_json *proposal)
{
    const char *status = mcp_json_get_string(proposal, "status");
    self->approval = mcp_json_get_string(proposal, "approvalId");
    if (!self->approval || !status)
        return refuse_as(self, "dependency-failure", portarium_client_failed);
    if (strcmp(status, "Pending") == 0 || strcmp(status, "Executing") == 0)
        return wait_for_change(self, status);
    if (strcmp(status, "Approved") == 0)
        return should_stop(self->call) ? refuse_pending(self, status) : execute(self);
    return strcmp(status, "Executed") == 0 ? answer_kept(self, proposal)
                                           : refuse_decided(self, status, proposal);
}

/* ---- proposing ------------------------------------------------------------------------------- */

static mcp_status write_proposal(const mcp_json **out, passing *self)
{
    mcp_buf text;
    mcp_json_writer json;
    const portarium_proxy_options *proxy = self->proxy;
    begin_object(&text, &json);
    mcp_write_member_string(&json, "agentId", proxy->agent);
    if (proxy->machine)
        mcp_write_member_string(&json, "machineId", proxy->machine);
    mcp_write_member_string(&json, "actionKind", portarium_upstream_name(self->tools->upstream));
    mcp_write_member_string(&json, "toolName", self->tool->name);
    mcp_write_member_value(&json, "parameters", self->shown);
    mcp_write_member_string(&json, "executionTier", "Auto");
    mcp_write_member_array(&json, "policyIds");
    mcp_write_string(&json, "all");
    mcp_write_end(&json);
    mcp_write_member_string(&json, "rationale", "a call through the gate");
    mcp_write_member_string(&json, "idempotencyKey", self->key);
    mcp_write_member_bool(&json, "repeatable", true);
    return end_object(out, self, &text, &json);
}

/* Propose the call, and do what the answer says. */
static mcp_status decide(passing *self)
{
    portarium_reply reply = { .status = 0 };
    const mcp_json *body = NULL, *proposal = NULL;
    bool is_valid = false;
    mcp_status st = read_actor(self, &is_valid);
    if (st == MCP_OK && !is_valid)
        return refuse_as(self, "unauthorized", "The token of the gate is not valid any more.");
    if (st == MCP_OK)
        st = write_proposal(&body, self);
    const question what = { .operation = "proposeAction", .body = body };
    if (st == MCP_OK)
        st = ask(self, &what, &reply, &proposal);
    if (st != MCP_OK)
        return st;
    const char *decision = mcp_json_get_string(proposal, "decision");
    self->proposal = mcp_json_get_string(proposal, "proposalId");
    if (!decision || !self->proposal)
        return refuse_reply(self, &reply);
    if (strcmp(decision, "Allow") == 0)
        return perform_and_answer(self, NULL);
    if (strcmp(decision, "NeedsApproval") == 0)
        return follow_approval(self, proposal);
    return refuse(self, &(refusal){ .error = "denied",
                                    .detail = "A policy denies this call.",
                                    .policy = mcp_json_get_string(proposal, "policyId"),
                                    .rule = mcp_json_get_string(proposal, "ruleId"),
                                    .rationale = mcp_json_get_string(proposal, "message") });
}

mcp_status portarium_proxy_call(mcp_call *call, void *data)
{
    const portarium_upstream_tools *tools = data;
    mcp_arena *arena = mcp_call_arena(call);
    passing *self = mcp_arena_alloc(arena, sizeof *self);
    if (!self)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the call");
    *self = (passing){ .call = call,
                       .proxy = tools->data,
                       .tools = tools,
                       .tool = portarium_upstream_find(tools, mcp_call_name(call)),
                       .arguments = mcp_call_arguments(call) };
    self->wait_until_ms = mcp_clock_mono_ms() + self->proxy->wait_ms;
    mcp_status st = self->tool
                        ? portarium_id_new(&self->correlation_id, "", arena, mcp_call_error(call))
                        : mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL,
                                        "a tool that the proxy does not know");
    if (st == MCP_OK)
        st = make_key(self);
    if (st == MCP_OK)
        st = portarium_marks_hide(&self->shown, &self->tool->marks, self->arguments, arena,
                                  mcp_call_error(call));
    return st == MCP_OK ? decide(self) : st;
}
