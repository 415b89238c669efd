# cobre: the parts of the kit that it is made of, and its own libraries.
set(server_kit serve cli guard columns flat thread)
find_package(Clp REQUIRED)
set(server_libraries Clp::Clp)
