/* penalty_tree.h - springs between bodies and the ground, and rows, solved along the branches of
 * the trees: no mass matrix, no Y, no contact matrix. */
#ifndef TBI_PENALTY_TREE_H
#define TBI_PENALTY_TREE_H

#include "contact/formulation.h"

typedef struct tbi_penalty_tree {
  /* given */
  tabi_dynamics *d; /* posture and velocity; its acc, force and articulated are used up */
  tbi_problem *p;   /* its points, ports and rows */
  const tabi_world_def *def;
  const double *diagonal; /* of M beside the bodies' inertia: [nv] */
  const double *impulse;  /* of all other forces: [nv] */
  double *v_new;          /* velocity at the end of the step, the result: [nv] */
  /* scratch */
  tbi_articulated *load; /* inertia that springs add to a body, J'DJ: [nbody] */
  double *row_load;      /* inertia that rows add to a joint: [nv] */
  sv *right, *left;      /* A S and A' S of each velocity: [nv] */
  double *inverse;       /* 1 / (S' A S + diagonal): [nv] */
  double *rhs, *x, *v;   /* right-hand side, change of velocity, trial velocity: [nv] */
  double *r, *f, *dr;    /* impulses, misses, Newton step; of points, then rows */
  double *trial;         /* r + share of dr */
  double *slope;         /* nine numbers a point, one a row */
} tbi_penalty_tree;

/* Places the scratch; without memory it only says how much that is. */
size_t tbi_penalty_tree_place(tbi_penalty_tree *t, void *memory, const tabi_model *model,
                              const tabi_world_def *def);
/* The velocity without springs and rows into v_new. */
void tbi_penalty_tree_free(tbi_penalty_tree *t);
/* Finds all impulses, from their present values, the velocities of ports, and v_new.  If it has not
 * converged, the caller discards the result. */
tbi_solution tbi_penalty_tree_solve(tbi_penalty_tree *t);

#endif
