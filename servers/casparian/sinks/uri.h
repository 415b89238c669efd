/**
 * uri.h - where the outputs of a job go, as a text.
 *
 *     parquet://DIR[?compression=snappy|zstd|none]
 *     csv://DIR[?header=true|false&delimiter=;]
 *     duckdb://FILE[?table=NAME&mode=append|replace|error]
 *     file://PATH       by its ending: .parquet, .csv, .duckdb or .db
 *     DIR               the same as parquet://DIR
 *
 * A path is relative to a folder that the caller names, or absolute; "parquet://./out/" and
 * "parquet:///data/out" are examples. Its bytes stand for themselves, without percent-encoding; it
 * ends at the first '?' of a text with a scheme. Values of the query may be percent-encoded
 * ("delimiter=%09" is a tab).
 *
 * Source: casparian's data model, 9.1.
 */
#ifndef CASPARIAN_SINKS_URI_H
#define CASPARIAN_SINKS_URI_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/** Longest text of a sink. */
#define CASPARIAN_SINK_URI_MAX 4096

/** Longest name in `table=`. */
#define CASPARIAN_TABLE_MAX 63

typedef enum casparian_sink_kind {
    CASPARIAN_SINK_PARQUET,
    CASPARIAN_SINK_CSV,
    CASPARIAN_SINK_DUCKDB,
} casparian_sink_kind;

/** What happens to a table that exists. Parquet and CSV only append: they add a file. */
typedef enum casparian_sink_mode {
    CASPARIAN_SINK_APPEND,
    CASPARIAN_SINK_REPLACE, /* its rows go, in the transaction that brings the new ones */
    CASPARIAN_SINK_ERROR,   /* the commit is refused */
} casparian_sink_mode;

typedef enum casparian_compression {
    CASPARIAN_SNAPPY,
    CASPARIAN_ZSTD,
    CASPARIAN_UNCOMPRESSED,
} casparian_compression;

/** A sink. Strings live in the arena that it was read into. */
typedef struct casparian_sink_uri {
    casparian_sink_kind kind;
    const char *path; /* absolute, without ".", ".." and a slash at its end: a folder, or the file
                         of a database */
    const char *dir;  /* the folder that is written to: `path`, or that of the database */
    const char *text; /* the normal form: "parquet:///data/out", defaults left out */
    bool has_parent_step; /* the text's path has a ".." */
    const char *warning;  /* something in the text that has no effect; NULL: nothing */
    casparian_sink_mode mode;
    casparian_compression compression; /* of Parquet */
    bool has_header;                   /* of CSV */
    char delimiter;                    /* of CSV */
    const char *table;                 /* of DuckDB: in the place of the output's name; or NULL */
} casparian_sink_uri;

/** "parquet", "csv" or "duckdb". */
const char *casparian_sink_kind_text(casparian_sink_kind kind);

/** "append", "replace" or "error". */
const char *casparian_sink_mode_text(casparian_sink_mode mode);

/**
 * Read a sink's text.
 *
 * @param out  strings in the arena
 * @param base the absolute folder that relative paths begin in
 * @return MCP_OK; MCP_E_PARAMS: an unknown scheme, key, value or ending, or no path (err says
 *         which); MCP_E_LIMIT: longer than CASPARIAN_SINK_URI_MAX; MCP_E_NOMEM
 */
mcp_status casparian_sink_uri_read(casparian_sink_uri *out, mcp_arena *arena, const char *text,
                                   const char *base, mcp_error *err);

/**
 * Give a sink another path, such as the one without links that guard_open_dir has found.
 *
 * @param out  may be `uri`
 * @param dir  absolute; of DuckDB the folder of the file, whose name is kept
 * @return MCP_OK; MCP_E_PARAMS: not absolute; MCP_E_NOMEM
 */
mcp_status casparian_sink_uri_move(casparian_sink_uri *out, mcp_arena *arena,
                                   const casparian_sink_uri *uri, const char *dir, mcp_error *err);

#endif
