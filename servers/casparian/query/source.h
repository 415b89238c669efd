/**
 * source.h - files of the catalog as parts of a view's SELECT.
 */
#ifndef CASPARIAN_QUERY_SOURCE_H
#define CASPARIAN_QUERY_SOURCE_H

#include "mcp/arena.h"
#include "mcp/buf.h"
#include "query/catalog.h"

/** The files of a catalog that are open, and DuckDB files that are attached. */
typedef struct casparian_sources {
    const casparian_catalog *catalog;
    mcp_arena *arena;
    size_t files_max;
    int *numbers; /* by file of the catalog: its place among `fds`, or one of those below */
    int *fds;
    const char **locations;          /* of `fds` */
    const char **setup, **databases; /* of the i-th statement, the name that it attaches */
    size_t fd_count, setup_count;
} casparian_sources;

#define CASPARIAN_SOURCE_UNKNOWN (-1)
#define CASPARIAN_SOURCE_MISSING (-2)
#define CASPARIAN_SOURCE_DENIED (-3)

/** @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_sources_init(casparian_sources *self, const casparian_catalog *catalog,
                                  size_t files_max, mcp_arena *arena, mcp_error *err);

/** Close the descriptors. */
void casparian_sources_clear(casparian_sources *self);

/** Why a file that was needed could not be opened: CASPARIAN_SOURCE_MISSING or _DENIED; 0: it
 *  could, or was not needed. */
int casparian_source_refusal(const casparian_sources *self, size_t file);

/** Open a file of the catalog. @return as casparian_catalog_open */
int casparian_source_open(const casparian_catalog *catalog, const casparian_catalog_file *file);

/** Files that are read alike (source.c). */
struct casparian_source_part;

/** A SELECT that is being made, of its parts. */
typedef struct casparian_source_text {
    mcp_arena *arena;
    struct casparian_source_part *parts;
    size_t count, capacity;
} casparian_source_text;

mcp_status casparian_source_begin(casparian_source_text *self, mcp_arena *arena, mcp_error *err);

/**
 * Add a file of the catalog. It is opened unless it is open; one that is missing is left out.
 *
 * @param has_superseded with the rows that newer jobs have replaced
 * @return MCP_OK; MCP_E_LIMIT: more than `files_max`; MCP_E_NOMEM
 */
mcp_status casparian_source_add(casparian_source_text *self, casparian_sources *sources,
                                size_t file, bool has_superseded, mcp_error *err);

/** Whether a part is a table of a DuckDB file. */
bool casparian_source_is_attached(const casparian_source_text *self);

/** Append the SELECT; nothing when it has no file. @return MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM */
mcp_status casparian_source_end(mcp_buf *out, const casparian_source_text *self, mcp_error *err);

#endif
