/*
 * message.h - what a message of a server is.
 */
#ifndef CLIENT_MESSAGE_H
#define CLIENT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/json.h"

enum client_message_kind {
    CLIENT_GARBAGE, /* not one of these */
    CLIENT_RESPONSE,
    CLIENT_REQUEST,
    CLIENT_NOTIFICATION
};

struct client_message {
    enum client_message_kind kind;
    int64_t number;     /* RESPONSE: of the request; -1: of no request */
    const mcp_json *id; /* REQUEST */
    const char *method; /* REQUEST, NOTIFICATION; "" where it has a NUL */
    const mcp_json *params;
    const mcp_json *result; /* RESPONSE: one of both */
    const mcp_json *error;
};

/* Look at one message; the pointers are borrowed from `value`. */
void client_message_look(struct client_message *out, const mcp_json *value);

/* Called for each message of a text. */
typedef void client_on_message(void *data, const struct client_message *message,
                               const mcp_json *value);

/*
 * Read a text and hand on its message, or the messages of its batch.
 *
 * @return MCP_OK; MCP_E_PARSE; MCP_E_LIMIT or MCP_E_NOMEM: the arena's
 */
mcp_status client_message_read(const char *text, size_t length, mcp_arena *arena,
                               client_on_message *on_message, void *data, mcp_error *err);

/* The answer to a request of the server: an empty result for ping, else -32601. */
void client_message_reply(mcp_buf *out, const struct client_message *request);

#endif
