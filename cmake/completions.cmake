# cmake -DPROGRAMS=<path>,... -DOUT=<folder> -P completions.cmake
# Writes what `PROGRAM completion SHELL` prints into the folder, under the names and in the places
# below share/ that the shells look for.
set(place_bash bash-completion/completions/@NAME@)
set(place_zsh zsh/site-functions/_@NAME@)
set(place_fish fish/vendor_completions.d/@NAME@.fish)
string(REPLACE "," ";" programs "${PROGRAMS}")
file(REMOVE_RECURSE ${OUT})
foreach(program IN LISTS programs)
    cmake_path(GET program FILENAME NAME)
    foreach(shell IN ITEMS bash zsh fish)
        execute_process(COMMAND ${program} completion ${shell} INPUT_FILE /dev/null TIMEOUT 60
            OUTPUT_VARIABLE words ERROR_VARIABLE why RESULT_VARIABLE status)
        if(NOT status STREQUAL "0" OR words STREQUAL "")
            message(FATAL_ERROR "${program} completion ${shell} ended with ${status}: ${why}")
        endif()
        string(CONFIGURE "${OUT}/${place_${shell}}" path @ONLY)
        file(WRITE ${path} "${words}")
    endforeach()
endforeach()
