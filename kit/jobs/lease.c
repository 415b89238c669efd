/*
 * lease.c - the statements of leases, made from the description of a table.
 *
 * Their texts are the same at each call, so connections keep them prepared.
 */
#include "jobs/lease.h"

#include <stdio.h>

enum { SQL_MAX = 2000, TAKE_MAX = 1000 };

/* The condition of a lease, whose row is $1 and whose fence is $2. */
#define IS_HELD "lease_owner IS NOT NULL AND fence = $2"

struct statement {
    char sql[SQL_MAX];
};

static mcp_status check_length(int length, const jobs_table *table, mcp_error *err)
{
    if (length >= 0 && length < SQL_MAX)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_LIMIT, "the description of the table %.60s is too long",
                         table->name);
}

/* $1: now. What a row must be to be taken. */
static int write_choice(char *out, size_t size, const jobs_table *table, jobs_which which)
{
    if (which == JOBS_EXPIRED)
        return snprintf(out, size, "lease_owner IS NOT NULL AND lease_until <= $1");
    return snprintf(out, size, "lease_owner IS NULL AND %s <= $1%s%s%s",
                    table->due ? table->due : "CAST(0 AS BIGINT)", table->where ? " AND (" : "",
                    table->where ? table->where : "", table->where ? ")" : "");
}

static mcp_status write_take(struct statement *out, const jobs_table *table, jobs_which which,
                             mcp_error *err)
{
    char choice[SQL_MAX];
    const char *order = which == JOBS_EXPIRED ? "lease_until" : table->due ? table->due : table->id;
    mcp_status st = check_length(write_choice(choice, sizeof choice, table, which), table, err);

    if (st != MCP_OK)
        return st;
    int length = snprintf(
        out->sql, sizeof out->sql,
        "WITH chosen AS (SELECT %s AS row_id FROM %s WHERE %s ORDER BY %s LIMIT $4 "
        "FOR UPDATE SKIP LOCKED) UPDATE %s SET lease_owner = $2, lease_until = $3, "
        "fence = fence + 1 WHERE %s IN (SELECT row_id FROM chosen) RETURNING %s, fence",
        table->id, table->name, choice, order, table->name, table->id, table->id);
    return check_length(length, table, err);
}

static mcp_status read_lease(jobs_lease *out, const db_rows *rows, int64_t until_ms, mcp_error *err)
{
    size_t length = 0;
    const char *id = db_text_at(rows, 0, &length);

    if (!id || length >= sizeof out->id)
        return mcp_error_set(err, MCP_E_LIMIT, "the id of a row has more than %d bytes",
                             JOBS_ID_SIZE - 1);
    *out = (jobs_lease){ .fence = db_int_at(rows, 1), .until_ms = until_ms };
    memcpy(out->id, id, length + 1);
    return MCP_OK;
}

mcp_status jobs_take(jobs_lease *out, size_t *count, size_t max, db_session *session,
                     const jobs_table *table, jobs_which which, const jobs_holder *holder,
                     mcp_error *err)
{
    struct statement take;
    db_rows *rows = NULL;
    bool has_row = true;
    int64_t now_ms = 0;
    size_t taken = 0;

    if (max > TAKE_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "at most %d rows are taken at once", TAKE_MAX);
    mcp_status st = write_take(&take, table, which, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    int64_t until_ms = now_ms + holder->lease_ms;
    int64_t before_ms = which == JOBS_EXPIRED ? db_time_lapsed(session, now_ms) : now_ms;
    db_value values[] = { db_int(before_ms), db_text(holder->owner), db_int(until_ms),
                          db_int((int64_t)max) };
    if (st == MCP_OK)
        st = db_query(&rows, session, take.sql, values, 4, err);
    while (st == MCP_OK && has_row) {
        st = db_next(rows, &has_row, err);
        if (st == MCP_OK && has_row)
            st = read_lease(&out[taken++], rows, until_ms, err);
    }
    db_rows_free(rows);
    if (st == MCP_OK)
        *count = taken;
    return st;
}

static mcp_status lost(const jobs_table *table, const jobs_lease *lease, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOT_FOUND, "the lease on %s of %.60s is lost", lease->id,
                         table->name);
}

mcp_status jobs_check(db_session *session, const jobs_table *table, const jobs_lease *lease,
                      mcp_error *err)
{
    db_value values[] = { db_text(lease->id), db_int(lease->fence) };
    struct statement look;
    db_rows *rows = NULL;
    bool is_held = false;
    int length = snprintf(look.sql, sizeof look.sql,
                          "SELECT fence FROM %s WHERE %s = $1 AND " IS_HELD " FOR UPDATE",
                          table->name, table->id);
    mcp_status st = check_length(length, table, err);

    if (st == MCP_OK)
        st = db_query(&rows, session, look.sql, values, 2, err);
    if (st == MCP_OK)
        st = db_next(rows, &is_held, err);
    db_rows_free(rows);
    return st != MCP_OK || is_held ? st : lost(table, lease, err);
}

/* Change a row that is held. @param set takes $3 */
static mcp_status change(db_session *session, const jobs_table *table, const jobs_lease *lease,
                         const char *set, const db_value *value, mcp_error *err)
{
    db_value values[] = { db_text(lease->id), db_int(lease->fence), value ? *value : db_null() };
    struct statement update;
    int64_t changed = 0;
    int length = snprintf(update.sql, sizeof update.sql,
                          "UPDATE %s SET %s WHERE %s = $1 AND " IS_HELD, table->name, set,
                          table->id);
    mcp_status st = check_length(length, table, err);

    if (st == MCP_OK)
        st = db_run(session, &changed, update.sql, values, value ? 3 : 2, err);
    return st != MCP_OK || changed == 1 ? st : lost(table, lease, err);
}

mcp_status jobs_renew(db_session *session, const jobs_table *table, jobs_lease *lease,
                      int64_t lease_ms, mcp_error *err)
{
    int64_t now_ms = 0;
    mcp_status st = db_now(session, &now_ms, err);
    db_value until = db_int(now_ms + lease_ms);

    if (st == MCP_OK)
        st = change(session, table, lease, "lease_until = $3", &until, err);
    if (st == MCP_OK)
        lease->until_ms = until.integer;
    return st;
}

mcp_status jobs_give_up(db_session *session, const jobs_table *table, const jobs_lease *lease,
                        mcp_error *err)
{
    return change(session, table, lease, "lease_owner = NULL, lease_until = NULL", NULL, err);
}

mcp_status jobs_next(db_session *session, const jobs_table *table, int64_t *at_ms, mcp_error *err)
{
    struct statement look;
    db_rows *rows = NULL;
    bool has_row = false;
    int length = snprintf(look.sql, sizeof look.sql,
                          "SELECT (SELECT MIN(%s) FROM %s WHERE lease_owner IS NULL%s%s%s), "
                          "(SELECT MIN(lease_until) FROM %s WHERE lease_owner IS NOT NULL)",
                          table->due ? table->due : "CAST(0 AS BIGINT)", table->name,
                          table->where ? " AND (" : "", table->where ? table->where : "",
                          table->where ? ")" : "", table->name);
    mcp_status st = check_length(length, table, err);

    if (st == MCP_OK)
        st = db_query(&rows, session, look.sql, NULL, 0, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    if (st == MCP_OK) {
        int64_t due_ms = db_null_at(rows, 0) ? INT64_MAX : db_int_at(rows, 0);
        int64_t ends_ms = db_null_at(rows, 1) ? INT64_MAX : db_int_at(rows, 1);
        *at_ms = due_ms < ends_ms ? due_ms : ends_ms;
    }
    db_rows_free(rows);
    return st;
}
