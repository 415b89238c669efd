/*
 * answer.h - what the answers of several tools share.
 */
#ifndef CASPARIAN_FEATURES_ANSWER_H
#define CASPARIAN_FEATURES_ANSWER_H

#include "check/redact.h"
#include "gateway/request.h"

/*
 * The policy of the argument `redaction`, noted for the audit.
 *
 * @param warnings receives strings of JSON, with commas between them: an array without its
 *                 brackets; may be NULL
 */
void casparian_request_redaction(casparian_redaction *out, mcp_buf *warnings,
                                 casparian_request *request);

/* Write a violation of a stored result: values that its job has not redacted are shown as this
 * policy says. */
void casparian_redact_context(mcp_json_writer *json, const casparian_redaction *redaction,
                              const mcp_json *context);

/* The members `truncated` and `truncation`, where entries were left out for want of room. */
void casparian_write_truncation(mcp_json_writer *json, size_t omitted);

/* On whose behalf the call runs, and by which program: "WHO via NAME VERSION". WHO is the principal
 * of its token, or this program's user as "USER@HOST"; the rest is what the client says about
 * itself, and comes last because it is not checked. NULL: no memory. */
const char *casparian_request_client(casparian_request *request);

/* "HOW:CLIENT", for decided_by. NULL: no memory. */
const char *casparian_request_by(casparian_request *request, const char *how);

/* Whether [mcp.tools.NAME] allows this plugin or kind of sink. False: the call was refused. */
bool casparian_request_permits(casparian_request *request, const char *list, const char *value);

#endif
