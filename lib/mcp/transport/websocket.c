/*
 * websocket.c - what stdio is for a process, for a connection that came by HTTP.
 *
 * Both eras come on one connection, message by message. Its end is the end of what initialize
 * opened, and cancels all that was asked on it: there is no other place where an answer could go.
 *
 * A client that has asked for too much, or does not read, is not read either, until a call ends or
 * the bytes have left. When the server goes down, what runs is answered before the connection is
 * closed.
 *
 * A large message is read on a worker. Messages are served in the order of their coming, so those
 * that were underway when the connection was paused are read by the worker too.
 */
#include "mcp/transport/http_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "mcp/core/call/client.h"
#include "mcp/core/dispatch.h"
#include "net/ws.h"

/* One connection. */
struct client {
    mcp__peer peer; /* first */
    mcp__httpd *httpd;
    mcp__session_entry *entry;
    mcp__ws *ws;
    mcp_arena *arena; /* pays for the principal; NULL: there is none */
    int reading; /* messages that a worker reads; the client is not freed before they are back */
    bool is_paused;
    bool is_leaving; /* the server goes down */
};

static void hold_back(struct client *client)
{
    bool is_over;

    if (!client->ws)
        return;
    is_over = client->reading > 0 || mcp__dispatch_is_full(&client->entry->session) ||
              mcp__ws_is_full(client->ws);
    if (is_over == client->is_paused)
        return;
    client->is_paused = is_over;
    mcp__ws_pause(client->ws, is_over);
}

static void leave_when_answered(struct client *client)
{
    if (client->is_leaving && client->ws && TAILQ_EMPTY(&client->entry->session.calls.open))
        mcp__ws_close(client->ws, MCP__WS_GOING_AWAY);
}

/* Who waits for an answer shall know that it will not come. */
static void abort_request(mcp__peer *peer)
{
    struct client *client = (struct client *)peer;

    if (client->ws)
        mcp__ws_close(client->ws, MCP__WS_INTERNAL);
}

static void send_text(mcp__peer *peer, mcp_buf *message)
{
    struct client *client = (struct client *)peer;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp__ws_send(client->ws, message->data, message->length, &err);

    if (st != MCP_OK && st != MCP_E_STOPPED)
        mcp_log_write(&client->httpd->serve.options->log, MCP_LOG_ERROR, "an answer is lost: %s",
                      err.message);
    if (st == MCP_E_NOMEM)
        abort_request(peer);
    mcp_buf_clear(message);
    hold_back(client);
    leave_when_answered(client);
}

static bool is_slow(const mcp__peer *peer)
{
    const struct client *client = (const struct client *)peer;

    return client->ws && mcp__ws_is_full(client->ws);
}

static void no_reply(mcp__peer *peer)
{
    hold_back((struct client *)peer);
    leave_when_answered((struct client *)peer);
}

static void free_client(struct client *client)
{
    if (client->ws || client->reading > 0)
        return;
    mcp_arena_free(client->arena);
    free(client);
}

static void take_message(struct client *client, mcp__incoming *incoming)
{
    client->httpd->counts.messages++;
    mcp__session_table_work(&client->httpd->sessions, client->entry);
    mcp__dispatch_incoming(&client->entry->session, &client->peer, incoming);
    hold_back(client);
}

static void on_large(void *owner, mcp__incoming *incoming)
{
    struct client *client = owner;

    client->reading--;
    if (client->ws && !client->is_leaving)
        take_message(client, incoming);
    free_client(client);
}

static void on_message(mcp__ws *ws, const char *text, size_t length, void *data)
{
    struct client *client = data;
    mcp__incoming incoming;

    if (client->is_leaving)
        return; /* the close that follows answers it */
    if (client->reading > 0 || length > MCP__INCOMING_SMALL) {
        mcp_buf copy;
        mcp_buf_init(&copy, length);
        (void)mcp_buf_append(&copy, text, length);
        mcp_status st = mcp__serve_read(&client->httpd->serve, &copy, on_large, client, NULL);
        client->reading += st == MCP_OK;
        hold_back(client);
        if (st != MCP_OK)
            mcp__ws_close(ws, MCP__WS_INTERNAL);
        return;
    }
    mcp__incoming_read(&incoming, client->httpd->serve.options, client->httpd->serve.context.budget,
                       text, length);
    take_message(client, &incoming);
}

static void on_closed(mcp__ws *ws, void *data)
{
    struct client *client = data;

    (void)ws;
    client->ws = NULL;
    client->entry->session.listener = NULL;
    mcp__session_table_end(&client->httpd->sessions, client->entry);
    free_client(client);
}

static void on_drained(mcp__ws *ws, void *data)
{
    struct client *client = data;

    (void)ws;
    mcp__httpd_calls_due(&client->httpd->serve);
    hold_back(client);
}

static void on_stopping(mcp__ws *ws, void *data)
{
    struct client *client = data;

    (void)ws;
    client->is_leaving = true;
    leave_when_answered(client);
}

void mcp__websocket_head(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    if (!mcp__ws_is_wanted(exchange))
        mcp__httpd_answer_with(httpd, exchange, 426, "Upgrade", "websocket", NULL);
}

/* What the opening request's token said holds as long as the connection, which ends with the
 * token. */
static bool open_client(struct client *client, mcp__httpd *httpd, const char *transport)
{
    client->httpd = httpd;
    client->peer = (mcp__peer){ .answer = send_text,
                                .notify = send_text,
                                .is_slow = is_slow,
                                .no_reply = no_reply,
                                .abort = abort_request,
                                .transport = transport };
    if (!mcp__httpd_copy_caller(httpd, &client->arena, &client->peer.principal) ||
        mcp__session_table_once(&client->entry, &httpd->sessions, NULL) != MCP_OK ||
        mcp__session_set_listener(&client->entry->session, httpd->caller, NULL) != MCP_OK)
        return false;
    client->entry->session.listener = &client->peer;
    return true;
}

/* One that never had a connection. */
static void drop_client(struct client *client)
{
    if (client->entry)
        mcp__session_table_return(&client->httpd->sessions, client->entry);
    free_client(client);
}

void mcp__websocket_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    struct client *client = mcp_alloc_zeroed(1, sizeof *client);
    mcp__ws_options options = {
        .protocol = "mcp",
        .expires_ms = mcp__httpd_caller_expires_ms(httpd),
        .message_max_bytes = httpd->serve.options->limits.message_max_bytes,
        .message = on_message,
        .closed = on_closed,
        .drained = on_drained,
        .stopping = on_stopping,
        .data = client,
    };

    const char *transport = mcp__httpd_transport(exchange);
    if (!client || !open_client(client, httpd, transport)) {
        mcp__httpd_answer(httpd, exchange, 503, NULL);
        if (client)
            drop_client(client);
        return;
    }
    if (mcp__ws_accept(&client->ws, exchange, &options, NULL) != MCP_OK)
        drop_client(client);
}
