/* neutral_scene.h - an engine-neutral scene: numbers that every engine can be given: bodies,
 * joints, shapes, servos and the state at the start.  As text it has a line for each item, its
 * first word the kind:
 *
 *   world TIMESTEP gravity
 *   body PARENT LINK JOINT place mass com inertia armature damping dry lower upper kp kd target q v
 *        pose twist
 *   shape BODY KIND pos quat size friction restitution group mask
 *   exclude BODY BODY
 *   connection BODY BODY point point         that stay together: loops are closed by these
 *   aim TARGET...                    of all bodies, one line for each step
 *
 * Bodies are numbered as they come, parents first, -1 is the world.  Nothing here knows of tabi. */
#ifndef TBI_BENCH_NEUTRAL_SCENE_H
#define TBI_BENCH_NEUTRAL_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tbi_neutral_joint {
  TBI_NEUTRAL_FREE,
  TBI_NEUTRAL_HINGE,
  TBI_NEUTRAL_SLIDE
} tbi_neutral_joint;

/* Its joint turns about or slides along z of the body's frame. */
typedef struct tbi_neutral_body {
  int32_t parent, link;               /* link: which of the model, the name of the body in MJCF */
  int32_t joint;                      /* tbi_neutral_joint */
  double pos[3], quat[4];             /* where the frame is in the parent's at q = 0 */
  double mass, com[3], inertia[6];    /* about the com, in the axes of the frame */
  double armature, damping, dry;      /* of the joint */
  double lower, upper;                /* infinite: none */
  double kp, kd, target;              /* of the servo; zero gains: none */
  double q, v;                        /* of the joint at the start */
  double start_pos[3], start_quat[4]; /* of the frame in the world at the start */
  double start_linear[3], start_angular[3]; /* of its origin, world axes */
} tbi_neutral_body;

typedef enum tbi_neutral_shape_type {
  TBI_NEUTRAL_PLANE,
  TBI_NEUTRAL_SPHERE,  /* radius */
  TBI_NEUTRAL_CAPSULE, /* radius, length between the centres of its caps, along z */
  TBI_NEUTRAL_BOX,     /* edges */
  TBI_NEUTRAL_CYLINDER /* radius, length, along z */
} tbi_neutral_shape_type;

typedef struct tbi_neutral_shape {
  int32_t body; /* -1: the world */
  int32_t kind;
  double pos[3], quat[4], size[3];
  double friction; /* of two shapes the larger counts */
  double restitution;
  uint32_t group, mask; /* a and b may touch if a.group & b.mask or b.group & a.mask */
} tbi_neutral_shape;

/* A point of one body that stays at a point of another; -1 is the world, second only. */
typedef struct tbi_neutral_connection {
  int32_t body[2];
  double pos[2][3]; /* in the frames of the bodies */
} tbi_neutral_connection;

typedef struct tbi_neutral_scene {
  double timestep, gravity[3];
  int32_t nbody, nshape, nexclusion, nconnection, nstep;
  tbi_neutral_body *body;
  tbi_neutral_shape *shape;
  int32_t (*exclusion)[2]; /* bodies */
  tbi_neutral_connection *connection;
  double *aim; /* nstep rows of nbody: targets of servos; none: they stand */
} tbi_neutral_scene;

/* Where a body is and how it moves; engines report an array of these. */
typedef struct tbi_neutral_state {
  double com[3], quat[4];       /* quat: of the body's frame */
  double linear[3], angular[3]; /* of the com, world axes */
} tbi_neutral_state;

bool tbi_neutral_scene_write(const tbi_neutral_scene *neutral, FILE *file);
/* Returns NULL, or what is wrong; `neutral` is to be freed in any case. */
const char *tbi_neutral_scene_read(tbi_neutral_scene *neutral, FILE *file);
void tbi_neutral_scene_free(tbi_neutral_scene *neutral);

/* y = R(quat) x */
void tbi_neutral_rotate(const double quat[4], const double x[3], double y[3]);

/* Whether two shapes may touch: on different bodies that are not neighbours or excluded. */
bool tbi_neutral_may_collide(const tbi_neutral_scene *neutral, int32_t shape_a, int32_t shape_b);

#ifdef __cplusplus
}
#endif

#endif
