# libmcp: the objects of its layers, gathered in a static and a shared library.
#
# Each layer is also a static library of its own, layer_<name>, linked with the layers below it and
# no others: the unit tests of a layer use that, so that a call upwards does not link.
add_library(mcp_private INTERFACE)
target_include_directories(mcp_private INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib)

set(lib_objects)
set(lib_needs)
set(lib_layers)

# lib_layer(<name> [<folder>] [FILES <file>...] USES <layer>... NEEDS <target>...)
function(lib_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "FILES;USES;NEEDS")
    set(sources)
    foreach(folder IN LISTS ARG_UNPARSED_ARGUMENTS)
        file(GLOB_RECURSE found CONFIGURE_DEPENDS
            ${PROJECT_SOURCE_DIR}/lib/${folder}/*.c ${PROJECT_SOURCE_DIR}/lib/${folder}/*.cpp)
        list(APPEND sources ${found})
    endforeach()
    list(TRANSFORM ARG_FILES PREPEND ${PROJECT_SOURCE_DIR}/lib/)
    list(APPEND sources ${ARG_FILES})
    add_library(layer_${name} INTERFACE)
    target_link_libraries(layer_${name} INTERFACE mcp_private)
    if(sources)
        add_library(${name} OBJECT ${sources})
        target_link_libraries(${name} PRIVATE mcp_private ${ARG_NEEDS})
        target_compile_definitions(${name} PRIVATE CAUSEWAY_VERSION="${PROJECT_VERSION}" PCRE2_CODE_UNIT_WIDTH=8)
        target_compile_options(${name} PRIVATE -fno-semantic-interposition
            "$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>")
        causeway_product(${name} NO_PRINTF)
        add_library(only_${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}>)
        set_target_properties(only_${name} PROPERTIES LINKER_LANGUAGE CXX)
        target_link_libraries(layer_${name} INTERFACE only_${name} ${ARG_NEEDS})
        target_link_libraries(only_${name} PUBLIC ${ARG_NEEDS})
        set(lib_objects ${lib_objects} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
    endif()
    foreach(used IN LISTS ARG_USES)
        target_link_libraries(layer_${name} INTERFACE layer_${used})
        if(TARGET only_${name})
            target_link_libraries(only_${name} PUBLIC layer_${used})
        endif()
    endforeach()
    set(lib_needs ${lib_needs} ${ARG_NEEDS} PARENT_SCOPE)
    set(lib_layers ${lib_layers} ${name} PARENT_SCOPE)
endfunction()

lib_layer(base     base   NEEDS OpenSSL::Crypto Threads::Threads)
lib_layer(json     json   USES base             NEEDS PkgConfig::SIMDJSON)
lib_layer(schema   schema USES json base        NEEDS PkgConfig::PCRE2)
mcp_embed(schema NAME mcp__meta_schemas ROOT ${PROJECT_SOURCE_DIR}/lib/schema/draft-2020-12
    FILES *.json meta/*.json)
lib_layer(net      net    USES base             NEEDS PkgConfig::UV Llhttp::Llhttp Wslay::Wslay OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
lib_layer(mcp_core      mcp/core      USES schema json net base)
lib_layer(mcp_feature   mcp/feature   FILES mcp/features.c mcp/method.c USES mcp_core schema json net base)
lib_layer(mcp_transport mcp/transport USES mcp_core schema json net base)
lib_layer(mcp_server                  FILES mcp/server.c USES mcp_transport mcp_feature mcp_core schema json net base)
list(REMOVE_DUPLICATES lib_needs)

if(NOT lib_objects)
    add_library(mcp INTERFACE)
    target_link_libraries(mcp INTERFACE mcp_private)
    return()
endif()

add_library(mcp STATIC ${lib_objects})
add_library(mcp_shared SHARED ${lib_objects})
foreach(library mcp mcp_shared)
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(${library} PROPERTIES OUTPUT_NAME mcp LINKER_LANGUAGE CXX)
endforeach()
# The names of the installed package, for projects that have this one as a part.
add_library(mcp::mcp ALIAS mcp_shared)
add_library(mcp::mcp_static ALIAS mcp)
# Installed, the static library names its needs instead (mcp-config.cmake).
# A project in C alone may link it in this build, and one of its files is C++.
target_link_libraries(mcp PUBLIC "$<BUILD_INTERFACE:${lib_needs};stdc++>")
target_link_libraries(mcp_shared PRIVATE ${lib_needs})

# Only mcp_ names leave the shared library: not mcp__ ones, nor templates of the C++ file.
set(exports ${PROJECT_SOURCE_DIR}/cmake/libmcp.map)
target_link_options(mcp_shared PRIVATE -Wl,--version-script=${exports} -Wl,-Bsymbolic)
# Before 1.0 each minor version may change the ABI, so the soname carries both numbers.
set_target_properties(mcp_shared PROPERTIES VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${exports})
if(NOT CAUSEWAY_SANITIZE)
    target_link_options(mcp_shared PRIVATE -Wl,--no-undefined)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/install.cmake)
