# Each file of examples/ is a program example-<name>, with the sources and embedded files of a folder of its name where
# there is one; each file of bench/ a program bench-<name>, with bench/support/.
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

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
file(GLOB bench_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.mjs)
set(bench_runs)
file(GLOB bench_support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/support/*.c)
add_library(bench_support STATIC EXCLUDE_FROM_ALL ${bench_support_sources})
target_include_directories(bench_support PUBLIC ${PROJECT_SOURCE_DIR}/bench)
causeway_test_code(bench_support)
foreach(source IN LISTS bench_sources)
    cmake_path(GET source STEM name)
    add_executable(bench-${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(bench-${name} PRIVATE bench_support mcp_private ${server_targets} ${kit_targets} mcp)
    causeway_test_code(bench-${name})
    set_target_properties(bench-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    list(APPEND bench_runs COMMAND
        ${CMAKE_COMMAND} -E env CAUSEWAY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:bench-${name}>)
    list(APPEND bench_programs bench-${name})
endforeach()
# The hostile messages are the tests' too.
target_sources(bench-hostile PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/hostile.c)
target_include_directories(bench-hostile PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
foreach(script IN LISTS bench_scripts)
    list(APPEND bench_runs COMMAND
        ${CMAKE_COMMAND} -E env CAUSEWAY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} node ${script})
endforeach()
if(bench_runs)
    add_custom_target(bench ${bench_runs} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM
        DEPENDS ${bench_programs})
endif()
