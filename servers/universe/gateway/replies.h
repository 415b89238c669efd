/*
 * replies.h - the bodies that REST and MCP answer with, so that both doors say the same.
 */
#ifndef UNIVERSE_REPLIES_H
#define UNIVERSE_REPLIES_H

#include "gateway/app.h"
#include "mcp/buf.h"

/** How much of the state an answer to a command holds (universe.md 5, 7.1). */
typedef enum universe_return {
    UNIVERSE_RETURN_AUTO,   /* the whole while it is small, else what changed */
    UNIVERSE_RETURN_FULL,   /* the whole */
    UNIVERSE_RETURN_DELTA,  /* what changed */
    UNIVERSE_RETURN_MINIMAL /* version, time and events alone */
} universe_return;

/** "auto", "full", "delta" or "minimal"; NULL is AUTO. False: none of them. */
bool universe_return_find(universe_return *out, const char *name);

/**
 * Write an id as a part of a path, everything but letters, digits and -._~ percent-encoded.
 *
 * @param size above 3; what does not fit is cut off
 * @return the length
 */
size_t universe_percent_encode(char *out, size_t size, const char *id);

/** Log a change: `st` and, where that is MCP_OK, its result. */
void universe_log_result(const mcp_call *call, const universe_app *app, universe_log_part part,
                         const char *id, const char *type, int64_t began_ns, mcp_status st,
                         const universe_result *result);

/** A sink that appends to the mcp_buf `data`. */
mcp_status universe_into_buf(const char *bytes, size_t length, void *data, mcp_error *err);

/** A sink that adds to the open text of the mcp_call `data` what is the inside of a JSON string. */
universe_sink universe_into_text;

/** About how many bytes an answer with the whole state takes. */
size_t universe_reply_bytes(const universe_summary *summary, universe_form form);

/** Whether the answer to a command holds the whole state. */
bool universe_reply_is_full(const universe_app *app, const universe_result *result,
                            universe_return how);

/** Such an answer as a text of a tool's, the state put straight into it. */
mcp_status universe_reply_full_text(mcp_call *call, const universe_result *result, mcp_error *err);
/** Whether the answer to a submission that has ended is written within microseconds. */
bool universe_reply_is_short(const universe_app *app, const universe_submission *ended,
                             universe_return how);

/** Where in a body a state goes that is too large to be held with it: see
 *  universe_rest_send_state. */
typedef struct universe_gap {
    size_t at;
    bool is_open; /* there is one */
} universe_gap;

/** Whether a state is so large that it should be written while it is sent. */
bool universe_reply_is_large(const universe_view *view);

/** {"nextState","events","version"}, or one of the shorter forms. `gap` NULL: a state is in it,
 *  however large. */
mcp_status universe_reply_result(mcp_buf *body, const universe_app *app,
                                 const universe_result *result, universe_return how,
                                 universe_gap *gap, mcp_error *err);

/** {"error":"Command rejected","universeId","reason","events","version","hint"?}, and of a batch
 *  "at". `hint`: what to do; may be NULL. */
mcp_status universe_reply_rejected(mcp_buf *body, const char *id, const universe_result *result,
                                   const char *hint, mcp_error *err);

/** {"error":"versionConflict","universeId","expectedVersion","version"}. */
mcp_status universe_reply_conflict(mcp_buf *body, const char *id, int64_t expected, int64_t version,
                                   mcp_error *err);

/** {"error": words, "universeId": id}; id NULL: without it. */
mcp_status universe_reply_error(mcp_buf *body, const char *words, const char *id, mcp_error *err);

/** The record; its state where `view` is given, null and "stateOmitted" where `omitted`; `gap` as
 *  above. `repairs`: a JSON array that is a member too; NULL: there is none. */
mcp_status universe_reply_record(mcp_buf *body, const universe_record *record,
                                 const universe_view *view, bool omitted, const char *repairs,
                                 universe_gap *gap, mcp_error *err);

/** The words of the log for a generated state, with its configuration: the arena's; NULL: no
 *  memory. */
const char *universe_generator_label(mcp_arena *arena, const mcp_json *config);

/** {"id","name","version","time","bytes","counts":{...},"bodyTypes":{...},...}. */
mcp_status universe_reply_summary(mcp_buf *body, const universe_version *current, mcp_error *err);

#endif
