/* dynamics.h - the workspace of all rigid-body algorithms and the calls between them.
 *
 *   q, v --kinematics--> poses, axes, twists, world inertias        kinematics.c
 *        --bias--------> forces at zero acceleration                rnea.c
 *        --crba--------> mass matrix --ltdl--> factor, solve        crba.c, ltdl.c
 *        --aba---------> articulated factor, solve                  aba.c
 *        --ada---------> forward dynamics by assembly               ada.c
 *
 * Everything six-dimensional is in world axes at the origin of its tree: the world position of the
 * tree's first body.  A scene far from the world's origin loses no digits. */
#ifndef TBI_DYNAMICS_H
#define TBI_DYNAMICS_H

#include "model/model.h"

/* A body at the state that was set. */
typedef struct tbi_body_state {
  m4 rot; /* body axes */
  v4 pos; /* body origin, from the tree's origin */
  sv vel;
  sv drift; /* acceleration that the joint adds at zero qdd: dS/dt v */
  body_inertia inertia;
} tbi_body_state;

/* Symmetric 6x6 in four blocks, "force from motion": the inertia of a body with all that hangs
 * from it by joints free to move. */
typedef struct tbi_articulated {
  m4 lin_lin, ang_lin, lin_ang, ang_ang;
} tbi_articulated;

/* Arrays over bodies start one before: entry TABI_WORLD is the world itself, so that the
 * recursions need not ask whether a parent is there. */
struct tabi_dynamics {
  const tabi_model *model;
  const tabi_range *busy; /* whole trees whose bodies the recursions visit, in order: [nbusy].  All
                             others stay as they were, at rest (world/sleep.c) */
  int32_t nbusy;
  tabi_range all;           /* the bodies of the model, which busy is at first */
  double *q, *v;            /* the state: [nq], [nv] */
  double *sine, *cosine;    /* of q: [nq] */
  v3 *origin;               /* of each tree in the world: [ntree] */
  tbi_body_state *body;     /* [nbody] and the world, which is at rest */
  sv *axis;                 /* S: the motion of each velocity: [nv] */
  sv *acc, *force;          /* scratch: [nbody] and the world */
  sv *U;                    /* IA S of each velocity, by aba.c: [nv] */
  double *D_inv;            /* 1 / (S . U + rotor), by aba.c; 0 where stuck: [nv] */
  sv *flow;                 /* scratch of the solves of aba.c: [nbody] and the world */
  double *rhs;              /* scratch: [nv] */
  struct tbi_ada_body *ada; /* [nbody], or NULL */
  /* the masses, made anew by every call that asks for them */
  double *row;                  /* mass matrix, then its factor, see crba.c: [nrow] */
  double *pivot;                /* 1 / D of the factor: [nv] */
  body_inertia *composite;      /* of a body with all that hangs from it: [nbody] and the world */
  tbi_articulated *articulated; /* in the memory of composite: [nbody] and the world */
};

/* A column along the first n velocities of a path times what stands there, in two sums. */
static inline double tbi_path_dot(const int32_t *path, const double *column, int32_t n,
                                  const double *x) {
  double even = 0;
  double odd = 0;
  int32_t j = 0;
  for (; j + 1 < n; j += 2) {
    even += column[j] * x[path[j]];
    odd += column[j + 1] * x[path[j + 1]];
  }
  if (j < n) even += column[j] * x[path[j]];
  return even + odd;
}

/* Memory for a workspace, and its making there, in zeros on a cache line that the caller owns.  The
 * masses lie apart: where the factor of aba.c is all that is used of them, their memory may serve
 * somebody else whenever no call is running. */
size_t tbi_dynamics_memsize(const tabi_model *model);
size_t tbi_masses_memsize(const tabi_model *model);
tabi_dynamics *tbi_dynamics_make(const tabi_model *model, void *memory, void *masses);
/* Puts them elsewhere. */
void tbi_dynamics_place_masses(tabi_dynamics *d, void *masses);
/* Limits the recursions to the bodies of some trees; busy[count] must stay.  NULL: all of them. */
void tbi_dynamics_limit(tabi_dynamics *d, const tabi_range *busy, int32_t count);
/* Whether the mass matrix has a reasonable size. */
tabi_status tbi_dynamics_check_size(const tabi_model *model, tabi_error *err);
/* A velocity that nothing heavy resists has no acceleration: says which, in the posture that was
 * set last.  Overwrites the masses. */
tabi_status tbi_dynamics_check(tabi_dynamics *d, tabi_error *err);

void tbi_kinematics(tabi_dynamics *d, const double *q, const double *v);
/* Of one tree, from its part of q and v; the others stay. */
void tbi_kinematics_of_tree(tabi_dynamics *d, int32_t tree, const double *q, const double *v);
/* All but the drift of bodies; and, for each tree, what is missing, after its velocities or the
 * position of a free base may have changed: together the same bits. */
void tbi_kinematics_without_drift(tabi_dynamics *d, const double *q, const double *v);
void tbi_velocities_of_tree(tabi_dynamics *d, int32_t tree, const double *q, const double *v);
/* The rate of the motion axis of one velocity. */
sv tbi_axis_rate(const tabi_dynamics *d, int32_t dof);
/* A link's frame in the world and its twist at the origin of its tree. */
tbi_frame tbi_link_frame(const tabi_dynamics *d, int32_t link);
v3 tbi_tree_origin(const tabi_dynamics *d, int32_t body);
/* The origin of a tree at another posture. */
v3 tbi_tree_origin_at(const tabi_model *model, int32_t tree, const double *q);

void tbi_rnea(tabi_dynamics *d, const double *qdd, double *tau);
/* Only its outward pass: the force that each body alone needs, into d->force. */
void tbi_rnea_forces(tabi_dynamics *d, v4 gravity, const double *qdd);
/* The same without qdd, at velocities v[nv] other than those of d; d->flow is scratch. */
void tbi_rnea_forces_at(tabi_dynamics *d, v4 gravity, const double *v);
/* Only the accelerations of tbi_rnea_forces without qdd, into d->acc. */
void tbi_bias_accelerations(tabi_dynamics *d, v4 gravity);
/* Only its inward pass: joint forces that balance d->force, which is summed up towards the root. */
void tbi_gather(tabi_dynamics *d, double *tau);

/* J, of some bodies, and of the rotors of some velocities. */
double tbi_kinetic(const tabi_dynamics *d, tabi_range bodies, tabi_range dofs);

/* Inertias of every body with all that hangs from it, into d->composite. */
void tbi_compose(tabi_dynamics *d);

/* Mass matrix into d->row, with diagonal[nv] added (rotor inertia, implicit springs); its factor
 * L'DL in place; and solves with it. */
void tbi_crba(tabi_dynamics *d, const double *diagonal);
void tbi_ltdl_factor(tabi_dynamics *d);
void tbi_ltdl_solve(const tabi_dynamics *d, double *x); /* x = M^-1 x */

/* Whether a body is a free tree of its own. */
static inline bool tbi_is_lone(const tabi_model *model, int32_t i) {
  const tbi_body *body = &model->body[i];
  if (body->type != TABI_JOINT_FREE || body->parent != TABI_WORLD) return false;
  return i + 1 == model->nbody || model->body[i + 1].tree != body->tree;
}

/* A body alone. */
void tbi_articulate(const body_inertia *i, tbi_articulated *to);
/* The same factor in linear time, into d->U and d->D_inv, with some velocities stuck[nv], which do
 * not change (NULL: none); and solves with it.  d->flow is their scratch: wrenches on the pass
 * to the root, twists on the pass back. */
void tbi_aba_factor(tabi_dynamics *d, const double *diagonal, const bool *stuck);
void tbi_aba_solve(tabi_dynamics *d, double *x);       /* x = M^-1 x */
void tbi_aba_solve_lower(tabi_dynamics *d, double *x); /* x = L^-1 x; flow: the twists of x */
/* With wrenches f on the bodies, given in d->flow: x = M^-1 (x + J' f), and x = L^-T (x + J' f). */
void tbi_aba_solve_flow(tabi_dynamics *d, double *x);
void tbi_aba_gather(tabi_dynamics *d, double *x);

/* Acceleration under joint forces tau, by each algorithm from a state that was set. */
void tbi_forward_aba(tabi_dynamics *d, const double *tau, double *qdd);
void tbi_forward_ltdl(tabi_dynamics *d, const double *tau, double *qdd);
void tbi_forward_ada(tabi_dynamics *d, const double *tau, double *qdd);

/* Springs and dampers on a body, linearly implicit: a force  f - A a  for its acceleration a, both
 * taken at the body's origin, world axes.  A is symmetric, not negative. */
typedef struct tbi_body_load {
  double inertia[6][6]; /* A */
  double force[6];      /* f */
} tbi_body_load;
/* The same with loads on bodies that have mass: [nbody]. */
void tbi_forward_ada_loaded(tabi_dynamics *d, const double *tau, const tbi_body_load *beside,
                            double *qdd);
/* One spring at a point (from the body's origin): a force  start - added_mass a_p  along each
 * axis of the frame, for the acceleration a_p of the point, into the load; bias is what a_p is at a
 * = 0. */
void tbi_load_point(tbi_body_load *beside, v3 point, const m4 *frame, v3 start, v3 added_mass,
                    v3 bias);
/* ADA's memory, much for each body, for those who will call it: a world does not. */
size_t tbi_ada_memsize(const tabi_model *model);
void tbi_ada_make(tabi_dynamics *d, void *memory);
/* The body that ADA cannot take (a massless one that branches), or TABI_NONE. */
int32_t tbi_ada_obstacle(const tabi_model *model);

#endif
