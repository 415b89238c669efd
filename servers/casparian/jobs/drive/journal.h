/*
 * journal.h - what the state hears of a job that runs: progress, events, and what became of files.
 *
 * All of it is collected and written in one transaction: once a second while there is something to
 * tell, at each change of the phase, and at the end.
 */
#ifndef CASPARIAN_JOBS_DRIVE_JOURNAL_H
#define CASPARIAN_JOBS_DRIVE_JOURNAL_H

#include "jobs/drive/drive.h"

void casparian_journal_init(casparian_journal *self);
void casparian_journal_free(casparian_journal *self);

/* Begin the payload of an event; casparian_journal_add must follow. Events beyond memory are
 * dropped. */
void casparian_journal_begin(casparian_text *payload, const char *type);
void casparian_journal_add(casparian_drive *self, const char *type, casparian_text *payload);

/* Something has advanced: rows, a file, bytes. Writes when a second has passed since the last time.
 * MCP_E_STOPPED: another runner has the job. */
mcp_status casparian_journal_tick(casparian_drive *self, mcp_error *err);

/* The phase changes. */
mcp_status casparian_journal_phase(casparian_drive *self, const char *phase, mcp_error *err);

/* Write all that was collected. */
mcp_status casparian_journal_flush(casparian_drive *self, mcp_error *err);

/* The same within a transaction that does more; its claim was checked. */
mcp_status casparian_journal_store(casparian_drive *self, db_session *session, mcp_error *err);

/* Write the members of progress_json into an open object. */
void casparian_progress_write(casparian_drive *self, mcp_json_writer *out);

#endif
