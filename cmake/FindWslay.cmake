# Wslay::Wslay - WebSocket framing (wslay/wslay.h). Debian ships a shared library and no file for
# pkg-config; its header tells no useful version.
find_path(Wslay_INCLUDE_DIR wslay/wslay.h)
find_library(Wslay_LIBRARY wslay)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Wslay REQUIRED_VARS Wslay_LIBRARY Wslay_INCLUDE_DIR)
mark_as_advanced(Wslay_INCLUDE_DIR Wslay_LIBRARY)

if(Wslay_FOUND AND NOT TARGET Wslay::Wslay)
    add_library(Wslay::Wslay UNKNOWN IMPORTED)
    set_target_properties(Wslay::Wslay PROPERTIES
        IMPORTED_LOCATION ${Wslay_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Wslay_INCLUDE_DIR})
endif()
