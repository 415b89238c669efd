# Llhttp::Llhttp - the HTTP/1 parser (llhttp.h): the system's library where there is one, else its C
# sources, which become part of whatever links this target. Debian ships only the sources;
# scripts/fetch-llhttp unpacks them.
find_package(PkgConfig QUIET)
if(NOT Llhttp_ROOT)
    pkg_check_modules(PC_LLHTTP QUIET IMPORTED_TARGET libllhttp)
endif()
find_path(Llhttp_SOURCE_DIR llhttp.c NO_DEFAULT_PATH
    HINTS ${Llhttp_ROOT} ${PROJECT_SOURCE_DIR}/.deps/llhttp /usr/share/llhttp
    DOC "folder of llhttp's api.c, http.c and llhttp.c")
find_path(Llhttp_INCLUDE_DIR llhttp.h NO_DEFAULT_PATH
    HINTS ${Llhttp_SOURCE_DIR} /usr/share/include/llhttp ${PC_LLHTTP_INCLUDEDIR})
if(Llhttp_INCLUDE_DIR)
    file(STRINGS ${Llhttp_INCLUDE_DIR}/llhttp.h Llhttp_VERSION REGEX "define LLHTTP_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX REPLACE "[^0-9;]" "" Llhttp_VERSION "${Llhttp_VERSION}")
    string(REPLACE ";" "." Llhttp_VERSION "${Llhttp_VERSION}")
endif()
if(PC_LLHTTP_FOUND)
    set(Llhttp_VERSION ${PC_LLHTTP_VERSION})
    set(Llhttp_FROM ${PC_LLHTTP_LINK_LIBRARIES})
else()
    set(Llhttp_FROM ${Llhttp_SOURCE_DIR})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Llhttp
    REQUIRED_VARS Llhttp_FROM VERSION_VAR Llhttp_VERSION
    REASON_FAILURE_MESSAGE "no libllhttp for pkg-config, and no sources: run scripts/fetch-llhttp, or set Llhttp_ROOT")
mark_as_advanced(Llhttp_SOURCE_DIR Llhttp_INCLUDE_DIR)

if(Llhttp_FOUND AND NOT TARGET Llhttp::Llhttp)
    if(PC_LLHTTP_FOUND)
        add_library(Llhttp::Llhttp ALIAS PkgConfig::PC_LLHTTP)
    else()
        # An object library, and without our warnings: the sources are generated.
        add_library(llhttp OBJECT
            ${Llhttp_SOURCE_DIR}/api.c ${Llhttp_SOURCE_DIR}/http.c ${Llhttp_SOURCE_DIR}/llhttp.c)
        target_compile_options(llhttp PRIVATE -w)
        target_include_directories(llhttp SYSTEM PUBLIC $<BUILD_INTERFACE:${Llhttp_INCLUDE_DIR}>)
        add_library(Llhttp::Llhttp ALIAS llhttp)
    endif()
endif()
