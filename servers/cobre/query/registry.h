/**
 * registry.h - JSON files of a case directory, read without validation.
 */
#ifndef COBRE_QUERY_REGISTRY_H
#define COBRE_QUERY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "case/inventory.h"
#include "mcp/json.h"

#define QUERY_CASE_FILE_MAX ((size_t)64 << 20)

/** A registry of entities under the names that clients use. */
typedef struct query_registry {
    const char *name;   /* "contracts" */
    const char *folder; /* its name in the output directory, also understood; NULL: the same */
    cobre_file_id file;
    const char *member; /* of the file's object: the array of entities */
} query_registry;

/** Ends with a row whose name is NULL. */
extern const query_registry query_registries[];

/** The registry of a name; NULL when there is none. */
const query_registry *query_registry_find(const char *name);

/**
 * Read a JSON file of a case.
 *
 * @param root the arena's; untouched unless MCP_OK
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_PARSE (not JSON), MCP_E_DENIED (a link), MCP_E_LIMIT (too
 *         long or too deep): the file cannot be read; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status query_case_json(const mcp_json **root, int case_fd, cobre_file_id file, mcp_arena *arena,
                           mcp_error *err);

/**
 * Find the entity of a registry that a text names: by id when it is a decimal integer, else by
 * exact name, the first one.
 *
 * @param root the file
 * @param name the entity's; NULL when it has none
 */
bool query_registry_entity(int64_t *id, const char **name, const query_registry *registry,
                           const mcp_json *root, const char *text);

#endif
