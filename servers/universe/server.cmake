# universe: the parts of the kit that it is made of, and its own libraries.
set(server_kit serve host about local cli db bus page thread)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
set(server_libraries PkgConfig::ZSTD m)
