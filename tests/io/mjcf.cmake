# MJCF: features, refusals, and running out of memory.

tabi_add_io_test(mjcf test_mjcf.c)
tabi_add_io_test(mjcf_errors test_mjcf_errors.c)
tabi_add_io_test(mjcf_memory test_mjcf_memory.c)
tabi_wrap_heap(test_io_mjcf_memory)
