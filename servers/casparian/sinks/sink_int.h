/*
 * sink_int.h - the body of a sink, for the commit that ends it.
 */
#ifndef CASPARIAN_SINKS_SINK_INT_H
#define CASPARIAN_SINKS_SINK_INT_H

#include <sys/types.h>

#include "mcp/arena.h"
#include "sinks/identity.h"
#include "sinks/sink.h"
#include "sinks/write/spool.h"
#include "sinks/write/writer.h"

/* What an output is called. */
struct sink_names {
    char name[CASPARIAN_FILE_NAME_SIZE]; /* of quarantine "<output>_quarantine" */
    char table[CASPARIAN_FILE_NAME_SIZE];
    char protocol_hash[CASPARIAN_HASH_SIZE]; /* "" for an inferred schema */
};

/* A folder that a job writes to. */
struct sink_folder {
    const char *path;
    int fd;
    dev_t device;
    ino_t inode;
};

/* How and where the outputs are written that are routed to a sink. */
struct sink_place {
    casparian_sink_uri uri;
    size_t folder; /* of the job's */
};

struct casparian_sink_output {
    casparian_sink *sink;
    const struct sink_place *place;
    const casparian_definition *definition;
    bool is_quarantine, is_inferred;
    size_t index;
    struct sink_names names;
    char file[CASPARIAN_FILE_NAME_SIZE];   /* its name in the folder; of DuckDB that of the stage */
    char hidden[CASPARIAN_FILE_NAME_SIZE]; /* ".<file>[.attempt]"; the writer adds ".tmp" */
    write_column *columns;
    casparian_vector *bound; /* of the batch that is being appended, one a column */
    size_t count;
    writer *writer;
    int64_t rows; /* of files that were committed */
};

struct casparian_sink_file {
    casparian_sink *sink;
    casparian_sink_file *next;             /* of the sink's open files */
    char source_hash[CASPARIAN_HASH_SIZE]; /* "" until it is known */
    char processed_at[WRITE_MOMENT_SIZE];
    write_rows *first, *last; /* in memory; later ones are in the spool */
    size_t held;
    write_spool spool;
    int64_t rows[CASPARIAN_SINK_OUTPUTS_MAX];
    bool has_written; /* some rows have gone to a writer */
};

struct casparian_sink {
    mcp_arena *arena;
    struct sink_place places[CASPARIAN_SINK_PLACES_MAX];
    size_t place_count;
    struct sink_folder folders[CASPARIAN_SINK_PLACES_MAX];
    size_t folder_count;
    const char *const *taken;                   /* paths that are never written, ended by NULL */
    const char *job, *plugin, *version, *label; /* the last is "plugin@version" */
    int attempt;
    bool is_single_file;
    size_t memory_max;
    casparian_sink_output *outputs[CASPARIAN_SINK_OUTPUTS_MAX];
    size_t count;
    casparian_sink_file *files;
    char *zeros;       /* values, offsets and validity of a column that a batch lacks */
    mcp_error failure; /* the first */
};

/* The folder that an output is written to. */
const struct sink_folder *sink_folder_of(const casparian_sink_output *output);

/* Whether an output is rows of a database. */
bool sink_is_staged(const casparian_sink_output *output);

/* The key of a place. */
mcp_status sink_target_key(char out[CASPARIAN_HASH_SIZE], const casparian_sink_uri *uri,
                           const struct sink_names *names, mcp_error *err);

/* Free the sink, with its writers; files that were finished stay. */
void casparian_sink_free(casparian_sink *self);

#endif
