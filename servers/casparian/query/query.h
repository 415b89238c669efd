/**
 * query.h - read-only SQL of a client over the committed outputs.
 *
 * A statement passes four layers: the token guard (guard.h); the engine's own parse of it, held
 * against a list of functions (allow.h) and the views of the catalog; a sealed engine, which has
 * these views and no other file; and a process of its own around the engine, with limits of memory,
 * processor time and files (kit/columns/sealed/sealed.h). One such process is kept ready, so a
 * query does not wait for its start.
 *
 *     casparian_query_open(&query, &settings, err);
 *
 *     casparian_query_request request = { .sql = sql, .length = length, .limit = 100 };
 *     st = casparian_query_run(&result, query, &catalog, &request, &failure, arena, err);
 *     if (st != MCP_OK)
 *         answer_error(failure.code, failure.message, ...);
 *     const casparian_query_facts *facts = casparian_query_result_facts(result);
 *     casparian_query_write_rows(&written, &writer, result, &redaction, &room);
 *     if (casparian_query_result_cursor(cursor, result, written.rows))
 *         mcp_write_member_string(&writer, "cursor", cursor);
 *     casparian_query_result_free(result);
 *
 * A program that runs queries calls columns_sealed_main first of all when its first argument is
 * COLUMNS_SEALED_COMMAND: the engine's process is the program itself.
 *
 * Results are kept for some minutes without redaction, in files without a name in `cache_dir`; they
 * are redacted when they are written. The rows after the first page of a result wait there for the
 * next call, which has its cursor and nothing else.
 *
 * Threads may share a casparian_query. A result belongs to one thread.
 *
 * Source: casparian's tools, 5.
 */
#ifndef CASPARIAN_QUERY_QUERY_H
#define CASPARIAN_QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/redact.h"
#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "query/catalog.h"

#define CASPARIAN_QUERY_SQL_MAX ((size_t)64 << 10)
#define CASPARIAN_QUERY_LIMIT 1000
#define CASPARIAN_QUERY_LIMIT_MAX 10000
#define CASPARIAN_QUERY_TIMEOUT_MS 30000
#define CASPARIAN_QUERY_TIMEOUT_MIN_MS 100
#define CASPARIAN_QUERY_TIMEOUT_MAX_MS 300000
#define CASPARIAN_QUERY_PARAMS_MAX 100
#define CASPARIAN_QUERY_RUNNING_MAX 4  /* queries of one casparian_query at a time */
#define CASPARIAN_QUERY_FILES_MAX 4096 /* that one statement can need */
#define CASPARIAN_QUERY_AVAILABLE_MAX 50
#define CASPARIAN_QUERY_CELL_MAX 8192                /* see casparian_query_room */
#define CASPARIAN_QUERY_SPOOL_MAX ((size_t)64 << 20) /* bytes of one result that is kept */

/** Room for a cursor with its NUL. */
#define CASPARIAN_QUERY_CURSOR_SIZE 64

/** [query]. Zero is the default of every field. Texts are borrowed as long as the query. */
typedef struct casparian_query_settings {
    int64_t memory_limit_mb;   /* of the engine; 0: 512. Its process may have 1 GiB more */
    int threads;               /* of the engine; 0: one for each processor, at most 4 */
    bool is_unprotected;       /* isolate = false: the engine's process has its limits, and none of
                                  the protections of kit/proc and Landlock */
    bool is_unlimited_memory;  /* no RLIMIT_AS: for builds with sanitizers */
    int64_t spool_rows;        /* of one result; 0: 100,000 */
    int64_t cache_mb;          /* of all results; 0: 256 */
    int64_t cache_ttl_ms;      /* 0: 300,000 */
    const char *cache_dir;     /* NULL: nothing is kept, and no result has a cursor */
    const char *const *worker; /* arguments of the engine's process, ended by NULL; NULL: this
                                  program with COLUMNS_SEALED_COMMAND */
} casparian_query_settings;

typedef struct casparian_query casparian_query;
typedef struct casparian_query_result casparian_query_result;

/**
 * Open. Starts a thread, which keeps a process ready from the first query on; nothing of the engine
 * is loaded before.
 *
 * @param out yours, end it with casparian_query_close
 * @return MCP_OK; MCP_E_IO; MCP_E_NOMEM. A library that is missing shows at the first query
 */
mcp_status casparian_query_open(casparian_query **out, const casparian_query_settings *settings,
                                mcp_error *err);

/** End the processes, drop what is kept. No query may be running. NULL is fine. */
void casparian_query_close(casparian_query *self);

/** Whether a query should stop: the client has cancelled it. Called at least every 50 ms, on the
 *  thread of casparian_query_run. */
typedef bool casparian_query_should_stop(void *data);

/** A query. Everything is borrowed for the call. */
typedef struct casparian_query_request {
    const char *sql; /* may hold NUL, which is refused */
    size_t length;
    const mcp_json *params; /* an array of null, booleans, numbers and strings, for `?` in order;
                               NULL: none */
    const char *cursor;     /* in place of the two: the next page of an earlier result; else NULL */
    size_t limit;           /* rows of a page; 0: CASPARIAN_QUERY_LIMIT */
    int64_t timeout_ms;     /* 0: CASPARIAN_QUERY_TIMEOUT_MS */
    casparian_query_should_stop *should_stop; /* NULL: never */
    void *data;
} casparian_query_request;

/** Why a query failed. In the arena. */
typedef struct casparian_query_failure {
    const char *code;             /* "sql_not_allowed", "sql_error", "query_timeout", "store_error",
                            "invalid_arguments", "not_found" (a cursor), "queue_full", "cancelled"
                            or "internal" */
    const char *message;          /* at most 2,000 bytes; paths are reduced to base names */
    const char *redacted;         /* the same without the engine's words, where they can have values
                                     of the data: not those about the statement alone */
    const char *suggestion;       /* NULL: none; of a table that does not exist, that a file of
                                     the statement's outputs was left out, and why */
    const char *const *available; /* of a table that does not exist: names of views that can be
                                     read, at most CASPARIAN_QUERY_AVAILABLE_MAX */
    size_t available_count;
} casparian_query_failure;

/**
 * Run a query, or read the next page of one.
 *
 * @param out     yours, free it with casparian_query_result_free
 * @param failure filled when it fails; may be NULL
 * @param arena   for the failure
 * @return MCP_OK; MCP_E_DENIED: sql_not_allowed; MCP_E_PARSE: sql_error; MCP_E_TIMEOUT:
 *         query_timeout; MCP_E_STOPPED: `should_stop`; MCP_E_PARAMS: invalid_arguments;
 *         MCP_E_NOT_FOUND: the cursor's result is not kept any more; MCP_E_BUSY: queue_full;
 *         MCP_E_UNSUPPORTED, MCP_E_IO: store_error (DuckDB is missing, a process cannot start);
 *         MCP_E_NOMEM, MCP_E_INTERNAL
 */
mcp_status casparian_query_run(casparian_query_result **out, casparian_query *self,
                               const casparian_catalog *catalog,
                               const casparian_query_request *request,
                               casparian_query_failure *failure, mcp_arena *arena, mcp_error *err);

/** NULL is fine. */
void casparian_query_result_free(casparian_query_result *result);

/** A column of a result. */
typedef struct casparian_query_column {
    const char *name;
    const char *type; /* the engine's name: "DECIMAL(38,10)", "TIMESTAMP WITH TIME ZONE" */
} casparian_query_column;

/** What is known of a result. Borrowed from it. */
typedef struct casparian_query_facts {
    const casparian_query_column *columns;
    size_t column_count;
    size_t row_count;  /* of this page */
    bool is_truncated; /* rows follow this page, whether or not they are kept */
    bool is_cached;    /* answered from what was kept */
    int64_t elapsed_ms;
    const char *const *warnings; /* files that were left out, rows of older schemas, ... */
    size_t warning_count;
} casparian_query_facts;

const casparian_query_facts *casparian_query_result_facts(const casparian_query_result *result);

/** What casparian_query_write_rows has written. */
typedef struct casparian_query_written {
    size_t rows;
    size_t cut_cells;    /* values longer than `cell_max`, cut there with "…" */
    bool is_out_of_room; /* `bytes_max` came before the end of the page */
} casparian_query_written;

/** Bounds of an answer. */
typedef struct casparian_query_room {
    size_t bytes_max; /* of the array: a row that does not fit is not begun, nor are later ones */
    size_t cell_max;  /* of a value, beyond which it is cut; 0: CASPARIAN_QUERY_CELL_MAX */
} casparian_query_room;

/**
 * Write the rows of the page as an array of arrays.
 *
 * Integers within 2^53, finite doubles and booleans are written as such; larger integers, decimals
 * and not finite doubles as strings; dates and times in the text forms of check/text.h; BLOB as
 * base64; lists, structs and maps as arrays and objects.
 *
 * @param writer    at a place for a value
 * @param redaction of the columns by their names; NULL: nothing is redacted
 * @return the writer's status
 */
mcp_status casparian_query_write_rows(casparian_query_written *out, mcp_json_writer *writer,
                                      const casparian_query_result *result,
                                      const casparian_redaction *redaction,
                                      const casparian_query_room *room);

/**
 * The cursor of what follows the first `rows` rows of the page.
 *
 * @return false: nothing follows, or what follows is not kept; `out` is empty then
 */
bool casparian_query_result_cursor(char out[CASPARIAN_QUERY_CURSOR_SIZE],
                                   const casparian_query_result *result, size_t rows);

/** Start the first process now, so that the first query need not wait for it. Does not wait. */
void casparian_query_prepare(casparian_query *self);

/** Drop all results that are kept. */
void casparian_query_forget(casparian_query *self);

#endif
