# casparian: the parts of the kit that it is made of, and its own libraries.
set(server_kit serve host about cli db thread keys jobs approvals guard page config proc columns fault)
set(server_libraries DuckDB::headers m)
set(server_app_folders features/runs shell/home)
