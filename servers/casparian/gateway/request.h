/**
 * request.h - a call of a tool on its way: limit, permission, audit, the tool, its budget.
 *
 * Every row of the table of tools runs casparian_request_run. It takes a token of the rate limit,
 * looks at the permission, writes the audit line, and calls the tool's function, which answers:
 *
 *     static mcp_status show(casparian_request *request)
 *     {
 *         guard_named named;
 *         if (!casparian_request_open(&named, request, mcp_arg_string(request->call, "path"),
 *                                     GUARD_FILES))
 *             return MCP_OK;                                  it was refused, the client knows why
 *         mcp_json_writer *json = casparian_request_result(request);
 *         mcp_write_member_string(json, "path", named.path);
 *         close(named.fd);
 *         return MCP_OK;
 *     }
 *
 * A function that waits without a thread returns MCP_E_DEFERRED, and the code that resumes the call
 * does so with casparian_request_resume. A function that returns another status is answered as
 * casparian_request_fail says.
 */
#ifndef CASPARIAN_GATEWAY_REQUEST_H
#define CASPARIAN_GATEWAY_REQUEST_H

#include "gateway/app.h"
#include "gateway/refusal.h"
#include "mcp/call.h"
#include "mcp/tool.h"

typedef struct casparian_request casparian_request;

/** Answers a call. Runs on a worker; may block. */
typedef mcp_status casparian_handler(casparian_request *request);

/** What a tool is, beyond mcp_flags. */
enum casparian_traits {
    CASPARIAN_EXPENSIVE = 1 << 0, /* has the second rate limit */
    CASPARIAN_CHANGES = 1 << 1,   /* denied by the profile "readonly" */
    CASPARIAN_DECIDES = 1 << 2    /* casparian_approval_decide: see casparian_decide_mode */
};

/** A row of the table of tools (features/tools.c). */
struct casparian_tool {
    const char *name;
    casparian_handler *run;
    unsigned flags; /* enum mcp_flags */
    unsigned traits;
    int timeout_ms; /* 0: the server's */
};

/** One call. It lives in the call's arena. */
struct casparian_request {
    mcp_call *call;
    casparian_app *app;
    const casparian_tool *tool;
    int64_t rows;          /* for the audit; -1: none */
    const char *redaction; /* the mode that was used; NULL: none */
    void *state;           /* the function's own, while it waits */
    /* private */
    const char *error_code;
    casparian_handler *next;
    int64_t started_ms;
    mcp_json_writer *result;
    size_t result_start;
};

/** The mcp_handler of every tool; `data` is the app. */
mcp_status casparian_request_run(mcp_call *call, void *data);

/** Go on with a call whose function has returned MCP_E_DEFERRED: `next` runs on a worker, once, and
 *  may return MCP_E_DEFERRED again. Any thread; see mcp_call_resume. */
void casparian_request_resume(casparian_request *request, casparian_handler *next);

/** Whether the client of a request that waits is gone. For the waits of the store, whose data is
 *  the request. */
bool casparian_request_is_over(void *request);

/* ---- answers --------------------------------------------------------------------------------- */

/** The writer of the answer, in an open object. */
mcp_json_writer *casparian_request_result(casparian_request *request);

/** How many bytes the answer may still have, less some for the members that tell about a
 *  truncation; 0: it is full. */
size_t casparian_request_room(const casparian_request *request);

/** Refuse the call. @return MCP_OK, so that `return casparian_refuse(...)` ends a function */
mcp_status casparian_refuse(casparian_request *request, casparian_code code, const char *suggestion,
                            const char *format, ...) MCP_PRINTF(4, 5);

/** The same with details. */
mcp_status casparian_refuse_with(casparian_request *request, const casparian_refusal *refusal);

/** Refuse it because something failed: the code is that of the status, and the message the
 *  error's; what is no fault of the client is logged and told as "internal". @return MCP_OK */
mcp_status casparian_request_fail(casparian_request *request, mcp_status status,
                                  const mcp_error *err);

/** The lines of the audit for a call that the library refuses, before its function runs. For the
 *  loop: it does not block. @param code why */
void casparian_request_refused(casparian_app *app, mcp_call *call, casparian_code code);

/* ---- paths ----------------------------------------------------------------------------------- */

/**
 * Open the file or folder that an argument names, beneath the allowed roots.
 *
 * @param out   close out->fd; in the call's arena
 * @param kinds GUARD_FILES, GUARD_DIRS, or both
 * @return false: the call was refused
 */
bool casparian_request_open(guard_named *out, casparian_request *request, const char *path,
                            unsigned kinds);

/** Check a path that may not exist yet: that of an output. @param out close out->dir_fd.
 *  @return false: the call was refused */
bool casparian_request_target(guard_target *out, casparian_request *request, const char *path);

/** The code of a refused path. */
casparian_code casparian_code_of_path(guard_refusal why);

#endif
