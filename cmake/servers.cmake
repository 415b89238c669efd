# The servers: each folder of servers/ that CAUSEWAY_SERVERS names. Its server.cmake names its parts
# of the kit (server_kit), its own libraries (server_libraries), and further folders of its binding
# (server_app_folders). Targets: <name>_core (its domain, one level down and below), <name>_app (its
# binding to MCP, to REST (rest/) and to the shell (shell/), with its embedded files), and the
# program <name>, where there is a main.c.
set(default_servers all)
if(NOT PROJECT_IS_TOP_LEVEL) # a part of another project, which wants the library
    set(default_servers OFF)
endif()
set(CAUSEWAY_SERVERS ${default_servers} CACHE STRING "servers to build: all, a list as in cobre;universe, or OFF for the library alone")
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
    set(server_app_folders)
    include(${folder}/server.cmake)
    set(server_parts)
    foreach(module IN LISTS server_kit)
        kit_add(${module})
        list(APPEND server_parts kit_${module})
    endforeach()

    file(GLOB_RECURSE core CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    set(app_folders gateway features rest shell ${server_app_folders})
    list(TRANSFORM app_folders REPLACE "(.+)" "${folder}/\\1/*.c")
    file(GLOB app CONFIGURE_DEPENDS ${folder}/*.c ${app_folders})
    file(GLOB others CONFIGURE_DEPENDS ${folder}/mpi/*.c) # of another program
    list(REMOVE_ITEM core ${app} ${others})
    list(FILTER core EXCLUDE REGEX "/casparian/(guest/(sdk|host)|parsers)/") # of plugins
    list(REMOVE_ITEM app ${folder}/main.c)
    add_library(${server}_core STATIC ${core})
    target_link_libraries(${server}_core PUBLIC ${server_libraries})
    add_library(${server}_app STATIC ${app})
    target_link_libraries(${server}_app PUBLIC ${server}_core)
    mcp_embed(${server}_app NAME ${server}_files ROOT ${folder}
        FILES tools/*.json prompts/*.md resources.json pages/*.html docs/*.md schemas/*.json sql/*.sql demo/*.json
              templates/*.in web/icon.svg)
    set(server_program)
    if(EXISTS ${folder}/main.c)
        set(server_program ${server})
        add_executable(${server} ${folder}/main.c)
        target_link_libraries(${server} PRIVATE ${server}_app)
        install(TARGETS ${server} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()

    foreach(part IN ITEMS ${server}_core ${server}_app)
        target_include_directories(${part} PUBLIC ${folder} ${PROJECT_SOURCE_DIR}/kit)
        target_link_libraries(${part} PUBLIC mcp ${server_parts})
    endforeach()
    foreach(part IN ITEMS ${server}_core ${server}_app ${server_program})
        target_compile_definitions(${part} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}")
        causeway_product(${part})
    endforeach()
    list(APPEND server_targets ${server}_app)
    file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/${server}*.1)
    list(FILTER man_pages EXCLUDE REGEX "-mpi\\.1$")
    install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endforeach()

# cobre-mpi: `cobre run` by several processes, where there is MPI (Debian: libopenmpi-dev). No other
# program is linked with it.
option(CAUSEWAY_MPI "cobre-mpi, where CMake finds MPI" ON)
if(TARGET cobre_app AND CAUSEWAY_MPI)
    find_package(MPI QUIET COMPONENTS C)
    if(MPI_C_FOUND)
        file(GLOB mpi_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/servers/cobre/mpi/*.c)
        add_executable(cobre-mpi ${mpi_sources})
        target_link_libraries(cobre-mpi PRIVATE cobre_app MPI::MPI_C)
        causeway_product(cobre-mpi)
        install(TARGETS cobre-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
        install(FILES ${PROJECT_SOURCE_DIR}/docs/man/cobre-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    else()
        message(STATUS "cobre-mpi is left out: there is no MPI (libopenmpi-dev)")
    endif()
endif()

# What runs inside the guests of casparian's Python plugins.
if(TARGET casparian_core)
    mcp_embed(casparian_core NAME casparian_guest_files ROOT ${PROJECT_SOURCE_DIR}/servers/casparian/guest FILES *.py)
endif()

# The templates of `cobre init`: example cases, without the CSV files that their Parquet files are
# made of.
if(TARGET cobre_app)
    set(templates)
    foreach(template IN ITEMS 1dtoy two-rivers wind-and-water)
        list(APPEND templates ${template}/*.json ${template}/*/*.json ${template}/*/*.parquet)
    endforeach()
    mcp_embed(cobre_app NAME cobre_templates ROOT ${PROJECT_SOURCE_DIR}/examples/cases FILES ${templates})
endif()

include(${PROJECT_SOURCE_DIR}/cmake/page.cmake)
if(TARGET universe_app)
    causeway_page(universe_app NAME universe_page_files SOURCE ${PROJECT_SOURCE_DIR}/servers/universe/web
        OUT ${CMAKE_BINARY_DIR}/page)
endif()
if(TARGET portarium_app)
    causeway_page(portarium_app NAME portarium_page_files SOURCE ${PROJECT_SOURCE_DIR}/servers/portarium/web
        OUT ${CMAKE_BINARY_DIR}/cockpit)
endif()
if(TARGET casparian_app)
    causeway_page(casparian_app NAME casparian_page_files SOURCE ${PROJECT_SOURCE_DIR}/servers/casparian/web
        OUT ${CMAKE_BINARY_DIR}/inbox)
endif()
if(TARGET cobre_app)
    causeway_page(cobre_app NAME cobre_page_files SOURCE ${PROJECT_SOURCE_DIR}/servers/cobre/report/web
        OUT ${CMAKE_BINARY_DIR}/report BUILD ${PROJECT_SOURCE_DIR}/servers/cobre/report/web/build.mjs FILES report.html)
endif()

# `cobre-mcp` is `cobre` under another name: the program looks at how it was called.
if(TARGET cobre)
    set(second ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/cobre-mcp)
    add_custom_command(TARGET cobre POST_BUILD BYPRODUCTS ${second}
        COMMAND ${CMAKE_COMMAND} -E create_symlink cobre ${second})
    install(FILES ${second} DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(TARGET casparian_app)
    include(${PROJECT_SOURCE_DIR}/cmake/casparian.cmake)
endif()
