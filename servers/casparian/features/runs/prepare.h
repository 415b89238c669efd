/*
 * prepare.h - the arguments that casparian_preview, casparian_backtest_start and
 * casparian_run_request share: a plugin, a folder, schemas.
 */
#ifndef CASPARIAN_FEATURES_RUNS_PREPARE_H
#define CASPARIAN_FEATURES_RUNS_PREPARE_H

#include "features/tools.h"
#include "jobs/driver.h"

/* What was read and checked. Everything lives in the call's arena. */
typedef struct casparian_prepared_call {
    casparian_spec spec;
    casparian_schemas schemas; /* of spec.schemas */
    casparian_prepare_request how;
    casparian_prepared work;
} casparian_prepared_call;

/*
 * Read plugin_ref, schemas and ephemeral_id, for casparian_preview also without a folder, and
 * pattern, max_files, fail_fast, force, only, quarantine and redaction where they are given.
 *
 * False: the call was refused.
 */
bool casparian_prepare_read(casparian_prepared_call *out, casparian_request *request);

/* Open the argument `input_dir`, and prepare what was read. False: the call was refused. */
bool casparian_prepare_input(casparian_prepared_call *self, casparian_request *request);

/* Prepare without an input. False: the call was refused. */
bool casparian_prepare_work(casparian_prepared_call *self, casparian_request *request);

#endif
