# For each folder of servers/: <name>_core (its domain, one level down and below), <name>_app (what binds it to MCP,
# with its embedded files), and the program <name> (main.c).
set(server_targets)
file(GLOB server_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/servers/*)
foreach(folder IN LISTS server_folders)
    cmake_path(GET folder FILENAME server)
    file(GLOB_RECURSE core CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cpp)
    file(GLOB app CONFIGURE_DEPENDS ${folder}/*.c)
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

# `cobre-mcp` is `cobre` under another name: the program looks at how it was called.
if(TARGET cobre)
    set(second ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/cobre-mcp)
    add_custom_command(TARGET cobre POST_BUILD BYPRODUCTS ${second}
        COMMAND ${CMAKE_COMMAND} -E create_symlink cobre ${second})
    install(FILES ${second} DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.1)
install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
