/*
 * call.c - the way of a proxied call.
 *
 * The key of a proposal is the SHA-256 of the canonical JSON of upstream, tool and arguments, so
 * the same call finds what became of the one before. Who claims an approval performs the call;
 * a proxy that dies in between leaves it Executing, for a person to end. The result of an upstream
 * is kept with the approval as far as it fits a request to the plane, otherwise its hash is.
 */
#include "proxy/call.h"

#include <stdio.h>
#include <string.h>

#include "gateway/wait.h"
#include "keys/canonical.h"
#include "mcp/clock.h"
#include "model/identity.h"
#include "model/shapes.h"

enum { BODY_MAX = 900 << 10, RESULT_MAX = 16 << 20, PLANE_MS = 30000, PART_MS = 20000 };

/* A call on its way, in its arena. */
typedef struct passing {
    portarium_waiting waiting; /* first, see portarium_plane_waits */
    mcp_call *call;
    const portarium_proxy_options *proxy;
    const portarium_upstream_tools *tools;
    const portarium_upstream_tool *tool;
    const mcp_json *arguments;
    const char *key, *correlation_id;
    const char *approval, *proposal;
    int64_t wait_until_ms;
    portarium_request request; /* of the wait */
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

/* Ask the plane. @param answer NULL, with a reply of 400 or above. @param id of the path's variable
 * `name`; NULL: none. @param wait "20": a long poll; NULL: none */
static mcp_status ask(passing *self, const char *operation, const char *name, const char *id,
                      const char *wait, const mcp_json *body, portarium_reply *reply,
                      const mcp_json **answer)
{
    mcp_buf text;
    mcp_json_writer json;
    const mcp_json *arguments = NULL;
    const portarium_app *app = self->proxy->app;
    begin_object(&text, &json);
    if (id)
        mcp_write_member_string(&json, name, id);
    if (wait)
        mcp_write_member_string(&json, "wait", wait);
    mcp_status st = end_object(&arguments, self, &text, &json);
    if (st != MCP_OK)
        return st;
    const portarium_client_call call = { .actor = &app->local,
                                         .arguments = arguments,
                                         .correlation_id = self->correlation_id,
                                         .deadline_mono_ms = mcp_clock_mono_ms() + PLANE_MS +
                                                             (wait ? PART_MS : 0),
                                         .should_stop = should_stop,
                                         .stop_data = self->call,
                                         .arena = mcp_call_arena(self->call) };
    const portarium_request request = { .actor = &app->local,
                                        .workspace = self->proxy->workspace,
                                        .arguments = arguments,
                                        .body = body,
                                        .correlation_id = self->correlation_id };
    *answer = NULL;
    app->client.send(app->client.data, portarium_operation_find(operation), &request, &call, reply);
    if (reply->status < 400 && reply->text)
        st = mcp_json_read(answer, call.arena, reply->text, reply->length,
                           mcp_call_error(self->call));
    return st;
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
    return refuse(self, &(refusal){ .error = portarium_problem_slug(reply->status),
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
                                                  : "The call is being performed, or a person must "
                                                    "say how it ended.",
                                    .approval = self->approval,
                                    .status = status,
                                    .retry = "the same call" });
}

/* ---- the upstream's answer ------------------------------------------------------------------- */

static bool is_text(const mcp_json *block, const char **text)
{
    const char *type = mcp_json_get_string(block, "type");
    *text = mcp_json_get_string(block, "text");
    return type && *text && strcmp(type, "text") == 0;
}

/* An error's texts, one a line. */
static mcp_status answer_error(passing *self, const mcp_json *content)
{
    mcp_buf all;
    const char *text = NULL;
    mcp_buf_init(&all, RESULT_MAX);
    for (size_t i = 0; i < mcp_json_count(content); i++) {
        const mcp_json *block = mcp_json_item(content, i);
        const char *type = mcp_json_get_string(block, "type");
        if (i > 0)
            mcp_buf_putc(&all, '\n');
        if (is_text(block, &text))
            mcp_buf_puts(&all, text);
        else
            mcp_buf_printf(&all, "[%s]", type ? type : "block");
    }
    mcp_status st = all.status == MCP_OK
                        ? mcp_call_tool_error_text(self->call, all.data ? all.data : "", all.length)
                        : all.status;
    mcp_buf_clear(&all);
    return st;
}

/* Whether the only block is the text of the structured content, which the library writes itself. */
static bool repeats(passing *self, const mcp_json *content, const mcp_json *structured)
{
    const char *text = NULL;
    const mcp_json *said = NULL;
    return structured && mcp_json_count(content) == 1 &&
           is_text(mcp_json_item(content, 0), &text) &&
           mcp_json_read(&said, mcp_call_arena(self->call), text, strlen(text), NULL) == MCP_OK &&
           mcp_json_equal(said, structured);
}

/* Answer with a CallToolResult of the upstream. */
static mcp_status answer(passing *self, const mcp_json *result)
{
    bool is_error = false;
    mcp_status st = MCP_OK;
    const mcp_json *content = mcp_json_get(result, "content");
    const mcp_json *structured = mcp_json_get(result, "structuredContent");
    mcp_json_bool(mcp_json_get(result, "isError"), &is_error);
    if (is_error)
        return answer_error(self, content);
    if (mcp_json_is_object(structured)) {
        mcp_json_writer *out = mcp_call_result(self->call);
        for (size_t i = 0; i < mcp_json_count(structured); i++) {
            mcp_write_name(out, mcp_json_name(structured, i, NULL));
            mcp_write_value(out, mcp_json_item(structured, i));
        }
    }
    if (repeats(self, content, structured))
        return MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(content); i++)
        st = mcp_call_block(self->call, mcp_json_item(content, i));
    return st;
}

/* ---- performing ------------------------------------------------------------------------------ */

/* How a call of the upstream has ended. */
typedef enum ending { DONE, FAILED, UNKNOWN, UNSENT } ending;

/* Whether the result is what the tool's schemas promise. */
static mcp_status check_result(passing *self, const mcp_json *result, mcp_error *err)
{
    bool is_error = false;
    const mcp_json *structured = mcp_json_get(result, "structuredContent");
    mcp_json_bool(mcp_json_get(result, "isError"), &is_error);
    if (!mcp_json_is_array(mcp_json_get(result, "content")))
        return mcp_error_set(err, MCP_E_SCHEMA, "its result has no content");
    if (is_error || !self->tool->output_schema)
        return MCP_OK;
    if (!structured)
        return mcp_error_set(err, MCP_E_SCHEMA, "its result has no structuredContent");
    return mcp_schema_check(self->tool->output_schema, structured, mcp_call_arena(self->call), NULL,
                            err);
}

static void on_progress(void *data, double progress, double total, const char *message)
{
    const mcp_progress report = { .progress = progress, .total = total, .message = message };
    mcp_call_progress(data, &report);
}

/* Call the upstream. @param result set for DONE and FAILED. @param why says what is wrong */
static ending perform(passing *self, const char *key, const mcp_json **result, mcp_error *why)
{
    mcp_buf text;
    mcp_json_writer json;
    client_result got = { .may_have_run = false };
    client_call call = { .name = self->tool->inner,
                         .arguments = self->arguments,
                         .schema = self->tool->input_schema,
                         .timeout_ms = self->proxy->call_ms,
                         .should_stop = should_stop,
                         .on_progress = mcp_call_wants_progress(self->call) ? on_progress : NULL,
                         .data = self->call };
    bool is_error = false;
    begin_object(&text, &json);
    mcp_write_member_string(&json, "portarium/idempotencyKey", key);
    mcp_status st = end_object(&call.meta, self, &text, &json);
    if (st == MCP_OK)
        st = client_call_tool(&got, portarium_upstream_client(self->tools->upstream),
                              mcp_call_arena(self->call), &call, why);
    if (st != MCP_OK)
        return got.may_have_run ? UNKNOWN : UNSENT;
    if (got.error) {
        const char *message = mcp_json_get_string(got.error, "message");
        mcp_error_set(why, MCP_E_PARAMS, "upstream %s refused the call: %.160s",
                      portarium_upstream_name(self->tools->upstream), message ? message : "");
        return FAILED;
    }
    if (check_result(self, got.result, why) != MCP_OK)
        return UNKNOWN;
    *result = got.result;
    mcp_json_bool(mcp_json_get(got.result, "isError"), &is_error);
    return is_error ? FAILED : DONE;
}

/* Whether a value fits a request to the plane: no text beyond the bound of bodies. */
static bool fits(const mcp_json *value)
{
    size_t length = 0;
    if (mcp_json_string(value, &length))
        return length <= PORTARIUM_TEXT_MAX;
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!fits(mcp_json_item(value, i)))
            return false;
    }
    return true;
}

/* The result as it is kept: itself, or its hash. @param out NULL: there is none */
static mcp_status kept_result(const mcp_json **out, passing *self, const mcp_json *result)
{
    mcp_buf text;
    mcp_json_writer json;
    char hex[KEYS_HEX_SIZE];
    uint8_t digest[MCP_SHA256_SIZE];
    *out = result;
    if (!result)
        return MCP_OK;
    mcp_buf_init(&text, RESULT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, result);
    mcp_status st = mcp_json_writer_status(&json);
    size_t length = text.length;
    bool is_kept = st == MCP_OK && length <= BODY_MAX && fits(result);
    if (st == MCP_OK && !is_kept)
        st = mcp_sha256(digest, text.data, length, mcp_call_error(self->call));
    mcp_buf_clear(&text);
    if (st != MCP_OK || is_kept)
        return st;
    keys_hex(hex, digest);
    begin_object(&text, &json);
    mcp_write_member_string(&json, "omitted", "the result is too large to be kept");
    mcp_write_member_string(&json, "sha256", hex);
    mcp_write_member_int(&json, "bytes", (int64_t)length);
    return end_object(out, self, &text, &json);
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
    const mcp_json *kept = NULL, *body = NULL, *ignored = NULL;
    mcp_status st = kept_result(&kept, self, result);
    if (st != MCP_OK)
        return st;
    begin_object(&text, &json);
    if (execution)
        mcp_write_member_string(&json, "executionId", execution);
    mcp_write_member_string(&json, "outcome", outcomes[how]);
    if (kept)
        mcp_write_member_value(&json, "output", kept);
    if (message && *message)
        mcp_write_member_string(&json, "errorMessage", message);
    st = end_object(&body, self, &text, &json);
    if (st != MCP_OK)
        return st;
    return execution ? ask(self, "completeExecution", "approvalId", self->approval, NULL, body,
                           reply, &ignored)
                     : ask(self, "recordAction", "proposalId", self->proposal, NULL, body, reply,
                           &ignored);
}

/* Perform the call, report it, answer. The client gets the result also when the plane cannot be
 * told: what has happened has happened. */
static mcp_status perform_and_answer(passing *self, const char *execution)
{
    portarium_reply reply = { .status = 0 };
    const mcp_json *result = NULL;
    mcp_error why = MCP_ERROR_INIT;
    ending how = perform(self, execution ? execution : self->proposal, &result, &why);
    if (how != UNKNOWN || !execution) {
        mcp_status st = report(self, execution, how, result, why.message, &reply);
        if (st != MCP_OK)
            return st;
        if (reply.status >= 400)
            mcp_log_write(&self->proxy->app->log, MCP_LOG_WARNING,
                          "the end of a call of %s is not recorded: %s", self->tool->name,
                          reply.detail ? reply.detail : portarium_client_failed);
    }
    if (result)
        return answer(self, result);
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
        return answer(self, output);
    if (message)
        return refuse(self, &(refusal){ .error = "upstream-refused",
                                        .detail = message,
                                        .approval = self->approval,
                                        .status = "Executed" });
    return refuse(self, &(refusal){ .error = "result-not-kept",
                                    .detail = "The call was performed; its result was too large "
                                              "to be kept.",
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
    mcp_write_member_value(&json, "payload", self->arguments);
    mcp_status st = end_object(&body, self, &text, &json);
    if (st == MCP_OK)
        st = ask(self, "executeAction", "approvalId", self->approval, NULL, body, &reply, &claim);
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
    self->request = (portarium_request){ .actor = &app->local,
                                         .workspace = self->proxy->workspace,
                                         .arguments = arguments,
                                         .correlation_id = self->correlation_id };
    self->waiting = (portarium_waiting){ .call = self->call,
                                         .app = app,
                                         .operation = portarium_operation_find("getApproval"),
                                         .request = &self->request,
                                         .seconds = (int)((left_ms + 999) / 1000),
                                         .answer = on_change,
                                         .data = self };
    return portarium_wait_and_answer(&self->waiting);
}

/* Wait until the approval changes, as long as the call may wait. */
static mcp_status wait_for_change(passing *self, const char *status)
{
    char seconds[24];
    portarium_reply reply = { .status = 0 };
    const mcp_json *approval = NULL;
    int64_t left_ms = self->wait_until_ms - mcp_clock_mono_ms();
    if (left_ms <= 0 || should_stop(self->call))
        return refuse_pending(self, status);
    if (self->proxy->app->plane)
        return wait_here(self, left_ms);
    if (left_ms > PART_MS)
        left_ms = PART_MS;
    snprintf(seconds, sizeof seconds, "%lld", (long long)((left_ms + 999) / 1000));
    mcp_status st = ask(self, "getApproval", "approvalId", self->approval, seconds, NULL, &reply,
                        &approval);
    if (st != MCP_OK)
        return st;
    return approval ? decide(self) : refuse_reply(self, &reply);
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
        return execute(self);
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
    mcp_write_member_value(&json, "parameters", self->arguments);
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
    mcp_status st = write_proposal(&body, self);
    if (st == MCP_OK)
        st = ask(self, "proposeAction", NULL, NULL, NULL, body, &reply, &proposal);
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
    return st == MCP_OK ? decide(self) : st;
}
