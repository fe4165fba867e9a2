/* mujoco_world.h - MuJoCo in engine-neutral scenes. */
#ifndef TBI_BENCH_MUJOCO_WORLD_H
#define TBI_BENCH_MUJOCO_WORLD_H

/* Serves a scene: SCENE SETTINGS MJCF.  Settings: "default"; "rk4"; "cg", conjugate gradients,
 * which its manual advises for large scenes; "noslip", ten sweeps of its pass against slip; "fine",
 * fifty, elliptic cones and stiff contacts. */
int tbi_mujoco_serve(int argc, char **argv);

#endif
