/*
 * conversation.h - a client and a server in one thread: memory peer, inline executor.
 */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include "inline.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/session/session.h"
#include "mcp/core/task/task.h"
#include "mcp/server_int.h"
#include "peer_memory.h"

typedef struct conversation {
    mcp_server *server;
    mcp__inline executor;
    mcp__peer_memory peer;
    mcp__task_table *tasks;
    mcp__session session;
} conversation;

/** `options` and `features` may be NULL: a server called "test" "1.0", without features. */
void conversation_open(conversation *c, const mcp_server_options *options,
                       const mcp_features *features);

/** Runs what is held first, so that every call ends. */
void conversation_close(conversation *c);

/** Send a message. */
void conversation_say(conversation *c, const char *text);

/** All that was sent since the last look must be these messages, one a line, in this order,
 * whatever the order of their members; "" for none. */
void conversation_expect(conversation *c, const char *lines);

/** Send, then expect. */
void conversation_ask(conversation *c, const char *text, const char *lines);

/** Open under a revision, by name; the answer is passed over. */
void conversation_initialize(conversation *c, const char *revision);

/** The only message sent since the last look, in `arena`. */
const mcp_json *conversation_answer(conversation *c, mcp_arena *arena);

#endif
