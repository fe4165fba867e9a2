/* scene_build.h - small scenes through the public API: free boxes and balls, planes, single joints.
 *
 *   scene s = scene_begin();
 *   int32_t wood = scene_material(&s, 0.5, 0.0);
 *   scene_plane(&s, 0.0, wood);
 *   int32_t box = scene_box(&s, 2.0, v3_make(0.2, 0.2, 0.1), v3_make(0, 0, 0.05), wood);
 *   scene_open(&s, NULL);          the default world; or change a def from scene_def(&s)
 *   scene_run(&s, 1000);
 *   scene_close(&s);
 *
 * Bodies are known by their link.  Anything that fails on the way fails the test. */
#ifndef TEST_SCENE_BUILD_H
#define TEST_SCENE_BUILD_H

#include "math/quat.h"
#include "tabi/tabi.h"

#define GRAVITY 9.81

typedef struct scene {
  tabi_builder *builder;
  tabi_model *model;
  tabi_world *world;
} scene;

/* z down, 1 ms steps, no bodies. */
scene scene_begin(void);
int32_t scene_material(scene *s, double friction, double restitution);
/* A plane through the world's origin, its downhill direction +x when tilted by an angle > 0. */
void scene_plane(scene *s, double tilt, int32_t material);
q4 scene_tilt(double angle); /* turn of that plane */
/* Free bodies of even density; the frame is the centre. */
int32_t scene_box(scene *s, double mass, v3 size, v3 pos, int32_t material);
int32_t scene_ball(scene *s, double mass, double radius, v3 pos, int32_t material);
int32_t scene_shape(scene *s, tabi_shape_type type, int32_t link, v3 size, int32_t material);
/* A free body without shapes. */
int32_t scene_free(scene *s, double mass, v3 inertia, v3 pos);
/* A joint of one coordinate below `parent` at a place, and a link behind a joint. */
tabi_joint_def scene_hinge(tabi_joint_type type, int32_t parent, v3 pos, v3 axis);
int32_t scene_link(scene *s, double mass, v3 com, v3 inertia, tabi_joint_def joint);

/* models/humanoid36.urdf with its pelvis at a height, without self-collision; returns
 * the pelvis. */
int32_t scene_humanoid(scene *s, double height);
/* Its knees bent, soles level, and servos that hold every joint where it is. */
void scene_crouch(scene *s, double kp, double kd, bool implicit);

/* The model is built; the default def for it, and a world by a def: NULL for the default. */
tabi_world_def scene_def(scene *s);
void scene_open(scene *s, const tabi_world_def *def);
void scene_close(scene *s);

/* Where a link's numbers stand. */
const double *scene_q(const scene *s, int32_t link);
const double *scene_v(const scene *s, int32_t link);
int32_t scene_joint(const scene *s, int32_t link);
/* Gives a link's joint new numbers; NULL leaves them. */
void scene_set(scene *s, int32_t link, const double *q, const double *v);
void scene_set_velocity(scene *s, int32_t link, v3 lin, v3 ang);
void scene_turn(scene *s, int32_t link, q4 turn); /* a free body's orientation */

/* Steps that must succeed, without joint forces. */
void scene_run(scene *s, int64_t steps);
/* A force at the origin of a link in the next step. */
void scene_push(scene *s, int32_t link, v3 force);
/* All impulses of the last step on a link, summed. */
v3 scene_impulse(const scene *s, int32_t link);
double scene_energy(scene *s); /* kinetic, potential and spring, J */

#endif
