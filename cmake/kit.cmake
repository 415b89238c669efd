# One static library kit_<module> for each folder of kit/ that has sources.
set(kit_targets)
file(GLOB kit_modules CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/kit/*)
foreach(folder IN LISTS kit_modules)
    cmake_path(GET folder FILENAME module)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.c)
    if(NOT sources)
        continue()
    endif()
    add_library(kit_${module} STATIC ${sources})
    target_include_directories(kit_${module} PUBLIC ${PROJECT_SOURCE_DIR}/kit)
    target_link_libraries(kit_${module} PUBLIC mcp)
    target_compile_definitions(kit_${module} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}")
    causeway_product(kit_${module})
    list(APPEND kit_targets kit_${module})
endforeach()

# Which module may use which (the layer test holds the includes to it).
function(kit_uses module)
    foreach(used IN LISTS ARGN)
        if(TARGET kit_${module} AND TARGET kit_${used})
            target_link_libraries(kit_${module} PUBLIC kit_${used})
        endif()
    endforeach()
endfunction()
kit_uses(jobs db)
kit_uses(approvals jobs db)
kit_uses(columns guard proc)

# DuckDB is opened by dlopen at first use, never linked. An installed program looks beside itself
# (DUCKDB_INSTALL_PATH, relative to the folder of the program); one in the build tree takes DUCKDB_BUILD_PATH.
if(TARGET kit_columns)
    target_link_libraries(kit_columns PRIVATE DuckDB::headers PUBLIC ${CMAKE_DL_LIBS})
    file(RELATIVE_PATH from_bin /${CMAKE_INSTALL_BINDIR} /${CAUSEWAY_PRIVATE_LIBDIR}/libduckdb.so)
    target_compile_definitions(kit_columns PRIVATE
        DUCKDB_BUILD_PATH="${DuckDB_LIBRARY}" DUCKDB_INSTALL_PATH="${from_bin}")
    install(FILES ${DuckDB_LIBRARY} DESTINATION ${CAUSEWAY_PRIVATE_LIBDIR})
endif()
