/*
 * events.h - writing the events of a job, in the transaction of what they tell.
 */
#ifndef CASPARIAN_JOBS_STATE_EVENTS_H
#define CASPARIAN_JOBS_STATE_EVENTS_H

#include "jobs/state/rows.h"

/* Events of one job; further ones but the last are dropped and counted. */
#define CASPARIAN_EVENTS_MAX 5000
#define CASPARIAN_EVENT_LAST "job_finished"

/* Begin the payload of an event; casparian_event_add must follow. */
void casparian_event_begin(casparian_text *payload, const char *type);

/*
 * End the payload and add the event. Wakes who waits for the job.
 *
 * The payload is freed, whatever is returned.
 */
mcp_status casparian_event_add(db_session *session, int64_t job, const char *type,
                               casparian_text *payload, mcp_error *err);

/* An event without further members. */
mcp_status casparian_event_plain(db_session *session, int64_t job, const char *type,
                                 mcp_error *err);

/* The last event of a job, with its state and how many were dropped. */
mcp_status casparian_event_finished(db_session *session, int64_t job, const char *status,
                                    const char *error_message, mcp_error *err);

/* Wake who waits for a job, or for the queue, after the commit. */
mcp_status casparian_wake_job(db_session *session, int64_t job, mcp_error *err);
mcp_status casparian_wake_queue(db_session *session, mcp_error *err);

#endif
