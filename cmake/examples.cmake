# Each file of examples/ is a program example-<name>; each file of bench/ a program bench-<name>.
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.c)
foreach(source IN LISTS example_sources)
    cmake_path(GET source STEM name)
    add_executable(example-${name} ${source})
    target_link_libraries(example-${name} PRIVATE mcp)
    causeway_product(example-${name})
endforeach()

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
file(GLOB bench_scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.mjs)
set(bench_runs)
foreach(source IN LISTS bench_sources)
    cmake_path(GET source STEM name)
    add_executable(bench-${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(bench-${name} PRIVATE mcp_private ${server_targets} ${kit_targets} mcp)
    causeway_test_code(bench-${name})
    list(APPEND bench_runs COMMAND
        ${CMAKE_COMMAND} -E env CAUSEWAY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} $<TARGET_FILE:bench-${name}>)
    list(APPEND bench_programs bench-${name})
endforeach()
foreach(script IN LISTS bench_scripts)
    list(APPEND bench_runs COMMAND
        ${CMAKE_COMMAND} -E env CAUSEWAY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY} node ${script})
endforeach()
if(bench_runs)
    add_custom_target(bench ${bench_runs} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM
        DEPENDS ${bench_programs})
endif()
