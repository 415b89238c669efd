/*
 * driver.h - a format of files, and what every file of one is made of.
 *
 * A driver writes one file. Its functions run one after the other, `open` on the sink's thread, the
 * others on the file's own.
 */
#ifndef CASPARIAN_SINKS_WRITE_DRIVER_H
#define CASPARIAN_SINKS_WRITE_DRIVER_H

#include "check/batch.h"
#include "mcp/error.h"
#include "schema/definition.h"
#include "sinks/uri.h"

/* The columns of lineage, in their order. */
enum { LINEAGE_SOURCE, LINEAGE_JOB, LINEAGE_AT, LINEAGE_VERSION, LINEAGE_COUNT };

typedef struct write_column {
    const char *name;
    casparian_type type;
    bool is_nullable;
} write_column;

/* A file that is to be written. All of it outlives the file. */
typedef struct write_options {
    int dir_fd;
    const char *name; /* of the temporary file, without ".tmp" */
    const casparian_sink_uri *uri;
    const write_column *columns; /* without those of lineage */
    size_t count;
    const casparian_definition *definition; /* for the file's metadata */
    const char *const *lineage_names;       /* LINEAGE_COUNT */
    const char *job, *plugin;               /* the same; "fix_parser@1.2.0" */
} write_options;

/* Texts of the rows' lineage columns. */
typedef struct write_lineage {
    const char *texts[LINEAGE_COUNT];
} write_lineage;

typedef struct write_driver {
    const char *extension;

    /* @param out ended by finish or abort */
    mcp_status (*open)(void **out, const write_options *options, mcp_error *err);

    /* The batch has the columns of the options, in their order and of their types. */
    mcp_status (*append)(void *self, const casparian_batch *batch, const write_lineage *lineage,
                         mcp_error *err);

    /* Complete the temporary file; the disk has it then. It ends also when it fails. */
    mcp_status (*finish)(void *self, mcp_error *err);

    /* Remove the temporary file. */
    void (*abort)(void *self);
} write_driver;

extern const write_driver write_parquet, write_csv;

#endif
