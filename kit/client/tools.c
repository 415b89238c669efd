/*
 * tools.c - the list of tools, and calls.
 *
 * A request that certainly did not arrive because the connection was lost meanwhile (the server
 * was started again and does not know the session) is sent once more over a new one.
 */
#include <string.h>

#include "client/client_int.h"
#include "mcp/clock.h"

enum { TRIES = 2 };

/* A request under way, over one connection or two. */
struct request {
    client *owner;
    mcp_arena *arena; /* for the response */
    const char *method;
    const client_call *call; /* of tools/call */
    const char *cursor;      /* of tools/list; NULL */
    client_wait wait;
    int64_t until_ms;
    bool may_have_arrived;
};

static int64_t deadline(int64_t timeout_ms)
{
    int64_t now_ms = mcp_clock_mono_ms();

    if (timeout_ms <= 0)
        timeout_ms = CLIENT_TIMEOUT_MS;
    return timeout_ms < INT64_MAX - now_ms ? now_ms + timeout_ms : INT64_MAX;
}

static void write_call(mcp_json_writer *writer, const client_call *call, int64_t number)
{
    for (size_t i = 0; i < mcp_json_count(call->meta); i++) {
        mcp_write_name(writer, mcp_json_name(call->meta, i, NULL));
        mcp_write_value(writer, mcp_json_item(call->meta, i));
    }
    if (call->on_progress)
        mcp_write_member_int(writer, "progressToken", number);
    mcp_write_end(writer); /* _meta */
    mcp_write_member_string(writer, "name", call->name);
    if (call->arguments) {
        mcp_write_member_value(writer, "arguments", call->arguments);
    } else {
        mcp_write_member_object(writer, "arguments");
        mcp_write_end(writer);
    }
}

static mcp_status write_request(mcp_buf *text, const struct request *self,
                                const struct client_session *session, int64_t number,
                                mcp_error *err)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, text);
    client_write_head(&writer, self->owner, session, number, self->method);
    if (self->call)
        write_call(&writer, self->call, number);
    else
        mcp_write_end(&writer); /* _meta */
    if (self->cursor)
        mcp_write_member_string(&writer, "cursor", self->cursor);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp_status st = mcp_json_writer_status(&writer);
    return st == MCP_OK ? st
                        : mcp_error_set(err, st,
                                        "%s: the request is too long, or has text that is "
                                        "no UTF-8",
                                        self->owner->label);
}

/* One try. *again: the connection was lost before the request arrived. */
static mcp_status try_once(const mcp_json **answer, bool *again, struct request *self,
                           mcp_error *err)
{
    client *owner = self->owner;
    struct client_session session;
    mcp_buf text;

    mcp_status st = client_connect(owner, &session, &self->wait, self->until_ms, err);
    if (st != MCP_OK)
        return st;
    struct client_exchange exchange = { .session = &session,
                                        .number = atomic_fetch_add(&owner->numbers, 1),
                                        .method = self->method,
                                        .call = self->call,
                                        .until_ms = self->until_ms,
                                        .should_stop = self->wait.should_stop,
                                        .data = self->wait.data };
    mcp_buf_init(&text, owner->message_max);
    mcp_buf_init(&exchange.answer, owner->message_max);
    st = write_request(&text, self, &session, exchange.number, err);
    exchange.text = text.data;
    exchange.length = text.length;
    if (st == MCP_OK)
        st = owner->link->kind->exchange(owner->link, &exchange, err);
    if (exchange.is_lost)
        client_disconnect(owner, session.generation);
    self->may_have_arrived = exchange.may_have_arrived;
    *again = st != MCP_OK && exchange.is_lost && !exchange.may_have_arrived;
    if (st == MCP_OK)
        st = mcp_json_read(answer, self->arena, exchange.answer.data, exchange.answer.length, err);
    mcp_buf_clear(&text);
    mcp_buf_clear(&exchange.answer);
    return st;
}

static mcp_status send_request(const mcp_json **answer, struct request *self, mcp_error *err)
{
    mcp_status st = MCP_OK;
    bool again = true;

    for (int i = 0; i < TRIES && again; i++) {
        again = false;
        st = try_once(answer, &again, self, err);
    }
    return st;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Errors with which a server refuses a request that it has not begun. */
static bool is_refusal(const mcp_json *error)
{
    int64_t code = 0;

    mcp_json_int(mcp_json_get(error, "code"), &code);
    return code == -32700 || code == -32600 || code == -32601 || code == -32602 || code == -32020 ||
           code == -32021 || code == -32022;
}

static mcp_status check_call(const client *self, const client_call *call, mcp_error *err)
{
    static const char *const reserved = "progressToken";

    if (!call->name || !call->name[0])
        return mcp_error_set(err, MCP_E_PARAMS, "%s: the call has no tool", self->label);
    if (call->arguments && !mcp_json_is_object(call->arguments))
        return mcp_error_set(err, MCP_E_PARAMS, "%s: arguments are an object", self->label);
    if (call->meta && (!mcp_json_is_object(call->meta) || mcp_json_get(call->meta, reserved)))
        return mcp_error_set(err, MCP_E_PARAMS, "%s: _meta is an object without a %s", self->label,
                             reserved);
    return MCP_OK;
}

mcp_status client_call_tool(client_result *out, client *self, mcp_arena *arena,
                            const client_call *call, mcp_error *err)
{
    struct request request = { .owner = self,
                               .arena = arena,
                               .method = "tools/call",
                               .call = call,
                               .wait = { .should_stop = call->should_stop, .data = call->data },
                               .until_ms = deadline(call->timeout_ms) };
    const mcp_json *answer = NULL;

    *out = (client_result){ .may_have_run = false };
    mcp_status st = check_call(self, call, err);
    if (st == MCP_OK)
        st = send_request(&answer, &request, err);
    out->may_have_run = request.may_have_arrived;
    if (st != MCP_OK)
        return st;
    const mcp_json *error = mcp_json_get(answer, "error");
    const mcp_json *result = mcp_json_get(answer, "result");
    const char *type = mcp_json_get_string(result, "resultType");
    if (type && strcmp(type, "complete") != 0)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "%s: the tool answers with a request instead of a result",
                             self->label);
    out->may_have_run = !error || !is_refusal(error);
    out->error = error;
    out->result = result;
    return MCP_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Tools of a page, in a list of pages from the last to the first. */
struct page {
    const mcp_json *tools;
    struct page *before;
};

static mcp_status check_page(const client *self, const mcp_json *answer, mcp_error *err)
{
    const mcp_json *tools = mcp_json_pointer(answer, "/result/tools");

    if (mcp_json_get(answer, "error"))
        return mcp_error_set(err, MCP_E_INTERNAL, "%s: tools/list is answered by an error",
                             self->label);
    if (!mcp_json_is_array(tools))
        return mcp_error_set(err, MCP_E_SCHEMA, "%s: tools/list has no tools", self->label);
    return MCP_OK;
}

/* Whether an entry of a list can be called and checked. */
static bool is_tool(const mcp_json *entry)
{
    size_t length = 0;
    const char *name = mcp_json_string(mcp_json_get(entry, "name"), &length);
    return name && length > 0 && strlen(name) == length &&
           mcp_json_is_object(mcp_json_get(entry, "inputSchema"));
}

static mcp_status list_pages(struct page **last, size_t *count, struct request *request,
                             mcp_error *err)
{
    for (int i = 0; i < CLIENT_PAGES_MAX; i++) {
        const mcp_json *answer = NULL;
        mcp_status st = send_request(&answer, request, err);
        if (st == MCP_OK)
            st = check_page(request->owner, answer, err);
        if (st != MCP_OK)
            return st;
        struct page *page = mcp_arena_alloc(request->arena, sizeof *page);
        if (!page)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of tools");
        *page = (struct page){ mcp_json_pointer(answer, "/result/tools"), *last };
        *last = page;
        *count += mcp_json_count(page->tools);
        if (*count > CLIENT_TOOLS_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "%s: it has more than %d tools",
                                 request->owner->label, CLIENT_TOOLS_MAX);
        request->cursor = mcp_json_string(mcp_json_pointer(answer, "/result/nextCursor"), NULL);
        if (!request->cursor)
            return MCP_OK;
    }
    return mcp_error_set(err, MCP_E_LIMIT, "%s: its list of tools has more than %d pages",
                         request->owner->label, CLIENT_PAGES_MAX);
}

mcp_status client_list_tools(client_tools *out, client *self, mcp_arena *arena,
                             const client_wait *wait, mcp_error *err)
{
    struct request request = { .owner = self,
                               .arena = arena,
                               .method = "tools/list",
                               .wait = wait ? *wait : (client_wait){ .timeout_ms = 0 } };
    struct page *page = NULL;
    size_t count = 0;

    request.until_ms = deadline(request.wait.timeout_ms);
    mcp_status st = list_pages(&page, &count, &request, err);
    if (st != MCP_OK)
        return st;
    const mcp_json **items = mcp_arena_array(arena, count, sizeof *items);
    if (!items)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a list of tools");
    size_t at = count, tools = 0;
    for (; page; page = page->before) {
        at -= mcp_json_count(page->tools);
        for (size_t i = 0; i < mcp_json_count(page->tools); i++)
            items[at + i] = mcp_json_item(page->tools, i);
    }
    for (size_t i = 0; i < count; i++)
        if (is_tool(items[i]))
            items[tools++] = items[i];
    *out = (client_tools){ .items = items, .count = tools, .left_out = count - tools };
    return MCP_OK;
}
