/*
 * events.c - writing the events of a job, in the transaction of what they tell.
 */
#include "jobs/state/events.h"

#include <string.h>

#include "jobs/store.h"

void casparian_event_begin(casparian_text *payload, const char *type)
{
    casparian_text_init(payload);
    mcp_write_member_string(&payload->out, "type", type);
}

static mcp_status insert(db_session *session, int64_t job, const char *type,
                         const casparian_text *payload, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    db_value values[] = { db_int(job), db_text(type), db_int(now_ms),
                          casparian_text_value(payload) };
    return st == MCP_OK
               ? db_run(session, NULL,
                        "INSERT INTO cf_api_events (event_id, job_id, event_type, timestamp, "
                        "payload_json) SELECT coalesce(max(event_id), 0) + 1, $1, $2, $3, $4 "
                        "FROM cf_api_events WHERE job_id = $1",
                        values, 4, err)
               : st;
}

static mcp_status add(db_session *session, int64_t job, const char *type,
                      const casparian_text *payload, mcp_error *err)
{
    const db_value id = db_int(job);
    int64_t newest = 0;
    mcp_status st = casparian_query_int(&newest, 0, session,
                                        "SELECT max(event_id) FROM cf_api_events WHERE job_id = $1",
                                        &id, 1, err);
    if (st == MCP_OK && newest >= CASPARIAN_EVENTS_MAX && strcmp(type, CASPARIAN_EVENT_LAST) != 0)
        return db_run(session, NULL,
                      "UPDATE cf_api_jobs SET dropped_events = dropped_events + 1 "
                      "WHERE job_id = $1",
                      &id, 1, err);
    if (st == MCP_OK)
        st = insert(session, job, type, payload, err);
    return st == MCP_OK ? casparian_wake_job(session, job, err) : st;
}

mcp_status casparian_event_add(db_session *session, int64_t job, const char *type,
                               casparian_text *payload, mcp_error *err)
{
    mcp_status st = casparian_text_end(payload, err);
    if (st == MCP_OK)
        st = add(session, job, type, payload, err);
    casparian_text_free(payload);
    return st;
}

mcp_status casparian_event_plain(db_session *session, int64_t job, const char *type, mcp_error *err)
{
    casparian_text payload;
    casparian_event_begin(&payload, type);
    return casparian_event_add(session, job, type, &payload, err);
}

mcp_status casparian_event_finished(db_session *session, int64_t job, const char *status,
                                    const char *error_message, mcp_error *err)
{
    const db_value id = db_int(job);
    casparian_text payload;
    int64_t dropped = 0;
    mcp_status st = casparian_query_int(&dropped, 0, session,
                                        "SELECT dropped_events FROM cf_api_jobs WHERE job_id = $1",
                                        &id, 1, err);
    if (st != MCP_OK)
        return st;
    casparian_event_begin(&payload, CASPARIAN_EVENT_LAST);
    mcp_write_member_string(&payload.out, "status", status);
    mcp_write_name(&payload.out, "error_message");
    mcp_write_string(&payload.out, error_message);
    if (dropped > 0)
        mcp_write_member_int(&payload.out, "dropped_events", dropped);
    return casparian_event_add(session, job, CASPARIAN_EVENT_LAST, &payload, err);
}

mcp_status casparian_wake_job(db_session *session, int64_t job, mcp_error *err)
{
    char key[CASPARIAN_KEY_SIZE];
    casparian_job_key(key, job);
    return db_notify(session, CASPARIAN_CHANNEL, key, err);
}

mcp_status casparian_wake_queue(db_session *session, mcp_error *err)
{
    return db_notify(session, CASPARIAN_CHANNEL, "queue", err);
}
