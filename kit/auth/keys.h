/*
 * keys.h - the keys of an issuer: a JSON Web Key Set (RFC 7517), and checking signatures with it.
 *
 * A set never changes once it is read, so threads may share it. It is reference counted.
 */
#ifndef AUTH_KEYS_H
#define AUTH_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "auth/token.h"
#include "mcp/error.h"
#include "mcp/log.h"

/* The longest text of a set, and how many keys of it are used. */
#define AUTH_KEYS_TEXT_MAX 65536
#define AUTH_KEYS_MAX 64

typedef struct auth_keys auth_keys;
typedef struct auth_key auth_key;

/*
 * Read a set. A key that cannot be used is skipped and logged; one with another purpose (`use`
 * "enc", another kind or curve) is skipped silently. The set may be empty.
 *
 * @param out        yours, end it with auth_keys_release
 * @param generation a number that differs from those of earlier sets
 * @param rsa_alg    the algorithm of RSA keys without `alg`
 * @param log        may be NULL
 * @return MCP_OK; MCP_E_PARSE, MCP_E_LIMIT (the text); MCP_E_PARAMS (JSON, but no key set);
 *         MCP_E_NOMEM
 */
mcp_status auth_keys_read(auth_keys **out, const char *text, size_t length, uint64_t generation,
                          const auth_algorithm *rsa_alg, const mcp_log *log, mcp_error *err);

auth_keys *auth_keys_retain(auth_keys *keys);

/* NULL is fine. */
void auth_keys_release(auth_keys *keys);

uint64_t auth_keys_generation(const auth_keys *keys);
size_t auth_keys_count(const auth_keys *keys);

/*
 * The key that a token names. A token without a name is signed with the only key of its algorithm.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND (a newer set may have it); MCP_E_DENIED (the key is for another
 *         algorithm, or several keys could be meant)
 */
mcp_status auth_keys_find(const auth_key **out, const auth_keys *keys, const auth_token *token,
                          mcp_error *err);

/* Whether the key signed the token. MCP_OK; MCP_E_DENIED; MCP_E_NOMEM. Any thread. */
mcp_status auth_key_check(const auth_key *key, const auth_token *token, mcp_error *err);

#endif
