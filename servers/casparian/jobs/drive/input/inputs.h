/*
 * inputs.h - the input files of jobs: listing them, their order, and which are done already.
 */
#ifndef CASPARIAN_JOBS_DRIVE_INPUT_INPUTS_H
#define CASPARIAN_JOBS_DRIVE_INPUT_INPUTS_H

#include "jobs/drive/drive.h"

/* What is listed. */
typedef struct casparian_listing {
    const char *input;                         /* a folder or a file, absolute */
    const char *pattern;                       /* a glob; NULL: those of the plugin */
    const casparian_plugin_settings *settings; /* of the plugin */
    int64_t max_files;                         /* 0: CASPARIAN_MAX_FILES, and more are an error */
    casparian_store *store;                    /* whose outputs are no inputs; NULL: none */
} casparian_listing;

/*
 * List the files of a folder and of those below it, sorted by the bytes of their paths: regular
 * files, and links to such whose target is below a root; nothing that is hidden, and nothing that
 * casparian has written: manifests, and files of the catalog of this home.
 *
 * MCP_OK; MCP_E_NOT_FOUND, MCP_E_DENIED: the input; MCP_E_LIMIT: more than CASPARIAN_MAX_FILES;
 * MCP_E_NOMEM; MCP_E_IO.
 */
mcp_status casparian_inputs_list(casparian_job_file **out, size_t *count, const guard *roots,
                                 mcp_arena *arena, const casparian_listing *listing,
                                 mcp_error *err);

/* Keep those that ended as `spec->only` says, in the newest run of this plugin to the same place: a
 * sink, or a run's routes. */
mcp_status casparian_inputs_keep(casparian_job_file *files, size_t *count, casparian_store *store,
                                 const casparian_spec *spec, const char *plugin,
                                 const char *sink_uri, mcp_error *err);

/* Open a file for reading, beneath the roots. */
mcp_status casparian_input_open(int *fd, const guard *roots, const char *path, mcp_error *err);

/* The inputs of the job: its frozen files, or those of its folder. Sets self->inputs. */
mcp_status casparian_inputs_read(casparian_drive *self, mcp_error *err);

/* A backtest: what failed often comes first, then what was repaired lately, then what was never
 * tested. */
mcp_status casparian_inputs_order(casparian_drive *self, mcp_error *err);

/* Note the outcomes of a backtest for the order of the next. */
mcp_status casparian_inputs_remember(casparian_drive *self, db_session *session, mcp_error *err);

/* A run: register the files in scout_files, and skip those whose rows this plugin has already put
 * into all of its outputs. */
mcp_status casparian_inputs_skip(casparian_drive *self, mcp_error *err);

/* The same without a trace in the state. The `file_id` of a file that nobody has seen is 0. */
mcp_status casparian_inputs_foresee(casparian_drive *self, mcp_error *err);

#endif
