/*
 * source.h - where the keys come from, and whether they are still the newest.
 */
#ifndef AUTH_SOURCE_H
#define AUTH_SOURCE_H

#include <stdint.h>

#include "auth/keys.h"
#include "mcp/error.h"
#include "mcp/log.h"

/* The least time between two checks of a file, and between two requests. */
#define AUTH_FILE_PAUSE_MS 1000
#define AUTH_FETCH_PAUSE_MS 60000

/* Keys of an address are renewed after FRESH; where that fails they serve for STALE more. */
#define AUTH_FRESH_MS (10 * 60000)
#define AUTH_STALE_MS (60 * 60000)

typedef struct auth_source_options {
    const char *file; /* one of both */
    const char *url;
    const char *ca_file;
    const auth_algorithm *rsa_alg;
    mcp_log log;
    int64_t (*mono_ms)(void); /* how old the keys are */
} auth_source_options;

typedef struct auth_source auth_source;

/*
 * Read the keys for the first time. The pointers in `options` are borrowed for the life of the
 * source.
 *
 * @return MCP_OK, also when an address did not answer; MCP_E_PARAMS (the address cannot be, or the
 *         file has no key to use); as reading the file; MCP_E_NOMEM
 */
mcp_status auth_source_open(auth_source **out, const auth_source_options *options, mcp_error *err);

/* NULL is fine. No thread may be inside auth_source_take. */
void auth_source_close(auth_source *self);

/*
 * The newest keys, renewed where that is due. Any thread; may block for a fetch.
 *
 * @param out    yours, end it with auth_keys_release
 * @param beyond 0; or the generation of keys that lack the wanted one, so that a renewal is due as
 *               soon as the pause allows it
 * @return MCP_OK; MCP_E_IO (there are none; the log has the reason); MCP_E_BUSY (another thread
 *         fetches them, and it takes long)
 */
mcp_status auth_source_take(auth_keys **out, auth_source *self, uint64_t beyond, mcp_error *err);

/* Renew the keys when they are taken next, however fresh they are. Any thread; does not block. */
void auth_source_expire(auth_source *self);

#endif
