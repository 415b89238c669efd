# DuckDB::headers - duckdb.h; and DuckDB_LIBRARY, the path of libduckdb.so, which we open at run
# time and never link.
#
# DUCKDB_ROOT (cache or environment) names a folder with include/ and lib/, or one that holds both
# files itself. Without it scripts/fetch-duckdb is asked, which fetches the pinned release once into
# .deps/duckdb.
if(NOT DUCKDB_ROOT)
    set(DUCKDB_ROOT $ENV{DUCKDB_ROOT})
endif()
if(NOT DUCKDB_ROOT)
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/fetch-duckdb --path
        OUTPUT_VARIABLE duckdb_root OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE duckdb_failed)
    if(duckdb_failed)
        message(FATAL_ERROR "scripts/fetch-duckdb failed; DUCKDB_ROOT can name a DuckDB release instead")
    endif()
else()
    set(duckdb_root ${DUCKDB_ROOT})
endif()
find_path(DuckDB_INCLUDE_DIR duckdb.h PATHS ${duckdb_root} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_file(DuckDB_LIBRARY libduckdb.so PATHS ${duckdb_root} PATH_SUFFIXES lib NO_DEFAULT_PATH)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DuckDB REQUIRED_VARS DuckDB_LIBRARY DuckDB_INCLUDE_DIR)
mark_as_advanced(DuckDB_INCLUDE_DIR DuckDB_LIBRARY)

if(DuckDB_FOUND AND NOT TARGET DuckDB::headers)
    add_library(DuckDB::headers INTERFACE IMPORTED)
    target_include_directories(DuckDB::headers SYSTEM INTERFACE ${DuckDB_INCLUDE_DIR})
endif()
