/*
 * engine.h - DuckDB, opened by name at run time.
 *
 * The functions in use are members of one table, with DuckDB's names without "duckdb_":
 * `engine->api->query(...)`.
 */
#ifndef COLUMNS_ENGINE_H
#define COLUMNS_ENGINE_H

#include <duckdb.h>
#include <stdbool.h>

#include "mcp/error.h"

#define ENGINE_FUNCTIONS(X)                                                                        \
    X(create_config)                                                                               \
    X(set_config)                                                                                  \
    X(destroy_config)                                                                              \
    X(open_ext)                                                                                    \
    X(close)                                                                                       \
    X(connect)                                                                                     \
    X(disconnect)                                                                                  \
    X(free)                                                                                        \
    X(query)                                                                                       \
    X(prepare)                                                                                     \
    X(prepare_error)                                                                               \
    X(destroy_prepare)                                                                             \
    X(bind_int64)                                                                                  \
    X(execute_prepared)                                                                            \
    X(destroy_result)                                                                              \
    X(result_error)                                                                                \
    X(result_error_type)                                                                           \
    X(column_count)                                                                                \
    X(column_name)                                                                                 \
    X(column_type)                                                                                 \
    X(column_logical_type)                                                                         \
    X(get_type_id)                                                                                 \
    X(destroy_logical_type)                                                                        \
    X(list_type_child_type)                                                                        \
    X(struct_type_child_count)                                                                     \
    X(struct_type_child_name)                                                                      \
    X(struct_type_child_type)                                                                      \
    X(list_vector_get_child)                                                                       \
    X(struct_vector_get_child)                                                                     \
    X(row_count)                                                                                   \
    X(fetch_chunk)                                                                                 \
    X(destroy_data_chunk)                                                                          \
    X(data_chunk_get_size)                                                                         \
    X(data_chunk_get_vector)                                                                       \
    X(vector_get_data)                                                                             \
    X(vector_get_validity)                                                                         \
    X(validity_row_is_valid)                                                                       \
    X(string_t_length)                                                                             \
    X(string_t_data)                                                                               \
    X(bind_boolean)                                                                                \
    X(bind_double)                                                                                 \
    X(bind_null)                                                                                   \
    X(bind_varchar_length)                                                                         \
    X(nparams)                                                                                     \
    X(prepared_statement_type)                                                                     \
    X(extract_statements)                                                                          \
    X(extract_statements_error)                                                                    \
    X(prepare_extracted_statement)                                                                 \
    X(destroy_extracted)                                                                           \
    X(pending_prepared_streaming)                                                                  \
    X(pending_error)                                                                               \
    X(destroy_pending)                                                                             \
    X(execute_pending)                                                                             \
    X(interrupt)                                                                                   \
    X(logical_type_get_alias)                                                                      \
    X(decimal_width)                                                                               \
    X(decimal_scale)                                                                               \
    X(decimal_internal_type)                                                                       \
    X(enum_internal_type)                                                                          \
    X(enum_dictionary_size)                                                                        \
    X(enum_dictionary_value)                                                                       \
    X(array_type_child_type)                                                                       \
    X(array_type_array_size)                                                                       \
    X(array_vector_get_child)                                                                      \
    X(map_type_key_type)                                                                           \
    X(map_type_value_type)                                                                         \
    X(union_type_member_count)                                                                     \
    X(union_type_member_name)                                                                      \
    X(union_type_member_type)                                                                      \
    X(library_version)

struct engine_api {
#define X(name) __typeof__(duckdb_##name) *name;
    ENGINE_FUNCTIONS(X)
#undef X
};

/* One instance with one connection. All zero: not open. */
struct engine {
    const struct engine_api *api;
    duckdb_database database;
    duckdb_connection connection;
};

/* The version of DuckDB, which is opened where it is not yet, and an address in it. */
mcp_status engine_version(const char **out, const void **code, mcp_error *err);

/* Open the library alone (once in a process): `api` is set. As engine_open. */
mcp_status engine_load(struct engine *engine, mcp_error *err);

/*
 * Open the library (once in a process) and an instance that reads descriptors of this process and
 * nothing else. Does nothing when it is already open.
 *
 * MCP_E_UNSUPPORTED: the library is missing, or is not DuckDB.
 */
mcp_status engine_open(struct engine *engine, mcp_error *err);

/*
 * The same for a database file, which is made if it is missing and the instance may write. Until it
 * is closed no other process can open it, or if it is only read, only to read it.
 *
 * As engine_open; MCP_E_BUSY: another process has it open; MCP_E_IO: it is no database, or cannot
 * be opened.
 */
mcp_status engine_open_file(struct engine *engine, const char *path, bool is_read_only,
                            mcp_error *err);

/* Close the instance; the library stays. */
void engine_close(struct engine *engine);

/*
 * Run one statement. On MCP_OK the caller destroys the result; otherwise it is already destroyed. A
 * failure that leaves the instance unusable closes it, and the next engine_open opens a new one.
 *
 * `refused` is the status of a failure that is not of the engine itself (memory, a bug):
 * MCP_E_PARSE for reading.
 */
mcp_status engine_query(struct engine *engine, duckdb_result *result, const char *sql,
                        mcp_status refused, mcp_error *err);

/* Prepare one statement; on MCP_OK the caller destroys it. Failures as of engine_query. */
mcp_status engine_prepare(struct engine *engine, duckdb_prepared_statement *statement,
                          const char *sql, mcp_status refused, mcp_error *err);

/* Run a prepared statement; as engine_query. */
mcp_status engine_execute(struct engine *engine, duckdb_result *result,
                          duckdb_prepared_statement statement, mcp_status refused, mcp_error *err);

#endif
