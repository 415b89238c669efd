/*
 * message.h - JSON-RPC messages, read from bytes and sorted as far as they can be without knowing
 * whose they are.
 *
 * Reading a text takes time in proportion to its length, and the loop has none to give: what is
 * longer than MCP__INCOMING_SMALL is read on a worker. Both ways end in the same struct, which the
 * dispatch takes.
 *
 * There is one thread for reading, so texts are read in the order in which they were given to it. A
 * transport that promises order gives it every further message, small or not, while one is being
 * read.
 */
#ifndef MCP_CORE_MESSAGE_MESSAGE_H
#define MCP_CORE_MESSAGE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena_int.h"
#include "mcp/buf.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "net/pool.h"

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

/* ---- a message that has come ----------------------------------------------------------------- */

/** How many messages a batch may have. */
#define MCP__BATCH_MAX 100

/** One message: alone, or of a batch. */
typedef struct mcp__element {
    mcp_arena *arena; /* pays for `value`; NULL: it could not be read again, memory is out */
    const mcp_json *value;
    size_t length; /* of its text */
    mcp__steps steps;
    mcp__message message; /* sorted, unless `value` is a batch */
    mcp_error fault;      /* why it is MCP__INVALID */
} mcp__element;

/** What has come. */
typedef struct mcp__incoming {
    mcp_status status; /* of reading; unless MCP_OK there is nothing below but whole.message.id */
    mcp_error err;
    mcp__element whole;
    mcp__element
        *elements; /* of a batch that is neither empty nor too long; each has its own arena */
    size_t count;
} mcp__incoming;

/** Any thread. *out is always filled; end it with mcp__incoming_clear. The text is not kept.
 *  @param budget pays for the memory; NULL: nobody counts it */
void mcp__incoming_read(mcp__incoming *out, const mcp_server_options *options,
                        mcp__arena_budget *budget, const char *text, size_t length);

/** Free what was not taken. */
void mcp__incoming_clear(mcp__incoming *incoming);

/** A text that is read on a worker. */
typedef struct mcp__reading mcp__reading;
struct mcp__reading {
    mcp__task task; /* first */
    const mcp_server_options *options;
    mcp__arena_budget *budget;
    mcp_buf text; /* ended before `done` */
    mcp__incoming incoming;
    /** On the loop. Ends `incoming` and frees what the reading is part of. */
    void (*done)(mcp__reading *reading);
};

/** Read `text` on a worker, then call `done`. @return MCP_OK; else `done` will not be called, and
 *  `text` is ended */
mcp_status mcp__reading_start(mcp__reading *reading, mcp__executor *executor, mcp_error *err);

/* ---- a text that cannot be read: its id, and the repair of what people wrote in it ----------- */

/** A message's text, looked at once more. */
typedef struct mcp__message_scan {
    const char *
        /* the text of the top-level member `id`; NULL: none, or it is not one text of an object */
        id;
    size_t id_length;
    size_t repaired; /* escapes that were replaced */
} mcp__message_scan;

/**
 * Walk over a text that is JSON but for single values: escapes of one half of a surrogate pair,
 * numbers beyond a double, any depth. Such escapes become those of U+FFFD where people write: in
 * the values of params.arguments, params.argument and params.inputResponses, and in the result of a
 * response. They stay elsewhere.
 *
 * @param out  *out is always filled; its id is in `text`
 * @param text changed in place, its length stays
 */
void mcp__message_scan_text(mcp__message_scan *out, char *text, size_t length);

#endif
