# What is installed with the programs: licence, pages of the documentation, completions of shells,
# units of systemd.
set(shares_programs)
foreach(server IN LISTS servers)
    if(TARGET ${server})
        list(APPEND shares_programs ${server})
    endif()
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
if(NOT shares_programs)
    return()
endif()
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.png)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Completions are the programs' own words, so the build asks them.
if(NOT CMAKE_CROSSCOMPILING)
    set(completions ${CMAKE_BINARY_DIR}/completions)
    set(paths ${shares_programs})
    if(TARGET cobre)
        list(APPEND paths cobre-mcp)
    endif()
    list(TRANSFORM paths PREPEND ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/)
    list(JOIN paths "," paths)
    add_custom_command(OUTPUT ${completions}.stamp VERBATIM COMMENT "Asking the programs for completions"
        DEPENDS ${shares_programs} ${PROJECT_SOURCE_DIR}/cmake/completions.cmake
        COMMAND ${CMAKE_COMMAND} -DPROGRAMS=${paths} -DOUT=${completions} -P ${PROJECT_SOURCE_DIR}/cmake/completions.cmake
        COMMAND ${CMAKE_COMMAND} -E touch ${completions}.stamp)
    add_custom_target(completions ALL DEPENDS ${completions}.stamp)
    install(DIRECTORY ${completions}/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()

# Units name the programs where they were installed to, which only the installation knows.
# systemd reads those of /usr and of /usr/local.
set(unit_servers_cobre cobre-mcp)
set(unit_servers_universe universe)
set(unit_servers_portarium portarium)
set(units)
foreach(server IN LISTS shares_programs)
    if(unit_servers_${server})
        list(APPEND units system/${unit_servers_${server}}.service system/${unit_servers_${server}}.socket)
    endif()
    if(server STREQUAL "casparian")
        list(APPEND units user/casparian-worker.service)
    endif()
endforeach()
install(CODE "
    foreach(unit IN ITEMS ${units})
        string(REGEX REPLACE \"^system/\" \"\" source \${unit})
        cmake_path(GET unit PARENT_PATH folder)
        file(READ \"${PROJECT_SOURCE_DIR}/packaging/systemd/\${source}\" words)
        string(REPLACE /usr/bin/ \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" words \"\${words}\")
        file(WRITE \"${CMAKE_BINARY_DIR}/units/\${unit}\" \"\${words}\")
        file(INSTALL \"${CMAKE_BINARY_DIR}/units/\${unit}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/\${folder}\")
    endforeach()")
