/* penalty_assembly.h - the step of penalty-paper by assembly and disassembly, contacts being joints
 * of the assembly. */
#ifndef TBI_PENALTY_ASSEMBLY_H
#define TBI_PENALTY_ASSEMBLY_H

#include "contact/formulation.h"
#include "contact/penalty_loops.h"
#include "dynamics/handles.h"

typedef struct tbi_penalty_assembly {
  /* given */
  tabi_dynamics *d; /* posture and velocity; its acc and ada are used up */
  tbi_problem *p;   /* its points, ports and rows */
  const tabi_world_def *def;
  const double *diagonal;      /* of M beside the bodies' inertia: [nv] */
  const double *joint_impulse; /* of all forces but contacts and rows: [nv] */
  const sv *body_impulse;      /* likewise, about the trees' origins: [nbody] */
  tbi_loops *loops;            /* without a solution */
  double *v_new;               /* velocity at the end of the step, the result: [nv] */
  /* scratch */
  tbi_handles handles;
  tbi_penalty_loops closed;
  tbi_ada_body *ada;        /* [nbody] */
  double *change;           /* of velocity: [nv] */
  int32_t *child, *sibling; /* the branches: last child, and the child before: [nbody] */
  int32_t *first, *next;    /* points by body, in their order: [nbody], [points] */
} tbi_penalty_assembly;

/* Places the scratch; without memory it only says how much that is. */
size_t tbi_penalty_assembly_place(tbi_penalty_assembly *t, void *memory, const tabi_model *model,
                                  const tabi_world_def *def);
/* Assembles the joints, and those that close loops; the velocity without contacts and rows into
 * v_new. */
void tbi_penalty_assembly_free(tbi_penalty_assembly *t);
/* Assembles the contacts, from no impulses, and rows, from their present ones, each once;
 * disassembles: v_new and the velocities of ports. */
tbi_solution tbi_penalty_assembly_solve(tbi_penalty_assembly *t);

/* The impulse of one point, which knows its own velocity u without it, and its response c->w. */
v3 tbi_penalty_paper_impulse(const tbi_point *c, const tabi_world_def *def, v3 u);

#endif
