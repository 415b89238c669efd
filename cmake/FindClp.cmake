# Clp::Clp - the LP solver Clp with its C interface (coin/Clp_C_Interface.h).
find_package(PkgConfig QUIET)
pkg_check_modules(PC_CLP QUIET clp)
find_path(Clp_INCLUDE_DIR coin/Clp_C_Interface.h)
find_library(Clp_LIBRARY Clp HINTS ${PC_CLP_LIBRARY_DIRS})
find_library(Clp_COINUTILS_LIBRARY CoinUtils HINTS ${PC_CLP_LIBRARY_DIRS})
set(Clp_VERSION ${PC_CLP_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Clp
    REQUIRED_VARS Clp_LIBRARY Clp_COINUTILS_LIBRARY Clp_INCLUDE_DIR VERSION_VAR Clp_VERSION)
mark_as_advanced(Clp_INCLUDE_DIR Clp_LIBRARY Clp_COINUTILS_LIBRARY)

if(Clp_FOUND AND NOT TARGET Clp::Clp)
    add_library(Clp::Clp UNKNOWN IMPORTED)
    set_target_properties(Clp::Clp PROPERTIES
        IMPORTED_LOCATION ${Clp_LIBRARY}
        INTERFACE_LINK_LIBRARIES ${Clp_COINUTILS_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES "${Clp_INCLUDE_DIR};${Clp_INCLUDE_DIR}/coin")
endif()
