/* loops.h - connections and couplings, solved for before the contacts.
 *
 * A loop constraint asks one number of the velocity: u + compliance * impulse = target.  In the
 * coordinates in which M is the unit matrix it is a column y.  An orthonormal basis Q of all
 * columns of a cluster (of trees that loops connect) gives both the motion under loops alone and,
 * by y - Q Q' y, what loops leave of any other impulse.  Columns that depend on others are dropped;
 * where they ask for something else, all loops are met in the sense of least squares. */
#ifndef TBI_LOOPS_H
#define TBI_LOOPS_H

#include "base/layout.h"
#include "dynamics/dynamics.h"

typedef struct tbi_loop {
  int32_t cluster;
  int32_t owner;          /* connection, or nconnection + coupling */
  int32_t body_a, body_b; /* of a connection */
  sv wrench_a, wrench_b;  /* unit impulse on b and its opposite on a, about the trees' origins */
  int32_t dof, leader;    /* of a coupling, else TABI_NONE */
  double slope;           /* its velocity is that of dof - slope * that of leader */
  double stiffness;       /* of a spring, N/m; one with stiffness or damping is one */
  double damping;         /* of a spring, N s/m */
  double compliance;      /* of a spring, velocity per impulse; else 0 */
  double error;           /* m or rad */
  double correction;      /* how much of that this step shall take back */
  double velocity, drift; /* its rate, and the rate of that at zero acceleration */
  double target;          /* of a spring made by tbi_loops_solve */
  double impulse;
  double missed;  /* of the target, where loops contradict each other */
  bool redundant; /* depends on others */
} tbi_loop;

typedef struct tbi_loops {
  int32_t count;
  tbi_loop *loop;  /* cluster by cluster */
  double timestep; /* of springs */
  double *regain;  /* acceleration that takes gap and speed back, in stages: [loops] */

  const tabi_model *model;
  int64_t *cluster_column; /* where columns of a cluster start: [ncluster] */
  int64_t *cluster_r;      /* and its R: [ncluster] */

  /* of this step, by cluster */
  int32_t *first, *rank; /* first loop, and how many are independent: [ncluster] */
  bool *inconsistent;    /* its loops contradict each other: [ncluster] */
  int32_t *order;        /* loops by pivot, the independent ones first: [loops] */
  double *column;        /* Y, then Q; behind the velocities one more number for each spring */
  double *r;             /* Q' Y: row by pivot, column by loop */
  double *g;             /* Q' of what loops do when nothing else acts: [loops] */
  double *wanted;        /* scratch: [loops] */
  double *size;          /* scratch: squared lengths of columns: [loops] */
  double *change;        /* scratch: of g, in least squares: [loops] */
  double *normal;        /* scratch: normal equations of least squares */
} tbi_loops;

/* How many velocities and how many loops a cluster has at most. */
static inline int32_t tbi_cluster_dofs(const tabi_model *model, int32_t cluster) {
  return model->cluster_dof[cluster + 1] - model->cluster_dof[cluster];
}
static inline int32_t tbi_cluster_room(const tabi_model *model, int32_t cluster) {
  return model->cluster_loop[cluster + 1] - model->cluster_loop[cluster];
}

/* The column of one loop of a cluster, and the k-th column of Q. */
static inline double *tbi_loops_column(const tbi_loops *loops, int32_t cluster, int32_t which) {
  int32_t width = tbi_cluster_dofs(loops->model, cluster) + tbi_cluster_room(loops->model, cluster);
  return loops->column + loops->cluster_column[cluster] + (int64_t)which * width;
}
static inline const double *tbi_loops_basis(const tbi_loops *loops, int32_t cluster, int32_t k) {
  return tbi_loops_column(loops, cluster, loops->order[loops->model->cluster_loop[cluster] + k]);
}

/* Takes the memory of all loops the model may have. */
void tbi_loops_place(tbi_layout *at, const tabi_model *model, tbi_loops *loops);
/* With M's factor in d (pivot_root: D^-1/2) and z = D^-1/2 L^-T of all other impulses: Q, and z as
 * it is under loops.  `scratch` holds one path. */
void tbi_loops_solve(tbi_loops *loops, const tabi_dynamics *d, const double *pivot_root, double *z,
                     double *scratch);
/* The same with the same loops at another posture nearby, with the choice of independent ones kept:
 * off the path that closes all of them, redundant loops look as if they were not. */
void tbi_loops_solve_again(tbi_loops *loops, const tabi_dynamics *d, const double *pivot_root,
                           double *z, double *scratch);
/* The sum of all other impulses (in the same coordinates) as loops leave it, and the loops'
 * impulses.
 */
void tbi_loops_finish(tbi_loops *loops, double *sum);

#endif
