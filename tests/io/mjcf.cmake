# MJCF: features, refusals, and running out of memory.

tabi_add_io_test(mjcf test_mjcf.c)
tabi_add_io_test(mjcf_errors test_mjcf_errors.c)
tabi_add_io_test(mjcf_memory test_mjcf_memory.c)
target_link_options(test_io_mjcf_memory PRIVATE
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc)
