# cobre: the parts of the kit that it is made of, and its own libraries.
set(server_kit serve host about cli guard columns flat thread)
find_package(Clp REQUIRED)
set(server_libraries Clp::Clp)

# The dual simplex gives the same bits on every machine: no fused multiply-adds, and vectors only
# where a loop is element by element and says so.
file(GLOB dual_sources CONFIGURE_DEPENDS ${folder}/lp/dual/*.c)
# clang warns of every loop that is to be one of vectors and is none; sanitizers make such.
set(dual_options -ffp-contract=off -fopenmp-simd -O3 $<$<C_COMPILER_ID:Clang>:-Wno-pass-failed>)
set_source_files_properties(${dual_sources} PROPERTIES COMPILE_OPTIONS "${dual_options}")
