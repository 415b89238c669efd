/**
 * call.h - the functions that a handler may use.
 *
 * A call is one request in progress. Its handler runs on a worker thread, may block, and owns the
 * call until it returns: no other thread accesses it, so handlers need no lock for it. The output
 * of a handler is sent only after it has returned MCP_OK.
 *
 * How a handler ends          what the client gets
 *   writes, returns MCP_OK      a result; for a tool the JSON object that was written, as text and,
 *                               when the tool has an output schema and the revision supports it, as
 *                               structuredContent
 *   mcp_call_tool_error(...)    a tool result with isError true (tools only)
 *   returns MCP_E_DEFERRED      nothing yet: see mcp_call_resume
 *   returns another status      a JSON-RPC error with the status's code and mcp_call_error's
 *                               message; that of E_INTERNAL, E_IO and E_NOMEM is only logged
 */
#ifndef MCP_CALL_H
#define MCP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/log.h"
#include "mcp/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One request in progress. */
typedef struct mcp_call mcp_call;

/**
 * Answers one call. Runs on a worker; may block; must write an answer or return a status. `call` is
 * valid until it returns. Tools, resources, prompts and routes have the same type of handler.
 */
typedef mcp_status mcp_handler(mcp_call *call, void *data);

/** The capabilities that a client declared, as bits. */
enum mcp_client_can {
    MCP_CLIENT_ROOTS = 1 << 0,
    MCP_CLIENT_SAMPLING = 1 << 1,
    MCP_CLIENT_SAMPLING_TOOLS = 1 << 2,
    MCP_CLIENT_ELICITATION = 1 << 3, /* forms */
    MCP_CLIENT_ELICITATION_URL = 1 << 4,
    MCP_CLIENT_TASKS = 1 << 5, /* the extension io.modelcontextprotocol/tasks */
    MCP_CLIENT_UI = 1 << 6     /* the extension io.modelcontextprotocol/ui */
};

/** Severity of a log message to the client, rising (RFC 5424). */
typedef enum mcp_level {
    MCP_LEVEL_NONE, /* not a message's level */
    MCP_LEVEL_DEBUG,
    MCP_LEVEL_INFO,
    MCP_LEVEL_NOTICE,
    MCP_LEVEL_WARNING,
    MCP_LEVEL_ERROR,
    MCP_LEVEL_CRITICAL,
    MCP_LEVEL_ALERT,
    MCP_LEVEL_EMERGENCY
} mcp_level;

/** The name of a level ("warning"); "" for MCP_LEVEL_NONE. */
const char *mcp_level_name(mcp_level level);

/** Find a level by its name. @return MCP_LEVEL_NONE for NULL or an unknown name */
mcp_level mcp_level_find(const char *name);

/** The reason why a handler should stop. */
typedef enum mcp_stop {
    MCP_STOP_NONE,
    MCP_STOP_CLIENT_GONE, /* the client disconnected; only for MCP_STOP_ON_HANGUP */
    MCP_STOP_CANCELLED,   /* the client cancelled the request: the answer is dropped */
    MCP_STOP_DEADLINE,    /* the time limit has passed; the time-out was answered */
    MCP_STOP_SHUTDOWN     /* the server shuts down; an early answer is still sent */
} mcp_stop;

/* ---- the request ----------------------------------------------------------------------------- */

/** The arguments: an object, never NULL. For a resource, the variables of its URI template. */
const mcp_json *mcp_call_arguments(const mcp_call *call);

/*
 * One argument. For an absent argument (or null) the `default` of the tool's input schema is used,
 * then `fallback`. The types are correct: the arguments were checked against the schema.
 */

/** A string argument; NULL when absent without a default, not a string, or when it contains NUL. */
const char *mcp_arg_string(const mcp_call *call, const char *name);
/** An integer argument. */
int64_t mcp_arg_int(const mcp_call *call, const char *name, int64_t fallback);
/** A number argument. */
double mcp_arg_double(const mcp_call *call, const char *name, double fallback);
/** A boolean argument. */
bool mcp_arg_bool(const mcp_call *call, const char *name, bool fallback);
/** An argument as JSON; NULL when absent without a default. */
const mcp_json *mcp_arg_json(const mcp_call *call, const char *name);

/** The tool's or prompt's name as registered; for a resource, the requested URI. */
const char *mcp_call_name(const mcp_call *call);

/** The id of the request, a string or an integer; NULL for a call that has none, such as that of a
 *  REST route. */
const mcp_json *mcp_call_id(const mcp_call *call);

/** The request's params._meta; NULL when absent. */
const mcp_json *mcp_call_meta(const mcp_call *call);

/** The protocol revision of the call. */
mcp_revision mcp_call_revision(const mcp_call *call);

/** Whether the client declared all these capabilities (enum mcp_client_can) for this call. */
bool mcp_call_client_can(const mcp_call *call, unsigned capabilities);

/**
 * The name of the client's program ("claude-code"), from its clientInfo: of initialize within a
 * session, of the request's _meta from 2026-07-28. It is what the client says about itself: for
 * logs and audits, not for decisions (mcp_call_principal is checked).
 *
 * @return one line of at most 127 bytes, in which '?' replaces characters that a terminal obeys;
 *         it lives as long as the call; NULL: the client says none
 */
const char *mcp_call_client_name(const mcp_call *call);

/** The version of the client's program, in the same form; NULL: the client says none. */
const char *mcp_call_client_version(const mcp_call *call);

/** Room for the id of a trace in hexadecimal digits, with its NUL. */
#define MCP_TRACE_ID_SIZE 33
/** Room for the id of a span in hexadecimal digits, with its NUL. */
#define MCP_SPAN_ID_SIZE 17
/** Room for a traceparent, with its NUL. */
#define MCP_TRACEPARENT_SIZE 56

/** The place of a call in a distributed trace (W3C Trace Context). All of it is the client's word,
 *  but for the id of the call's own span. */
typedef struct mcp_trace {
    char trace_id[MCP_TRACE_ID_SIZE]; /* the client's */
    char parent_id[MCP_SPAN_ID_SIZE]; /* the span of the client's that the call belongs to */
    char span_id[MCP_SPAN_ID_SIZE];   /* of this call; new */
    /** For requests that the handler makes to other machines: their parent is this call. */
    char traceparent[MCP_TRACEPARENT_SIZE];
    bool is_sampled;        /* the client records the trace */
    const char *tracestate; /* to pass on with `traceparent`; NULL: none */
    const char *baggage;    /* the same */
} mcp_trace;

/**
 * The trace that the call is part of: of `traceparent`, `tracestate` and `baggage` in params._meta,
 * else of the header fields of these names, over Streamable HTTP and for routes. Invalid ones are
 * ignored. Requests for input to the client carry it in their params._meta, and lines of the log
 * about the call end in " trace_id=... span_id=...".
 *
 * @return lives as long as the call and never changes; NULL: the call is part of no trace
 */
const mcp_trace *mcp_call_trace(const mcp_call *call);

/**
 * Require capabilities of the client.
 *
 * @return MCP_OK; MCP_E_CAPABILITY: return it; the error names the missing capabilities
 */
mcp_status mcp_call_require(mcp_call *call, unsigned needed);

/* ---- memory, error, stop --------------------------------------------------------------------- */

/** The call's arena; it lives until the answer is sent. */
mcp_arena *mcp_call_arena(mcp_call *call);

/** The error object whose message is sent when the handler returns a status other than MCP_OK. */
mcp_error *mcp_call_error(mcp_call *call);

/** The writer of the `data` of that error, inside an open JSON object: write members; the library
 *  closes it. Not sent with E_INTERNAL, E_IO and E_NOMEM. A resource's has `uri` in any case. */
mcp_json_writer *mcp_call_error_data(mcp_call *call);

/** Whether the handler should stop, and why. Cheap: check it in every loop that can take long. A
 *  reason stays set, except that SHUTDOWN and CLIENT_GONE may later become CANCELLED. */
mcp_stop mcp_call_stop(const mcp_call *call);

/* ---- answering a tool call ------------------------------------------------------------------- */
/* Prompts use the blocks (text, image, audio, link, embedded resource), too; see prompt.h. Routes
 * send none; see route.h. */

/** The writer of the result, inside an open JSON object: write members; the library closes it. */
mcp_json_writer *mcp_call_result(mcp_call *call);

/**
 * The writer of a result that is not an object: write exactly one value. For a tool whose output
 * schema does not describe an object; before 2026-07-28 only its text is sent. Not together with
 * mcp_call_result.
 */
mcp_json_writer *mcp_call_value(mcp_call *call);

/** Add a text block, in addition to or instead of the result object. May be called several
 *  times. */
mcp_status mcp_call_text(mcp_call *call, const char *text);

/**
 * Begin a long text block that is written in pieces: it is written straight into the answer,
 * without a second copy. No other block may be written before its end. The first failure is kept,
 * so checking the status of mcp_call_text_end is enough. mcp_call_tool_error drops the block.
 *
 *     mcp_call_text_begin(call, 0);
 *     for (...)
 *         mcp_call_text_add(call, line, length);
 *     return mcp_call_text_end(call);
 *
 * @param expected_bytes estimated length of the escaped text, to allocate once; 0: unknown
 */
mcp_status mcp_call_text_begin(mcp_call *call, size_t expected_bytes);

/** Add a piece of the text: whole characters. Bytes that are not UTF-8 become '?', as
 *  everywhere. */
mcp_status mcp_call_text_add(mcp_call *call, const char *text, size_t length);

/** Add a piece that is already escaped as inside a JSON string, in valid UTF-8. It is copied
 *  unchecked and may be cut anywhere. */
mcp_status mcp_call_text_add_escaped(mcp_call *call, const char *bytes, size_t length);

/** End the text block. */
mcp_status mcp_call_text_end(mcp_call *call);

/** Add an image block ("image/png"); the bytes are encoded in base64 here. */
mcp_status mcp_call_image(mcp_call *call, const void *bytes, size_t length, const char *mime_type);
/** Add an audio block ("audio/wav"); the bytes are encoded in base64 here. */
mcp_status mcp_call_audio(mcp_call *call, const void *bytes, size_t length, const char *mime_type);

/** Add a resource link; before 2025-06-18 a text with name and URI. `mime_type` may be NULL. */
mcp_status mcp_call_link(mcp_call *call, const char *uri, const char *name, const char *mime_type);

/** Add an embedded resource. */
mcp_status mcp_call_embed(mcp_call *call, const char *uri, const char *mime_type, const char *text);

/**
 * Drop earlier output and answer with isError true and this text.
 *
 * @return MCP_OK, so that `return mcp_call_tool_error(...)` ends a handler
 */
mcp_status mcp_call_tool_error(mcp_call *call, const char *format, ...) MCP_PRINTF(2, 3);

/** As mcp_call_tool_error, with an existing text (a JSON error record, for example). */
mcp_status mcp_call_tool_error_text(mcp_call *call, const char *text, size_t length);

/**
 * Answer with a CallToolResult that is JSON already, such as that of another server: its content,
 * structuredContent, isError and _meta, in place of any other output. What the call's revision does
 * not know is left out; a block of a later type becomes a text. Members of _meta that begin with
 * "io.modelcontextprotocol/" are not sent. Nothing is checked against the tool's output schema.
 *
 * @param result lives as long as the call; in its arena, for example
 * @return MCP_OK; MCP_E_PARAMS: it has no array `content`, or a block without a type; the status of
 *         the answer's buffer
 */
mcp_status mcp_call_tool_result(mcp_call *call, const mcp_json *result);

/* ---- answering resources/read ---------------------------------------------------------------- */

/** Add a text entry to `contents`. `uri` NULL: the requested URI. `mime_type` NULL: the
 *  resource's. */
mcp_status mcp_call_contents_text(mcp_call *call, const char *uri, const char *mime_type,
                                  const char *text, size_t length);
/** As mcp_call_contents_text, for bytes, which are encoded in base64 here. */
mcp_status mcp_call_contents_blob(mcp_call *call, const char *uri, const char *mime_type,
                                  const void *bytes, size_t length);

/** Set the `_meta` of the following entries, the text of a JSON object; NULL, the default: none.
 *  From 2025-06-18. */
mcp_status mcp_call_contents_meta(mcp_call *call, const char *json);

/**
 * Set how long a client may cache the answer, from 2026-07-28. Default: not at all.
 *
 * @param is_public it may be shared between users (`cacheScope`)
 */
void mcp_call_cache(mcp_call *call, int64_t ttl_ms, bool is_public);

/* ---- requesting input from the client -------------------------------------------------------- */

/**
 * Request input from the client. For tools, resources and prompts; never blocks.
 *
 * In the first run there is no response yet. Make all requests of the same run, then return
 * mcp_call_input_required(call). When the client has responded, the handler runs again from the
 * start, and requests with the same keys return their responses. So a handler must do nothing that
 * may happen only once before its last request. An accepted form that does not match its schema
 * counts as no response.
 *
 *     const mcp_json *name = mcp_call_elicit_form(call, "name", "What is your name?", schema);
 *     const mcp_json *roots = mcp_call_request_input(call, "roots", "roots/list", NULL);
 *     if (!name || !roots)
 *         return mcp_call_input_required(call);
 *
 * Within a session the client has five minutes; then the call ends with an error.
 *
 * @param key    identifies the request within the call, the same in every run
 * @param method "elicitation/create", "sampling/createMessage" or "roots/list"
 * @param params the request's params as the text of a JSON object; NULL: none
 * @return the client's result, an object, owned by the call; NULL when there is no response yet, or
 *         the client cannot be asked
 */
const mcp_json *mcp_call_request_input(mcp_call *call, const char *key, const char *method,
                                       const char *params);

/** As mcp_call_request_input with "elicitation/create": a form for the user. `schema` is the text
 *  of a flat JSON Schema object. Never request secrets. The response has `action` and, when that is
 *  "accept", `content`. */
const mcp_json *mcp_call_elicit_form(mcp_call *call, const char *key, const char *message,
                                     const char *schema);

/**
 * As mcp_call_request_input with "elicitation/create" in URL mode: asks the user to open a URL, for
 * data that must not pass through the client, such as passwords and payments. The response's
 * `action` says whether the user agreed to open it, not how the interaction ended. The program
 * learns that at the URL and may notify the client by mcp_server_elicitation_complete. The program
 * must verify that the visitor of the URL is the user of the call. From 2025-11-25, for clients
 * with MCP_CLIENT_ELICITATION_URL.
 *
 * @param id the elicitationId; random, because the client gets to know it
 */
const mcp_json *mcp_call_elicit_url(mcp_call *call, const char *key, const char *message,
                                    const char *url, const char *id);

/**
 * Require a URL elicitation before the call can be answered: the client sends its user to the URL
 * and then calls again. May be called for several URLs in one run.
 *
 * @return the status to return: MCP_E_URL_ELICITATION (2025-11-25: an error that holds the URLs),
 *         MCP_E_INPUT_REQUIRED (2026-07-28), MCP_E_CAPABILITY, MCP_E_UNSUPPORTED (the user
 *         declined)
 */
mcp_status mcp_call_require_url_elicitation(mcp_call *call, const char *message, const char *url,
                                            const char *id);

/** As mcp_call_request_input with "sampling/createMessage"; `params` is the text of a JSON
 *  object. */
const mcp_json *mcp_call_sample(mcp_call *call, const char *key, const char *params);

/** As mcp_call_request_input with "roots/list". The response has `roots`. */
const mcp_json *mcp_call_list_roots(mcp_call *call, const char *key);

/**
 * The status to return after a request without response.
 *
 * @return MCP_E_INPUT_REQUIRED; or the reason why nothing was requested: MCP_E_CAPABILITY (check
 *         mcp_call_client_can first where the input is optional), MCP_E_UNSUPPORTED (the client
 *         responded with an error)
 */
mcp_status mcp_call_input_required(mcp_call *call);

/** Keep a text for the next run (`requestState`). The client may read it, but cannot change it. */
mcp_status mcp_call_set_request_state(mcp_call *call, const char *text);

/** The text that the previous run kept; NULL when it kept none, or in the first run. */
const char *mcp_call_request_state(const mcp_call *call);

/* ---- tasks ----------------------------------------------------------------------------------- */

/**
 * Continue as a task, in a tool flagged MCP_TASK_DEFERRED: earlier input requests were answered
 * immediately, and the rest takes long. Call it before anything that may happen only once: the
 * handler runs again from the start, with the responses so far.
 *
 *     mcp_status st = mcp_call_become_task(call);
 *     if (st != MCP_OK)
 *         return st;
 *
 * @return MCP_OK: continue, the call is a task, or its client does not support tasks and need not;
 *         any other status: return it
 */
mcp_status mcp_call_become_task(mcp_call *call);

/* ---- deferred calls -------------------------------------------------------------------------- */

/**
 * Resume a call whose handler returned MCP_E_DEFERRED: `continuation` runs once, like a handler,
 * and may end like one, also with MCP_E_DEFERRED. Its output follows the handler's.
 *
 * A handler that only waits, for a commit or another machine, needs no thread meanwhile: it hands
 * the call to the code that waits and returns MCP_E_DEFERRED. From then on that code owns the call:
 * it may write to memory that the handler allocated in mcp_call_arena, check mcp_call_stop, and
 * call this function, once and from any thread, even before the handler has returned.
 *
 *     static mcp_status store(mcp_call *call, void *data)
 *     {
 *         queue_add(data, mcp_arg_json(call, "order"), stored, call);
 *         return MCP_E_DEFERRED;
 *     }
 *
 *     static void stored(void *call)
 *     {
 *         mcp_call_resume(call, write_order, NULL, 0);
 *     }
 *
 * A deferred call counts as running: its time limit applies, it can be cancelled, and a server that
 * shuts down waits for it. So resume it even when its client is gone; the continuation runs then,
 * too, and can free its resources. A call that is never resumed is answered at its time limit, but
 * its memory is not freed, and the server waits for it as for a handler that does not return.
 *
 * @param flags 0: the continuation runs on a worker. MCP_NONBLOCKING: it never blocks and takes
 *        less than 100 us; when the tool or route has that flag, it runs on the loop, and calls
 *        that are resumed together wake the loop once. A nonblocking handler that needs longer may
 *        call mcp_call_resume itself, with 0, and return MCP_E_DEFERRED
 */
void mcp_call_resume(mcp_call *call, mcp_handler *continuation, void *data, unsigned flags);

/* ---- answering prompts/get ------------------------------------------------------------------- */

/** Set the text of the placeholder `{{place}}`; arguments fill their own placeholders. */
mcp_status mcp_call_set_placeholder(mcp_call *call, const char *place, const char *text);

/* ---- answering completion/complete ----------------------------------------------------------- */

/** The part of the argument typed so far; "" at first. mcp_arg_string has the arguments already
 *  chosen. */
const char *mcp_call_completion_value(const mcp_call *call);

/** Add a suggested value, best first. The first 100 are sent, with the total number. */
mcp_status mcp_call_add_completion(mcp_call *call, const char *text);

/* ---- progress and logging -------------------------------------------------------------------- */

/** A progress report. */
typedef struct mcp_progress {
    double progress;      /* must increase within a call; other reports are dropped */
    double total;         /* 0: unknown, omitted */
    const char *message;  /* may be NULL */
    const char *metadata; /* text of a JSON object for params.metadata; may be NULL */
    const char *meta_key; /* put it into params._meta[meta_key] as well; may be NULL */
    bool every;           /* no rate limit: dropped only for a slow client */
} mcp_progress;

/**
 * Report progress. Does nothing when the client sent no progress token. A call sends up to 16
 * reports at once after a silence, then at most one in 20 ms, the newest one. Reports are dropped
 * when the client does not read; the handler never waits.
 */
mcp_status mcp_call_progress(mcp_call *call, const mcp_progress *report);

/** Whether progress reports are used: the client sent a progress token, or the call is a task. */
bool mcp_call_wants_progress(const mcp_call *call);

/**
 * Close the connection of the answer and let the client reconnect for it, so that a long call need
 * not hold a connection. Only over HTTP within a session of 2025-11-25, where the client can
 * reconnect; otherwise it does nothing.
 */
void mcp_call_close_stream(mcp_call *call);

/**
 * Send the client a log message. Does nothing when the server does not declare logging
 * (mcp_server_options.logging) or the level is below the client's: within a session the level of
 * logging/setLevel, initially "info"; from 2026-07-28 the level in the request, without one no
 * messages. Never log secrets. Messages are dropped when the client does not read; the handler
 * never waits.
 *
 * @param logger names the component; may be NULL
 * @param format the text, cut at 4095 bytes
 * @return MCP_OK, also when nothing is sent; MCP_E_PARAMS: no such level, or bad UTF-8 in `logger`;
 *         MCP_E_NOMEM
 */
mcp_status mcp_call_log(mcp_call *call, mcp_level level, const char *logger, const char *format,
                        ...) MCP_PRINTF(4, 5);

/** As mcp_call_log, for any JSON value, passed as its text. */
mcp_status mcp_call_log_json(mcp_call *call, mcp_level level, const char *logger, const char *json);

/** Write a line about the call to the program's log (mcp_server_options.log), as mcp_log_write
 *  does; with the ids of the call's trace, if it is part of one. Any thread that has the call. */
void mcp_call_log_line(const mcp_call *call, mcp_log_level level, const char *format, ...)
    MCP_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif

#endif
