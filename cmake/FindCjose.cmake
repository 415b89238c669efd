# Cjose::Cjose - JSON Web Tokens and Keys (cjose/jws.h). Its file for pkg-config asks for jansson's,
# which nothing of ours needs to compile.
find_path(Cjose_INCLUDE_DIR cjose/jws.h)
find_library(Cjose_LIBRARY cjose)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cjose REQUIRED_VARS Cjose_LIBRARY Cjose_INCLUDE_DIR)
mark_as_advanced(Cjose_INCLUDE_DIR Cjose_LIBRARY)

if(Cjose_FOUND AND NOT TARGET Cjose::Cjose)
    add_library(Cjose::Cjose UNKNOWN IMPORTED)
    set_target_properties(Cjose::Cjose PROPERTIES
        IMPORTED_LOCATION ${Cjose_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Cjose_INCLUDE_DIR})
endif()
