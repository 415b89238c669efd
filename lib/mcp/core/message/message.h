/*
 * message.h - one JSON-RPC message, read from bytes and sorted.
 */
#ifndef MCP_CORE_MESSAGE_MESSAGE_H
#define MCP_CORE_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

typedef enum mcp__message_kind {
    MCP__REQUEST,
    MCP__NOTIFICATION,
    MCP__RESPONSE, /* to a request of ours */
    MCP__INVALID   /* to be answered with an error, see mcp__message_sort */
} mcp__message_kind;

/** The longest id and progress token that a text may be, in bytes: they come back on many a
 *  message. */
#define MCP__ID_MAX ((size_t)1024)

/** The longest text that the loop reads itself, in bytes: half a millisecond's work. */
#define MCP__INCOMING_SMALL ((size_t)64 * 1024)

/** The steps that checks of schemas may do on the loop for one message, 0.4 ms at the dearest:
 *  several hundred messages may come in one turn. */
#define MCP__STEPS_ON_LOOP ((uint64_t)5000)

/** The steps that one message may cause in all: a base, and two more for each byte. */
#define MCP__STEPS_BASE ((uint64_t)1000000)
#define MCP__STEPS_A_BYTE ((uint64_t)2)

/** The steps that checks of schemas may do for one message. */
typedef struct mcp__steps {
    uint64_t left;    /* wherever they run */
    uint64_t on_loop; /* how many of them on the loop; 0: a long message, which workers check */
} mcp__steps;

static inline mcp__steps mcp__steps_for(size_t length, size_t elements)
{
    return (mcp__steps){ .left = MCP__STEPS_BASE / elements + MCP__STEPS_A_BYTE * length,
                         .on_loop = length > MCP__INCOMING_SMALL ? 0
                                                                 : MCP__STEPS_ON_LOOP / elements };
}

/** A message's parts, borrowed from the value it was sorted from. */
typedef struct mcp__message {
    mcp__message_kind kind;
    const mcp_json *id;     /* a string or an integer; NULL: none, or none that can be one */
    const char *method;     /* NULL for a response */
    const mcp_json *params; /* an object or NULL */
    const mcp_json *meta;   /* params._meta, an object or NULL */
} mcp__message;

/**
 * Read one message's text.
 *
 * @param out an object, or an array (a batch), or something that is neither; the arena's
 * @return MCP_OK; MCP_E_PARSE (also for what is nested too deep or outgrows the arena); MCP_E_NOMEM
 */
mcp_status mcp__message_read(const mcp_json **out, mcp_arena *arena, const char *text,
                             size_t length, mcp_error *err);

/**
 * A copy of a value, by way of its text: values have no other.
 *
 * @param arena     pays for it; NULL: there is no memory
 * @param max_bytes of the text
 * @param length    of the text; NULL: not wanted
 * @return NULL when there is no memory
 */
const mcp_json *mcp__message_copy(mcp_arena *arena, const mcp_json *value, size_t max_bytes,
                                  size_t *length);

/** Whether a value can be an id: a string of at most MCP__ID_MAX bytes, or an integer. */
bool mcp__message_is_id(const mcp_json *value);

/**
 * Sort a value into its kind. *out is always filled.
 *
 * @return MCP_OK; MCP_E_REQUEST or MCP_E_ENVELOPE: the kind is MCP__INVALID and err says why
 */
mcp_status mcp__message_sort(mcp__message *out, const mcp_json *value, mcp_error *err);

#endif
