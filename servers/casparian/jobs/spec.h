/**
 * spec.h - what a job is asked to do with its plugin and its directory: job_spec_json, as a
 * struct.
 */
#ifndef CASPARIAN_JOBS_SPEC_H
#define CASPARIAN_JOBS_SPEC_H

#include "jobs/settings.h"
#include "mcp/json.h"
#include "schema/definition.h"
#include "sinks/route.h"

#define CASPARIAN_MAX_FILES 100000

/** An input file as it was found. */
typedef struct casparian_job_file {
    const char *path; /* absolute */
    int64_t size;
    int64_t mtime_ns;
    int64_t inode;
} casparian_job_file;

/** Which files of a directory a run takes. */
typedef enum casparian_only {
    CASPARIAN_ONLY_ALL,
    CASPARIAN_ONLY_FAILED,     /* that failed in the newest run of this plugin and target */
    CASPARIAN_ONLY_QUARANTINED /* that had invalid rows in it */
} casparian_only;

/** A quarantine policy, or the part of one that a caller sets. */
typedef struct casparian_quarantine {
    bool has_allow, has_pct, has_count;
    bool allow;
    double max_pct;
    int64_t max_count;
} casparian_quarantine;

/** Zero is the default of every field. */
typedef struct casparian_spec {
    const casparian_schemas *schemas; /* of the request; NULL: none */
    const char *ephemeral_id;         /* NULL: none */
    const char *pattern;              /* glob on paths below the directory; NULL: the plugin's */
    int64_t max_files;                /* 0: CASPARIAN_MAX_FILES */
    bool fail_fast;
    bool force; /* files that are done already are run again */
    casparian_only only;
    casparian_quarantine quarantine; /* what the request sets of it */
    const mcp_json *redaction;       /* of what job results show; NULL: the default policy */
    const casparian_route *routes;   /* of a run to several sinks, with absolute paths */
    size_t route_count;              /* 0: it has one sink */
    const char *quarantine_dir;      /* of quarantine tables, absolute; NULL: that of the output */
} casparian_spec;

/** Write it as an object. */
void casparian_spec_write(mcp_json_writer *out, const casparian_spec *spec);

/** Write its routes, the array that is a member of it. */
void casparian_spec_write_routes(mcp_json_writer *out, const casparian_spec *spec);

/** Read what casparian_spec_write has written. @return MCP_OK; MCP_E_INTERNAL: it is something
 *  else; MCP_E_NOMEM */
mcp_status casparian_spec_read(casparian_spec *out, mcp_arena *arena, const mcp_json *json,
                               mcp_error *err);

/**
 * Read an argument `quarantine`: {"allow_quarantine", "max_quarantine_pct",
 * "max_quarantine_count"}, all optional.
 *
 * @param json NULL: nothing is set
 * @return MCP_OK; MCP_E_PARAMS: a value is out of range
 */
mcp_status casparian_quarantine_read(casparian_quarantine *out, const mcp_json *json,
                                     mcp_error *err);

/** Write what is set, as an object. */
void casparian_quarantine_write(mcp_json_writer *out, const casparian_quarantine *self);

/** The policy of a run: built in, then the settings, then a contract (NULL: none), then the request
 *  (NULL: none). Every field is set. */
casparian_quarantine casparian_quarantine_of_run(const casparian_quarantine_settings *settings,
                                                 const casparian_quarantine *contract,
                                                 const casparian_quarantine *request);

/** Why quarantine tables of a DuckDB sink have no folder of theirs: a format, of its path. */
#define CASPARIAN_QUARANTINE_IN_DUCKDB                                                             \
    "[quarantine] dir is not for a DuckDB sink, and '%.200s' is one: its quarantine tables are "   \
    "tables of the same file"

/** How a policy judges an output. */
typedef enum casparian_verdict {
    CASPARIAN_VERDICT_CLEAN,       /* no invalid row */
    CASPARIAN_VERDICT_QUARANTINED, /* invalid rows, within the limits */
    CASPARIAN_VERDICT_NOT_ALLOWED, /* fails: quarantine_not_allowed */
    CASPARIAN_VERDICT_THRESHOLD    /* fails: quarantine_threshold */
} casparian_verdict;

/** Judge an output by its numbers of rows. */
casparian_verdict casparian_quarantine_judge(const casparian_quarantine *policy, int64_t valid,
                                             int64_t invalid);

#endif
