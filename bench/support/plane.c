/*
 * plane.c - making the database by the commands of the program itself, and serving it.
 */
#include "support/plane.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "keys/canonical.h"
#include "mcp/buf.h"
#include "mcp/hash.h"
#include "support/session.h"

enum { LINE_MAX_SIZE = 4096, PATIENCE_S = 60, POLL_NS = 2000000 };

static char own_program[LINE_MAX_SIZE];

void plane_program(int argc, char **argv)
{
    const char *bin = getenv("CAUSEWAY_BIN");

    if (argc > 1)
        snprintf(own_program, sizeof own_program, "%s", argv[1]);
    else
        snprintf(own_program, sizeof own_program, "%s/portarium", bin ? bin : "build/bin");
}

char *plane_program_path(void)
{
    return own_program;
}

/* ---- the database ---------------------------------------------------------------------------- */

/* Run a command that prints one line. */
static void run(char *out, size_t size, char *const *command)
{
    program it;
    size_t length = 0;

    program_start(&it, command);
    const char *line = program_line(&it, &length);
    snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
    program_end(&it);
}

static void write_workflow(FILE *file, int number, const char *id, const char *tier)
{
    fprintf(file,
            "{\"schemaVersion\":1,\"workflowId\":\"%s\",\"workspaceId\":\"ws-%d\",\"name\":\"%s\","
            "\"version\":1,\"active\":true,\"executionTier\":\"%s\",\"actions\":[{\"actionId\":"
            "\"one\",\"order\":1,\"portFamily\":\"SoftwareDev\",\"operation\":\"control:noop\","
            "\"input\":{\"n\":\"${parameters.n}\"}}]}",
            id, number, id, tier);
}

static void write_content(const char *path, int workspaces)
{
    FILE *file = fopen(path, "w");

    if (!file)
        bench_give_up("no file %s", path);
    fputs("{\"workspaces\":[", file);
    for (int i = 1; i <= workspaces; i++) {
        fprintf(file, "%s{\"workspaceId\":\"ws-%d\",\"name\":\"%d\",\"workflows\":[",
                i > 1 ? "," : "", i, i);
        write_workflow(file, i, "noop", "Auto");
        putc(',', file);
        write_workflow(file, i, "gate", "HumanApprove");
        fputs("]}", file);
    }
    fputs("]}", file);
    fclose(file);
}

static void start_postgres(plane *it)
{
    char script[] = "tests/support/postgres", start[] = "start", durable[] = "durable";
    char *const command[] = { script, start, it->folder, durable, NULL };

    run(it->url, sizeof it->url, command);
}

void plane_open(plane *out, int workspaces, bool is_postgres)
{
    char admin[] = "admin", apply[] = "apply", db_flag[] = "--db", said[LINE_MAX_SIZE];
    char path[PLANE_FOLDER_MAX + 32];
    char *const command[] = { own_program, admin, apply, path, db_flag, out->url, NULL };

    *out = (plane){ .folder = P_tmpdir "/bench-portarium-XXXXXX" };
    if (!mkdtemp(out->folder))
        bench_give_up("no folder in " P_tmpdir);
    if (is_postgres)
        start_postgres(out);
    else
        snprintf(out->url, sizeof out->url, "sqlite:%s/p.db", out->folder);
    if (workspaces == 0)
        return;
    snprintf(path, sizeof path, "%s/content.json", out->folder);
    write_content(path, workspaces);
    run(said, sizeof said, command);
    if (!strstr(said, "created"))
        bench_give_up("admin apply: %s", said);
}

void plane_token(char out[PLANE_TOKEN_MAX], const plane *it, int number, const char *subject,
                 const char *roles)
{
    char tokens[] = "tokens", create[] = "create", db_flag[] = "--db", roles_flag[] = "--roles",
         workspace_flag[] = "--workspace", subject_flag[] = "--subject", workspace[32];
    char *const command[] = { own_program,     tokens,         create,        db_flag,
                              (char *)it->url, workspace_flag, workspace,     subject_flag,
                              (char *)subject, roles_flag,     (char *)roles, NULL };

    snprintf(workspace, sizeof workspace, "ws-%d", number);
    run(out, PLANE_TOKEN_MAX, command);
    if (strncmp(out, "ptm_", 4) != 0)
        bench_give_up("tokens create: %s", out);
}

/* The token is the hash of its number: it looks like one, and nobody else has the database. */
static void write_token(char token[PLANE_TOKEN_MAX], mcp_buf *sql, int number)
{
    char hash[KEYS_HEX_SIZE];
    uint8_t digest[MCP_SHA256_SIZE];

    mcp_sha256(digest, &number, sizeof number, NULL);
    keys_hex(hash, digest);
    snprintf(token, PLANE_TOKEN_MAX, "ptm_%s", hash);
    mcp_sha256(digest, token, strlen(token), NULL);
    keys_hex(hash, digest);
    mcp_buf_printf(sql, "%s('%s', 'ws-1', 'tok-%d', 'operator-%d', 'operator', 0)",
                   number > 0 ? ", " : "", hash, number, number);
}

void plane_tokens(char (*out)[PLANE_TOKEN_MAX], int count, const plane *it)
{
    mcp_buf sql;

    mcp_buf_init(&sql, (size_t)1 << 20);
    mcp_buf_puts(&sql, "INSERT INTO api_tokens (hash, workspace, id, subject, roles, created_at) "
                       "VALUES ");
    for (int i = 0; i < count; i++)
        write_token(out[i], &sql, i);
    plane_execute(it, sql.data);
    mcp_buf_clear(&sql);
}

static db *open_database(const plane *it)
{
    mcp_error err = MCP_ERROR_INIT;
    db *out = NULL;

    if (db_open(&out, it->url, NULL, &err) != MCP_OK)
        bench_give_up("%s", err.message);
    return out;
}

static int64_t number_of(db *database, const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has_row = false;

    if (db_begin(&session, database, DB_READ, &err) != MCP_OK ||
        db_query(&rows, session, sql, NULL, 0, &err) != MCP_OK ||
        db_next(rows, &has_row, &err) != MCP_OK || !has_row)
        bench_give_up("%s: %s", sql, err.message);
    int64_t out = db_int_at(rows, 0);
    db_rows_free(rows);
    db_rollback(session);
    return out;
}

int64_t plane_number(const plane *it, const char *sql)
{
    db *database = open_database(it);
    int64_t out = number_of(database, sql);

    db_close(database);
    return out;
}

char (*plane_texts(const plane *it, const char *sql, size_t count))[PLANE_ID_MAX]
{
    mcp_error err = MCP_ERROR_INIT;
    db *database = open_database(it);
    db_session *session = NULL;
    db_rows *rows = NULL;
    bool has_row = true;
    char(*out)[PLANE_ID_MAX] = calloc(count, sizeof out[0]);

    if (!out)
        bench_give_up("no memory");
    if (db_begin(&session, database, DB_READ, &err) != MCP_OK ||
        db_query(&rows, session, sql, NULL, 0, &err) != MCP_OK)
        bench_give_up("%s: %s", sql, err.message);
    for (size_t i = 0; i < count; i++) {
        if (db_next(rows, &has_row, &err) != MCP_OK || !has_row)
            bench_give_up("%s: %zu rows of %zu: %s", sql, i, count, err.message);
        snprintf(out[i], sizeof out[i], "%s", db_text_at(rows, 0, NULL));
    }
    db_rows_free(rows);
    db_rollback(session);
    db_close(database);
    return out;
}

void plane_execute(const plane *it, const char *sql)
{
    mcp_error err = MCP_ERROR_INIT;
    db *database = open_database(it);
    db_session *session = NULL;

    if (db_begin(&session, database, DB_WRITE, &err) != MCP_OK ||
        db_run(session, NULL, sql, NULL, 0, &err) != MCP_OK || db_commit(session, &err) != MCP_OK)
        bench_give_up("%s: %s", sql, err.message);
    db_close(database);
}

void plane_wait(const plane *it, const char *sql, int64_t wanted)
{
    static const struct timespec pause = { .tv_nsec = POLL_NS };
    db *database = open_database(it);
    int64_t until = bench_now_ns() + (int64_t)PATIENCE_S * 1000000000;
    int64_t now = number_of(database, sql);

    for (; now < wanted; now = number_of(database, sql)) {
        if (bench_now_ns() > until)
            bench_give_up("%s: %" PRId64 " of %" PRId64 " after %d s", sql, now, wanted,
                          PATIENCE_S);
        nanosleep(&pause, NULL);
    }
    db_close(database);
}

/* ---- serving --------------------------------------------------------------------------------- */

const site *plane_serve(plane *it)
{
    char serve[] = "serve", port_flag[] = "--port", db_flag[] = "--db";
    char level_flag[] = "--log-level", level[] = "warn", port[16];
    char *const command[] = { own_program, serve,      port_flag, port, db_flag,
                              it->url,     level_flag, level,     NULL };
    site *out = &it->sites[it->count++];

    out->name = "portarium";
    snprintf(port, sizeof port, "%d", out->port = site_free_port());
    site_run(out, command);
    close(site_connect(out));
    return out;
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

void plane_close(plane *it)
{
    char script[] = "tests/support/postgres", stop[] = "stop";
    char *const command[] = { script, stop, it->folder, NULL };
    program stopping;

    for (int i = 0; i < it->count; i++)
        site_end(&it->sites[i]);
    if (strncmp(it->url, "postgres", 8) == 0) {
        program_start(&stopping, command);
        program_end(&stopping);
    }
    nftw(it->folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

void plane_connect(load *out, const site *site, size_t count, const char *token)
{
    load_open(out, site, count);
    for (size_t i = 0; i < count; i++) {
        out->clients[i].token = token;
        session_open(&out->clients[i], true);
    }
}

double bench_load_average(void)
{
    double load = 0;

    return getloadavg(&load, 1) == 1 ? load : -1;
}
