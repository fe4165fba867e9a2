/* mujoco_load.h - MJCF text of any depth. */
#ifndef TBI_BENCH_MUJOCO_LOAD_H
#define TBI_BENCH_MUJOCO_LOAD_H

#include <mujoco/mujoco.h>

/* NULL, and why in the message. */
mjModel *tbi_mujoco_load(const char *path, char *message, int size);

#endif
