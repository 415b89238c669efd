/**
 * call.h - all that a handler may do.
 *
 * A call is one request being answered. Its handler runs on a worker thread, may block, and owns the
 * call until it returns: no other thread touches it, so nothing here needs a lock. What a handler
 * writes is sent only after it has returned MCP_OK.
 *
 * How a handler ends          what the client sees
 *   writes, returns MCP_OK      a result; for a tool the JSON object that it wrote, as text and, where
 *                               the tool has an output schema and the revision knows it, as
 *                               structuredContent
 *   mcp_call_refuse(...)        a tool result with isError true (a tool only)
 *   returns MCP_E_LATER         nothing yet: see mcp_call_resume
 *   returns another status      a JSON-RPC error with that status's code and mcp_call_error's message;
 *                               for E_INTERNAL, E_IO and E_NOMEM the message goes to the log alone
 */
#ifndef MCP_CALL_H
#define MCP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One request being answered. */
typedef struct mcp_call mcp_call;

/**
 * Answers one call. Runs on a worker; may block; must write an answer or return a status. `call` is
 * valid until it returns. One type serves tools, resources and prompts.
 */
typedef mcp_status mcp_handler(mcp_call *call, void *data);

/** What a client declared that it can do, as bits. */
enum mcp_client_can {
    MCP_CLIENT_ROOTS = 1 << 0,
    MCP_CLIENT_SAMPLING = 1 << 1,
    MCP_CLIENT_SAMPLING_TOOLS = 1 << 2,
    MCP_CLIENT_ELICITATION = 1 << 3, /* forms */
    MCP_CLIENT_ELICITATION_URL = 1 << 4,
    MCP_CLIENT_TASKS = 1 << 5, /* the extension io.modelcontextprotocol/tasks */
    MCP_CLIENT_UI = 1 << 6     /* the extension io.modelcontextprotocol/ui */
};

/** How grave a log message to the client is, rising (RFC 5424). */
typedef enum mcp_level {
    MCP_LEVEL_NONE, /* no message has it */
    MCP_LEVEL_DEBUG,
    MCP_LEVEL_INFO,
    MCP_LEVEL_NOTICE,
    MCP_LEVEL_WARNING,
    MCP_LEVEL_ERROR,
    MCP_LEVEL_CRITICAL,
    MCP_LEVEL_ALERT,
    MCP_LEVEL_EMERGENCY
} mcp_level;

/** "warning"; "" for MCP_LEVEL_NONE. */
const char *mcp_level_name(mcp_level level);

/** The level of that name; MCP_LEVEL_NONE for NULL or an unknown one. */
mcp_level mcp_level_find(const char *name);

/** Why a handler should stop. */
typedef enum mcp_stop {
    MCP_GO_ON,
    MCP_STOP_CLIENT_GONE, /* the client hung up; only tools flagged MCP_STOP_ON_HANGUP see it */
    MCP_STOP_CANCELLED,   /* the client cancelled this request: nobody waits for the answer */
    MCP_STOP_DEADLINE,    /* the tool's time limit passed and was answered */
    MCP_STOP_SHUTDOWN     /* the server is going down; an answer given soon is still sent */
} mcp_stop;

/* ---- what was asked --------------------------------------------------------------------------- */

/** The arguments: an object, never NULL. A resource's are its URI template's variables. */
const mcp_json *mcp_call_arguments(const mcp_call *call);

/*
 * One argument. Where the client left it out (or wrote null) the `default` of the tool's input schema
 * stands in, then `fallback`. Types are right already: the schema was checked.
 */

/** NULL when absent without a default, and when the text holds NUL or is no string. */
const char *mcp_arg_string(const mcp_call *call, const char *name);
/** An integer argument. */
int64_t mcp_arg_int(const mcp_call *call, const char *name, int64_t fallback);
/** A number argument. */
double mcp_arg_double(const mcp_call *call, const char *name, double fallback);
/** A boolean argument. */
bool mcp_arg_bool(const mcp_call *call, const char *name, bool fallback);
/** The argument as JSON; NULL when absent without a default. */
const mcp_json *mcp_arg_json(const mcp_call *call, const char *name);

/** The tool's or prompt's name as registered; for a resource the URI that was asked for. */
const char *mcp_call_name(const mcp_call *call);

/** The request's params._meta; NULL when it has none. */
const mcp_json *mcp_call_meta(const mcp_call *call);

/** The revision that this call is answered under. */
mcp_revision mcp_call_revision(const mcp_call *call);

/** Whether the client declared all of these (enum mcp_client_can) for this call. */
bool mcp_call_client_can(const mcp_call *call, unsigned capabilities);

/**
 * Insist on capabilities of the client.
 *
 * @return MCP_OK; MCP_E_CAPABILITY: return it, the client is told what it lacks
 */
mcp_status mcp_call_require(mcp_call *call, unsigned capabilities);

/* ---- the call's own things -------------------------------------------------------------------- */

/** Memory that lives until the answer is sent. */
mcp_arena *mcp_call_arena(mcp_call *call);

/** The error object whose message goes out when the handler returns a status other than MCP_OK. */
mcp_error *mcp_call_error(mcp_call *call);

/** Whether to stop, and why. Cheap: ask it in every loop that can take long. Once set it stays,
 *  except that SHUTDOWN and CLIENT_GONE may later become CANCELLED. */
mcp_stop mcp_call_stop(const mcp_call *call);

/* ---- answering a tool call -------------------------------------------------------------------- */
/* The blocks (text, image, audio, link, embedded resource) serve prompts too, see prompt.h. */

/** The result: one JSON object, begun; write members, the library ends it. */
mcp_json_writer *mcp_call_result(mcp_call *call);

/**
 * The result where it is no object: write exactly one value. For a tool whose output schema describes
 * something else than an object; before 2026-07-28 only its text goes out. Not beside mcp_call_result.
 */
mcp_json_writer *mcp_call_value(mcp_call *call);

/** A text block beside or instead of the result object. May be called several times. */
mcp_status mcp_call_text(mcp_call *call, const char *text);

/**
 * A text block in pieces, for what is long: it goes straight into the answer, and is never held twice. Between
 * begin and end no other block is written. What fails sticks, so that looking at what end returns is enough;
 * a handler that cannot go on may refuse instead, which drops what was written.
 *
 *     mcp_call_text_begin(call, 0);
 *     for (...)
 *         mcp_call_text_add(call, line, length);
 *     return mcp_call_text_end(call);
 *
 * @param expected_bytes about how long the text gets, as it stands in the answer: room is made once. 0: not
 *        known
 */
mcp_status mcp_call_text_begin(mcp_call *call, size_t expected_bytes);

/** A piece of the text: whole characters. Bytes that are no UTF-8 become '?', as everywhere. */
mcp_status mcp_call_text_add(mcp_call *call, const char *text, size_t length);

/** A piece that is the inside of a JSON string already: escaped, valid UTF-8. It is copied as it stands, not
 *  looked at, and may be cut anywhere. */
mcp_status mcp_call_text_add_escaped(mcp_call *call, const char *bytes, size_t length);

/** The text is whole. */
mcp_status mcp_call_text_end(mcp_call *call);

/** An image block ("image/png"); the bytes are base64 encoded here. */
mcp_status mcp_call_image(mcp_call *call, const void *bytes, size_t length, const char *mime_type);
/** An audio block ("audio/wav"); the bytes are base64 encoded here. */
mcp_status mcp_call_audio(mcp_call *call, const void *bytes, size_t length, const char *mime_type);

/** A link to a resource; a text with name and URI before 2025-06-18. `mime_type` may be NULL. */
mcp_status mcp_call_link(mcp_call *call, const char *uri, const char *name, const char *mime_type);

/** A resource inside the answer. */
mcp_status mcp_call_embed(mcp_call *call, const char *uri, const char *mime_type, const char *text);

/**
 * Drop what was written and answer with isError true and this one text.
 *
 * @return MCP_OK, so that `return mcp_call_refuse(...)` ends a handler
 */
mcp_status mcp_call_refuse(mcp_call *call, const char *format, ...) MCP_PRINTF(2, 3);

/** As mcp_call_refuse, with a text that is ready (a JSON error record, say). */
mcp_status mcp_call_refuse_text(mcp_call *call, const char *text, size_t length);

/* ---- answering resources/read ----------------------------------------------------------------- */

/** One entry of `contents`. `uri` NULL: the one asked for. `mime_type` NULL: the resource's. */
mcp_status mcp_call_contents_text(mcp_call *call, const char *uri, const char *mime_type,
                                  const char *text, size_t length);
/** As mcp_call_contents_text, for bytes, which are base64 encoded here. */
mcp_status mcp_call_contents_blob(mcp_call *call, const char *uri, const char *mime_type,
                                  const void *bytes, size_t length);

/** The `_meta` of the entries written after this, the text of a JSON object; NULL: none, as at first. From
 *  2025-06-18. */
mcp_status mcp_call_contents_meta(mcp_call *call, const char *json);

/**
 * How long a client may keep what was read, from 2026-07-28; not at all unless this is called.
 *
 * @param is_public others than this client's user may be shown it too
 */
void mcp_call_cache(mcp_call *call, int64_t ttl_ms, bool is_public);

/* ---- asking the client ------------------------------------------------------------------------- */

/**
 * Ask the client something and have its answer. Tools, resources and prompts may; it never blocks.
 *
 * The first time there is no answer yet. Ask whatever else is to be asked in the same run, then return
 * mcp_call_asked(call). When the answers are there the handler runs again from the top, and the same
 * questions, which is to say the same keys, have them. So a handler that asks reads as "given these
 * answers, go on", and does nothing that may happen only once before its last question. An accepted form
 * that does not fit its schema counts as no answer.
 *
 *     const mcp_json *name = mcp_call_ask_form(call, "name", "What is your name?", schema);
 *     const mcp_json *roots = mcp_call_ask(call, "roots", "roots/list", NULL);
 *     if (!name || !roots)
 *         return mcp_call_asked(call);
 *
 * Within a session a client has five minutes; then the call ends with an error.
 *
 * @param key    names the question within this call, in every run alike
 * @param method "elicitation/create", "sampling/createMessage" or "roots/list"
 * @param params the text of a JSON object as the protocol has it; NULL: none
 * @return the client's result, an object, the call's; NULL: not there yet, or it cannot be asked
 */
const mcp_json *mcp_call_ask(mcp_call *call, const char *key, const char *method,
                             const char *params);

/** As mcp_call_ask with "elicitation/create": a form for the user. `schema` is the text of a flat JSON
 *  Schema object; never ask for secrets. The answer has `action` and, where that is "accept", `content`. */
const mcp_json *mcp_call_ask_form(mcp_call *call, const char *key, const char *message,
                                  const char *schema);

/**
 * As mcp_call_ask with "elicitation/create": asks the user to open an address, for what must not pass through
 * the client, as passwords and payments. The answer's `action` says whether the user agreed to go there, not
 * what came of it: that the program learns at the address, and may tell by mcp_server_elicited. It must make
 * sure that whoever comes there is the user who was sent. From 2025-11-25, for clients that can
 * MCP_CLIENT_ELICITATION_URL.
 *
 * @param id names the errand; random, for the client learns it
 */
const mcp_json *mcp_call_ask_url(mcp_call *call, const char *key, const char *message,
                                 const char *url, const char *id);

/**
 * Insist on an errand before anything can be done: the client sends its user there and calls again. May be
 * called for several errands in one run.
 *
 * @return what to return: MCP_E_URL (2025-11-25: an error that holds the addresses), MCP_E_ASKED (2026-07-28),
 *         MCP_E_CAPABILITY, MCP_E_UNSUPPORTED (the user will not go)
 */
mcp_status mcp_call_require_url(mcp_call *call, const char *message, const char *url,
                                const char *id);

/**
 * What to return after a question that has no answer.
 *
 * @return MCP_E_ASKED; or why nothing could be asked: MCP_E_CAPABILITY (ask mcp_call_client_can first
 *         where it can be done without), MCP_E_UNSUPPORTED (the client answered with an error)
 */
mcp_status mcp_call_asked(mcp_call *call);

/** Keep a text for the run that has the answers. The client may see it, but cannot change it. */
mcp_status mcp_call_keep(mcp_call *call, const char *text);

/** What the run before this one kept; NULL: nothing, or this is the first. */
const char *mcp_call_kept(const mcp_call *call);

/* ---- tasks ------------------------------------------------------------------------------------- */

/**
 * Go on as a task, in a tool flagged MCP_TASK_LATER: what was asked of the client until now it answered on the
 * spot, and what follows takes long. Do it before anything that may happen only once: the handler runs again
 * from the top, with the answers that it has.
 *
 *     mcp_status st = mcp_call_as_task(call);
 *     if (st != MCP_OK)
 *         return st;
 *
 * @return MCP_OK: go on, the call is a task, or its client knows none and need not; any other status: return it
 */
mcp_status mcp_call_as_task(mcp_call *call);

/* ---- answering later --------------------------------------------------------------------------- */

/**
 * Go on with a call whose handler returned MCP_E_LATER, on a worker, once.
 *
 * A handler that only waits, for a commit or for another machine, need not keep a thread for it: it hands the
 * call to whoever will know and returns MCP_E_LATER. From then on the call is theirs; they may fill what the
 * handler left in mcp_call_arena for them, ask mcp_call_stop, and call this, once and from any thread, even
 * before the handler has returned. Then `go_on` runs as a handler does, and may end as one does, with
 * MCP_E_LATER too. What it writes is the answer, behind what the handler wrote.
 *
 *     static mcp_status store(mcp_call *call, void *data)
 *     {
 *         queue_add(data, mcp_arg_json(call, "order"), stored, call);
 *         return MCP_E_LATER;
 *     }
 *
 *     static void stored(void *call)
 *     {
 *         mcp_call_resume(call, tell_stored, NULL);
 *     }
 *
 * Meanwhile the call is as one whose handler works: its time limit is answered, it can be cancelled, and a
 * server that goes down waits for it. Therefore resume it even if nobody waits any more; `go_on` runs then too,
 * and can let go of what it holds. A call that is never resumed is answered by its time limit, but its memory is
 * not given back, and the server waits for it as for a handler that does not return.
 */
void mcp_call_resume(mcp_call *call, mcp_handler *go_on, void *data);

/**
 * As mcp_call_resume, for a `go_on` that never blocks and is done within 100 us: where the tool or route is
 * MCP_QUICK it runs on the loop, as its handler does; and calls that are resumed together wake the loop once.
 *
 * A quick handler, too, may find that this time it takes longer: it calls mcp_call_resume itself, to go on on a
 * worker, and returns MCP_E_LATER.
 */
void mcp_call_resume_quick(mcp_call *call, mcp_handler *go_on, void *data);

/* ---- answering prompts/get -------------------------------------------------------------------- */

/** What a `{{place}}` of the prompt's text becomes; arguments fill their places by themselves. */
mcp_status mcp_call_place(mcp_call *call, const char *place, const char *text);

/* ---- answering completion/complete ------------------------------------------------------------- */

/** What was typed of the argument so far; "" at first. The arguments chosen already are mcp_arg_string's. */
const char *mcp_call_typed(const mcp_call *call);

/** Suggest a value, the best first. Of more than 100 the client is told the number only. */
mcp_status mcp_call_suggest(mcp_call *call, const char *text);

/* ---- telling how far it is -------------------------------------------------------------------- */

/** How far a call is. */
typedef struct mcp_progress {
    double progress;      /* must rise within a call; a report that does not is dropped */
    double total;         /* 0: unknown, left out */
    const char *message;  /* may be NULL */
    const char *metadata; /* JSON object text put into params.metadata; may be NULL */
    const char *meta_key; /* the same object under params._meta[meta_key]; may be NULL */
    bool every;           /* do not thin out by time: only a slow client makes it skip */
} mcp_progress;

/**
 * Report progress. Does nothing when the client gave no token. Thinned to one report in 20 ms a call,
 * the newest wins; a client that does not read makes reports skip, never the handler wait.
 */
mcp_status mcp_call_progress(mcp_call *call, const mcp_progress *report);

/** True when the client asked for progress, or the call is a task: worth formatting one. */
bool mcp_call_wants_progress(const mcp_call *call);

/**
 * Drop the connection and let the client come back for the answer, so that a long call need not hold one.
 * Does nothing where the client could not come back: it can over HTTP within a session of 2025-11-25.
 */
void mcp_call_reconnect(mcp_call *call);

/**
 * Send the client a log message. Does nothing where the server does not offer logging
 * (mcp_server_options.logging) or the client wants none so gentle: within a session what
 * logging/setLevel said, at first "info"; from 2026-07-28 what the request itself says, else none. No
 * secrets. A client that does not read makes messages skip, never the handler wait.
 *
 * @param logger names the part that speaks; may be NULL
 * @param format one text, cut at 4095 bytes
 */
mcp_status mcp_call_log(mcp_call *call, mcp_level level, const char *logger, const char *format,
                        ...) MCP_PRINTF(4, 5);

/** As mcp_call_log, for any JSON value, given as its text. */
mcp_status mcp_call_log_json(mcp_call *call, mcp_level level, const char *logger, const char *json);

#ifdef __cplusplus
}
#endif

#endif
