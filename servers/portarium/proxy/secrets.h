/**
 * secrets.h - which arguments of a call the control plane must not get: what the tool's schema
 * marks with writeOnly, and texts of and within members whose names say that they are secret
 * (guard_redact_is_secret).
 *
 * The plane stores and shows GUARD_REDACTED in their place. They still belong to the call: its key
 * is made of all arguments.
 */
#ifndef PORTARIUM_PROXY_SECRETS_H
#define PORTARIUM_PROXY_SECRETS_H

#include "guard/redact.h"
#include "mcp/arena.h"

/** The marks of a schema. Immutable, of an arena. */
typedef struct portarium_marks {
    const char **names; /* of members, at any depth */
    size_t count;
    bool is_whole; /* a mark has no name, or there are too many: every argument is secret */
} portarium_marks;

/** Find the marks of a tool's inputSchema. @return MCP_OK; MCP_E_NOMEM */
mcp_status portarium_marks_read(portarium_marks *out, mcp_arena *arena, const mcp_json *schema,
                                mcp_error *err);

/**
 * The arguments as the plane gets them.
 *
 * @param out `arguments` itself where nothing of it is secret; else the arena's
 */
mcp_status portarium_marks_hide(const mcp_json **out, const portarium_marks *marks,
                                const mcp_json *arguments, mcp_arena *arena, mcp_error *err);

/**
 * Replace the secret texts of the arguments in a text, and the credential that the upstream got.
 * Texts shorter than GUARD_SECRET_MIN are not found.
 *
 * @param out         appended to
 * @param credential  NULL: none
 * @return MCP_OK; MCP_E_LIMIT: too many secrets; MCP_E_NOMEM
 */
mcp_status portarium_marks_clean(mcp_buf *out, const portarium_marks *marks,
                                 const mcp_json *arguments, const char *credential,
                                 const char *text, size_t length, mcp_error *err);

/**
 * A value without the credential that the upstream got.
 *
 * @param out        `value` itself where it does not have it; else the arena's
 * @param credential NULL: none
 * @return MCP_OK; MCP_E_LIMIT: longer than 16 MiB; MCP_E_NOMEM
 */
mcp_status portarium_credential_hide(const mcp_json **out, const mcp_json *value,
                                     const char *credential, mcp_arena *arena, mcp_error *err);

#endif
