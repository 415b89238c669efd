/**
 * sealed.h - one SELECT of an untrusted user over given files, in a process of its own.
 *
 * The process is the program itself, started again with COLUMNS_SEALED_COMMAND as its first
 * argument:
 *
 *     int main(int argc, char **argv)
 *     {
 *         if (argc > 1 && strcmp(argv[1], COLUMNS_SEALED_COMMAND) == 0)
 *             return columns_sealed_main();
 *
 * It opens DuckDB, receives the files as descriptors, makes the views that the caller has written
 * over them, and then seals the engine: no other file, no extension, no setting can be reached. The
 * engine parses the statement, and its parse is held against a list: tables are the given views,
 * CTEs and the catalog's own tables; functions and operators are those that the list names; every
 * other thing is refused by name. Rows come back as cells (cell.h).
 *
 * The process has limits of its address space, processor time and descriptors, writes no file, and
 * has the protections of kit/proc that the system gives. Landlock lets it open the given files and
 * nothing else. It serves one statement and ends. A thread keeps one such process ready, so a query
 * does not wait for its start.
 *
 * Threads may share a `columns_sealed`. Linux only.
 */
#ifndef COLUMNS_SEALED_H
#define COLUMNS_SEALED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

/** The first argument of the process. */
#define COLUMNS_SEALED_COMMAND "sealed-reader"

/** The number of a request's first file in the process; views name the i-th file as
 *  "/proc/self/fd/" and COLUMNS_SEALED_FIRST_FD + i. */
#define COLUMNS_SEALED_FIRST_FD 100

#define COLUMNS_SEALED_FILES_MAX 4096
#define COLUMNS_SEALED_PARAMS_MAX 256
#define COLUMNS_SEALED_REQUEST_MAX ((size_t)16 << 20) /* bytes of all texts of a request */
#define COLUMNS_SEALED_COLUMNS_MAX 4096
#define COLUMNS_SEALED_CELL_MAX ((size_t)32 << 20) /* bytes of one value */
#define COLUMNS_SEALED_MESSAGE_SIZE 2048

/** Run the process, when its first argument is COLUMNS_SEALED_COMMAND. @return the exit status */
int columns_sealed_main(void);

typedef struct columns_sealed columns_sealed;

/** Zero is the default of every field. Texts are copied. */
typedef struct columns_sealed_options {
    const char *const *argv;  /* of the process, ended by NULL; NULL: this program */
    uint64_t memory_bytes;    /* of the engine; 0: 512 MiB */
    bool is_unlimited_memory; /* no limit of the address space (1 GiB more). This program
                                 with sanitizers has none anyway */
    int threads;              /* of the engine; 0: one for each processor, at most 4 */
    bool is_unprotected;      /* without the protections of kit/proc and Landlock */
} columns_sealed_options;

/** @param out yours, ended by columns_sealed_close. @return MCP_OK; MCP_E_NOMEM; MCP_E_IO */
mcp_status columns_sealed_open(columns_sealed **out, const columns_sealed_options *options,
                               mcp_error *err);

/** End the process that is ready. No query may be running. NULL is fine. */
void columns_sealed_close(columns_sealed *self);

/** Start the process for the next query now, not at the first query. Does not wait. */
void columns_sealed_prepare(columns_sealed *self);

/** A view, made before the engine is sealed. */
typedef struct columns_sealed_view {
    const char *schema, *name;
    const char *sql;  /* its SELECT, the program's own */
    bool is_optional; /* a view that cannot be made is left out, and is no failure */
    bool is_attached; /* it reads what the setup has attached */
} columns_sealed_view;

/** What a statement may use. Names are compared without regard to case. */
typedef struct columns_sealed_rules {
    const char *const *functions; /* scalar, aggregate and window functions, and operators */
    size_t function_count;
    const char *const *table_functions;
    size_t table_function_count;
    const char *const *system_tables; /* "sqlite_master", "information_schema.*" */
    size_t system_table_count;
} columns_sealed_rules;

typedef enum columns_sealed_kind {
    COLUMNS_SEALED_NULL,
    COLUMNS_SEALED_BOOLEAN, /* integer: 0 or 1 */
    COLUMNS_SEALED_INTEGER,
    COLUMNS_SEALED_NUMBER,
    COLUMNS_SEALED_TEXT
} columns_sealed_kind;

/** A value for a `?` of the statement. */
typedef struct columns_sealed_param {
    columns_sealed_kind kind;
    int64_t integer;
    double number;
    const char *text; /* UTF-8 */
    size_t length;
} columns_sealed_param;

/** A query. Everything is borrowed for the call. */
typedef struct columns_sealed_request {
    const int *fds; /* regular files, open for reading */
    size_t fd_count;
    const char *const *setup; /* statements of the program before the views: ATTACH */
    size_t setup_count;
    /* The databases that the setup attaches. The statement names none of them. They are detached
     * before one that reads system tables, which would list everything in them: such a statement
     * names no view with `is_attached`. */
    const char *const *databases;
    size_t database_count;
    const columns_sealed_view *views;
    size_t view_count;
    const char *search_path; /* "outputs,main"; NULL: that of the engine */
    const columns_sealed_rules *rules;
    const char *sql; /* one SELECT or WITH, without `;` */
    size_t sql_length;
    bool is_explain; /* explain it, do not run it; the plan has no value of the files */
    const columns_sealed_param *params;
    size_t param_count;
    uint64_t rows_max;  /* 1 or more: not more rows than this are made */
    uint64_t bytes_max; /* of cells: the rows end before the first that does not fit */
    int64_t timeout_ms; /* of all, once the process is ready */
} columns_sealed_request;

/** Receives the rows. Called on the thread of columns_sealed_query; pointers are borrowed. A
 *  status other than MCP_OK ends the query with it. */
typedef struct columns_sealed_sink {
    /* Once, before the first row, also without rows. */
    mcp_status (*columns)(void *data, size_t count, const char *const *names,
                          const char *const *types);
    /* `rows` rows of cells, each complete. The encoding has been checked. */
    mcp_status (*rows)(void *data, size_t rows, const void *cells, size_t length);
    /* Whether to stop: the query ends with MCP_E_STOPPED. At most every 50 ms. NULL: never. */
    bool (*should_stop)(void *data);
    void *data;
} columns_sealed_sink;

/** What is known when a query has ended. */
typedef struct columns_sealed_end {
    bool is_cut;        /* bytes_max came before the last row */
    bool is_volatile;   /* the same statement may give other rows at another time */
    bool is_of_catalog; /* it names the catalog's own tables, and no view */
    char message[COLUMNS_SEALED_MESSAGE_SIZE]; /* of a failure, longer than that of `err` */
    char name[256]; /* the table that there is not (MCP_E_NOT_FOUND), or what is refused */
} columns_sealed_end;

/**
 * Run a query.
 *
 * At the timeout, and when it should stop, the engine is interrupted; the process is killed when it
 * has not ended a second later.
 *
 * @param end filled on every status
 * @return MCP_OK; MCP_E_DENIED: the statement uses what the rules do not name; MCP_E_NOT_FOUND: it
 *         names a table that there is not; MCP_E_PARSE: the engine refuses it, or a row fails;
 *         MCP_E_PARAMS: the count of params is not that of its `?`; MCP_E_LIMIT: it needs more
 *         memory than there is, or a value is too long; MCP_E_TIMEOUT; MCP_E_STOPPED;
 *         MCP_E_STORAGE: a view cannot be made of its files; MCP_E_UNSUPPORTED: DuckDB is missing;
 *         MCP_E_IO: the process did not start, or ended by itself; MCP_E_NOMEM
 */
mcp_status columns_sealed_query(columns_sealed_end *end, columns_sealed *self,
                                const columns_sealed_request *request,
                                const columns_sealed_sink *sink, mcp_error *err);

#endif
