/* walk.h - the scene in which SR1 plays the walking pattern that ships with it: 13.4 s at 1 ms. */
#ifndef TEST_WALK_H
#define TEST_WALK_H

#include "tabi/tabi_io.h"

enum { WALK_STEPS = 13400 };

/* Skips the test without extra data. */
tabi_scene *walk_load(const char *const *set, int32_t nset);

#endif
