/* problem.h - the contact problem of one step, on ports.
 *
 * A port is where contacts touch a tree: the twist of a touched body.  With M = L'DL and J the
 * port's Jacobian, Y = D^-1/2 L^-T J' is not zero only on the port's path to the root, and two
 * ports of one tree share the block G = Y_k' Y_l: the change of twist k by an impulse at l.  Ports
 * of different trees share nothing, unless loop constraints connect the trees.
 *
 * The unknowns are impulses.  A solver keeps the velocity of every port (problem->velocity) in
 * step with them: it reads and writes the two ports of a contact at constant cost, and hands what a
 * port received on to the other ports of its cluster once (tbi_problem_spread).  J M^-1 J' is never
 * formed.
 *
 * Rows are constraints of single joint coordinates.  There may be many in one tree, so they do not
 * have ports: they read and write the sum of all impulses, problem->sum = sum of Y m, along their
 * own path (tbi_rows_sweep), which is brought in step with the ports before and after.
 *
 * Loop constraints (connections and couplings) are unknowns only of methods that ask for it
 * (loop_rows.c); for all others they are solved for beforehand (loops.c).  With Q an orthonormal
 * basis of all their Y, an impulse y acts on the others only as y - Q (Q' y).  So every port and
 * row with a Y also has a tail T = Q' Y, with as many entries as its cluster has independent loop
 * constraints, and every product is  y_k' y_l - T_k' T_l. problem->sum carries Q' sum behind its nv
 * numbers, cluster by cluster.  A cluster is the trees that loop constraints connect; a tree
 * without them is a cluster by itself, without tails. */
#ifndef TBI_PROBLEM_H
#define TBI_PROBLEM_H

#include "collision/collision.h"
#include "dynamics/dynamics.h"

typedef struct tbi_port {
  int32_t tree, cluster, body;
  int32_t dof;                 /* the last velocity on the body's path */
  int32_t length;              /* velocities on that path */
  int64_t y;                   /* where Y starts: a twist for every velocity, root first */
  int64_t tail;                /* where T starts: a twist for every independent loop constraint */
  int32_t block;               /* index of G with the first port of the cluster */
  double loose_lin, loose_ang; /* traces of Y'Y, linear and angular: G without loop constraints */
  bool decoupled;              /* as a lone body about its centre of mass: forces do not turn it */
} tbi_port;

/* Velocity response of one port to an impulse at another, column by column. */
typedef struct tbi_block {
  sv column[6];
} tbi_block;

/* Of tbi_point.slipping (world/slip.c); between the last two it is at its cone, and each step in
 * which it gains speed adds one. */
enum {
  TBI_NOT_PUSHING,
  TBI_STICKING,    /* static friction */
  TBI_SLIDING = 5, /* kinetic friction, however slow it is, until it sticks */
};

/* One point of contact: normal and two tangents. */
typedef struct tbi_point {
  int32_t port_a, port_b; /* TABI_NONE: stands in the world */
  int32_t candidate;      /* index in the world's list */
  uint8_t slipping;       /* TBI_STICKING to TBI_SLIDING: before the step, at last after it */
  bool immobile;   /* cannot move along its normal (by loop constraints, say): gets no impulse */
  uint64_t id;     /* of shapes and feature: finds its impulse of the step before */
  double mobility; /* mean of w's diagonal; if immobile, some number > 0 */
  v4 arm_a, arm_b; /* from the origins of the trees to the point */
  m4 frame;        /* normal (from a to b), tangent, tangent: world axes */
  double w[3][3];  /* change of the point's velocity per impulse, in the frame */
  union {
    double inverse[6]; /* of w: xx yy zz xy xz yz */
    struct {
      double before, after; /* J, at the start of the step and as predicted for its end */
    } spring;               /* of penalty, after its solution, which needs no inverse any more */
  };
  double target;         /* m/s, least normal velocity: -gap/h, depth correction or rebound */
  double resting_target; /* m/s, the target without its rebound */
  double friction; /* coefficient: kinetic if it slid or slides faster than slip_speed, or static */
  const tabi_material_def *surface; /* of the two shapes together */
  double gap;                       /* m, at the posture of the problem */
  double approach;                  /* m/s, normal velocity before the step */
  double slip[2];                   /* m/s, tangential velocity before the step, in the frame */
  v3 deflection;     /* m, tangential, since it stuck, world axes: penalty's springs; or m/s, its
                        velocity at the start of the step: world/middle.c */
  double angle;      /* rad, random while the contact lasts: lcp's static axes */
  double impulse[3]; /* N s, in the frame, on b */
} tbi_point;

/* Kinds of rows at one velocity. */
enum { TBI_ROW_LOWER, TBI_ROW_UPPER, TBI_ROW_FRICTION, TBI_ROW_KINDS };

/* One coordinate: a joint limit or dry friction. */
typedef struct tbi_row {
  int32_t dof, cluster;
  uint64_t id;         /* tbi_row_id */
  int64_t y, tail;     /* where Y (of the path of dof, shared by all its rows) and T start */
  double base;         /* its velocity without contacts and rows */
  double w, inverse;   /* change of its velocity per impulse; 1 / w, or 0: it cannot move */
  double target;       /* its velocity, unless the impulse is at a bound */
  double lower, upper; /* bounds of the impulse */
  double impulse;      /* N s or N m s */
} tbi_row;

/* A loop constraint among the unknowns, without bounds. */
typedef struct tbi_loop_row {
  const int32_t *path[2]; /* velocities of both sides, what they share in the first only */
  int32_t length[2];
  const double *y;   /* Y along the first path, then along the second */
  double base;       /* its velocity without contacts and rows */
  double compliance; /* of a spring, velocity per impulse; else 0 */
  double w, inverse; /* change of its velocity per impulse; 1 / (w + compliance), or 0 */
  double target;     /* of velocity + compliance * impulse */
  double impulse;    /* N s or N m s */
} tbi_loop_row;

/* Points with the same two ports follow one another. */
typedef struct tbi_group {
  int32_t port_a, port_b, first, count;
} tbi_group;

typedef struct tbi_problem {
  double timestep;
  double remaining; /* s, from the posture of the problem to the end of the step */
  /* m/s, tangential velocity at which each point sticks, in its frame, or NULL: zero.  Under
   * world/middle.c: [npoint] */
  double (*still)[2];
  int32_t nport, npoint, nrow, nloop, ngroup;
  int32_t nsum; /* nv and the loop constraints of all clusters */
  tbi_port *port;
  sv *free;         /* velocity of every port without contacts and rows: [nport] */
  sv *velocity;     /* under the impulses so far: [nport] */
  sv *received;     /* the sum of impulses (wrenches) at every port: [nport] */
  sv *summed;       /* the part of received that sum includes: [nport] */
  double *sum;      /* of all impulses: D^-1/2 L^-T J' m, then Q' of it: [nsum] */
  double *before;   /* scratch of tbi_rows_sweep: [nsum] */
  const sv *port_y; /* Y and T of ports */
  const double *y;  /* Y and T of rows */
  const tabi_model *model;
  tabi_dynamics *dynamics;               /* with the factor of M; its flow is scratch */
  int32_t *cluster_port, *cluster_ports; /* first port of a cluster and their number */
  const int32_t *cluster_loops; /* independent loop constraints of a cluster: the length of tails */
  tbi_block *block;             /* cluster by cluster: the lower triangle, row by row */
  tbi_point *point;
  tbi_row *row;
  tbi_loop_row *loop_row; /* of methods that sweep loop constraints: [nloop] */
  tbi_group *group;
  struct tbi_couple *couple; /* of rolling and torsional friction (couples.h), point by point */
  int32_t ncouple;
} tbi_problem;

/* The normal and two tangents, which depend on the normal only: from a world axis away from it. */
static inline m4 tbi_contact_frame(v3 n) {
  v3 away = fabs(n.x) < 0.6 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
  v3 t = v3_sub(away, v3_scale(v3_dot(away, n), n));
  t = v3_scale(1 / v3_norm(t), t);
  return (m4){v4_from(n), v4_from(t), v4_from(v3_cross(n, t))};
}

/* The velocity of a point of contact in its frame, from those of its ports. */
static inline v3 tbi_point_velocity(const tbi_point *c, sv a, sv b) {
  v4 u = c->port_b == TABI_NONE ? v4_zero() : sv_at(b, c->arm_b);
  if (c->port_a != TABI_NONE) u = v4_sub(u, sv_at(a, c->arm_a));
  return v3_make(v4_dot(u, c->frame.x), v4_dot(u, c->frame.y), v4_dot(u, c->frame.z));
}

/* The block of ports k and l <= k of one cluster. */
static inline tbi_block *tbi_problem_block(const tbi_problem *p, int32_t k, int32_t l) {
  const tbi_port *port = &p->port[k];
  return &p->block[port->block + (l - p->cluster_port[port->cluster])];
}

/* Response of port k to an impulse m at port l of the same cluster. */
static inline sv tbi_problem_response(const tbi_problem *p, int32_t k, int32_t l, sv m) {
  if (l == k && p->port[k].decoupled)
    return sv_combine_halves(tbi_problem_block(p, k, k)->column, m);
  if (l <= k) return sv_combine(tbi_problem_block(p, k, l)->column, m);
  return sv_project(tbi_problem_block(p, l, k)->column, m);
}

/* Adds an impulse at a port or a row to a sum; the velocity response to a sum there, under loop
 * constraints. */
void tbi_port_push(const tbi_problem *p, int32_t k, sv wrench, double *sum);
sv tbi_port_response(const tbi_problem *p, int32_t k, const double *sum);
void tbi_row_push(const tbi_problem *p, const tbi_row *row, double impulse, double *sum);
double tbi_row_response(const tbi_problem *p, const tbi_row *row, const double *sum);

/* The velocity of a row under problem->sum, and by how much tbi_row_visit would change it. */
double tbi_row_velocity(const tbi_problem *p, const tbi_row *row);
double tbi_row_misses(const tbi_problem *p, const tbi_row *row);
/* Gauss-Seidel update of one row: the impulse that brings it to its target within its bounds.
 * problem->sum must be up to date.  Returns the change of its velocity. */
double tbi_row_visit(tbi_problem *p, tbi_row *row);
/* The same for every row, loop constraints among them.  Returns the largest change of a row's
 * velocity; the velocities of ports follow. */
double tbi_rows_sweep(tbi_problem *p);
/* Brings problem->sum up to date with what the ports have received. */
void tbi_problem_sum(tbi_problem *p);
/* The velocities of all ports from problem->sum. */
void tbi_problem_update_velocity(tbi_problem *p);
/* Fills w, inverse, mobility and immobile of every point, which sweeps need. */
void tbi_problem_respond(tbi_problem *p);
/* Makes received anew from the impulses of points; sum includes none of it. */
void tbi_problem_receive(tbi_problem *p);
/* The same, while sum goes on to include what it included. */
void tbi_problem_receive_more(tbi_problem *p);
/* Makes received, sum and velocity anew from the impulses of points and rows. */
void tbi_problem_start(tbi_problem *p);

/* Port `from` has received the impulse m, and its own velocity is up to date: updates the
 * velocities of the other ports of its cluster but `except` (TABI_NONE: none), which is up to date
 * too. */
void tbi_problem_spread(tbi_problem *p, int32_t from, int32_t except, sv m);

#endif
