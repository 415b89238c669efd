/*
 * sqlite.c - the driver for SQLite: one file, one connection that writes and some that read.
 *
 * The file is in WAL mode, so readers and the writer do not wait for each other. Another process
 * may write meanwhile; then the busy handler waits for its lock until the deadline, polling,
 * because SQLite has no event for that. The progress handler ends statements that run too long.
 * Both deadlines are in the link and are set again before each step.
 *
 * A query makes its first step at once, because a statement with RETURNING does all its work there.
 *
 * When the file or its log (-wal) is removed or replaced, a program that has it open would continue
 * to write to a file without a name, and its commits would be lost when it ends. So each
 * transaction that writes first checks whether both names still lead to the files that were opened.
 * Commits in a log that was removed are moved into the file at once, and nothing more is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "db/cache.h"
#include "db/dialect.h"
#include "db/driver.h"
#include "mcp/alloc.h"
#include "mcp/buf.h"
#include "mcp/clock.h"

enum { NAP_MIN_US = 500, NAP_MAX_US = 10000, STEPS_A_LOOK = 4000, SQL_ROOM = 2 << 20 };
enum { SCRIPT_MS = 600000 };

/* Which file a name led to. */
struct identity {
    bool is_known;
    dev_t device;
    ino_t inode;
};

typedef struct sqlite_link {
    db_link base;
    const db_target *target;
    sqlite3 *db;
    struct db_cache cache;
    sqlite3_stmt *open;       /* the query whose rows are read; NULL: none */
    bool has_first;           /* its first row was fetched and not yet asked for */
    bool is_exhausted;        /* it has no more */
    struct identity log;      /* the -wal in use */
    bool has_lost_log;        /* it was removed */
    int64_t lock_deadline_ms; /* on the monotonic clock */
    int64_t step_deadline_ms;
} sqlite_link;

static const struct {
    int code; /* primary, or extended where the primary is not specific */
    mcp_status status;
} failures[] = {
    { SQLITE_CONSTRAINT_UNIQUE, MCP_E_EXISTS },
    { SQLITE_CONSTRAINT_PRIMARYKEY, MCP_E_EXISTS },
    { SQLITE_CONSTRAINT_ROWID, MCP_E_EXISTS },
    { SQLITE_IOERR_NOMEM, MCP_E_NOMEM },
    { SQLITE_CONSTRAINT, MCP_E_SCHEMA },
    { SQLITE_MISMATCH, MCP_E_SCHEMA },
    { SQLITE_BUSY, MCP_E_BUSY },
    { SQLITE_LOCKED, MCP_E_BUSY },
    { SQLITE_SCHEMA, MCP_E_BUSY },
    { SQLITE_INTERRUPT, MCP_E_TIMEOUT },
    { SQLITE_READONLY, MCP_E_DENIED },
    { SQLITE_PERM, MCP_E_DENIED },
    { SQLITE_AUTH, MCP_E_INTERNAL },
    { SQLITE_TOOBIG, MCP_E_LIMIT },
    { SQLITE_RANGE, MCP_E_PARAMS },
    { SQLITE_NOMEM, MCP_E_NOMEM },
    { SQLITE_ERROR, MCP_E_INTERNAL },
    { SQLITE_MISUSE, MCP_E_INTERNAL },
};

static mcp_status status_of(int code)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (failures[i].code == code || failures[i].code == (code & 0xff))
            return failures[i].status;
    return MCP_E_IO;
}

/* A file that may not grow is reported as another failure, and after a rollback without its cause:
 * then errno, which is 0 at the begin of a statement, still has it. */
static bool is_full(const sqlite_link *self, int code)
{
    /* Not SQLITE_IOERR_FSYNC and the like: after these a commit may have been made. */
    bool may_be = code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE ||
                  code == SQLITE_IOERR_SHMMAP || (code & 0xff) == SQLITE_CANTOPEN;
    int cause = sqlite3_system_errno(self->db);

    if (cause == 0)
        cause = errno;
    return (code & 0xff) == SQLITE_FULL ||
           (may_be && (cause == ENOSPC || cause == EDQUOT || cause == EFBIG));
}

/* The engine's message of the link's last failure. Errors of the file name it. */
static mcp_status fail(sqlite_link *self, int code, mcp_error *err)
{
    mcp_status st = status_of(code);
    const char *path = self->target->path;

    if (is_full(self, code))
        return mcp_error_set(err, MCP_E_STORAGE, "%s: the disk is full", path);
    switch (code & 0xff) {
    case SQLITE_NOTADB:
        return mcp_error_set(err, st, "%s is not a SQLite database", path);
    case SQLITE_BUSY:
        return mcp_error_set(err, st, "%s was locked by another process for %d ms", path,
                             self->target->options.wait_ms);
    case SQLITE_INTERRUPT:
        return mcp_error_set(err, st, "the database took longer than %d ms for a statement",
                             self->target->options.statement_ms);
    default:
        break;
    }
    if (st == MCP_E_IO && !self->target->is_memory)
        self->base.is_lost = true;
    if (st == MCP_E_IO || st == MCP_E_DENIED)
        return mcp_error_set(err, st, "%s: %s", path, sqlite3_errmsg(self->db));
    return mcp_error_set(err, st, DB_ENGINE_SAYS "%s", sqlite3_errmsg(self->db));
}

static int on_busy(void *data, int tries)
{
    sqlite_link *self = data;
    long nap_us = (long)NAP_MIN_US * (tries + 1);
    struct timespec nap = { .tv_nsec = (nap_us > NAP_MAX_US ? NAP_MAX_US : nap_us) * 1000 };

    if (mcp_clock_mono_ms() >= self->lock_deadline_ms)
        return 0;
    nanosleep(&nap, NULL);
    return 1;
}

static int on_progress(void *data)
{
    const sqlite_link *self = data;

    return mcp_clock_mono_ms() >= self->step_deadline_ms;
}

static void set_deadlines(sqlite_link *self)
{
    int64_t now_ms = mcp_clock_mono_ms();

    errno = 0; /* see is_full */
    self->lock_deadline_ms = now_ms + self->target->options.wait_ms;
    self->step_deadline_ms = self->lock_deadline_ms + self->target->options.statement_ms;
}

static mcp_status parse_url(db_target *target, const char *url, mcp_error *err)
{
    bool is_memory = strcmp(url, "memory") == 0 || strcmp(url, "sqlite::memory:") == 0;
    const char *path = is_memory ? ":memory:" : url + strlen("sqlite:");

    if (!*path)
        return mcp_error_set(err, MCP_E_PARAMS, "sqlite: names no file");
    /* SQLite would take such a name for a URI. */
    if (strncmp(path, "file:", strlen("file:")) == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "a path is wanted behind sqlite:, not a URI");
    target->path = mcp_alloc_strdup(path);
    target->is_memory = is_memory;
    target->parsed = mcp_alloc_zeroed(1, sizeof(struct identity));
    if (target->path && target->parsed)
        return MCP_OK;
    free(target->path);
    free(target->parsed);
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a path");
}

static void free_target(db_target *target)
{
    free(target->path);
    free(target->parsed);
}

/* Whether the name still leads to the same file as at the first call. */
static bool leads_to(struct identity *file, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return !file->is_known;
    if (!file->is_known)
        *file = (struct identity){ true, st.st_dev, st.st_ino };
    return st.st_dev == file->device && st.st_ino == file->inode;
}

static mcp_status refuse_moved(const char *path, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_IO,
                         "%s was removed or replaced while it was open: restart the program", path);
}

/*
 * Create the file for its owner only; SQLite gives its companions the same mode. Only a new file is
 * closed again: closing an existing one would drop other locks of this process on it.
 */
static mcp_status make_file(const db_target *target, mcp_error *err)
{
    struct stat st;

    /* By the first connection, before there are others. */
    const struct identity *known = target->parsed;

    if (target->is_memory)
        return MCP_OK;
    if (known->is_known)
        return leads_to(target->parsed, target->path) ? MCP_OK : refuse_moved(target->path, err);
    if (!target->options.read_only) {
        int fd = open(target->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0) {
            close(fd);
            return MCP_OK;
        }
        if (errno != EEXIST)
            return mcp_error_errno(err, errno, "the database %s cannot be made", target->path);
    }
    if (stat(target->path, &st) != 0)
        return mcp_error_errno(err, errno, "the database %s cannot be opened", target->path);
    if (!S_ISREG(st.st_mode))
        return mcp_error_set(err, MCP_E_IO, "%s is not a file", target->path);
    if (access(target->path, target->options.read_only ? R_OK : R_OK | W_OK) != 0)
        return mcp_error_errno(err, errno, "the database %s cannot be opened", target->path);
    return MCP_OK;
}

static mcp_status exec(sqlite_link *self, const char *sql, mcp_error *err)
{
    set_deadlines(self);
    int code = sqlite3_exec(self->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? MCP_OK : fail(self, code, err);
}

/* The busy handler does not run when the mode changes, so this waits for other processes. */
static mcp_status use_wal(sqlite_link *self, mcp_error *err)
{
    int code = SQLITE_OK;
    int tries = 0;

    set_deadlines(self);
    do
        code = sqlite3_exec(self->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    while ((code & 0xff) == SQLITE_BUSY && on_busy(self, tries++));
    return code == SQLITE_OK ? MCP_OK : fail(self, code, err);
}

static mcp_status configure(sqlite_link *self, db_mode mode, mcp_error *err)
{
    const db_options *options = &self->target->options;
    mcp_status st = MCP_OK;

    sqlite3_extended_result_codes(self->db, 1);
    sqlite3_busy_handler(self->db, on_busy, self);
    sqlite3_progress_handler(self->db, STEPS_A_LOOK, on_progress, self);
    sqlite3_db_config(self->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* Reading the header first returns "not a database" before any other error. */
    st = exec(self, "PRAGMA schema_version", err);
    if (st == MCP_OK && !options->read_only && !self->target->is_memory)
        st = use_wal(self, err);
    if (st == MCP_OK)
        st = exec(self,
                  "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;"
                  "PRAGMA cache_size=-8000; PRAGMA journal_size_limit=67108864",
                  err);
    if (st == MCP_OK)
        st = exec(self, options->relaxed ? "PRAGMA synchronous=NORMAL" : "PRAGMA synchronous=FULL",
                  err);
    if (st == MCP_OK && mode == DB_READ)
        st = exec(self, "PRAGMA query_only=ON", err);
    return st;
}

static void close_link(db_link *link)
{
    sqlite_link *self = (sqlite_link *)link;
    sqlite3_stmt *statement = NULL;

    for (statement = db_cache_take(&self->cache, NULL); statement;
         statement = db_cache_take(&self->cache, NULL))
        sqlite3_finalize(statement);
    sqlite3_close(self->db);
    free(self);
}

/* SQLite counts its memory under one lock for all threads, and nobody asks for the count. Where the
 * program has used SQLite before, this has no effect. */
static void count_no_memory(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static mcp_status open_link(db_link **out, const db_target *target, db_mode mode, mcp_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int access = target->options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    mcp_status st = make_file(target, err);

    if (st != MCP_OK)
        return st;
    sqlite_link *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    self->target = target;
    pthread_once(&once, count_no_memory);
    int code = sqlite3_open_v2(target->path, &self->db, access | SQLITE_OPEN_NOMUTEX, NULL);
    if (!self->db)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    else if (code != SQLITE_OK)
        st = fail(self, code, err);
    else
        st = configure(self, mode, err);
    if (st == MCP_OK && !target->is_memory && !leads_to(target->parsed, target->path))
        st = refuse_moved(target->path, err);
    if (st == MCP_OK)
        *out = &self->base;
    else
        close_link(&self->base);
    return st;
}

/* The text of one statement in the dialect of SQLite. */
static int prepare_text(sqlite_link *self, sqlite3_stmt **out, const char *sql)
{
    const char *rest = NULL;
    mcp_buf text;

    mcp_buf_init(&text, SQL_ROOM);
    if (db_dialect_of_sqlite(&text, sql) != MCP_OK) {
        mcp_buf_clear(&text);
        return SQLITE_NOMEM;
    }
    int code = sqlite3_prepare_v3(self->db, text.data ? text.data : "", -1,
                                  SQLITE_PREPARE_PERSISTENT, out, &rest);
    mcp_buf_clear(&text);
    return code;
}

/* Whether all parameters were "$1", "$2", ... */
static bool has_numbers(sqlite3_stmt *statement)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        if (name && name[0] != '?') /* none: the statement does not use this number */
            return false;
    }
    return true;
}

static mcp_status prepare(sqlite3_stmt **out, sqlite_link *self, const char *sql, mcp_error *err)
{
    sqlite3_stmt *statement = db_cache_find(&self->cache, sql);
    void *dropped = NULL;

    if (!statement) {
        int code = prepare_text(self, &statement, sql);
        if (code != SQLITE_OK)
            return fail(self, code, err);
        if (!statement)
            return mcp_error_set(err, MCP_E_INTERNAL, "database: an empty statement");
        if (!has_numbers(statement)) {
            sqlite3_finalize(statement);
            return mcp_error_set(err, MCP_E_INTERNAL, "database: parameters are $1, $2, ...");
        }
        if (db_cache_put(&dropped, &self->cache, sql, statement, err) != MCP_OK) {
            sqlite3_finalize(statement);
            return MCP_E_NOMEM;
        }
        sqlite3_finalize(dropped);
    }
    *out = statement;
    return MCP_OK;
}

static int bind_one(sqlite3_stmt *statement, int i, const db_value *value,
                    sqlite3_destructor_type keep)
{
    switch (value->kind) {
    case DB_INT:
        return sqlite3_bind_int64(statement, i, value->integer);
    case DB_DOUBLE:
        return sqlite3_bind_double(statement, i, value->real);
    case DB_TEXT:
        return sqlite3_bind_text64(statement, i, value->bytes, value->length, keep, SQLITE_UTF8);
    case DB_BLOB:
        return sqlite3_bind_blob64(statement, i, value->bytes, value->length, keep);
    case DB_NULL:
        break;
    }
    return sqlite3_bind_null(statement, i);
}

static mcp_status bind(sqlite_link *self, sqlite3_stmt *statement, const db_call *call,
                       sqlite3_destructor_type keep, mcp_error *err)
{
    size_t count = (size_t)sqlite3_bind_parameter_count(statement);
    int code = SQLITE_OK;

    if (count != call->count)
        return mcp_error_set(err, MCP_E_PARAMS, "a statement has %zu parameters, %zu were given",
                             count, call->count);
    for (size_t i = 0; code == SQLITE_OK && i < count; i++)
        code = bind_one(statement, (int)i + 1, &call->values[i], keep);
    return code == SQLITE_OK ? MCP_OK : fail(self, code, err);
}

static mcp_status prepare_and_bind(sqlite3_stmt **out, sqlite_link *self, const db_call *call,
                                   sqlite3_destructor_type keep, mcp_error *err)
{
    sqlite3_stmt *statement = NULL;

    set_deadlines(self);
    mcp_status st = prepare(&statement, self, call->sql, err);
    if (st == MCP_OK)
        st = bind(self, statement, call, keep, err);
    if (st == MCP_OK)
        *out = statement;
    else if (statement)
        sqlite3_clear_bindings(statement);
    return st;
}

static void reset(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

static mcp_status run(db_link *link, int64_t *changed, const db_call *call, mcp_error *err)
{
    sqlite_link *self = (sqlite_link *)link;
    sqlite3_stmt *statement = NULL;
    int64_t before = sqlite3_total_changes64(self->db);
    mcp_status st = prepare_and_bind(&statement, self, call, SQLITE_STATIC, err);
    int code = SQLITE_ROW;

    if (st != MCP_OK)
        return st;
    while (code == SQLITE_ROW)
        code = sqlite3_step(statement);
    if (code != SQLITE_DONE)
        st = fail(self, code, err);
    /* sqlite3_changes is of an older statement where this one changes no rows. */
    *changed = sqlite3_total_changes64(self->db) == before ? 0 : sqlite3_changes64(self->db);
    reset(statement);
    return st;
}

static int no_transaction(void *data, int action, const char *a, const char *b, const char *c,
                          const char *d)
{
    (void)data;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return action == SQLITE_TRANSACTION || action == SQLITE_SAVEPOINT || action == SQLITE_ATTACH
               ? SQLITE_DENY
               : SQLITE_OK;
}

static mcp_status script(db_link *link, const char *sql, mcp_error *err)
{
    sqlite_link *self = (sqlite_link *)link;

    set_deadlines(self);
    self->step_deadline_ms += SCRIPT_MS;
    sqlite3_set_authorizer(self->db, no_transaction, NULL);
    int code = sqlite3_exec(self->db, sql, NULL, NULL, NULL);
    mcp_status st = code == SQLITE_OK ? MCP_OK : fail(self, code, err);
    sqlite3_set_authorizer(self->db, NULL, NULL);
    return st;
}

/* BEGIN IMMEDIATE has the lock already. */
static mcp_status lock_schema(db_link *link, mcp_error *err)
{
    (void)link;
    (void)err;
    return MCP_OK;
}

static mcp_status run_plain(sqlite_link *self, const char *sql, mcp_error *err)
{
    int64_t changed = 0;

    return run(&self->base, &changed, &(db_call){ sql, NULL, 0 }, err);
}

/* Within the transaction, or without one where it is to be refused. */
static mcp_status check_names(sqlite_link *self, mcp_error *err)
{
    const db_target *target = self->target;
    char log[PATH_MAX];

    if (!leads_to(target->parsed, target->path))
        return refuse_moved(target->path, err);
    int length = snprintf(log, sizeof log, "%s-wal", target->path);
    if (length >= (int)sizeof log || (!self->has_lost_log && leads_to(&self->log, log)))
        return MCP_OK;
    (void)run_plain(self, "ROLLBACK", NULL);
    if (!self->has_lost_log)
        (void)exec(self, "PRAGMA wal_checkpoint(FULL)", NULL);
    self->has_lost_log = true;
    return refuse_moved(log, err);
}

static mcp_status begin(db_link *link, db_mode mode, mcp_error *err)
{
    sqlite_link *self = (sqlite_link *)link;
    mcp_status st = run_plain(self, mode == DB_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", err);

    return st == MCP_OK && mode == DB_WRITE && !self->target->is_memory ? check_names(self, err)
                                                                        : st;
}

static mcp_status commit(db_link *link, mcp_error *err)
{
    return run_plain((sqlite_link *)link, "COMMIT", err);
}

static void finish(db_link *link)
{
    sqlite_link *self = (sqlite_link *)link;

    if (self->open)
        reset(self->open);
    self->open = NULL;
}

/* A severe failure has rolled back already. */
static void rollback(db_link *link)
{
    sqlite_link *self = (sqlite_link *)link;

    finish(link);
    /* The second way needs no memory of ours. */
    if (!sqlite3_get_autocommit(self->db) && run_plain(self, "ROLLBACK", NULL) != MCP_OK &&
        exec(self, "ROLLBACK", NULL) != MCP_OK)
        self->base.is_lost = !self->target->is_memory;
}

static mcp_status command(db_link *link, const char *sql, bool undoes, mcp_error *err)
{
    (void)undoes;
    return run_plain((sqlite_link *)link, sql, err);
}

static mcp_status version(db_link *link, int64_t *out, mcp_error *err)
{
    sqlite_link *self = (sqlite_link *)link;
    sqlite3_stmt *statement = NULL;
    mcp_status st = prepare_and_bind(&statement, self, &(db_call){ "PRAGMA data_version", NULL, 0 },
                                     SQLITE_STATIC, err);

    if (st != MCP_OK)
        return st;
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    else
        st = fail(self, code, err);
    reset(statement);
    return st;
}

static mcp_status step(sqlite_link *self, bool *has_row, mcp_error *err)
{
    set_deadlines(self);
    int code = sqlite3_step(self->open);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return fail(self, code, err);
    *has_row = code == SQLITE_ROW;
    self->is_exhausted = code == SQLITE_DONE;
    return MCP_OK;
}

static mcp_status query(db_link *link, const db_call *call, mcp_error *err)
{
    sqlite_link *self = (sqlite_link *)link;
    mcp_status st = prepare_and_bind(&self->open, self, call, SQLITE_TRANSIENT, err);

    if (st != MCP_OK)
        return st;
    st = step(self, &self->has_first, err);
    if (st != MCP_OK)
        finish(link);
    return st;
}

static mcp_status next(db_link *link, bool *has_row, mcp_error *err)
{
    sqlite_link *self = (sqlite_link *)link;

    if (self->has_first || self->is_exhausted) {
        *has_row = self->has_first;
        self->has_first = false;
        return MCP_OK;
    }
    return step(self, has_row, err);
}

static int columns(const db_link *link)
{
    return sqlite3_data_count(((const sqlite_link *)link)->open);
}

static db_value cell(const db_link *link, int column)
{
    sqlite3_stmt *open = ((const sqlite_link *)link)->open;
    const char *bytes = NULL;

    switch (sqlite3_column_type(open, column)) {
    case SQLITE_INTEGER:
        return db_int(sqlite3_column_int64(open, column));
    case SQLITE_FLOAT:
        return db_double(sqlite3_column_double(open, column));
    case SQLITE_TEXT:
        bytes = (const char *)sqlite3_column_text(open, column);
        return db_text_n(bytes, (size_t)sqlite3_column_bytes(open, column));
    case SQLITE_BLOB:
        bytes = sqlite3_column_blob(open, column);
        return db_blob(bytes, (size_t)sqlite3_column_bytes(open, column));
    default:
        return db_null();
    }
}

const db_driver db_sqlite = {
    .name = "sqlite",
    .has_one_writer = true,
    .parse_url = parse_url,
    .free = free_target,
    .open = open_link,
    .close = close_link,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .command = command,
    .version = version,
    .run = run,
    .script = script,
    .lock_schema = lock_schema,
    .query = query,
    .next = next,
    .finish = finish,
    .columns = columns,
    .cell = cell,
};
