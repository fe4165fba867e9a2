/* lane_rows.h - the numbers of eight contacts at a time, and sweeps over them: see lanes.h. */
#ifndef TBI_LANE_ROWS_H
#define TBI_LANE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum { TBI_SWEEP_LANES = 8 };

typedef double tbi_lane[TBI_SWEEP_LANES];

/* One contact of each group of a pack; all zero where a group has no more of them. */
typedef struct tbi_lane_row {
  tbi_lane axis[3][3];                     /* normal and tangents, world axes */
  tbi_lane moment_a[3][3], moment_b[3][3]; /* of unit impulses on b, and their opposites on a */
  tbi_lane change_a[3][6], change_b[3][6]; /* of the ports' twists by unit impulses */
  tbi_lane inverse[6];                     /* of w: xx yy zz xy xz yz */
  tbi_lane target[3];                      /* velocity along the axes to reach */
  tbi_lane friction;
  tbi_lane normal_inverse; /* 1 / w_nn */
  tbi_lane coupling[2];    /* w_tn */
  tbi_lane slide;          /* 1 / the largest eigenvalue of w_tt */
  tbi_lane mobility;
  tbi_lane impulse[3];
  tbi_lane step[3]; /* by which the last visit has changed it */
  tbi_lane way[3];  /* conjugate to those before: see tbi_lanes_solve */
} tbi_lane_row;

typedef struct tbi_lane_pack {
  double *a[TBI_SWEEP_LANES],
      *b[TBI_SWEEP_LANES]; /* twists of the two ports, 8 numbers; the world's is zero */
  int32_t row, rows;       /* its first row, and how many */
} tbi_lane_pack;

/* What a sweep has done. */
typedef struct tbi_lanes_change {
  double largest; /* m/s, the most by which a point has changed its own velocity */
  double square;  /* J, sum of mobility times step squared */
} tbi_lanes_change;

/* One sweep over packs in turn. */
typedef tbi_lanes_change tbi_lanes_sweep(const tbi_lane_pack *pack, int32_t count,
                                         tbi_lane_row *row);

/* What the rows of a pack are made from: its ports of one side, the world's all zero. */
typedef struct tbi_lane_port {
  tbi_lane block[6][6]; /* responses to unit wrenches */
  tbi_lane arm[3];      /* of the contacts of a row */
} tbi_lane_port;

/* Moments and changes of a row, by its axes. */
typedef void tbi_lanes_respond(tbi_lane_port *a, tbi_lane_port *b, tbi_lane_row *row);
tbi_lanes_respond tbi_lanes_respond2, tbi_lanes_respond4, tbi_lanes_respond8;

/* The reference, lane by lane, and the same on vectors of so many numbers. */
tbi_lanes_sweep tbi_lanes_sweep_plain, tbi_lanes_sweep2, tbi_lanes_sweep4, tbi_lanes_sweep8;

#endif
