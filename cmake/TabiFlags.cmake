# Warnings, floating-point flags and sanitizers: one INTERFACE target that everything links.

option(TABI_WERROR "Treat warnings as errors" OFF)
option(TABI_NATIVE "Tune for this machine and allow fused multiply-add: fastest, other bits" OFF)
option(TABI_NO_ASSERT "Leave assertions out" OFF)
option(TABI_SLOW_CHECKS "Check expensive invariants too" OFF)
option(TABI_FUZZ "Build the libFuzzer targets (clang)" OFF)
set(TABI_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")

# plain -std=c17; what POSIX adds is asked for by name
set(CMAKE_C_EXTENSIONS OFF)

add_library(tabi_flags INTERFACE)
target_compile_features(tabi_flags INTERFACE c_std_17)
target_compile_definitions(tabi_flags INTERFACE _XOPEN_SOURCE=700)
target_compile_options(tabi_flags INTERFACE
  -fno-math-errno -fno-trapping-math -fvisibility=hidden
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wno-psabi
  -Wstrict-prototypes -Wmissing-prototypes
  # clang would complain of every INFINITY, which is a float
  $<$<C_COMPILER_ID:GNU>:-Wdouble-promotion>)
if(TABI_WERROR)
  target_compile_options(tabi_flags INTERFACE -Werror)
endif()
if(TABI_NATIVE)
  target_compile_options(tabi_flags INTERFACE -O3 -march=native -ffp-contract=fast)
else()
  target_compile_options(tabi_flags INTERFACE -ffp-contract=off)
endif()
if(TABI_NO_ASSERT)
  target_compile_definitions(tabi_flags INTERFACE TABI_NO_ASSERT)
endif()
if(TABI_SLOW_CHECKS)
  target_compile_definitions(tabi_flags INTERFACE TABI_SLOW_CHECKS)
endif()
if(TABI_SANITIZE)
  target_compile_options(tabi_flags INTERFACE -fsanitize=${TABI_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tabi_flags INTERFACE -fsanitize=${TABI_SANITIZE})
endif()
if(TABI_FUZZ)
  target_compile_options(tabi_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
