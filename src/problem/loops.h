/* loops.h - connections, couplings and tendons, solved for before the contacts.
 *
 * A loop constraint, loop for short, is one equation of the velocity: u + compliance * impulse =
 * target.  In the coordinates in which M is the unit matrix it is a column y.  An orthonormal basis
 * Q of all columns of a cluster (the trees that loops connect) yields both the motion under loops
 * alone and, by y - Q Q' y, what loops leave of any other impulse.  Columns that depend on others
 * are dropped; where their targets contradict those of the others, all loops are met in the sense
 * of least squares. */
#ifndef TBI_LOOPS_H
#define TBI_LOOPS_H

#include "base/layout.h"
#include "dynamics/dynamics.h"
#include "problem/bundles.h"

/* Velocities that move a tendon: u has share * sum of arm * v. */
typedef struct tbi_arms {
  int32_t count;      /* 0: no tendon */
  const int32_t *dof; /* ascending */
  const double *arm;
  double share;
} tbi_arms;

/* Loops that miss their targets by more than this, m/s or rad/s, contradict each other.  By less,
 * the motion depends on which of them are pivots, a few hundred times as much at worst. */
#define TBI_CONTRADICTION 1e-11

typedef struct tbi_loop {
  int32_t cluster;
  int32_t owner;          /* connection, coupling or tendon, as model/clusters.h counts them */
  int32_t body_a, body_b; /* of a connection */
  sv wrench_a, wrench_b;  /* unit impulse on b and its opposite on a, about the trees' origins */
  int32_t dof, leader;    /* of a coupling, else TABI_NONE */
  double slope;           /* of a coupling: u = v[dof] - slope * v[leader] */
  tbi_arms tendon[2];     /* of a tendon, and of the one that leads it */
  double stiffness;       /* of a spring, N/m; the loop is a spring by this or the next two */
  double damping;         /* of a spring, N s/m */
  double give;            /* kg, by which its impulse falls as u grows, of what else there is; */
  double load;            /* N s, the impulse that this has at u = 0 */
  double compliance;      /* of a spring or an open loop, velocity per impulse; else 0 */
  double error;           /* m or rad, zero when closed */
  double correction;      /* m or rad, the part of the error that this step shall take back */
  double velocity, drift; /* rate of the error before the step; rate of that at zero acceleration */
  double target;          /* m/s or rad/s; tbi_loops_solve makes that of a spring */
  bool is_given;          /* the target is, and no error is taken back: a tendon that is held */
  bool open;              /* by more than a step takes back: it gives way */
  double impulse;         /* N s or N m s */
  double missed;          /* m/s or rad/s, of the target, where loops contradict each other */
  bool redundant;         /* its column depends on others */
} tbi_loop;

typedef struct tbi_loops {
  int32_t count;
  tbi_loop *loop;       /* cluster by cluster: [count] */
  double timestep;      /* s, for springs */
  double contradiction; /* TBI_CONTRADICTION in the unit of the targets: under rk4 per s */
  double *regain;       /* under rk4: acceleration that takes error and velocity back: [loops] */
  bool *open;           /* under rk4: those that are open where the step begins: [loops] */

  const tabi_model *model;
  tbi_bundles bundles;
  int64_t *cluster_column; /* where columns of a cluster start: [ncluster] */
  int64_t *cluster_r;      /* where R of a cluster starts: [ncluster] */

  /* of this step, by cluster */
  int32_t *first, *rank; /* its first loop, and how many are independent: [ncluster] */
  int32_t *local;        /* pivots that were found within their bundles: [ncluster] */
  bool *inconsistent;    /* its loops contradict each other: [ncluster] */
  int32_t *order;        /* loops by pivot, the independent ones first: [loops] */
  int32_t *place;        /* pivots by loop; TABI_NONE: not a pivot: [loops] */
  int32_t *bundle;       /* by loop: [loops] */
  tbi_support *support;  /* of columns, by loop: [loops] */
  bool *late;     /* by loop: put off until all bundles are taken; its column may have no zeros */
  double *column; /* Y, then Q; behind the velocities one number for the slack of each loop */
  double *r;      /* Q' Y: row by pivot, column by loop; see tbi_basis_range for what is stored */
  double *g;      /* Q' of the loops' own impulses: [loops] */
  int32_t *rest;  /* scratch: loops that are no pivots within their bundles: [loops] */
  double *wanted; /* scratch: target - velocity under z: [loops] */
  double *size;   /* scratch: squared lengths of columns: [loops] */
  double *change; /* scratch: of g, in least squares: [loops] */
  double *normal; /* scratch: normal equations of least squares */
} tbi_loops;

static inline bool tbi_loop_is_spring(const tbi_loop *loop) {
  return loop->stiffness > 0 || loop->damping > 0 || loop->give > 0;
}

/* Error g and velocity u that earlier steps left are taken back by an acceleration that is constant
 * over the step: with -g/h^2 - 3/2 u/h both vanish after two steps. */
static inline double tbi_loop_regain(const tbi_loop *loop, double h) {
  return -(loop->correction / h + 1.5 * loop->velocity) / h;
}

/* The column of one loop of a cluster; the k-th column of Q. */
static inline double *tbi_loops_column(const tbi_loops *loops, int32_t cluster, int32_t which) {
  int32_t width = tbi_cluster_width(loops->model, cluster);
  return loops->column + loops->cluster_column[cluster] + (int64_t)which * width;
}
static inline const double *tbi_loops_basis(const tbi_loops *loops, int32_t cluster, int32_t k) {
  return tbi_loops_column(loops, cluster, loops->order[loops->model->cluster_loop[cluster] + k]);
}

/* The bundle of a loop; which numbers of its column may differ from zero. */
static inline const tbi_bundle *tbi_loops_bundle(const tbi_loops *loops, int32_t cluster,
                                                 int32_t which) {
  return &loops->bundles.bundle[loops->bundle[loops->model->cluster_loop[cluster] + which]];
}
static inline const tbi_support *tbi_loops_support(const tbi_loops *loops, int32_t cluster,
                                                   int32_t which) {
  return &loops->support[loops->model->cluster_loop[cluster] + which];
}

/* A spring of force -k g' - d u.  With g' = g plus a quarter of what g turns away from a straight
 * line over this step and the one before, it is stable at any stiffness and keeps its energy; with
 * g' at the end of the step it loses some, and what a step cannot resolve dies out.  The share of
 * the latter grows with the square of the phase that the spring alone would pass in a step.  Load
 * and give of the loop act beside it: servos, and inertia that moves along.
 * mobility: change of its rate per impulse, without it; fills compliance and target. */
void tbi_loop_pull_spring(tbi_loop *loop, double h, double mobility);

/* Fills the compliance of what gives way: a spring, or an open loop.  The latter may be one that
 * cannot be closed, out of reach or against the limits of joints.  Near its singular postures an
 * exact solution would ask joints for any speed, and leave limits no motion to be met by.  A share
 * of the loop's own mobility bounds both; what it carries at rest moves it by next to nothing. */
void tbi_loop_give_way(tbi_loop *loop, double h, double mobility);

/* Takes the memory of all loops the model may have. */
void tbi_loops_place(tbi_layout *at, const tabi_model *model, tbi_loops *loops);
/* With M's factor in d (pivot_root: D^-1/2) and z = D^-1/2 L^-T of all other impulses: finds Q, and
 * adds the loops' impulses to z.  `scratch` holds one path. */
void tbi_loops_solve(tbi_loops *loops, const tabi_dynamics *d, const double *pivot_root, double *z,
                     double *scratch);
/* The same for the same loops at a posture nearby, with the same choice of independent ones: at a
 * stage of rk4 the loops are not quite closed, and redundant ones look independent. */
void tbi_loops_solve_again(tbi_loops *loops, const tabi_dynamics *d, const double *pivot_root,
                           double *z, double *scratch);
/* Takes from a sum of impulses what loops take. */
void tbi_loops_project(const tbi_loops *loops, double *sum);
/* Takes from the sum of all other impulses (in the same coordinates) what loops take, and finds the
 * loops' impulses. */
void tbi_loops_finish(tbi_loops *loops, double *sum);
/* Adds a share of the loops' impulses to wrenches on bodies and to impulses at joints. */
void tbi_loops_push(const tbi_loops *loops, double share, sv *at_bodies, double *at_joints);

#endif
