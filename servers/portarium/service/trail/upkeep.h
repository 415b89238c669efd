/**
 * upkeep.h - what a plane does by the clock: checkpoints, the end of the retention of payloads,
 * and of that of events and of answers to idempotency keys.
 *
 * Payloads are kept for 30 days (Operational), 365 days (Compliance) or 2,555 days (Forensic);
 * then their bytes are deleted, with an entry of evidence, and their hashes stay. Events are kept
 * for seven days.
 */
#ifndef PORTARIUM_SERVICE_TRAIL_UPKEEP_H
#define PORTARIUM_SERVICE_TRAIL_UPKEEP_H

#include "store/committer.h"

typedef struct portarium_upkeep portarium_upkeep;

/** Start its thread. @param out yours, end it with portarium_upkeep_free */
mcp_status portarium_upkeep_new(portarium_upkeep **out, db *database,
                                portarium_committer *committer, const portarium_settings *settings,
                                mcp_error *err);

/** NULL is fine. */
void portarium_upkeep_free(portarium_upkeep *self);

/** Dispose of the payloads of the workspace whose retention has ended, at most 500.
 *  @param data a pointer to the time that is taken as now, in milliseconds since 1970 */
mcp_status portarium_dispose(portarium_tx *tx, void *data, mcp_error *err);

#endif
