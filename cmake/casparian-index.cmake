# Writes PLUGINS/index.json: the SHA-256 of each file of the plugins that LIST names (lines NAME
# VERSION RUNTIME, sorted), as
#     {"plugins":[{"name","version","runtime","files":[{"path","sha256"}]}]}
# Paths are relative to the folder of the plugin, and sorted.
file(STRINGS ${LIST} lines)
set(plugins)
foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(GET words 0 name)
    list(GET words 1 version)
    list(GET words 2 runtime)
    set(folder ${PLUGINS}/${name}/${version})
    file(GLOB_RECURSE paths RELATIVE ${folder} ${folder}/*)
    list(SORT paths)
    set(files)
    foreach(path IN LISTS paths)
        file(SHA256 ${folder}/${path} hash)
        list(APPEND files "{\"path\":\"${path}\",\"sha256\":\"${hash}\"}")
    endforeach()
    list(JOIN files "," files)
    list(APPEND plugins "{\"name\":\"${name}\",\"version\":\"${version}\",\"runtime\":\"${runtime}\",\"files\":[${files}]}")
endforeach()
list(JOIN plugins ",\n" plugins)
file(WRITE ${PLUGINS}/index.json "{\"plugins\":[\n${plugins}\n]}\n")
