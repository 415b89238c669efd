/**
 * audit.h - the audit log of a home: what clients called, and what was refused to them.
 *
 * Every line is an object with "ts", "pid", "seq" and "type" (request, response, tool_call,
 * security, server; jobs and approvals write their own, see jobs/audit.h). Any thread.
 */
#ifndef CASPARIAN_GATEWAY_AUDIT_H
#define CASPARIAN_GATEWAY_AUDIT_H

#include "gateway/settings.h"
#include "mcp/json.h"
#include "mcp/log.h"

/** Longest summaries of arguments and answers, in bytes. */
#define CASPARIAN_AUDIT_PARAMS_MAX 500
#define CASPARIAN_AUDIT_PREVIEW_MAX 200

typedef struct casparian_audit casparian_audit;

/**
 * Open the log, and make the link mcp_audit.log to a log of the default name.
 *
 * @param out      yours, close it with casparian_audit_close
 * @param path     of the log
 * @param settings outlive it
 * @return statuses of guard_audit_open
 */
mcp_status casparian_audit_open(casparian_audit **out, const char *path,
                                const casparian_audit_settings *settings, const mcp_log *log,
                                mcp_error *err);

/** Lines that wait are written first. NULL is fine. */
void casparian_audit_close(casparian_audit *self);

/** The file, for lines of jobs and approvals; NULL where `self` is. */
guard_audit *casparian_audit_file(const casparian_audit *self);

/** A call of a tool. Texts are NULL where there is none. */
typedef struct casparian_audit_call {
    const mcp_json *id; /* of the request */
    const char *tool;
    const mcp_json *arguments;
    const char *error_code; /* NULL: it succeeded */
    const char *redaction;  /* the mode */
    const char *preview;    /* the beginning of the answer */
    size_t preview_length;
    size_t response_bytes;
    int64_t duration_ms;
    int64_t rows; /* -1: it has none */
} casparian_audit_call;

/** Write that a call begins. @return MCP_OK, also without an audit; the failure where [audit]
 *  requires one */
mcp_status casparian_audit_request(casparian_audit *self, const casparian_audit_call *call,
                                   mcp_error *err);

/** Write how a call ended. A failure is logged: the call has happened. */
void casparian_audit_response(casparian_audit *self, const casparian_audit_call *call);

/** Write that a rule refused something. */
void casparian_audit_security(casparian_audit *self, const char *rule, const char *tool,
                              const char *detail);

/** The lines of a call that was refused before it began, without waiting for the disk: another
 *  thread writes them. For the loop of the server. */
void casparian_audit_refused(casparian_audit *self, const casparian_audit_call *call);

/** Write a line of the type "server": `add` writes the members after "action". */
void casparian_audit_server(casparian_audit *self, const char *action,
                            void (*add)(mcp_json_writer *json, const void *data), const void *data);

#endif
