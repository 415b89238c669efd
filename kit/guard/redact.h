/**
 * redact.h - secrets do not get into logs, events and answers.
 *
 * Two ways to know a secret: by the name of the member that holds it, and by its value, when the
 * program knows the value (a credential that it gave an adapter). Both become GUARD_REDACTED.
 */
#ifndef GUARD_REDACT_H
#define GUARD_REDACT_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/error.h"
#include "mcp/json.h"

#define GUARD_REDACTED "[REDACTED]"

/** A set of secret values. */
typedef struct guard_secrets guard_secrets;

/** Whether a name has "authorization", "token", "secret", "password", "credential", "apikey",
 *  "api-key" or "api_key" in it, in any case of letters. Any thread. */
bool guard_redact_is_secret(const char *name, size_t length);

/**
 * Write a value; every member with a secret name, at any depth, gets the value GUARD_REDACTED
 * instead of its own. Any thread. A name is cut at its first NUL.
 *
 * @param secrets values that are replaced in all other strings; NULL: none
 */
void guard_redact_write(mcp_json_writer *writer, const mcp_json *value,
                        const guard_secrets *secrets);

/** Room for guard_redact_token. */
#define GUARD_TOKEN_SIZE (8 * 4 + 20 + 1)

/**
 * How a token is shown so that people recognise it: its first and its last four characters, and for
 * the others one '*' each, at most 20. One of at most eight characters is "****".
 *
 * @param token UTF-8
 */
void guard_redact_token(char out[GUARD_TOKEN_SIZE], const char *token, size_t length);

/* ---- known values ---------------------------------------------------------------------------- */

/** The shortest secret of a set, in bytes: a shorter one occurs everywhere. */
#define GUARD_SECRET_MIN 4

/** How many secrets a set has at most. */
#define GUARD_SECRETS_MAX 1000

/** An empty set. Any thread may use it. @param out yours, free it with guard_secrets_free.
 *  @return MCP_OK; MCP_E_NOMEM */
mcp_status guard_secrets_new(guard_secrets **out, mcp_error *err);

/** The values are overwritten first. NULL is fine. */
void guard_secrets_free(guard_secrets *self);

/**
 * Add a value. A value that is added twice must be removed twice.
 *
 * It is also found in the form that it has inside a JSON string (a quote in it is \" there). Other
 * forms, such as base64, have to be added, too.
 *
 * @return MCP_OK; MCP_E_PARAMS (shorter than GUARD_SECRET_MIN); MCP_E_LIMIT (GUARD_SECRETS_MAX, or
 *         longer than 64 KiB); MCP_E_NOMEM
 */
mcp_status guard_secrets_add(guard_secrets *self, const char *value, size_t length, mcp_error *err);

/** Remove a value. Nothing happens when it is not there. */
void guard_secrets_remove(guard_secrets *self, const char *value, size_t length);

/**
 * Append a text with each secret in it replaced by GUARD_REDACTED. Where one secret begins with
 * another, the longer is replaced.
 *
 * @return out->status
 */
mcp_status guard_secrets_clean(const guard_secrets *self, mcp_buf *out, const char *text,
                               size_t length);

/** Whether a text has a secret in it. */
bool guard_secrets_found(const guard_secrets *self, const char *text, size_t length);

#endif
