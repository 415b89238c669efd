# The kit: one static library kit_<module> a folder of kit/, built for the servers that name it.
# kit_add makes a module with the modules below it and the libraries that it alone includes;
# libraries are looked for only then.
option(CAUSEWAY_AUTH "bearer tokens that are JWTs (kit/auth), by libcjose and libcurl" ON)
option(CAUSEWAY_RUN_FROM_BUILD "link DuckDB next to the programs of the build folder, so that they run from there" OFF)
set(kit_targets)

# Which module may use which (the layer test holds the includes to it).
set(kit_uses_jobs db)
set(kit_uses_approvals jobs db)
set(kit_uses_columns guard proc flat)
set(kit_uses_serve cli auth guard)
foreach(module IN ITEMS bus db auth)
    set(kit_uses_${module} thread)
endforeach()

macro(kit_needs_auth)
    # libcurl costs every start 6 ms, so it is opened by dlopen at first use and only its headers
    # are needed here; the other libraries are left out of programs that never verify a JWT
    # (--as-needed).
    find_package(Cjose REQUIRED)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.85)
    target_link_libraries(kit_auth PRIVATE Cjose::Cjose OpenSSL::Crypto PUBLIC ${CMAKE_DL_LIBS})
    target_include_directories(kit_auth SYSTEM PRIVATE ${CURL_INCLUDE_DIRS})
    target_link_options(kit_auth INTERFACE -Wl,--as-needed)
endmacro()

macro(kit_needs_serve)
    if(CAUSEWAY_AUTH)
        target_compile_definitions(kit_serve PRIVATE SERVE_HAS_AUTH)
    endif()
endmacro()

macro(kit_needs_db)
    pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.37)
    pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq>=14)
    target_link_libraries(kit_db PRIVATE PkgConfig::SQLITE PkgConfig::LIBPQ)
    target_link_options(kit_db INTERFACE -Wl,--as-needed)
endmacro()

# DuckDB is opened by dlopen at first use, never linked, at a path relative to the folder of the
# program. No path of the build is in a program: in the build folder a link has the place of the
# installed library.
macro(kit_needs_columns)
    find_package(DuckDB REQUIRED)
    file(RELATIVE_PATH duckdb_from_bin /${CMAKE_INSTALL_BINDIR} /${CAUSEWAY_PRIVATE_LIBDIR}/libduckdb.so)
    set(duckdb_from_bin ${duckdb_from_bin} CACHE INTERNAL "")
    pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)
    target_link_libraries(kit_columns PRIVATE DuckDB::headers PkgConfig::ZSTD PUBLIC ${CMAKE_DL_LIBS})
    target_compile_definitions(kit_columns PRIVATE DUCKDB_INSTALL_PATH="${duckdb_from_bin}")
    install(FILES ${DuckDB_LIBRARY} DESTINATION ${CAUSEWAY_PRIVATE_LIBDIR})
    causeway_link_duckdb(${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
endmacro()

# causeway_link_duckdb(<folder>): where programs in the folder find DuckDB, a link to it.
function(causeway_link_duckdb folder)
    if(NOT CAUSEWAY_RUN_FROM_BUILD OR NOT DuckDB_LIBRARY)
        return()
    endif()
    cmake_path(SET link NORMALIZE ${folder}/${duckdb_from_bin})
    cmake_path(GET link PARENT_PATH place)
    file(MAKE_DIRECTORY ${place})
    file(CREATE_LINK ${DuckDB_LIBRARY} ${link} SYMBOLIC)
endfunction()

macro(kit_add module)
    if(NOT TARGET kit_${module} AND EXISTS ${PROJECT_SOURCE_DIR}/kit/${module}
       AND (CAUSEWAY_AUTH OR NOT ${module} STREQUAL auth))
        file(GLOB_RECURSE kit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kit/${module}/*.c)
        add_library(kit_${module} STATIC ${kit_sources})
        target_include_directories(kit_${module} PUBLIC ${PROJECT_SOURCE_DIR}/kit)
        target_link_libraries(kit_${module} PUBLIC mcp)
        target_compile_definitions(kit_${module} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}")
        causeway_product(kit_${module})
        list(APPEND kit_targets kit_${module})
        if(COMMAND kit_needs_${module})
            cmake_language(CALL kit_needs_${module})
        endif()
        foreach(kit_used IN LISTS kit_uses_${module})
            kit_link(${module} ${kit_used})
        endforeach()
    endif()
endmacro()

# Adds the module below, too.
macro(kit_link module used)
    kit_add(${used})
    if(TARGET kit_${used})
        target_link_libraries(kit_${module} PUBLIC kit_${used})
    endif()
endmacro()
