# casparian's SDK for plugins, the plugins that ship with it, and the index that pins them.
#
# A plugin is put together in the build folder as it is installed, at share/casparian/plugins/NAME/
# VERSION/ relative to the folder above the programs, so that the program of the build folder finds
# it too. Native plugins are static, so that in their sandbox they open nothing but their input; and
# they have no sanitizer, which does not start under a limit of the address space. Their cores are
# in casparian_parsers as well, for tests and fuzzing.
find_package(ZLIB REQUIRED)
find_library(ZLIB_STATIC_LIBRARY libz.a REQUIRED)
mark_as_advanced(ZLIB_STATIC_LIBRARY)
set(casparian_folder ${PROJECT_SOURCE_DIR}/servers/casparian)
cmake_path(SET casparian_plugins NORMALIZE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/../share/casparian/plugins)
set(casparian_pinned)       # NAME VERSION RUNTIME, of the plugins that ship
set(casparian_plugin_files) # what the build makes

file(GLOB sdk_sources CONFIGURE_DEPENDS ${casparian_folder}/guest/sdk/*.c)
file(GLOB parser_sources CONFIGURE_DEPENDS ${casparian_folder}/parsers/*/*.c)
foreach(source IN LISTS parser_sources) # without the mains
    if(source MATCHES "/([^/]+)/([^/]+)\\.c$" AND CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
        list(REMOVE_ITEM parser_sources ${source})
    endif()
endforeach()
set(plain_sources ${sdk_sources} ${parser_sources})

add_library(casparian_plugin STATIC ${sdk_sources})
add_library(casparian_parsers STATIC ${parser_sources})
target_link_libraries(casparian_parsers PUBLIC casparian_plugin ZLIB::ZLIB)
add_library(casparian_parsers_plain STATIC ${plain_sources})
target_include_directories(casparian_parsers_plain SYSTEM PUBLIC ${ZLIB_INCLUDE_DIRS})
target_compile_options(casparian_parsers_plain PRIVATE -O2 -fno-sanitize=all)
foreach(library IN ITEMS casparian_plugin casparian_parsers casparian_parsers_plain)
    target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        PRIVATE ${casparian_folder} INTERFACE $<BUILD_INTERFACE:${casparian_folder}>)
    causeway_product(${library})
endforeach()
list(APPEND server_targets casparian_parsers)

install(TARGETS casparian_plugin ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/include/casparian_plugin.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT library)

# casparian_plugin_place(<name> <version> <runtime> <where>): where the plugin is put together, into
# the variable; one that ships is pinned and installed.
function(casparian_plugin_place name version runtime where)
    set(${where} ${casparian_plugins}/${name}/${version} PARENT_SCOPE)
    set(casparian_pinned ${casparian_pinned} "${name} ${version} ${runtime}" PARENT_SCOPE)
endfunction()

# casparian_plugin_copy(<from> <to>): a file of a plugin.
macro(casparian_plugin_copy from to)
    add_custom_command(OUTPUT ${to} DEPENDS ${from} VERBATIM
        COMMAND ${CMAKE_COMMAND} -E copy ${from} ${to})
    list(APPEND casparian_plugin_files ${to})
endmacro()

# casparian_plugin_install(<place> <name> <version> <file>...): files relative to the place.
function(casparian_plugin_install place name version)
    foreach(file IN LISTS ARGN)
        cmake_path(GET file PARENT_PATH folder)
        install(FILES ${place}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/casparian/plugins/${name}/${version}/${folder})
    endforeach()
endfunction()

# casparian_plugin_native(<name> <version> [PLACE <folder>]): the plugin of parsers/<name>/: its
# main is <name>.c. With PLACE it is put together in that folder, neither pinned nor installed.
function(casparian_plugin_native name version)
    cmake_parse_arguments(PARSE_ARGV 2 ARG "" "PLACE" "")
    set(folder ${casparian_folder}/parsers/${name})
    if(ARG_PLACE)
        set(place ${ARG_PLACE}/${name}/${version})
    else()
        casparian_plugin_place(${name} ${version} native place)
    endif()
    set(plugin_version ${version})
    string(TOLOWER ${CMAKE_SYSTEM_NAME} platform_os)
    configure_file(${folder}/casparian.toml.in ${place}/casparian.toml @ONLY)
    list(APPEND casparian_plugin_files ${place}/casparian.toml)
    file(GLOB schemas RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/schemas/*.schema.json)
    foreach(schema IN LISTS schemas)
        casparian_plugin_copy(${folder}/${schema} ${place}/${schema})
    endforeach()

    set(target plugin_${name})
    add_executable(${target} ${folder}/${name}.c)
    causeway_product(${target})
    target_compile_options(${target} PRIVATE -O2 -fno-sanitize=all)
    target_link_libraries(${target} PRIVATE casparian_parsers_plain ${ZLIB_STATIC_LIBRARY})
    target_link_options(${target} PRIVATE -fno-sanitize=all -static-pie -s)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${place})
    list(APPEND casparian_plugin_files ${target})
    set(casparian_plugin_files ${casparian_plugin_files} PARENT_SCOPE)
    if(NOT ARG_PLACE)
        casparian_plugin_install(${place} ${name} ${version} casparian.toml ${schemas})
        # As a program and not as a target, which an installation may strip: its bytes are pinned.
        install(PROGRAMS ${place}/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/casparian/plugins/${name}/${version})
        set(casparian_pinned ${casparian_pinned} PARENT_SCOPE)
    endif()
endfunction()

# casparian_plugin_python(<name> <version> <file>...): the plugin of parsers/<name>/, whose files
# are named relative to that folder; casparian.toml is one of them.
function(casparian_plugin_python name version)
    casparian_plugin_place(${name} ${version} python place)
    foreach(file IN LISTS ARGN)
        casparian_plugin_copy(${casparian_folder}/parsers/${name}/${file} ${place}/${file})
    endforeach()
    casparian_plugin_install(${place} ${name} ${version} ${ARGN})
    set(casparian_plugin_files ${casparian_plugin_files} PARENT_SCOPE)
    set(casparian_pinned ${casparian_pinned} PARENT_SCOPE)
endfunction()

# casparian_plugin_index(): index.json over the plugins that were named so far, and the target
# casparian_plugins, which makes them.
function(casparian_plugin_index)
    set(index ${casparian_plugins}/index.json)
    list(SORT casparian_pinned)
    list(JOIN casparian_pinned "\n" lines)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/casparian-plugins.list CONTENT "${lines}\n")
    add_custom_command(OUTPUT ${index} VERBATIM
        DEPENDS ${casparian_plugin_files} ${CMAKE_BINARY_DIR}/casparian-plugins.list
            ${PROJECT_SOURCE_DIR}/cmake/casparian-index.cmake
        COMMAND ${CMAKE_COMMAND} -DPLUGINS=${casparian_plugins} -DLIST=${CMAKE_BINARY_DIR}/casparian-plugins.list
            -P ${PROJECT_SOURCE_DIR}/cmake/casparian-index.cmake)
    add_custom_target(casparian_plugins ALL DEPENDS ${index})
    if(TARGET casparian)
        add_dependencies(casparian casparian_plugins)
    endif()
    install(FILES ${index} DESTINATION ${CMAKE_INSTALL_DATADIR}/casparian/plugins)
endfunction()

# The program that loads plugins that are shared libraries. These find the SDK in it.
cmake_path(SET casparian_host_folder NORMALIZE ${casparian_plugins}/../host)
add_executable(plugin_host ${casparian_folder}/guest/host/plugin_host.c ${sdk_sources})
causeway_product(plugin_host)
target_include_directories(plugin_host PRIVATE ${casparian_folder} ${PROJECT_SOURCE_DIR}/include)
target_compile_options(plugin_host PRIVATE -O2 -fno-sanitize=all)
target_link_libraries(plugin_host PRIVATE ${CMAKE_DL_LIBS})
target_link_options(plugin_host PRIVATE -fno-sanitize=all)
set_target_properties(plugin_host PROPERTIES ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY ${casparian_host_folder})
install(PROGRAMS ${casparian_host_folder}/plugin_host DESTINATION ${CMAKE_INSTALL_DATADIR}/casparian/host)
list(APPEND casparian_plugin_files plugin_host)

casparian_plugin_native(csv_native 0.1.0)
casparian_plugin_native(evtx_native 0.1.0)
casparian_plugin_native(jsonl_native 0.1.0)
casparian_plugin_native(weblog_native 0.1.0)
casparian_plugin_python(fix_parser 1.2.0 casparian.toml fix_parser.py)
casparian_plugin_python(hl7_v2 0.1.0 casparian.toml hl7_v2.py)
casparian_plugin_index()
if(CAUSEWAY_TESTS)
    set(casparian_test_plugins ${CMAKE_BINARY_DIR}/tests/plugins) # for tests alone
    casparian_plugin_native(fixture_native 1.0.0 PLACE ${casparian_test_plugins})
    add_custom_target(casparian_fixtures ALL DEPENDS ${casparian_plugin_files})
endif()
