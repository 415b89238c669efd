/**
 * bundle.h - the files of a plugin: a folder with casparian.toml, or one Python module.
 *
 * A bundle is a folder with casparian.toml, its entrypoint, `schemas/<output>.schema.json`, and,
 * once it is signed, bundle.index.json (the hashes of all other files) and bundle.sig. Links are
 * not followed: a bundle that has one is refused.
 */
#ifndef CASPARIAN_PLUGINS_BUNDLE_H
#define CASPARIAN_PLUGINS_BUNDLE_H

#include "mcp/arena.h"
#include "mcp/json.h"
#include "plugins/plugin.h"

/** Most files of a bundle, and bytes of one. */
#define CASPARIAN_BUNDLE_FILES_MAX 1000
#define CASPARIAN_BUNDLE_BYTES_MAX ((size_t)256 << 20)

/** The longest text of a module, a manifest, or a schema. */
#define CASPARIAN_BUNDLE_TEXT_MAX ((size_t)4 << 20)

/** A file of a bundle. */
typedef struct casparian_bundle_file {
    const char *path; /* relative, with '/' */
    char hash[CASPARIAN_HASH_SIZE];
} casparian_bundle_file;

/** A bundle, or a module: then `manifest` is NULL, and there are no files. In an arena. */
typedef struct casparian_bundle {
    const char *dir;          /* absolute */
    const char *entrypoint;   /* absolute */
    const mcp_json *manifest; /* an object of known keys */
    const char *id, *version; /* of the manifest */
    casparian_runtime runtime;
    const casparian_bundle_file *files; /* all of them, by the bytes of their paths */
    size_t file_count;
    const char *source; /* of Python: the text of the entrypoint */
    size_t source_length;
    const char *lockfile;    /* uv.lock; NULL: none */
    const mcp_json *schemas; /* {output: schema}, as the files have them */
} casparian_bundle;

/**
 * Read a folder with casparian.toml.
 *
 * @return MCP_OK; MCP_E_PARSE: the manifest or a schema is wrong, err names it; MCP_E_UNSUPPORTED:
 *         it is for another system; MCP_E_DENIED: a link, or an entrypoint outside; MCP_E_LIMIT: too
 *         many files or bytes; MCP_E_NOT_FOUND; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status casparian_bundle_read(casparian_bundle *out, mcp_arena *arena, const char *dir,
                                 mcp_error *err);

/** Read one Python module. @return as above */
mcp_status casparian_module_read(casparian_bundle *out, mcp_arena *arena, const char *path,
                                 mcp_error *err);

/** The hash of a plugin: of its code, its lockfile, its manifest and its schemas (data, 9.5).
 *  @return MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL */
mcp_status casparian_bundle_hash(char out[CASPARIAN_HASH_SIZE], const casparian_bundle *bundle,
                                 mcp_error *err);

/** Read a whole small file. @return MCP_OK; MCP_E_LIMIT: it is longer than `most`; MCP_E_NOT_FOUND,
 *  MCP_E_DENIED, MCP_E_IO; MCP_E_NOMEM */
mcp_status casparian_bundle_text(const char **out, size_t *length, mcp_arena *arena,
                                 const char *path, size_t most, mcp_error *err);

/** The hash that a list of `{"path", "sha256"}` has for a path; NULL: it is not in the list. */
const char *casparian_bundle_listed(const mcp_json *list, const char *path);

#endif
