# What every compilation of ours is held to. Warnings are errors, for gcc and clang.
set(CAUSEWAY_WARNINGS -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wno-sign-conversion
    -Wformat=2 -Wvla -Wwrite-strings)
set(CAUSEWAY_C_WARNINGS -Wstrict-prototypes -Wmissing-prototypes)
set(CAUSEWAY_CXX_WARNINGS -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wno-sign-conversion)

# causeway_product(<target> [NO_PRINTF]): code that ships. Full warnings, and the banned functions
# do not compile.
function(causeway_product target)
    cmake_parse_arguments(ARG "NO_PRINTF" "" "" ${ARGN})
    set(banned ${PROJECT_SOURCE_DIR}/cmake/banned.h)
    target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:C>:${CAUSEWAY_WARNINGS};${CAUSEWAY_C_WARNINGS};SHELL:-include ${banned}>"
        "$<$<COMPILE_LANGUAGE:CXX>:${CAUSEWAY_CXX_WARNINGS}>")
    if(ARG_NO_PRINTF)
        target_compile_definitions(${target} PRIVATE CAUSEWAY_BAN_PRINTF)
    endif()
endfunction()

# causeway_test_code(<target>): tests, fuzz targets and benches. A main or a
# fuzzer's entry needs no prototype, and a test may name a thing as its type is named.
function(causeway_test_code target)
    target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:C>:${CAUSEWAY_WARNINGS};-Wno-conversion;-Wno-shadow;-Wstrict-prototypes>")
endfunction()
