/**
 * registry.h - finds plugins, reads what they declare, and decides which may run.
 *
 * Plugins are shipped with casparian (`<shipped>/<id>/<version>/`, listed with the hashes of all
 * files in `<shipped>/index.json`), installed in the home folder
 * (`<home>/plugins/<id>/<version>/<os>/<arch>/`), or being developed (`.py` files in
 * `<home>/parsers` and the dev folders, and whatever path a caller names). Nothing of a plugin is
 * executed to find out about it: Python's own parser reads the literals of a module
 * (`python3 -I -S`), and the answer is kept by the hash of the file.
 *
 * What may run: a shipped plugin whose files are those of the index; an installed one that an
 * allowed signer signed, or an unsigned one where the flag for its runtime is set; a dev plugin
 * where dev plugins are allowed. Files are hashed when a plugin is resolved and once more by
 * casparian_registry_verify before a job.
 *
 * A registry may be used by any number of threads.
 */
#ifndef CASPARIAN_PLUGINS_REGISTRY_H
#define CASPARIAN_PLUGINS_REGISTRY_H

#include "mcp/arena.h"
#include "mcp/json.h"
#include "plugins/plugin.h"
#include "plugins/trust.h"

/** Most plugins of a listing. */
#define CASPARIAN_PLUGINS_MAX 1000

/** Most ids that "did you mean" has. */
#define CASPARIAN_NEAREST_MAX 3

typedef struct casparian_registry casparian_registry;

/**
 * Says with which hash a version was imported.
 *
 * Called on the thread that resolves or verifies; may block.
 *
 * @param hash room for the artifact hash, filled on true
 * @return false: it was never imported
 */
typedef bool casparian_imported(void *data, char hash[CASPARIAN_HASH_SIZE], const char *id,
                                const char *version);

/** What a registry knows. Zero is the safe default: only shipped plugins run. Copied. */
typedef struct casparian_registry_options {
    const char *home;    /* NULL: nothing is installed */
    const char *shipped; /* the folder with index.json; NULL: nothing is shipped */
    const char *const *dev_paths;
    size_t dev_path_count;
    const char *python; /* the interpreter; NULL: the venv of the plugin, else python3 in PATH */

    bool allow_unsigned_python, allow_unsigned_native, allow_dev_plugins;
    const casparian_signer *signers; /* the allowed ones */
    size_t signer_count;

    const casparian_plugin_settings *settings; /* of single plugins */
    size_t setting_count;

    casparian_imported *imported; /* NULL: installed plugins are not compared with an import */
    void *data;
} casparian_registry_options;

/** Why a plugin was not given. `code` is that of the tools (tools, 1.4). */
typedef struct casparian_plugin_problem {
    const char *code;       /* "not_found", "plugin_not_trusted", "plugin_modified",
                               "plugin_error", "invalid_arguments" */
    const char *suggestion; /* the way out, a sentence; NULL: none */
    const char *nearest[CASPARIAN_NEAREST_MAX]; /* ids, of "not_found"; NULL: no more */
} casparian_plugin_problem;

/** A plugin that is there but cannot be read. */
typedef struct casparian_plugin_fault {
    const char *path, *message;
} casparian_plugin_fault;

/** A listing, by id, then from the highest version down; dev plugins come last. */
typedef struct casparian_plugin_list {
    const casparian_plugin *items;
    size_t count;
    const casparian_plugin_fault *faults;
    size_t fault_count;
    bool is_truncated; /* there are more than CASPARIAN_PLUGINS_MAX */
} casparian_plugin_list;

/** What a caller refers to by. Strings are borrowed. */
typedef struct casparian_plugin_ref {
    const char *id;      /* NULL: `path` */
    const char *version; /* NULL: the highest */
    const char *path;    /* as it was given; NULL: `id` */
} casparian_plugin_ref;

/** @return MCP_OK; MCP_E_NOMEM; MCP_E_PARAMS: an id of the settings has no valid form */
mcp_status casparian_registry_new(casparian_registry **out,
                                  const casparian_registry_options *options, mcp_error *err);

/** NULL is fine. */
void casparian_registry_free(casparian_registry *self);

/**
 * List the plugins.
 *
 * @param out    in the arena
 * @param include_dev the dev plugins of the home folder and the dev folders, too
 * @return MCP_OK, also with faults; MCP_E_NOMEM
 */
mcp_status casparian_registry_list(casparian_plugin_list *out, mcp_arena *arena,
                                   casparian_registry *self, bool include_dev, mcp_error *err);

/**
 * Read a reference: an object `{"plugin": id, "version"?: v}` or `{"path": p}`, a string with such
 * an object as JSON, or a string "id" or "id@version".
 *
 * @param out strings in the arena or of `json`
 * @return MCP_OK; MCP_E_PARAMS: it is something else; MCP_E_NOMEM
 */
mcp_status casparian_plugin_ref_read(casparian_plugin_ref *out, mcp_arena *arena,
                                     const mcp_json *json, mcp_error *err);

/**
 * Find the plugin of a reference, whether it may run or not (see casparian_plugin.is_trusted).
 * Without a version: the highest that is stable, else the highest.
 *
 * @param out     in the arena
 * @param problem filled on an error; strings in the arena; may be NULL
 * @param real_path of a reference by path: the file or folder, absolute and without links, which
 *                the caller has checked against the allowed roots; otherwise NULL
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_PARAMS: the path is no plugin; MCP_E_PARSE: its manifest,
 *         its declarations or its module cannot be read; MCP_E_UNSUPPORTED: there is no interpreter,
 *         or it is for another system; MCP_E_LIMIT; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status casparian_registry_resolve(casparian_plugin *out, casparian_plugin_problem *problem,
                                      mcp_arena *arena, casparian_registry *self,
                                      const casparian_plugin_ref *ref, const char *real_path,
                                      mcp_error *err);

/**
 * Refuse a plugin that may not run, or whose files are no longer those that were resolved. Before
 * each job, and before an approved request.
 *
 * @return MCP_OK; MCP_E_DENIED: "plugin_not_trusted"; MCP_E_EXISTS: "plugin_modified"; MCP_E_NOMEM;
 *         MCP_E_IO
 */
mcp_status casparian_registry_verify(casparian_plugin_problem *problem, mcp_arena *arena,
                                     casparian_registry *self, const casparian_plugin *plugin,
                                     mcp_error *err);

#endif
