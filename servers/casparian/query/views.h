/**
 * views.h - the SQL of the catalog's views, and their files as descriptors.
 *
 * Source: casparian's data model, 10.
 */
#ifndef CASPARIAN_QUERY_VIEWS_H
#define CASPARIAN_QUERY_VIEWS_H

#include "columns/sealed/sealed.h"
#include "mcp/arena.h"
#include "query/catalog.h"

#define CASPARIAN_VIEWS_SEARCH_PATH "outputs,main"

/** The views that a statement can need. Everything but the descriptors is the arena's. */
typedef struct casparian_views {
    const columns_sealed_view *views;
    size_t view_count;
    const char *const *setup;     /* statements that attach DuckDB files */
    const char *const *databases; /* their names */
    size_t setup_count;
    int *fds;                     /* of the files, in the order of their numbers in the process */
    const char *const *locations; /* of the same */
    size_t fd_count;
    const char *const *warnings;
    size_t warning_count;
    const char *left_out; /* the first of them that is of a file; NULL: none is */
    bool is_volatile;     /* a view is a copy of this moment */
} casparian_views;

/**
 * Make the views whose names a statement has: as a word or a quoted name, in any case; all of them
 * if it has `sqlite_master` or `information_schema`. Their files are opened.
 *
 * @param out       ended by casparian_views_clear
 * @param sql       a statement that the guard has passed
 * @param files_max a statement that needs more is refused
 * @return MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status casparian_views_make(casparian_views *out, const casparian_catalog *catalog,
                                const char *sql, size_t length, size_t files_max, mcp_arena *arena,
                                mcp_error *err);

/** Close the descriptors. */
void casparian_views_clear(casparian_views *views);

/** The names of the catalog's views, "x", "quarantine.x" and "casparian.x", in the order of their
 *  outputs, but for those without a file that may be read.
 *  @return how many are in `out`, at most `max` */
size_t casparian_views_names(const char **out, size_t max, const casparian_catalog *catalog,
                             mcp_arena *arena);

#endif
