/*
 * link.c - reaching a PostgreSQL server: the URL, the connection, waiting, failures.
 *
 * libpq's blocking calls have no time limit, so only poll() blocks here, until a deadline: the time
 * limit of a statement plus that of a lock (the server ends that wait itself, by lock_timeout).
 * After the deadline the connection is closed.
 *
 * libpq quotes parts of an invalid URL, and a password with a bare '@' or '/' in it parses as a
 * host's name. So such a URL is refused before libpq parses it, and libpq's message about a URL is
 * not returned.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "db/postgres/postgres_int.h"
#include "mcp/clock.h"

enum { PARAMETERS_MAX = 80, SERVER_MIN = 130000, CONNECT_MS = 10000 };

/* Parameters of a connection that the URL may override. */
static const char *const defaults[][2] = {
    { "fallback_application_name", "causeway" },
    { "keepalives_idle", "30" },
    { "keepalives_interval", "10" },
    { "keepalives_count", "3" },
    { "tcp_user_timeout", "60000" },
};

static const struct {
    const char *state; /* SQLSTATE, or the two characters of its class */
    mcp_status status;
} failures[] = {
    /* clang-format off */
    { "23505", MCP_E_EXISTS }, { "23P01", MCP_E_EXISTS },
    { "23", MCP_E_SCHEMA }, { "22", MCP_E_SCHEMA }, { "P0", MCP_E_SCHEMA }, /* a trigger refuses */
    { "40001", MCP_E_BUSY }, { "40P01", MCP_E_BUSY },
    { "55P03", MCP_E_BUSY }, { "53300", MCP_E_BUSY },
    { "57014", MCP_E_TIMEOUT },
    { "25006", MCP_E_DENIED }, { "42501", MCP_E_DENIED }, { "28", MCP_E_DENIED },
    { "53100", MCP_E_STORAGE }, { "53200", MCP_E_NOMEM }, { "54", MCP_E_LIMIT },
    { "08P01", MCP_E_PARAMS },
    { "42", MCP_E_INTERNAL }, { "25", MCP_E_INTERNAL }, { "26", MCP_E_INTERNAL },
    { "0A", MCP_E_INTERNAL },
    /* clang-format on */
};

static mcp_status status_of(const char *state)
{
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        if (strncmp(state, failures[i].state, strlen(failures[i].state)) == 0)
            return failures[i].status;
    return MCP_E_IO;
}

/* At most one '@', and it must precede the host. */
static bool hides_no_password(const char *url)
{
    const char *rest = strstr(url, "://") + 3;
    const char *at = strchr(rest, '@');

    return !at || (at < rest + strcspn(rest, "/?#") && !strchr(at + 1, '@'));
}

mcp_status pg_parse_url(db_target *target, const char *url, mcp_error *err)
{
    if (!hides_no_password(url))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "in the database's URL every '@', '/', '?' and '#' of a name or "
                             "password must be percent-encoded");
    mcp_status st = pg_lib_open(err);
    if (st != MCP_OK)
        return st;
    target->parsed = pg_lib.PQconninfoParse(url, NULL);
    if (!target->parsed)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "the database's URL is not postgres://USER@HOST:PORT/NAME, or has an "
                             "option that libpq does not know");
    return MCP_OK;
}

void pg_free_target(db_target *target)
{
    if (target->parsed) /* else there may be no libpq */
        pg_lib.PQconninfoFree(target->parsed);
}

static const char *option_of(const db_target *target, const char *name)
{
    const PQconninfoOption *option = target->parsed;

    for (; option->keyword; option++)
        if (strcmp(option->keyword, name) == 0)
            return option->val;
    return NULL;
}

/* The parameters in libpq's two lists, each ended by NULL. */
static void list_parameters(const db_target *target, const char **names, const char **values)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (option_of(target, defaults[i][0]))
            continue;
        names[count] = defaults[i][0];
        values[count++] = defaults[i][1];
    }
    names[count] = "client_encoding";
    values[count++] = "UTF8";
    for (const PQconninfoOption *option = target->parsed; option->keyword; option++) {
        if (!option->val || strcmp(option->keyword, "client_encoding") == 0 ||
            count + 1 >= PARAMETERS_MAX)
            continue;
        names[count] = option->keyword;
        values[count++] = option->val;
    }
    names[count] = NULL;
    values[count] = NULL;
}

/* Wait for the socket. @return what poll found; 0: the deadline has passed; -1: it failed */
static int wait_for_socket(PGconn *conn, short events, int64_t deadline_ms)
{
    struct pollfd fd = { .fd = pg_lib.PQsocket(conn), .events = events };
    int found = -1;

    do {
        int64_t left_ms = deadline_ms - mcp_clock_mono_ms();
        if (left_ms <= 0)
            return 0;
        found = poll(&fd, 1, left_ms > 60000 ? 60000 : (int)left_ms);
    } while (found == 0 || (found < 0 && errno == EINTR));
    return found < 0 ? -1 : fd.revents;
}

/* libpq's first line, unless the password is in it. */
static mcp_status say(const db_target *target, mcp_status st, const char *words, mcp_error *err)
{
    const char *password = option_of(target, "password");
    bool tells = password && *password && strstr(words, password);

    if (tells || !*words)
        return mcp_error_set(err, st, DB_ENGINE_SAYS "the connection failed");
    return mcp_error_set(err, st, DB_ENGINE_SAYS "%.*s", (int)strcspn(words, "\n"), words);
}

/* The status of a failed connection: only the message has it. */
static mcp_status refuse_connection(PGconn *conn, const db_target *target, mcp_error *err)
{
    const char *words = pg_lib.PQerrorMessage(conn);
    bool is_full = strstr(words, "too many clients") || strstr(words, "too many connections") ||
                   strstr(words, "remaining connection slots");

    return say(target, is_full ? MCP_E_BUSY : MCP_E_IO, words, err);
}

static mcp_status finish_connecting(PGconn *conn, const db_target *target, mcp_error *err)
{
    int64_t deadline_ms = mcp_clock_mono_ms() + CONNECT_MS;
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;

    while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
        if (wait_for_socket(conn, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms) ==
            0)
            return mcp_error_set(err, MCP_E_IO, "the database server did not answer within %d ms",
                                 CONNECT_MS);
        next = pg_lib.PQconnectPoll(conn);
    }
    return next == PGRES_POLLING_OK ? MCP_OK : refuse_connection(conn, target, err);
}

static void log_notice(void *data, const char *message)
{
    const db_target *target = data;

    mcp_log_write(&target->options.log, MCP_LOG_INFO, "database: %.*s", (int)strcspn(message, "\n"),
                  message);
}

static mcp_status check_server(PGconn *conn, mcp_error *err)
{
    int version = pg_lib.PQserverVersion(conn);

    if (version < SERVER_MIN)
        return mcp_error_set(err, MCP_E_UNSUPPORTED,
                             "the database server is PostgreSQL %d; 13 is the oldest that will do",
                             version / 10000);
    return pg_lib.PQsetnonblocking(conn, 1) == 0
               ? MCP_OK
               : mcp_error_set(err, MCP_E_IO, "the connection to the database failed");
}

mcp_status pg_connect(PGconn **out, const db_target *target, mcp_error *err)
{
    const char *names[PARAMETERS_MAX];
    const char *values[PARAMETERS_MAX];

    list_parameters(target, names, values);
    PGconn *conn = pg_lib.PQconnectStartParams(names, values, 0);
    if (!conn)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    pg_lib.PQsetNoticeProcessor(conn, log_notice, (void *)target);
    mcp_status st = pg_lib.PQstatus(conn) == CONNECTION_BAD ? refuse_connection(conn, target, err)
                                                            : finish_connecting(conn, target, err);
    if (st == MCP_OK)
        st = check_server(conn, err);
    if (st == MCP_OK)
        *out = conn;
    else
        pg_lib.PQfinish(conn);
    return st;
}

mcp_status pg_lose(pg_link *self, mcp_error *err)
{
    self->base.is_lost = true;
    return say(self->target, MCP_E_IO, pg_lib.PQerrorMessage(self->conn), err);
}

mcp_status pg_wait(pg_link *self, mcp_error *err)
{
    const db_options *options = &self->target->options;
    int64_t deadline_ms = mcp_clock_mono_ms() + options->statement_ms + options->wait_ms;

    for (;;) {
        int unsent = pg_lib.PQflush(self->conn);
        if (unsent < 0)
            return pg_lose(self, err);
        if (unsent == 0 && !pg_lib.PQisBusy(self->conn))
            return MCP_OK;
        int found = wait_for_socket(self->conn, unsent ? POLLIN | POLLOUT : POLLIN, deadline_ms);
        if (found == 0) {
            self->base.is_lost = true;
            return mcp_error_set(err, MCP_E_TIMEOUT,
                                 "the database took longer than %d ms for a statement",
                                 options->statement_ms);
        }
        if ((found & ~POLLOUT) && !pg_lib.PQconsumeInput(self->conn))
            return pg_lose(self, err);
    }
}

/* A table was changed after the statement was prepared: a new connection repairs that. */
static bool is_stale_plan(const PGresult *result, const char *state)
{
    const char *where = pg_lib.PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);

    return strcmp(state, "0A000") == 0 && where && strcmp(where, "RevalidateCachedQuery") == 0;
}

mcp_status pg_fail(pg_link *self, const PGresult *result, mcp_error *err)
{
    const char *state = pg_lib.PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = pg_lib.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

    if (pg_lib.PQstatus(self->conn) == CONNECTION_BAD)
        self->base.is_lost = true;
    if (!state)
        return say(self->target, MCP_E_IO, pg_lib.PQerrorMessage(self->conn), err);
    mcp_status st = status_of(state);
    if (is_stale_plan(result, state)) {
        self->base.is_lost = true;
        st = MCP_E_BUSY;
    }
    return say(self->target, st, words ? words : "", err);
}
