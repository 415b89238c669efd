/*
 * guess.h - the columns of a sample file, with the narrowest types that its values fit.
 */
#ifndef CASPARIAN_SHELL_AUTHOR_GUESS_H
#define CASPARIAN_SHELL_AUTHOR_GUESS_H

#include "gateway/app.h"
#include "schema/definition.h"

/* How a sample is read. */
typedef enum casparian_sample_kind {
    CASPARIAN_SAMPLE_LINES,
    CASPARIAN_SAMPLE_CSV,   /* *.csv, *.tsv, also *.gz */
    CASPARIAN_SAMPLE_NDJSON /* *.jsonl, *.ndjson, also *.gz */
} casparian_sample_kind;

/* What was found. In the arena. */
typedef struct casparian_guess {
    casparian_sample_kind kind;
    casparian_definition schema;
    char delimiter;     /* of CSV */
    uint32_t sentinels; /* bit i: some cell has sentinel i of check/violation.h */
} casparian_guess;

/*
 * Read the first thousand rows of a sample by the parser that ships for its kind.
 *
 * @param path   NULL: there is no sample; a row is a line
 * @param output the name of the output
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_STOPPED: it has no rows; statuses of
 *         casparian_driver_preview
 */
mcp_status casparian_guess_read(casparian_guess *out, casparian_app *app, const char *path,
                                const char *output, mcp_error *err);

/* Whether a sample is packed by gzip. `path` may be NULL. */
bool casparian_guess_is_packed(const char *path);

#endif
