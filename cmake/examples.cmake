# Each file of examples/ is a program example-<name>, with the sources and embedded files of a
# folder of its name where there is one; each file of bench/ a program bench-<name>, with
# bench/support/.
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/${name}/*.c)
    add_executable(example-${name} ${source} ${parts})
    if(parts)
        mcp_embed(example-${name} NAME ${name}_files ROOT ${PROJECT_SOURCE_DIR}/examples/${name}
            FILES tools/*.json prompts/*.md resources.json forms/*.json media/*)
    endif()
    target_link_libraries(example-${name} PRIVATE mcp)
    causeway_product(example-${name})
endforeach()
if(TARGET example-everything) # the one that others connect to: it goes by a name of its own
    set_target_properties(example-everything PROPERTIES OUTPUT_NAME mcp-everything)
endif()

if(NOT has_all_servers)
    return()
endif()
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
file(GLOB bench_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.mjs)
file(GLOB bench_support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/support/*.c)
add_library(bench_support STATIC EXCLUDE_FROM_ALL ${bench_support_sources})
target_include_directories(bench_support PUBLIC ${PROJECT_SOURCE_DIR}/bench)
causeway_test_code(bench_support)
causeway_link_duckdb(${CMAKE_BINARY_DIR}/bench)
# bench_program(<target> <name>): the bench of that name; bench/hostile.c sends the messages of a
# test, bench/columns.c calls DuckDB.
function(bench_program target name)
    add_executable(${target} EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/bench/${name}.c)
    if(name STREQUAL "hostile")
        target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/hostile.c)
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
    endif()
    if(name STREQUAL "columns")
        target_link_libraries(${target} PRIVATE DuckDB::headers)
    endif()
    target_link_libraries(${target} PRIVATE bench_support mcp_private ${server_targets} ${kit_targets} mcp)
    causeway_test_code(${target})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()
foreach(source IN LISTS bench_sources)
    cmake_path(GET source STEM name)
    bench_program(bench-${name} ${name})
    list(APPEND bench_programs bench-${name})
endforeach()
add_custom_target(bench ${CMAKE_COMMAND} -E env CAUSEWAY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    scripts/run-bench ${CMAKE_BINARY_DIR}/bench WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM
    DEPENDS ${bench_programs})
