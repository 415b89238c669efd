# casparian: the parts of the kit that it is made of, and its own libraries.
set(server_kit)
set(server_libraries m)
