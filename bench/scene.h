/* scene.h - the worlds of the workload "contact". */
#ifndef TBI_BENCH_SCENE_H
#define TBI_BENCH_SCENE_H

#include "tabi/tabi.h"
#include "tabi/tabi_io.h"

/* A model, where it starts, and what drives it. */
typedef struct tbi_bench_scene {
  tabi_model *model;
  tabi_scene *owner; /* of the model; NULL: this */
  double *q;         /* start */
  tabi_servo *servo; /* by joint; zero gains: none */
  double *control;   /* by actuator: no force at the start */
  const char *file;  /* MJCF that peers can load by themselves; NULL: none */
} tbi_bench_scene;

/* At the start of a model, or its first posture.  Takes the model over, also when it fails; NULL:
 * err is set already. */
tabi_status tbi_bench_scene_init(tbi_bench_scene *scene, tabi_model *model, tabi_error *err);

/* A scene file with a robot named `robot`, where it starts and with the servos that it has there;
 * what its controllers do later is up to the caller. */
tabi_status tbi_bench_scene_load(tbi_bench_scene *scene, const char *path, bool self_collision,
                                 tabi_error *err);

/* A robot that holds its first posture.  MJCF stands as the file says, with its own floor and
 * motors; URDF gets a floor under its lowest point and a servo at every joint. */
tabi_status tbi_bench_scene_robot(tbi_bench_scene *scene, const char *path, tabi_error *err);
/* The shipped humanoid as tbi_bench_scene_robot has it, but on a ground of triangles, or with hulls
 * of the same size for its feet. */
tabi_status tbi_bench_scene_mesh_ground(tbi_bench_scene *scene, const char *path, tabi_error *err);
tabi_status tbi_bench_scene_hull_feet(tbi_bench_scene *scene, const char *path, tabi_error *err);
/* The shipped humanoid on `points` small spheres, half of them under each sole, its joints without
 * limits and dry friction. */
tabi_status tbi_bench_scene_points(tbi_bench_scene *scene, const char *path, int32_t points,
                                   tabi_error *err);
/* Equal boxes on top of each other. */
tabi_status tbi_bench_scene_stack(tbi_bench_scene *scene, int32_t boxes, tabi_error *err);
/* A chain that lies on a floor, on 100 balls spread over its links (at least as many), with joints
 * that nod and turn. */
tabi_status tbi_bench_scene_snake(tbi_bench_scene *scene, int32_t links, tabi_error *err);
/* Boxes of many sizes, to fall into a pit of five planes. */
tabi_status tbi_bench_scene_pile(tbi_bench_scene *scene, int32_t boxes, tabi_error *err);
void tbi_bench_scene_free(tbi_bench_scene *scene);

/* Puts a world of the scene's model into its start. */
tabi_status tbi_bench_scene_start(const tbi_bench_scene *scene, tabi_world *world, tabi_error *err);
/* The fastest velocity of any joint. */
double tbi_bench_scene_fastest(const tabi_world *world);

#endif
