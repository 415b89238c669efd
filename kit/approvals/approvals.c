/*
 * approvals.c - changes of status by compare-and-set.
 *
 * The row is read FOR UPDATE first, because the outcome names what it held. The UPDATE compares
 * status and revision all the same: a change is right by that statement alone, whatever the engine
 * does about locks. Should it find another row than the one read, the row is read again.
 *
 * The statements are written once, from the names of the server's table; a name has no character
 * that SQL would read as something else.
 */
#include "approvals/approvals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/buf.h"
#include "mcp/clock.h"

enum { NAME_MAX_LENGTH = 60, SQL_MAX = 1024, ATTEMPTS = 3 };

struct approvals {
    const approvals_table *table;
    char select[SQL_MAX];
    char move[SQL_MAX];   /* without decided_at and decided_by */
    char decide[SQL_MAX]; /* with them */
    char expire[SQL_MAX];
};

/* ---- the description ------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    size_t length = text ? strlen(text) : 0;

    return length > 0 && length <= NAME_MAX_LENGTH &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static const approvals_transition *find(const approvals_table *table, const char *from,
                                        const char *to)
{
    for (const approvals_transition *at = table->transitions; at->from; at++)
        if (strcmp(at->from, from) == 0 && strcmp(at->to, to) == 0)
            return at;
    return NULL;
}

/* A status is put into the statement that expires, as a literal. */
static bool is_status(const char *text)
{
    return text && *text && strlen(text) <= NAME_MAX_LENGTH && !strpbrk(text, "'\\");
}

static mcp_status check(const approvals_table *table, mcp_error *err)
{
    bool may_expire = false;

    if (!is_name(table->table) || !is_name(table->id) || !is_name(table->expires_at) ||
        (table->scope && !is_name(table->scope)) || !table->transitions || !table->expired ||
        !table->expired_by)
        return mcp_error_set(err, MCP_E_PARAMS, "a table of approvals lacks a name");
    for (const approvals_transition *at = table->transitions; at->from; at++) {
        if (!is_status(at->from) || !is_status(at->to) || find(table, at->from, at->to) != at)
            return mcp_error_set(err, MCP_E_PARAMS, "a table of approvals has a wrong transition");
        may_expire = may_expire || strcmp(at->to, table->expired) == 0;
    }
    if (!may_expire)
        return mcp_error_set(err, MCP_E_PARAMS, "no transition leads to '%s'", table->expired);
    return MCP_OK;
}

/* ", 'Pending'" for each status that may expire. */
static void write_open(mcp_buf *out, const approvals_table *table)
{
    const char *comma = "";

    for (const approvals_transition *at = table->transitions; at->from; at++) {
        if (strcmp(at->to, table->expired) != 0 || strcmp(at->from, table->expired) == 0)
            continue;
        mcp_buf_printf(out, "%s'%s'", comma, at->from);
        comma = ", ";
    }
}

static mcp_status write_statements(approvals *self, mcp_error *err)
{
    const approvals_table *table = self->table;
    const char *and = table->scope ? " AND " : "", *scope = table->scope ? table->scope : "";
    mcp_buf open;

    mcp_buf_init(&open, SQL_MAX);
    write_open(&open, table);
    if (open.status != MCP_OK) {
        mcp_status st = open.status;
        mcp_buf_clear(&open);
        return mcp_error_set(err, st, "the statements of approvals: %s", mcp_status_words(st));
    }
    snprintf(self->select, SQL_MAX,
             "SELECT status, revision, subject_hash, %s, decided_by, decided_at FROM %s"
             " WHERE %s = $1%s%s%s FOR UPDATE",
             table->expires_at, table->table, table->id, and, scope, table->scope ? " = $2" : "");
    snprintf(self->move, SQL_MAX,
             "UPDATE %s SET status = $1, revision = revision + 1"
             " WHERE %s = $2 AND status = $3 AND revision = $4%s%s%s",
             table->table, table->id, and, scope, table->scope ? " = $5" : "");
    snprintf(self->decide, SQL_MAX,
             "UPDATE %s SET status = $1, revision = revision + 1, decided_by = $2, decided_at = $3"
             " WHERE %s = $4 AND status = $5 AND revision = $6%s%s%s",
             table->table, table->id, and, scope, table->scope ? " = $7" : "");
    int length = snprintf(self->expire, SQL_MAX,
                          "SELECT %s, %s FROM %s WHERE status IN (%s) AND %s <= $1"
                          " ORDER BY %s, %s LIMIT $2",
                          table->id, table->scope ? table->scope : "NULL", table->table, open.data,
                          table->expires_at, table->expires_at, table->id);
    mcp_buf_clear(&open);
    return length < SQL_MAX ? MCP_OK
                            : mcp_error_set(err, MCP_E_PARAMS, "too many statuses may expire");
}

mcp_status approvals_new(approvals **out, const approvals_table *table, mcp_error *err)
{
    mcp_status st = check(table, err);

    if (st != MCP_OK)
        return st;
    approvals *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for approvals");
    self->table = table;
    st = write_statements(self, err);
    if (st != MCP_OK) {
        approvals_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void approvals_free(approvals *self)
{
    free(self);
}

bool approvals_may_become(const approvals *self, const char *from, const char *to)
{
    return find(self->table, from, to) != NULL;
}

/* ---- one request ----------------------------------------------------------------------------- */

static const char *copy_text(const db_rows *rows, int column, mcp_arena *arena, bool *is_copied)
{
    const char *text = db_text_at(rows, column, NULL);
    const char *copy = mcp_arena_strdup(arena, text);

    *is_copied = *is_copied && (copy || !text);
    return copy;
}

static mcp_status read_row(approvals_result *result, const db_rows *rows, mcp_arena *arena,
                           mcp_error *err)
{
    bool is_copied = true;

    result->outcome = APPROVALS_FOUND;
    result->status = copy_text(rows, 0, arena, &is_copied);
    result->revision = db_int_at(rows, 1);
    result->subject_hash = copy_text(rows, 2, arena, &is_copied);
    result->expires_at_ms = db_int_at(rows, 3);
    result->decided_by = copy_text(rows, 4, arena, &is_copied);
    result->decided_at_ms = db_int_at(rows, 5);
    if (!is_copied)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an approval");
    if (!result->status)
        return mcp_error_set(err, MCP_E_SCHEMA, "an approval has no status");
    return MCP_OK;
}

static mcp_status read_request(approvals_result *result, const approvals *self, db_session *session,
                               const approvals_change *change, mcp_arena *arena, mcp_error *err)
{
    db_value values[] = { db_text(change->id), db_text(change->scope) };
    db_rows *rows = NULL;
    bool has_row = false;
    int64_t now_ms = result->now_ms;

    *result = (approvals_result){ .outcome = APPROVALS_ABSENT, .now_ms = now_ms };
    mcp_status st = db_query(&rows, session, self->select, values, self->table->scope ? 2 : 1, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    if (st == MCP_OK && has_row)
        st = read_row(result, rows, arena, err);
    db_rows_free(rows);
    return st;
}

/* The compare-and-set. `result` is the row that was read, and becomes the row as it is then. */
static mcp_status change_row(approvals_result *result, const approvals *self, db_session *session,
                             const approvals_change *change, const approvals_transition *transition,
                             int64_t *changed, mcp_error *err)
{
    bool is_kept = transition->mark == APPROVALS_KEEP;
    bool is_decided = transition->mark == APPROVALS_DECIDE;
    const char *by = is_decided ? change->by : NULL;
    int64_t at_ms = is_decided ? result->now_ms : 0;
    size_t count = self->table->scope ? 1 : 0;
    db_value kept[] = { db_text(transition->to), db_text(change->id), db_text(transition->from),
                        db_int(result->revision), db_text(change->scope) };
    db_value set[] = { db_text(transition->to),
                       db_text(by),
                       is_decided ? db_int(at_ms) : db_null(),
                       db_text(change->id),
                       db_text(transition->from),
                       db_int(result->revision),
                       db_text(change->scope) };
    mcp_status st = is_kept ? db_run(session, changed, self->move, kept, 4 + count, err)
                            : db_run(session, changed, self->decide, set, 6 + count, err);

    if (st != MCP_OK || *changed == 0)
        return st;
    result->outcome = APPROVALS_MOVED;
    result->status = transition->to; /* outlives the approvals */
    result->revision++;
    if (!is_kept) {
        result->decided_by = by;
        result->decided_at_ms = at_ms;
    }
    return MCP_OK;
}

/* What a change has to do with the row that was read; NULL: nothing, the outcome says why. */
static const approvals_transition *judge(approvals_result *result, const approvals *self,
                                         const approvals_change *change)
{
    const approvals_transition *transition;

    if (result->outcome == APPROVALS_ABSENT)
        return NULL;
    if (result->expires_at_ms > 0 && result->expires_at_ms <= result->now_ms &&
        strcmp(result->status, self->table->expired) != 0) {
        transition = find(self->table, result->status, self->table->expired);
        if (transition)
            return transition;
    }
    if (!change->to)
        return NULL;
    transition = find(self->table, result->status, change->to);
    if (!transition) {
        result->outcome = APPROVALS_CLOSED;
        return NULL;
    }
    bool is_stale = (change->subject_hash &&
                     (!result->subject_hash ||
                      strcmp(change->subject_hash, result->subject_hash) != 0)) ||
                    (change->revision != 0 && change->revision != result->revision);
    if (is_stale)
        result->outcome = APPROVALS_STALE;
    return is_stale ? NULL : transition;
}

/* Read, judge and change. `is_done` is false when the row changed in between. */
static mcp_status try(approvals_result *result, const approvals *self, db_session *session,
                      const approvals_change *change, mcp_arena *arena, bool *is_done,
                      mcp_error *err)
{
    approvals_change meant = *change;
    int64_t changed = 0;
    mcp_status st = read_request(result, self, session, change, arena, err);

    *is_done = true;
    if (st != MCP_OK)
        return st;
    const approvals_transition *transition = judge(result, self, change);
    if (!transition)
        return MCP_OK;
    bool is_expiry = strcmp(transition->to, self->table->expired) == 0 &&
                     (!change->to || strcmp(change->to, self->table->expired) != 0);
    if (is_expiry)
        meant.by = self->table->expired_by;
    if (transition->mark == APPROVALS_DECIDE && !meant.by)
        return mcp_error_set(err, MCP_E_PARAMS, "a decision needs to know who decides");
    st = change_row(result, self, session, &meant, transition, &changed, err);
    *is_done = st != MCP_OK || changed > 0;
    if (st == MCP_OK && changed > 0 && is_expiry)
        result->outcome = APPROVALS_EXPIRED;
    return st;
}

static mcp_status change_request(approvals_result *result, const approvals *self,
                                 db_session *session, const approvals_change *change,
                                 mcp_arena *arena, mcp_error *err)
{
    approvals_result row = { .outcome = APPROVALS_ABSENT };
    bool is_done = false;

    if (!change->id || (self->table->scope && !change->scope))
        return mcp_error_set(err, MCP_E_PARAMS, "an approval is named by its id%s",
                             self->table->scope ? " and its scope" : "");
    mcp_status st = db_now(session, &row.now_ms, err);
    for (int attempt = 0; attempt < ATTEMPTS && st == MCP_OK && !is_done; attempt++)
        st = try(&row, self, session, change, arena, &is_done, err);
    if (st != MCP_OK)
        return st;
    if (!is_done)
        return mcp_error_set(err, MCP_E_BUSY, "approval '%s' changes all the time", change->id);
    /* What came from the change and the table must live as long as the rest. */
    row.status = mcp_arena_strdup(arena, row.status);
    const char *by = mcp_arena_strdup(arena, row.decided_by);
    if ((row.decided_by && !by) || (row.outcome != APPROVALS_ABSENT && !row.status))
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an approval");
    row.decided_by = by;
    *result = row;
    return MCP_OK;
}

mcp_status approvals_move(approvals_result *result, const approvals *self, db_session *session,
                          const approvals_change *change, mcp_arena *arena, mcp_error *err)
{
    if (!change->to)
        return mcp_error_set(err, MCP_E_PARAMS, "a change of an approval needs a status");
    return change_request(result, self, session, change, arena, err);
}

mcp_status approvals_look(approvals_result *result, const approvals *self, db_session *session,
                          const char *scope, const char *id, mcp_arena *arena, mcp_error *err)
{
    approvals_change none = { .scope = scope, .id = id };

    return change_request(result, self, session, &none, arena, err);
}

/* ---- all that are overdue -------------------------------------------------------------------- */

struct overdue {
    const char *scope, *id;
};

/* The rows are read before any is changed: a session does one thing at a time. */
static mcp_status list_overdue(struct overdue *list, size_t *count, size_t limit,
                               const approvals *self, db_session *session, mcp_arena *arena,
                               mcp_error *err)
{
    db_rows *rows = NULL;
    bool has_row = false, is_copied = true;
    int64_t now_ms = 0;

    mcp_status st = db_now(session, &now_ms, err);
    db_value values[] = { db_int(now_ms), db_int((int64_t)limit) };
    if (st == MCP_OK)
        st = db_query(&rows, session, self->expire, values, 2, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    while (st == MCP_OK && has_row && *count < limit) {
        list[*count].id = copy_text(rows, 0, arena, &is_copied);
        list[*count].scope = copy_text(rows, 1, arena, &is_copied);
        ++*count;
        st = is_copied ? db_next(rows, &has_row, err)
                       : mcp_error_set(err, MCP_E_NOMEM, "out of memory for overdue approvals");
    }
    db_rows_free(rows);
    return st;
}

mcp_status approvals_expire(const approvals *self, db_session *session, int limit,
                            void (*on_expired)(const char *scope, const char *id, void *data),
                            void *data, int64_t *count, mcp_error *err)
{
    size_t found = 0, room = limit > 0 ? (size_t)limit : 0;
    int64_t expired = 0;
    mcp_arena *arena = mcp_arena_new(0);
    struct overdue *list = arena ? mcp_arena_array(arena, room, sizeof *list) : NULL;
    mcp_status st = list ? list_overdue(list, &found, room, self, session, arena, err)
                         : mcp_error_set(err, MCP_E_NOMEM, "out of memory for overdue approvals");

    for (size_t i = 0; i < found && st == MCP_OK; i++) {
        approvals_result result;
        st = approvals_look(&result, self, session, list[i].scope, list[i].id, arena, err);
        if (st != MCP_OK || result.outcome != APPROVALS_EXPIRED)
            continue;
        expired++;
        if (on_expired)
            on_expired(list[i].scope, list[i].id, data);
    }
    if (st == MCP_OK && count)
        *count = expired;
    mcp_arena_free(arena);
    return st;
}

/* ---- words ----------------------------------------------------------------------------------- */

const char *approvals_describe(const approvals_result *result, const char *id, mcp_arena *arena)
{
    char time[MCP_CLOCK_UTC_SIZE] = "";

    if (result->decided_at_ms > 0)
        mcp_clock_utc(time, result->decided_at_ms, 1);
    switch (result->outcome) {
    case APPROVALS_MOVED:
    case APPROVALS_FOUND:
        return mcp_arena_printf(arena, "approval '%s' is %s", id, result->status);
    case APPROVALS_ABSENT:
        return mcp_arena_printf(arena, "approval '%s' not found", id);
    case APPROVALS_EXPIRED:
        return mcp_arena_printf(arena, "approval '%s' has expired", id);
    case APPROVALS_STALE:
        return mcp_arena_printf(arena, "approval '%s' is for something else now (revision %lld)",
                                id, (long long)result->revision);
    case APPROVALS_CLOSED:
        break;
    }
    if (!result->decided_by || !*time)
        return mcp_arena_printf(arena, "approval '%s' is already %s", id, result->status);
    return mcp_arena_printf(arena, "approval '%s' is already %s, by %s at %s", id, result->status,
                            result->decided_by, time);
}
