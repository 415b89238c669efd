/**
 * kept.h - results of upstreams as the control plane keeps them: without secrets, or their hash.
 */
#ifndef PORTARIUM_PROXY_KEPT_H
#define PORTARIUM_PROXY_KEPT_H

#include "proxy/secrets.h"

/** The most bytes of a result that is kept, and of any result. */
#define PORTARIUM_KEPT_MAX ((size_t)900 << 10)
#define PORTARIUM_RESULT_MAX ((size_t)16 << 20)

/**
 * The result without the secrets of the arguments and the credential of the connection; where it is
 * too large or too deep for a request to the plane, or is not I-JSON, the hash of that.
 *
 * @param out        the arena's
 * @param credential NULL: none
 */
mcp_status portarium_kept_result(const mcp_json **out, const portarium_marks *marks,
                                 const mcp_json *arguments, const char *credential,
                                 const mcp_json *result, mcp_arena *arena, mcp_error *err);

#endif
