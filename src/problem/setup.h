/* setup.h - the inputs of a contact problem, and the memory in which it is made. */
#ifndef TBI_SETUP_H
#define TBI_SETUP_H

#include "problem/loops.h"
#include "problem/problem.h"

#define TBI_MARKED (-2) /* in body_port: in contact, its port not numbered yet */

typedef struct tbi_setup {
  const tabi_model *model;
  tabi_dynamics *d;  /* posture, velocity, and the factor of M by aba.c */
  double *z;         /* D^-1/2 L^-T of the impulse of all other forces: [nv]; loop constraints add
                        theirs */
  tbi_loops loops;   /* given: loops.loop */
  bool sweeps_loops; /* they become rows of the problem, and are not eliminated */
  const tbi_candidate *candidate; /* [ncandidate] */
  int32_t ncandidate;
  const int32_t *shape_body; /* or TABI_WORLD: [nshape] */
  int64_t max_blocks;

  tbi_problem problem;
  int32_t *order;     /* candidates sorted by ports, and scratch of the sort: [2 max_contacts] */
  double (*still)[2]; /* memory of problem.still, under world/middle.c: [max_contacts] */
  int32_t *point_of;  /* index of the point that a candidate became: [max_contacts] */
  int32_t *count;     /* scratch of the sort: [max ports + 2] */
  int32_t *body_port; /* port of a body, TABI_NONE or TBI_MARKED: [nbody] */
  double *pivot_root; /* given: D^-1/2: [nv] */
  sv *port_y;         /* Y and T of all ports */
  int64_t used_ports; /* twists of port_y in use */
  double *y;          /* Y of joints with rows, each at model->dof_row, then T of rows */
  double *scratch;    /* numbers along one path */
} tbi_setup;

/* Blocks of a cluster with so many ports. */
static inline int64_t tbi_block_count(int64_t ports) { return ports * (ports + 1) / 2; }

/* Shapes and feature as one number; candidates are sorted by it. */
static inline uint64_t tbi_candidate_id(const tabi_model *model, const tbi_candidate *candidate) {
  uint64_t a = (uint64_t)model->shape_rank[candidate->shape_a];
  uint64_t b = (uint64_t)model->shape_rank[candidate->shape_b];
  return a << 40 | b << 16 | (candidate->feature & 0xffff);
}

/* Makes setup->problem from the candidates and from problem.row.  Targets, friction and warm starts
 * of the points are set by the caller afterwards; then tbi_problem_start.  False: more blocks than
 * max_blocks. */
bool tbi_setup_problem(tbi_setup *setup);
/* After the solution: the impulses of loop constraints, and problem.sum with them. */
void tbi_setup_finish_loops(tbi_setup *setup);
/* Points and ports alone, in time linear in them: no responses, loops or rows, and no velocities of
 * ports. */
void tbi_setup_points(tbi_setup *setup);

#endif
