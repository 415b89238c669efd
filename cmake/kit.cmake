# The kit: one static library kit_<module> a folder of kit/, built for the servers that name it.
# kit_add makes a module with the modules below it and the libraries that it alone includes;
# libraries are looked for only then.
option(CAUSEWAY_AUTH "bearer tokens that are JWTs (kit/auth), by libcjose" ON)
option(CAUSEWAY_RUN_FROM_BUILD "link DuckDB next to the programs of the build folder, so that they run from there" OFF)
set(kit_targets)

# Which module may use which (the layer test holds the includes to it).
set(kit_uses_jobs db)
set(kit_uses_approvals db)
set(kit_uses_columns guard proc flat thread)
set(kit_uses_serve cli auth guard thread trace keys)
set(kit_uses_trace thread fetch)
set(kit_uses_host cli serve keys)
set(kit_uses_about cli serve)
set(kit_uses_config cli)
set(kit_uses_auth thread fetch)
set(kit_uses_client thread fetch proc)
set(kit_uses_bus thread)
set(kit_uses_db thread fault)

macro(kit_needs_config)
    target_sources(kit_config PRIVATE ${PROJECT_SOURCE_DIR}/kit/config/toml.cpp)
    # The headers alone; Debian's library of it is not linked.
    find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
    target_include_directories(kit_config SYSTEM PRIVATE ${TOMLPLUSPLUS_INCLUDE_DIR})
endmacro()

macro(kit_needs_auth)
    # The libraries are left out of programs that never verify a JWT (--as-needed).
    find_package(Cjose REQUIRED)
    target_link_libraries(kit_auth PRIVATE Cjose::Cjose OpenSSL::Crypto)
    target_link_options(kit_auth INTERFACE -Wl,--as-needed)
endmacro()

# libcurl costs every start 6 ms, so it is opened by dlopen at first use and only its headers are
# needed here.
macro(kit_needs_fetch)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.85)
    target_link_libraries(kit_fetch PUBLIC ${CMAKE_DL_LIBS})
    target_include_directories(kit_fetch SYSTEM PRIVATE ${CURL_INCLUDE_DIRS})
endmacro()

# Programs without an audit log do not use it (--as-needed).
macro(kit_needs_guard)
    find_package(ZLIB REQUIRED)
    target_link_libraries(kit_guard PRIVATE ZLIB::ZLIB)
    target_link_options(kit_guard INTERFACE -Wl,--as-needed)
endmacro()

macro(kit_needs_keys)
    target_link_libraries(kit_keys PRIVATE OpenSSL::Crypto)
endmacro()

macro(kit_needs_serve)
    if(CAUSEWAY_AUTH)
        target_compile_definitions(kit_serve PRIVATE SERVE_HAS_AUTH)
    endif()
endmacro()

# The revision is that of the time of configuring. A tree without git names it by the option.
macro(kit_needs_about)
    set(CAUSEWAY_REVISION "" CACHE STRING "revision that `NAME version` names; empty: what git says")
    set(about_revision ${CAUSEWAY_REVISION})
    if(NOT about_revision)
        execute_process(COMMAND git describe --tags --always --dirty WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
            OUTPUT_VARIABLE about_revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    endif()
    if(NOT about_revision)
        set(about_revision unknown)
    endif()
    set_source_files_properties(${PROJECT_SOURCE_DIR}/kit/about/version.c PROPERTIES COMPILE_DEFINITIONS
        "CAUSEWAY_REVISION=\"${about_revision}\";CAUSEWAY_SIMDJSON_VERSION=\"${SIMDJSON_VERSION}\"")
    target_link_libraries(kit_about PUBLIC ${CMAKE_DL_LIBS})
endmacro()

# libpq brings Kerberos and LDAP into each start, so it is opened by dlopen at first use and only
# its headers are needed here.
macro(kit_needs_db)
    pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.37)
    pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq>=14)
    target_link_libraries(kit_db PRIVATE PkgConfig::SQLITE PUBLIC ${CMAKE_DL_LIBS})
    target_include_directories(kit_db SYSTEM PRIVATE ${LIBPQ_INCLUDE_DIRS})
    target_link_options(kit_db INTERFACE -Wl,--as-needed)
endmacro()

# The launcher of child processes is a program that kit/proc carries in itself. It is built without
# sanitizers: a sanitized program does not start under a limit of its address space.
macro(kit_needs_proc)
    pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp>=2.5)
    target_link_libraries(kit_proc PRIVATE PkgConfig::SECCOMP)
    target_link_options(kit_proc INTERFACE -Wl,--as-needed)
    add_executable(proc_launcher ${proc_launcher_sources})
    target_include_directories(proc_launcher PRIVATE ${PROJECT_SOURCE_DIR}/kit ${PROJECT_SOURCE_DIR}/include)
    causeway_product(proc_launcher)
    target_compile_options(proc_launcher PRIVATE -O2 -g0 -fno-sanitize=all)
    target_link_options(proc_launcher PRIVATE -s -fno-sanitize=all)
    set(proc_image ${CMAKE_CURRENT_BINARY_DIR}/kit_proc.dir)
    set_target_properties(proc_launcher PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${proc_image})
    mcp_embed(kit_proc NAME proc_image ROOT ${proc_image} BUILT proc_launcher)
endmacro()

# DuckDB is opened by dlopen at first use, never linked, at a path relative to the folder of the
# program. No path of the build is in a program: in the build folder a link has the place of the
# installed library.
macro(kit_needs_columns)
    find_package(DuckDB REQUIRED)
    file(RELATIVE_PATH duckdb_from_bin /${CMAKE_INSTALL_BINDIR} /${CAUSEWAY_PRIVATE_LIBDIR}/libduckdb.so)
    set(duckdb_from_bin ${duckdb_from_bin} CACHE INTERNAL "")
    pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)
    pkg_check_modules(SNAPPY REQUIRED IMPORTED_TARGET snappy>=1.1)
    target_link_libraries(kit_columns PRIVATE DuckDB::headers PkgConfig::ZSTD PkgConfig::SNAPPY PUBLIC ${CMAKE_DL_LIBS})
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
        set(proc_launcher_sources ${kit_sources})
        list(FILTER proc_launcher_sources INCLUDE REGEX "/kit/proc/launcher/")
        list(FILTER kit_sources EXCLUDE REGEX "/kit/proc/launcher/main")
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
