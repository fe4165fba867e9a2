/* plain.h - a scene in plain numbers, which every engine can be given: bodies, joints, shapes,
 * servos and the state at the start.  As text it has a line for each item, its first word the kind:
 *
 *   world TIMESTEP gravity
 *   body PARENT LINK JOINT place mass com inertia armature damping dry lower upper kp kd target q v
 *        pose twist
 *   shape BODY KIND pos quat size friction restitution group mask
 *   exclude BODY BODY
 *   tie BODY BODY point point         that stay together: loops are closed by these
 *   aim TARGET...                    of all bodies, one line for each step
 *
 * Bodies are numbered as they come, parents first, -1 is the world.  Nothing here knows of tabi. */
#ifndef TBI_BENCH_PLAIN_H
#define TBI_BENCH_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tbi_plain_joint { TBI_PLAIN_FREE, TBI_PLAIN_HINGE, TBI_PLAIN_SLIDE } tbi_plain_joint;

/* Its joint turns about or slides along z of the body's frame. */
typedef struct tbi_plain_body {
  int32_t parent, link;               /* link: which of the model, the name of the body in MJCF */
  int32_t joint;                      /* tbi_plain_joint */
  double pos[3], quat[4];             /* where the frame is in the parent's at q = 0 */
  double mass, com[3], inertia[6];    /* about the com, in the axes of the frame */
  double armature, damping, dry;      /* of the joint */
  double lower, upper;                /* infinite: none */
  double kp, kd, target;              /* of the servo; zero gains: none */
  double q, v;                        /* of the joint at the start */
  double start_pos[3], start_quat[4]; /* of the frame in the world at the start */
  double start_linear[3], start_angular[3]; /* of its origin, world axes */
} tbi_plain_body;

typedef enum tbi_plain_kind {
  TBI_PLAIN_PLANE,
  TBI_PLAIN_SPHERE,  /* radius */
  TBI_PLAIN_CAPSULE, /* radius, length between the centres of its caps, along z */
  TBI_PLAIN_BOX,     /* edges */
  TBI_PLAIN_CYLINDER /* radius, length, along z */
} tbi_plain_kind;

typedef struct tbi_plain_shape {
  int32_t body; /* -1: the world */
  int32_t kind;
  double pos[3], quat[4], size[3];
  double friction; /* of two shapes the larger counts */
  double restitution;
  uint32_t group, mask; /* a and b may touch if a.group & b.mask or b.group & a.mask */
} tbi_plain_shape;

/* A point of one body that stays at a point of another; -1 is the world, second only. */
typedef struct tbi_plain_tie {
  int32_t body[2];
  double pos[2][3]; /* in the frames of the bodies */
} tbi_plain_tie;

typedef struct tbi_plain {
  double timestep, gravity[3];
  int32_t nbody, nshape, nexclusion, ntie, nstep;
  tbi_plain_body *body;
  tbi_plain_shape *shape;
  int32_t (*exclusion)[2]; /* bodies */
  tbi_plain_tie *tie;
  double *aim; /* nstep rows of nbody: targets of servos; none: they stand */
} tbi_plain;

/* Where a body is and how it moves; engines report an array of these. */
typedef struct tbi_plain_state {
  double com[3], quat[4];       /* quat: of the body's frame */
  double linear[3], angular[3]; /* of the com, world axes */
} tbi_plain_state;

bool tbi_plain_write(const tbi_plain *plain, FILE *file);
/* Returns NULL, or what is wrong; `plain` is to be freed in any case. */
const char *tbi_plain_read(tbi_plain *plain, FILE *file);
void tbi_plain_free(tbi_plain *plain);

/* y = R(quat) x */
void tbi_plain_turn(const double quat[4], const double x[3], double y[3]);

/* Whether two shapes may touch: on different bodies that are not neighbours or excluded. */
bool tbi_plain_may_touch(const tbi_plain *plain, int32_t shape_a, int32_t shape_b);

#ifdef __cplusplus
}
#endif

#endif
