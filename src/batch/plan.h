/* plan.h - what a lane step needs of a model, in the order in which it is used.
 *
 * Bodies stand depth first, so that the pose, twist and acceleration of a body's ancestors are a
 * stack.  A slot is a place where a contact may be: a point of a shape on a plane, one of the
 * points in which a shape meets other shapes that stand in the world, or two rounded segments of
 * one robot. Slots have fixed numbers, and a lane step visits those that some lane needs, in this
 * order.
 *
 * The objects that step lanes are compiled for other instruction sets than the rest of the library,
 * and math/simd.h has other types there.  So this header includes none of it: what a step reads of
 * the model stands in the plan. */
#ifndef TBI_PLAN_H
#define TBI_PLAN_H

#include "tabi/tabi.h"

enum {
  TBI_PLAN_FEET = 4,    /* shapes whose points are solved together, at most */
  TBI_PATCH_SLOTS = 16, /* points in which a shape meets standing shapes of one surface, at most */
};

typedef struct tbi_plan_body {
  int32_t body;     /* of the model */
  int32_t depth;    /* bodies above it: its place in the stack is depth + 1, the world's is 0 */
  int32_t q, v, nv; /* as in the model */
  int32_t tree;
  tabi_joint_type type;
  bool leaf;       /* nothing hangs from it */
  bool last_child; /* the first of its siblings in the pass to the root */
  bool keeps_pose; /* its pose and twist are kept for sensors, pushes or self-collision */
  bool permutes;   /* rot only exchanges axes and turns them round: */
  int32_t axis[3]; /* the axis of the parent that is its column j */
  double sign[3];
  double rot[9], pos[3]; /* joint frame in the parent's, rot by columns */
  double radius;         /* m, of its farthest point that may touch a plane; < 0: none */
  int32_t first_pair, npair;
  int32_t path, length; /* its velocities up to the root: plan.path */
} tbi_plan_body;

typedef enum tbi_touch_kind {
  TBI_TOUCH_POINTS,    /* points with a radius: sphere, capsule, box, hull */
  TBI_TOUCH_CYLINDER,  /* rims: two lowest points, then eight fixed ones of either rim */
  TBI_TOUCH_ELLIPSOID, /* its lowest point */
} tbi_touch_kind;

/* Points of one shape that may be solved together. */
typedef struct tbi_plan_bundle {
  int32_t index;  /* its number, or TABI_NONE: fewer than three points */
  bool foot;      /* it is solved together with those of other feet */
  int64_t column; /* where its columns start, in vectors of six */
} tbi_plan_bundle;

/* A shape of a body and a plane of the world. */
typedef struct tbi_plan_pair {
  tbi_touch_kind kind;
  int32_t plane;
  int32_t shape;
  int32_t slot, nslot; /* of points: slot + i is point[i] */
  int32_t point;       /* where its points start in plan.point */
  tbi_plan_bundle bundle;
  bool round;           /* contacts act on its surface, not halfway between the surfaces */
  double centre[3];     /* of its shape, body frame */
  double axes[9];       /* axes of its shape, by columns, body frame */
  double size[3];       /* radius and half length; semi-axes */
  double reach;         /* m, of its farthest point from the centre */
  double margin_radius; /* m, of its farthest point from the origin of its body */
} tbi_plan_pair;

typedef struct tbi_plan_point {
  double pos[3]; /* body frame */
  double radius;
} tbi_plan_point;

typedef struct tbi_plan_plane {
  int32_t shape;
  double frame[9]; /* normal, tangent, tangent */
  double height;   /* of the plane along its normal */
} tbi_plan_plane;

/* A shape that stands in the world and is no plane: the box around it. */
typedef struct tbi_plan_stand {
  double low[3], high[3];
} tbi_plan_stand;

/* A shape of a body and all standing shapes with which it has one surface.  Where they meet is
 * found world by world (lane_ground.h). */
typedef struct tbi_plan_patch {
  int32_t body; /* plan's */
  int32_t shape;
  int32_t slot; /* the first of TBI_PATCH_SLOTS */
  tbi_plan_bundle bundle;
  double centre[3];     /* of its shape, body frame */
  double reach;         /* m, of its farthest point from the centre; a little more for rounding */
  double margin_radius; /* m, of its farthest point from the origin of its body */
} tbi_plan_patch;

/* Two rounded segments of moving bodies. */
typedef struct tbi_plan_segment {
  int32_t body; /* plan's */
  int32_t shape;
  double end[2][3]; /* body frame */
  double radius;
  double margin_radius; /* m, of its farthest point from the origin of its body */
} tbi_plan_segment;

typedef struct tbi_plan_couple {
  int32_t a, b; /* segments */
  double reach; /* m, of both from their middles, together; a little more for rounding */
  int32_t slot;
} tbi_plan_couple;

/* The law of friction between two shapes, see tabi_material_def. */
typedef struct tbi_plan_surface {
  double friction, kinetic;
  double slip_speed;         /* m/s, above which friction is kinetic */
  double viscous;            /* s/m */
  double torsional, rolling; /* m */
} tbi_plan_surface;

/* Velocities that a contact at a slot moves: those of b alone, of a alone, and shared by both. */
typedef struct tbi_plan_slot {
  int32_t shape_a, shape_b;
  int32_t body_a, body_b; /* plan's; a is TABI_WORLD where b meets the world */
  int32_t path;           /* in plan.path */
  int32_t only_b, only_a, shared;
  int64_t column; /* where its columns start, in vectors of three numbers */
  tbi_plan_surface surface;
} tbi_plan_slot;

typedef struct tbi_plan {
  const tabi_model *model;
  tabi_world_def def; /* defaults filled in */
  double h;
  int32_t nq, nv, nbody, ntree, nactuator, depth, nslot, npair, npoint, nplane, npath, nsegment,
      ncouple;
  int64_t ncolumn; /* of all slots together, in vectors of three */
  int64_t nrow;    /* of all velocities together */
  int32_t nroll;   /* nslot where some surface has rolling or torsional friction, else 0 */
  int32_t nbundle;
  int64_t nbundle_column; /* of all bundles together, in vectors of six */
  int32_t nstand, npatch;
  int32_t patch_slot; /* the first of the slots of all patches */
  tbi_plan_body *body;
  tbi_plan_pair *pair;
  tbi_plan_point *point;
  tbi_plan_plane *plane;
  tbi_plan_segment *segment;
  tbi_plan_couple *couple;
  tbi_plan_stand *stand;
  tbi_plan_patch *patch;
  bool *meets;                    /* whether a patch is of a standing shape: [npatch][nstand] */
  struct tbi_plan_ground *ground; /* what finding these contacts needs, or NULL */
  tbi_plan_slot *slot;
  int32_t *path;
  int32_t *place;     /* of a body of the model among the plan's */
  int32_t *dof_place; /* the same of the body of each velocity */
  double *origin;     /* of trees: [ntree][3] */
  double *inertia;    /* mass, com, moment xx yy zz xy xz yz of each, plan's order: [nbody][10] */
  bool *drives;       /* velocities with one coordinate: [nv] */
  bool *actuated;     /* velocities that actuators drive: [nv] */
  int32_t *actuator_dof; /* or TABI_NONE: [nactuator] */
  /* arrays of the model, see model/model.h */
  const int32_t *dof_q, *dof_parent, *dof_depth;
  const double *dof_rotor, *dof_damping, *dof_friction, *dof_stiffness, *dof_rest;
  const double *dof_lower, *dof_upper;
  const tabi_actuator_def *actuator;
  bool any_friction;
  bool rounded;     /* some shape meets others as an inscribed capsule */
  char reason[160]; /* why the model cannot be stepped in lanes; "" if it can */
} tbi_plan;

/* NULL: out of memory.  A plan with a reason has no arrays. */
tbi_plan *tbi_plan_create(const tabi_model *model, const tabi_world_def *def, bool self_collision);
void tbi_plan_destroy(tbi_plan *plan);

#endif
