# portarium: the parts of the kit that it is made of, and its own libraries.
set(server_kit serve host about local cli db bus thread keys jobs fetch guard page config proc client auth fault)
set(server_libraries m)
set(server_app_folders proxy commands commands/show)
