/*
 * duckdb.h - rows that were staged as Parquet into the tables of a DuckDB file, in one transaction;
 * and how many rows of an output have a given lineage.
 *
 * The file is open for the commit only: while it is, no other process can read it.
 */
#ifndef CASPARIAN_SINKS_DUCKDB_H
#define CASPARIAN_SINKS_DUCKDB_H

#include <stdbool.h>

#include "mcp/error.h"
#include "sinks/uri.h"

/* Rows of one table. */
typedef struct duckdb_stage {
    const char *file; /* Parquet, in the folder of the database */
    const char *table;
    casparian_sink_mode mode;
} duckdb_stage;

/* A database, by its name in a folder that is open. */
typedef struct duckdb_file {
    int dir_fd;
    const char *name;
} duckdb_file;

/* All rows of a job. */
typedef struct duckdb_load {
    duckdb_file file;   /* which is made if it is missing */
    const char *marker; /* a table that exists from the transaction until casparian_duckdb_unmark:
                           it tells whether the transaction was done */
    const duckdb_stage *stages;
    size_t count;
} duckdb_load;

/* Whether there is DuckDB. MCP_E_UNSUPPORTED: the message says where it was looked for. */
mcp_status casparian_duckdb_check(mcp_error *err);

/* Append, replace or make the tables, and make the marker. MCP_E_EXISTS (mode `error`), MCP_E_BUSY
 * (another program has the file open), MCP_E_PARAMS (a table has other columns), MCP_E_IO,
 * MCP_E_NOMEM, MCP_E_UNSUPPORTED. */
mcp_status casparian_duckdb_load(const duckdb_load *load, mcp_error *err);

/* Whether the marker is there. A file that is missing has none. As casparian_duckdb_load. */
mcp_status casparian_duckdb_is_marked(bool *out, const duckdb_file *file, const char *marker,
                                      mcp_error *err);

/* Drop the marker, if it is there. As casparian_duckdb_load. */
mcp_status casparian_duckdb_unmark(const duckdb_file *file, const char *marker, mcp_error *err);

/* How many rows of a table have a job's id in _cf_job_id; -1: there is no such table. The file is
 * opened for reading only. As casparian_duckdb_load. */
mcp_status casparian_duckdb_count(int64_t *out, const duckdb_file *file, const char *table,
                                  const char *job, mcp_error *err);

/* Rows of an output, by their columns of lineage. */
typedef struct duckdb_rows {
    duckdb_file file;  /* a database, or a Parquet or CSV file of a sink */
    const char *table; /* of the database; NULL: the file is none */
    const char *job;
    const char *source_hash;
    int64_t row; /* as __cf_row_id has it, or in quarantine _source_row */
} duckdb_rows;

typedef struct duckdb_counts {
    int64_t all;
    int64_t of_source; /* of that job and source */
    int64_t of_row;    /* of these those with that row */
    bool has_rows;     /* the output has the column that `row` is of */
} duckdb_counts;

/* Count them. MCP_E_NOT_FOUND: the file is gone; MCP_E_UNSUPPORTED: a CSV file without a header, or
 * DuckDB is missing; MCP_E_PARAMS: it is no output of ours; else as casparian_duckdb_load. */
mcp_status casparian_duckdb_rows(duckdb_counts *out, const duckdb_rows *what, mcp_error *err);

#endif
