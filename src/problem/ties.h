/* ties.h - connections and couplings, solved for before the contacts.
 *
 * A tie asks one number of the velocity: u + compliance * impulse = target.  In the coordinates in
 * which M is the unit matrix a tie is a column y.  An orthonormal basis Q of all columns of a
 * cluster (of trees that are tied together) gives both the motion under ties alone and, by
 * y - Q Q' y, what ties leave of any other impulse.  Columns that depend on others are dropped;
 * where they ask for something else, all ties are met in the sense of least squares. */
#ifndef TBI_TIES_H
#define TBI_TIES_H

#include "base/layout.h"
#include "dynamics/dynamics.h"

typedef struct tbi_tie {
  int32_t cluster;
  int32_t owner;          /* connection, or nconnection + coupling */
  int32_t body_a, body_b; /* of a connection */
  sv wrench_a, wrench_b;  /* unit impulse on b and its opposite on a, about the trees' origins */
  int32_t dof, leader;    /* of a coupling, else TABI_NONE */
  double slope;           /* its velocity is that of dof - slope * that of leader */
  double stiffness;       /* of a spring, N/m; a tie with stiffness or damping is one */
  double damping;         /* of a spring, N s/m */
  double compliance;      /* of a spring, velocity per impulse; else 0 */
  double error;           /* m or rad */
  double regained;        /* how much of that this step shall take back */
  double velocity, drift; /* its rate, and the rate of that at zero acceleration */
  double target;          /* of a spring made by tbi_ties_solve */
  double impulse;
  double missed;  /* of the target, where ties contradict each other */
  bool redundant; /* depends on others */
} tbi_tie;

typedef struct tbi_ties {
  int32_t count;
  tbi_tie *tie;    /* cluster by cluster */
  double timestep; /* of springs */
  double *regain;  /* acceleration that takes gap and speed back, in stages: [ties] */

  const tabi_model *model;
  int64_t *cluster_column; /* where columns of a cluster start: [ncluster] */
  int64_t *cluster_r;      /* and its R: [ncluster] */

  /* of this step, by cluster */
  int32_t *first, *rank; /* first tie, and how many are independent: [ncluster] */
  bool *torn;            /* its ties contradict each other: [ncluster] */
  int32_t *order;        /* ties by pivot, the independent ones first: [ties] */
  double *column;        /* Y, then Q; behind the velocities one more number for each spring */
  double *r;             /* Q' Y: row by pivot, column by tie */
  double *g;             /* Q' of what ties do when nothing else acts: [ties] */
  double *wanted;        /* scratch: [ties] */
  double *size;          /* scratch: squared lengths of columns: [ties] */
  double *change;        /* scratch: of g, in least squares: [ties] */
  double *normal;        /* scratch: normal equations of least squares */
} tbi_ties;

/* How many velocities and how many ties a cluster has at most. */
static inline int32_t tbi_cluster_dofs(const tabi_model *model, int32_t cluster) {
  return model->cluster_dof[cluster + 1] - model->cluster_dof[cluster];
}
static inline int32_t tbi_cluster_room(const tabi_model *model, int32_t cluster) {
  return model->cluster_tie[cluster + 1] - model->cluster_tie[cluster];
}

/* The column of one tie of a cluster, and the k-th column of Q. */
static inline double *tbi_ties_column(const tbi_ties *ties, int32_t cluster, int32_t which) {
  int32_t width = tbi_cluster_dofs(ties->model, cluster) + tbi_cluster_room(ties->model, cluster);
  return ties->column + ties->cluster_column[cluster] + (int64_t)which * width;
}
static inline const double *tbi_ties_basis(const tbi_ties *ties, int32_t cluster, int32_t k) {
  return tbi_ties_column(ties, cluster, ties->order[ties->model->cluster_tie[cluster] + k]);
}

/* Takes the memory of all ties the model may have. */
void tbi_ties_place(tbi_layout *at, const tabi_model *model, tbi_ties *ties);
/* With M's factor in d (pivot_root: D^-1/2) and z = D^-1/2 L^-T of all other impulses: Q, and z as
 * it is under ties.  `scratch` holds one path. */
void tbi_ties_solve(tbi_ties *ties, const tabi_dynamics *d, const double *pivot_root, double *z,
                    double *scratch);
/* The same with the same ties at another posture nearby, with the choice of independent ones kept:
 * off the path that closes all of them, redundant ties look as if they were not. */
void tbi_ties_solve_again(tbi_ties *ties, const tabi_dynamics *d, const double *pivot_root,
                          double *z, double *scratch);
/* The sum of all other impulses (in the same coordinates) as ties leave it, and the ties' impulses.
 */
void tbi_ties_finish(tbi_ties *ties, double *sum);

#endif
