/* engine_scenes.h - scenes for several engines, beside those of scene.h: known from elsewhere, but
 * rebuilt from their numbers. */
#ifndef TBI_BENCH_ENGINE_SCENES_H
#define TBI_BENCH_ENGINE_SCENES_H

#include "scene.h"

/* Quadrupeds of 18 degrees of freedom in a square, two metres apart, on servos.  `floor` false:
 * nothing to stand on, at a height of 2 m, without servos. */
tabi_status tbi_bench_scene_quadrupeds(tbi_bench_scene *scene, int32_t robots, bool floor,
                                       tabi_error *err);
/* One of them without gravity, and a ball of 10 kg five metres beside it. */
tabi_status tbi_bench_scene_hit(tbi_bench_scene *scene, tabi_error *err);
/* A humanoid of 27 degrees of freedom, limp, its soles on the floor. */
tabi_status tbi_bench_scene_limp(tbi_bench_scene *scene, tabi_error *err);
/* Links in a crooked row on the world, hinges about x, y, z in turn, without gravity. */
tabi_status tbi_bench_scene_chain(tbi_bench_scene *scene, int32_t links, tabi_error *err);
/* Linkages of four bars, hinges about y, hanging side by side: crank and coupler on one pivot, the
 * rocker on another, and a ball connection between rocker and coupler.  Closed where all joints are
 * at zero. */
tabi_status tbi_bench_scene_loops(tbi_bench_scene *scene, int32_t linkages, tabi_error *err);
/* A cube of 1 kg, 0.1 m, on a slope of 15 degrees, friction 0.5. */
tabi_status tbi_bench_scene_slope(tbi_bench_scene *scene, tabi_error *err);

/* SimBenchmark's: a plate (the first body) under 25 balls, 49 balls that bounce, 6 x 6 x 6 balls.
 */
tabi_status tbi_bench_scene_rolling(tbi_bench_scene *scene, tabi_error *err);
tabi_status tbi_bench_scene_bouncing(tbi_bench_scene *scene, tabi_error *err);
tabi_status tbi_bench_scene_balls(tbi_bench_scene *scene, tabi_error *err);

#endif
