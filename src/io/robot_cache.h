/* robot_cache.h - robots of scenes that are loaded many times. */
#ifndef TBI_ROBOT_CACHE_H
#define TBI_ROBOT_CACHE_H

#include "tabi/tabi_io.h"

/* As tabi_builder_load.  cache may be NULL; it must outlive the builder. */
tabi_status tbi_robot_cache_load(tabi_builder_cache *cache, tabi_builder *builder, const char *path,
                                 const tabi_load_def *def, tabi_error *err);

#endif
