/*
 * migrate.c - bringing a database's schema up to the one of the program.
 *
 * All missing migrations run in one transaction, so a database has the old schema or the new one
 * and no state in between. Two processes that start together run one after the other, and the
 * second has nothing to do. A migration is recorded with its hash: if it were edited later, old and
 * new databases would differ without notice.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/db_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"

enum { MIGRATIONS_MAX = 999, SHA256_TEXT = 2 * MCP_SHA256_SIZE + 1, SCRIPT_MAX = 16 << 20 };

struct migration {
    const char *name;   /* "001-name.sql" */
    const char *engine; /* the only one it is for; "": all */
    int64_t number;
    const mcp_file *file;
    char sha256[SHA256_TEXT];
    bool is_done;
};

struct plan {
    struct migration *all; /* by rising number */
    size_t count;
    int64_t newest; /* number of the newest that was run; 0: none */
};

static mcp_status hash_script(struct migration *migration, mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = mcp_sha256(digest, migration->file->bytes, migration->file->length, err);

    for (size_t i = 0; st == MCP_OK && i < MCP_SHA256_SIZE; i++)
        snprintf(migration->sha256 + 2 * i, 3, "%02x", digest[i]);
    return st;
}

/* "sql/001-first.sql" in "sql" is "001-first.sql"; NULL: in another folder. */
static const char *name_in(const mcp_file *file, const char *folder)
{
    size_t length = strlen(folder);

    if (strncmp(file->path, folder, length) != 0 || file->path[length] != '/')
        return NULL;
    return file->path + length + 1;
}

/* "001-name.sql" and "001-name.postgres.sql": what follows the name; NULL: another form */
static const char *suffix_of(const char *name)
{
    size_t digits = strspn(name, "0123456789");

    if (digits < 3 || digits > 9 || name[digits] != '-' || strlen(name) > 100 || strchr(name, '/'))
        return NULL;
    const char *text = name + digits + 1;
    const char *suffix = strchr(text, '.');
    return suffix && suffix > text ? suffix : NULL;
}

/* The engine that a migration of that suffix is for; "": all; NULL: no such suffix */
static const char *engine_of(const char *suffix)
{
    static const struct {
        const char *suffix;
        const char *engine;
    } engines[] = { { ".sql", "" }, { ".sqlite.sql", "sqlite" }, { ".postgres.sql", "postgres" } };

    for (size_t i = 0; suffix && i < sizeof engines / sizeof engines[0]; i++)
        if (strcmp(engines[i].suffix, suffix) == 0)
            return engines[i].engine;
    return NULL;
}

/* Those of one number follow each other, those for all engines first. */
static int by_number(const void *a, const void *b)
{
    const struct migration *left = a;
    const struct migration *right = b;

    if (left->number != right->number)
        return left->number > right->number ? 1 : -1;
    return strcmp(left->engine, right->engine);
}

static mcp_status add(struct plan *plan, const char *name, const mcp_file *file, mcp_error *err)
{
    const char *engine = engine_of(suffix_of(name));

    if (!engine)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "%s: a migration is named like 001-name.sql, or 001-name.sqlite.sql "
                             "or 001-name.postgres.sql for one engine",
                             file->path);
    if (plan->count == MIGRATIONS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "more than %d migrations", MIGRATIONS_MAX);
    struct migration *migration = &plan->all[plan->count++];
    migration->name = name;
    migration->engine = engine;
    migration->number = strtoll(name, NULL, 10);
    migration->file = file;
    return hash_script(migration, err);
}

/* Two migrations of one number are for two engines. */
static mcp_status check_numbers(const struct plan *plan, mcp_error *err)
{
    for (size_t i = 1; i < plan->count; i++) {
        const struct migration *a = &plan->all[i - 1];
        const struct migration *b = &plan->all[i];
        if (a->number == b->number && (!*a->engine || strcmp(a->engine, b->engine) == 0))
            return mcp_error_set(err, MCP_E_PARAMS, "%s and %s have the same number", a->name,
                                 b->name);
    }
    return MCP_OK;
}

/* Drop those that are for another engine. */
static void keep_own(struct plan *plan, const char *engine)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->count; i++)
        if (!*plan->all[i].engine || strcmp(plan->all[i].engine, engine) == 0)
            plan->all[count++] = plan->all[i];
    plan->count = count;
}

static mcp_status read_plan(struct plan *plan, const mcp_file *files, const char *folder,
                            const char *engine, mcp_error *err)
{
    mcp_status st = MCP_OK;

    plan->all = mcp_alloc_zeroed(MIGRATIONS_MAX, sizeof plan->all[0]);
    if (!plan->all)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for migrations");
    for (; st == MCP_OK && files && files->path; files++) {
        const char *name = name_in(files, folder);
        if (name)
            st = add(plan, name, files, err);
    }
    qsort(plan->all, plan->count, sizeof plan->all[0], by_number);
    if (st == MCP_OK)
        st = check_numbers(plan, err);
    keep_own(plan, engine);
    return st;
}

static struct migration *find(struct plan *plan, int64_t number)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->all[i].number == number)
            return &plan->all[i];
    return NULL;
}

/* Compare one record with the plan. */
static mcp_status check_record(struct plan *plan, const db_rows *rows, mcp_error *err)
{
    int64_t number = db_int_at(rows, 0);
    const char *name = db_text_at(rows, 1, NULL);
    const char *sha256 = db_text_at(rows, 2, NULL);
    struct migration *migration = find(plan, number);

    if (!name || !sha256)
        return mcp_error_set(err, MCP_E_SCHEMA, "the table db_migrations was changed by hand");
    if (!migration)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the database has the migration %s, which this program does not know: "
                             "a newer one made it",
                             name);
    if (strcmp(migration->sha256, sha256) != 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the migration %s was changed after it was run on this database",
                             migration->name);
    migration->is_done = true;
    plan->newest = number > plan->newest ? number : plan->newest;
    return MCP_OK;
}

static mcp_status read_records(struct plan *plan, db_session *session, mcp_error *err)
{
    db_rows *rows = NULL;
    bool has_row = true;
    mcp_status st = db_query(&rows, session,
                             "SELECT number, name, sha256 FROM db_migrations ORDER BY number", NULL,
                             0, err);

    while (st == MCP_OK && has_row) {
        st = db_next(rows, &has_row, err);
        if (st == MCP_OK && has_row)
            st = check_record(plan, rows, err);
    }
    db_rows_free(rows);
    return st;
}

static mcp_status run_script(db_session *session, const struct migration *migration, mcp_error *err)
{
    mcp_error cause = MCP_ERROR_INIT;
    mcp_buf script;

    mcp_buf_init(&script, SCRIPT_MAX);
    mcp_buf_append(&script, migration->file->bytes, migration->file->length);
    mcp_status st = script.status;
    if (st != MCP_OK)
        mcp_error_set(&cause, st, "too long");
    else if (script.length > 0)
        st = session->db->driver->script(session->link, script.data, &cause);
    mcp_buf_clear(&script);
    if (st == MCP_OK)
        return MCP_OK;
    mcp_error_set(err, st, "%s: %s", migration->name, cause.message);
    return db_session_fail(session, err ? err : &cause, NULL);
}

static mcp_status record(db_session *session, const struct migration *migration, mcp_error *err)
{
    db_value values[] = { db_int(migration->number), db_text(migration->name),
                          db_text(migration->sha256), db_int(mcp_clock_wall_ms()) };

    return db_run(
        session, NULL,
        "INSERT INTO db_migrations (number, name, sha256, run_at) VALUES ($1, $2, $3, $4)", values,
        4, err);
}

static mcp_status run_missing(const struct plan *plan, db_session *session, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < plan->count; i++) {
        const struct migration *migration = &plan->all[i];
        if (migration->is_done)
            continue;
        if (migration->number < plan->newest)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "the migration %s should have been run before the newest that "
                                 "this database has seen",
                                 migration->name);
        st = run_script(session, migration, err);
        if (st == MCP_OK)
            st = record(session, migration, err);
        if (st == MCP_OK)
            mcp_log_write(&session->db->target.options.log, MCP_LOG_INFO,
                          "the migration %s was run on the database", migration->name);
    }
    return st;
}

static mcp_status migrate(db *self, struct plan *plan, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, self, DB_WRITE, err);

    if (st != MCP_OK)
        return st;
    st = self->driver->lock_schema(session->link, err);
    if (st == MCP_OK)
        st = db_run(session, NULL,
                    "CREATE TABLE IF NOT EXISTS db_migrations (number BIGINT PRIMARY KEY, "
                    "name TEXT NOT NULL, sha256 TEXT NOT NULL, run_at BIGINT NOT NULL)",
                    NULL, 0, err);
    if (st == MCP_OK)
        st = read_records(plan, session, err);
    if (st == MCP_OK)
        st = run_missing(plan, session, err);
    if (st == MCP_OK)
        return db_commit(session, err);
    db_rollback(session);
    return st;
}

/* What the database has run. One without the table of records has run nothing. */
static mcp_status look(db *self, struct plan *plan, mcp_error *err)
{
    db_session *session = NULL;
    mcp_status st = db_begin(&session, self, DB_READ, err);

    if (st == MCP_OK)
        st = read_records(plan, session, err);
    db_rollback(session);
    return st == MCP_E_INTERNAL ? MCP_OK : st;
}

mcp_status db_is_migrated(bool *out, db *self, mcp_error *err)
{
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has_row = false;
    mcp_status st = db_begin(&session, self, DB_READ, err);

    if (st == MCP_OK)
        st = db_query(&rows, session, "SELECT number FROM db_migrations LIMIT 1", NULL, 0, err);
    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    db_rows_free(rows);
    db_rollback(session);
    *out = has_row;
    return st == MCP_E_INTERNAL ? MCP_OK : st; /* there is no such table */
}

/* NULL: the database has run all. */
static const char *first_missing(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->all[i].is_done)
            return plan->all[i].name;
    return NULL;
}

/* A read-only database must be up to date. */
static mcp_status verify(db *self, struct plan *plan, mcp_error *err)
{
    mcp_status st = look(self, plan, err);
    const char *missing = first_missing(plan);

    if (st != MCP_OK || !missing)
        return st;
    return mcp_error_set(err, MCP_E_DENIED,
                         "the database is for reading only and lacks the migration %s", missing);
}

mcp_status db_migrate(db *self, const mcp_file *files, const char *folder, mcp_error *err)
{
    struct plan plan = { 0 };
    mcp_status st = read_plan(&plan, files, folder, self->driver->name, err);

    if (st == MCP_OK)
        st = self->target.options.read_only ? verify(self, &plan, err) : migrate(self, &plan, err);
    free(plan.all);
    return st;
}

mcp_status db_migrations_check(bool *is_current, db *self, const mcp_file *files,
                               const char *folder, mcp_error *err)
{
    struct plan plan = { 0 };
    mcp_status st = read_plan(&plan, files, folder, self->driver->name, err);

    if (st == MCP_OK)
        st = look(self, &plan, err);
    if (st == MCP_OK)
        *is_current = !first_missing(&plan);
    free(plan.all);
    return st;
}
