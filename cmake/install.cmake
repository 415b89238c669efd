# The library as others get it, component `library`: both libraries, headers, the manual page,
# mcp.pc, and the CMake package `mcp` (targets mcp::mcp and mcp::mcp_static, function mcp_embed).
# The tree may be moved after installing.
#
# What a static link needs besides libmcp.a goes by name, because Debian has a pkg-config file for
# some of it only.
include(CMakePackageConfigHelpers)

set(static_needs ${UV_LDFLAGS} ${SIMDJSON_LDFLAGS} ${PCRE2_LDFLAGS} ${PC_LLHTTP_LDFLAGS}
    -lwslay -lssl -lcrypto -lstdc++ -pthread)
list(REMOVE_DUPLICATES static_needs)
foreach(folder IN LISTS CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    list(REMOVE_ITEM static_needs -L${folder})
endforeach()
list(JOIN static_needs " " static_needs_line)
target_link_libraries(mcp INTERFACE "$<INSTALL_INTERFACE:${static_needs}>")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mcp)
set_target_properties(mcp PROPERTIES EXPORT_NAME mcp_static)
set_target_properties(mcp_shared PROPERTIES EXPORT_NAME mcp)
install(TARGETS mcp mcp_shared EXPORT mcp-targets COMPONENT library
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT mcp-targets NAMESPACE mcp:: DESTINATION ${package_dir} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mcp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
    FILES_MATCHING PATTERN *.h)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mcp-config.cmake.in ${PROJECT_BINARY_DIR}/mcp-config.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mcp-config-version.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    ${PROJECT_BINARY_DIR}/mcp-config.cmake ${PROJECT_BINARY_DIR}/mcp-config-version.cmake
    DESTINATION ${package_dir} COMPONENT library)

# mcp.pc finds its prefix from where it lies, so that `cmake --install --prefix` and DESTDIR need no
# other file.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR libdir_is_absolute)
if(libdir_is_absolute)
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_LIBDIR})
else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up "${up}")
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "/\${prefix}" OUTPUT_VARIABLE pc_includedir)
string(REPLACE "/\${prefix}" "\${prefix}" pc_includedir "${pc_includedir}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/mcp.pc.in ${PROJECT_BINARY_DIR}/mcp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mcp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

install(FILES ${PROJECT_SOURCE_DIR}/docs/man/libmcp.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT library)
