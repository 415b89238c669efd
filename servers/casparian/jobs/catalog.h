/**
 * catalog.h - the committed outputs of a home, for queries (query/catalog.h has the views).
 */
#ifndef CASPARIAN_JOBS_CATALOG_H
#define CASPARIAN_JOBS_CATALOG_H

#include "jobs/store.h"
#include "query/catalog.h"

/** Most files of a catalog. */
#define CASPARIAN_CATALOG_FILES_MAX 100000

/**
 * Read the outputs that jobs have committed.
 *
 * Of each source file the rows of the newest job that committed it count; the hashes of what an
 * older one has committed of it are listed with that job's file, unless another source file of the
 * same bytes still counts there.
 *
 * @param out   in the arena; `open` and `data` are for the caller to set
 * @return MCP_OK; MCP_E_LIMIT: more than CASPARIAN_CATALOG_FILES_MAX files, or the arena's bound;
 *         statuses of db.h
 */
mcp_status casparian_catalog_read(casparian_catalog *out, casparian_store *store, mcp_arena *arena,
                                  mcp_error *err);

/**
 * The files of the outputs that are below a folder, sorted by their bytes, in the arena.
 *
 * @param folder absolute, without '/' at its end unless it is "/"
 */
mcp_status casparian_catalog_below(const char *const **out, size_t *count, casparian_store *store,
                                   mcp_arena *arena, const char *folder, mcp_error *err);

/**
 * The folder that has an output which a job has committed, and its manifest. The output
 * "<name>_quarantine" is the quarantine table of <name>.
 *
 * @param out in the arena; NULL: this home knows of none
 */
mcp_status casparian_catalog_folder(const char **out, casparian_store *store, mcp_arena *arena,
                                    const char *output, int64_t job, mcp_error *err);

/** The number that changes with the catalog, alone: cheap. */
mcp_status casparian_catalog_version(int64_t *out, casparian_store *store, mcp_error *err);

/** Note that the file of a location is gone. */
mcp_status casparian_catalog_forget(casparian_store *store, const char *location, mcp_error *err);

#endif
