/**
 * catalog.h - the committed outputs of jobs as views that a query can name.
 *
 *     outputs."x"                  of each source file the rows of the newest job that committed
 *                                  it, in files of the newest schema of output x
 *     outputs."x__all"             the rows of every job and schema
 *     outputs."x__schema_75cece4d" those of one schema hash, by its first 8 digits
 *     quarantine."x"               the quarantined rows of output x
 *     outputs."x_quarantine"       the same
 *     casparian."x"                a copy of a table of the state, made for the query
 *
 * The engine's search path is 'outputs,main', so "x" alone means outputs."x". Files of one view may
 * have different columns: they are united by name.
 *
 * The caller makes a catalog from the tables of its state and passes it to casparian_query_run,
 * which opens only the files of views that the statement can need.
 *
 * Source: casparian's data model, 10.
 */
#ifndef CASPARIAN_QUERY_CATALOG_H
#define CASPARIAN_QUERY_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/definition.h"

/** Why a file is left out. The second one says nothing about whether it is there. */
#define CASPARIAN_CATALOG_GONE (-1)
#define CASPARIAN_CATALOG_DENIED (-2) /* its place is not allowed, or not any more */

/**
 * Open a file of the catalog for reading, after a check that its place is still allowed. Runs on
 * the thread of casparian_query_run.
 *
 * @return a descriptor, which the query closes; CASPARIAN_CATALOG_GONE, CASPARIAN_CATALOG_DENIED.
 *         It is left out then, and a warning says so
 */
typedef int casparian_catalog_open(void *data, const char *location);

/** A committed file, or the rows of one job in a table of a DuckDB file. Texts are borrowed. */
typedef struct casparian_catalog_file {
    const char *output; /* also of a quarantine: without "_quarantine" */
    bool is_quarantine;
    bool is_control;         /* a copy of a table of the state: CSV without columns of lineage */
    const char *format;      /* "parquet", "csv" or "duckdb" */
    const char *location;    /* the path of the file, without "#TABLE" */
    const char *table;       /* of a DuckDB file; else NULL */
    const char *schema_hash; /* 64 hexadecimal digits */
    int64_t job_id, created_ms;
    int64_t rows;                           /* for a warning; 0: not known */
    const casparian_definition *definition; /* the types of a CSV file; else may be NULL */

    /* Source files whose rows a newer job has committed again, by _cf_source_hash. The caller knows
     * them from the materializations: a hash that two source files share counts only when both are
     * superseded. */
    const char *const *superseded_hashes;
    size_t superseded_count;
    bool is_superseded; /* all of its source files are: it is in x__all and x__schema_ only */

    char csv_delimiter;  /* of a CSV file; 0: a comma */
    bool csv_headerless; /* its first line is a row */

    casparian_catalog_open *open; /* of this file; NULL: that of the catalog */
    void *data;
} casparian_catalog_file;

/** The files of a catalog, in any order. It does not change while a query uses it. */
typedef struct casparian_catalog {
    int64_t version; /* another number whenever the files have changed: results that were kept under
                        another version are dropped */
    const casparian_catalog_file *files;
    size_t count;
    casparian_catalog_open *open; /* NULL: open(2) of a regular file that is not a symbolic link */
    void *data;
} casparian_catalog;

#endif
