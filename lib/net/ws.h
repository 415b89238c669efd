/*
 * ws.h - WebSocket (RFC 6455) on a connection that came by HTTP: whole text messages, both ways.
 *
 * Loop thread only. No extensions. A client that sends anything but text, too much, or what is not
 * UTF-8 or not WebSocket, is closed with the code that RFC 6455 section 7.4.1 has for it.
 */
#ifndef NET_WS_H
#define NET_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"
#include "net/http.h"

typedef struct mcp__ws mcp__ws;

/** Close codes, RFC 6455 section 7.4.1. */
typedef enum mcp__ws_code {
    MCP__WS_NORMAL = 1000,
    MCP__WS_GOING_AWAY = 1001,
    MCP__WS_PROTOCOL = 1002,
    MCP__WS_UNSUPPORTED = 1003,
    MCP__WS_NOT_UTF8 = 1007,
    MCP__WS_POLICY = 1008,
    MCP__WS_TOO_BIG = 1009,
    MCP__WS_INTERNAL = 1011
} mcp__ws_code;

/** Zero stands for the value in brackets. */
typedef struct mcp__ws_options {
    const char *protocol;     /* the subprotocol that must be offered, and is chosen; NULL: none */
    size_t message_max_bytes; /* (4 MiB) */
    int64_t expires_ms;       /* wall clock; then the connection ends, by 1008 (never) */
    int64_t ping_ms;          /* the second unanswered one ends the connection (30 s) */
    /** A text message; borrowed, UTF-8, not followed by a NUL. */
    void (*message)(mcp__ws *ws, const char *text, size_t length, void *data);
    /** The connection is gone; `ws` is freed when this returns. Comes once, always. */
    void (*closed)(mcp__ws *ws, void *data);
    /** A slow reader has taken all. May be NULL. */
    void (*drained)(mcp__ws *ws, void *data);
    /** The server goes down: close when what is owed has been sent. NULL: closed at once, by
     *  1001. */
    void (*stopping)(mcp__ws *ws, void *data);
    void *data;
} mcp__ws_options;

/** Whether the request is for a WebSocket. */
bool mcp__ws_is_wanted(const mcp__http_exchange *exchange);

/**
 * Shake hands. The exchange is over, whatever is returned: on MCP_E_PARAMS it was answered by 400
 * or 426.
 *
 * @param out     the connection's own; good until `closed` was called
 * @param options copied; `protocol` must outlive the connection
 */
mcp_status mcp__ws_accept(mcp__ws **out, mcp__http_exchange *exchange,
                          const mcp__ws_options *options, mcp_error *err);

/** Send a text message, which must be UTF-8. MCP_E_STOPPED: the connection is closing. */
mcp_status mcp__ws_send(mcp__ws *ws, const char *text, size_t length, mcp_error *err);

/** Take no messages for now. Those of a few kilobytes that are underway may still come. */
void mcp__ws_pause(mcp__ws *ws, bool is_paused);

/** Say goodbye and close. `closed` comes later; no message comes any more. */
void mcp__ws_close(mcp__ws *ws, mcp__ws_code code);

/** Whether so much is queued that what can be left out should be. */
bool mcp__ws_is_full(const mcp__ws *ws);

#endif
