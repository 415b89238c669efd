# What a release is compiled with against the exploitation of its faults, and so that nothing in it
# tells where it was built. Sanitizers bring checks of their own and want whole paths; so does gcov.
set(harden ON)
if(CAUSEWAY_SANITIZE OR CAUSEWAY_FUZZ OR CAUSEWAY_COVERAGE)
    set(harden OFF)
endif()
option(CAUSEWAY_HARDEN "fortified libc calls, stack protection, read-only relocations; wants an optimized build" ${harden})
if(CAUSEWAY_HARDEN)
    include(CheckPIESupported)
    check_pie_supported(LANGUAGES C CXX)
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection
        -ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
    add_link_options(-Wl,-z,relro,-z,now)
endif()
