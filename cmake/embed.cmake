# mcp_embed(<target> NAME <symbol> ROOT <folder> FILES <glob>... [BUILT <path>...])
#
# Makes the files part of <target> as the table `const mcp_file <symbol>[]` (mcp/files.h): path
# relative to ROOT, bytes, length, sorted by path, closed by an entry of zeros. Files are read at
# build time; a changed file is embedded again, and a new one that fits a glob is found. A glob that
# nothing fits adds nothing. BUILT names files below ROOT that the build makes first.
#
# Run as a script (cmake -P embed.cmake) the same file does the writing: -DOUT= -DNAME= -DROOT=
# -DLIST=.

if(CMAKE_SCRIPT_MODE_FILE)
    file(STRINGS ${LIST} paths)
    set(number 0)
    set(arrays "")
    set(rows "")
    foreach(path IN LISTS paths)
        file(READ ${ROOT}/${path} hex HEX)
        string(LENGTH "${hex}" digits)
        math(EXPR length "${digits} / 2")
        string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(APPEND arrays "/* ${path} */\nstatic const unsigned char file_${number}[] = {\n${hex}0x00};\n\n")
        string(APPEND rows "    {\"${path}\", (const char *)file_${number}, ${length}},\n")
        math(EXPR number "${number} + 1")
    endforeach()
    file(WRITE ${OUT}
        "/* Written by the build from files in the source tree. */\n#include \"mcp/files.h\"\n\n"
        "${arrays}extern const mcp_file ${NAME}[];\nconst mcp_file ${NAME}[] = {\n${rows}    {0},\n};\n")
    return()
endif()

function(mcp_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;ROOT" "FILES;BUILT")
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
    cmake_path(ABSOLUTE_PATH ARG_ROOT NORMALIZE)
    set(paths)
    foreach(glob IN LISTS ARG_FILES)
        file(GLOB found CONFIGURE_DEPENDS RELATIVE ${ARG_ROOT} ${ARG_ROOT}/${glob})
        list(APPEND paths ${found})
    endforeach()
    list(APPEND paths ${ARG_BUILT})
    list(SORT paths)
    set(depends ${paths})
    list(TRANSFORM depends PREPEND ${ARG_ROOT}/)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${ARG_NAME}.c)
    set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${ARG_NAME}.list)
    list(JOIN paths "\n" lines)
    file(CONFIGURE OUTPUT ${list} CONTENT "${lines}" @ONLY)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAME=${ARG_NAME} -DROOT=${ARG_ROOT} -DLIST=${list}
                -P ${script}
        DEPENDS ${depends} ${list} ${script} VERBATIM
        COMMENT "Embedding ${ARG_NAME}")
    target_sources(${target} PRIVATE ${out})
endfunction()
