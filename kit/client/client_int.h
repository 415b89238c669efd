/*
 * client_int.h - a client, its session, and the port to its transport.
 *
 * A request is an exchange: client.c writes its text, the link sends it and returns with the text
 * of its response. An exchange is the calling thread's; a link with a thread of its own guards what
 * both touch.
 */
#ifndef CLIENT_CLIENT_INT_H
#define CLIENT_CLIENT_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "client/client.h"
#include "client/message.h"

#define CLIENT_SESSION_ID_MAX 256
#define CLIENT_MODERN "2026-07-28"
#define CLIENT_LEGACY "2025-11-25"

/* What the handshake has settled. */
struct client_session {
    uint64_t generation; /* of the connection, from 1 */
    char revision[CLIENT_REVISION_SIZE];
    bool is_modern;
    bool lists_change;                  /* the server notifies of changes */
    char id[CLIENT_SESSION_ID_MAX + 1]; /* HTTP, legacy: Mcp-Session-Id; "" */
};

/* A request and its response. */
struct client_exchange {
    const struct client_session *session;
    int64_t number; /* its id */
    const char *method;
    const client_call *call; /* of tools/call; NULL */
    const char *text;        /* the message */
    size_t length;
    int64_t until_ms;
    bool (*should_stop)(void *data);
    void *data;
    bool is_handshake; /* is not cancelled, and belongs to no session */

    mcp_buf answer; /* the response's text */
    bool is_answered;
    bool may_have_arrived;
    bool is_lost;                               /* the connection must be opened again */
    char session_id[CLIENT_SESSION_ID_MAX + 1]; /* that the server gave with the answer */
};

/* The transport. Functions with an exchange run on any thread, several at once. */
struct client_link {
    const struct client_link_kind *kind;
};

struct client_link_kind {
    /* Start what there is to start; one thread at a time, and no exchange runs. */
    mcp_status (*open)(struct client_link *self, int64_t until_ms, mcp_error *err);
    /* The handshake is done: send the notification, if any, and wait for changes of lists. */
    mcp_status (*begin)(struct client_link *self, const struct client_session *session,
                        const char *text, size_t length, int64_t until_ms, mcp_error *err);
    /* MCP_OK: `answer` is set */
    mcp_status (*exchange)(struct client_link *self, struct client_exchange *exchange,
                           mcp_error *err);
    void (*free)(struct client_link *self);
};

enum client_state { CLIENT_CLOSED, CLIENT_OPENING, CLIENT_OPEN };

struct client {
    char *label;
    char *name;
    char *version;
    int64_t open_ms;
    size_t message_max;
    void (*on_list_changed)(void *data);
    void *data;
    struct client_link *link;
    atomic_int_fast64_t numbers;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    enum client_state state;
    struct client_session session;
    bool is_legacy; /* the server did not know server/discover the last time */
};

/* @param self outlives the link */
mcp_status client_http_new(struct client_link **out, client *self, const client_options *options,
                           mcp_error *err);

mcp_status client_stdio_new(struct client_link **out, client *self, const client_options *options,
                            mcp_error *err);

/* Notify the program of changed tools. Any thread of the link. */
void client_list_has_changed(client *self);

/* Write a request's or a notification's text up to its params, which stay open. */
void client_write_head(mcp_json_writer *writer, const client *self,
                       const struct client_session *session, int64_t number, const char *method);

/* Write notifications/cancelled for a request. */
void client_write_cancelled(mcp_json_writer *writer, const struct client_exchange *exchange);

/* Connect where it is not, and copy the session. */
mcp_status client_connect(client *self, struct client_session *out, const client_wait *wait,
                          int64_t until_ms, mcp_error *err);

/* The connection of that session is lost. */
void client_disconnect(client *self, uint64_t generation);

/* What a server sent while an exchange waited: progress of its call is handed on. */
void client_take_progress(const client_call *call, int64_t number,
                          const struct client_message *message);

#endif
