/* tabi_control.h - joint control: springs and dampers that hold a posture or follow a trajectory,
 * and trajectories that make a robot walk. */
#ifndef TABI_CONTROL_H
#define TABI_CONTROL_H

#include "tabi.h"

TABI_BEGIN

/* -------------------------------------------------------------------------- trajectories */

/* Columns of numbers over time, straight between rows and held before the first and after the
 * last. */
typedef struct tabi_trajectory tabi_trajectory;

/* time[nrow] in s, rising; value[nrow x ncolumn], row by row.  Both are copied. */
TABI_API tabi_trajectory *tabi_trajectory_create(int32_t nrow, int32_t ncolumn, const double *time,
                                                 const double *value, tabi_error *err);
TABI_API void tabi_trajectory_destroy(tabi_trajectory *trajectory); /* NULL is fine */

TABI_API int32_t tabi_trajectory_ncolumn(const tabi_trajectory *trajectory);
TABI_API double tabi_trajectory_start(const tabi_trajectory *trajectory); /* s, of the first row */
TABI_API double tabi_trajectory_end(const tabi_trajectory *trajectory);   /* s, of the last row */
/* value[ncolumn] and rate[ncolumn], the slope between the two rows around the time and zero
 * outside; either may be NULL. */
TABI_API void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                                     double *rate);

/* ------------------------------------------------------------------------- joint control */

/* How one joint is driven. */
typedef struct tabi_pd_joint {
  int32_t joint;    /* with one coordinate */
  int32_t actuator; /* of the model, which takes the target as its input; TABI_NONE: the gains */
  int32_t column;   /* of the trajectory, the target; TABI_NONE: `target` */
  double target;    /* rad or m */
  double kp, kd;    /* N m/rad and N m s/rad, or N/m and N s/m */
  bool implicit;    /* stable at any gain, as in tabi_servo */
} tabi_pd_joint;

typedef struct tabi_pd_def {
  uint32_t def_size; /* set by the default function */
  int32_t njoint;
  const tabi_pd_joint *joint;
  const tabi_trajectory *trajectory; /* must outlive the controller; NULL: targets stand */
} tabi_pd_def;

typedef struct tabi_pd tabi_pd;

TABI_API tabi_pd_def tabi_pd_def_default(void);
TABI_API tabi_pd *tabi_pd_create(const tabi_model *model, const tabi_pd_def *def, tabi_error *err);
TABI_API void tabi_pd_destroy(tabi_pd *pd); /* NULL is fine */

/* Sets the servos and actuators of a world for its next step, which takes `timestep` s: explicit
 * ones aim at where the trajectory is at its start, implicit ones at where it will be at its end.
 * Allocates nothing. */
TABI_API void tabi_pd_apply(tabi_pd *pd, tabi_world *world, double timestep);

/* ------------------------------------------------------------------------------- walking */

typedef enum tabi_side { TABI_LEFT, TABI_RIGHT } tabi_side;

/* Where a foot is put: beside the standing one, and from there forward, to the left, and turned
 * counter-clockwise about the point between the feet.  All zero: in place, or feet closed. */
typedef struct tabi_footstep {
  double forward, sideways; /* m */
  double turn;              /* rad */
  double double_support;    /* s, before, in which the weight moves to the standing foot */
  double single_support;    /* s, in which the other one moves */
  double lift;              /* m */
} tabi_footstep;

/* 0.1 s and 0.75 s, 0.05 m, in place. */
TABI_API tabi_footstep tabi_footstep_default(void);
/* The same along an arc, whose centre is `radius` m to the left; negative: to the right.  Both
 * negative turns right on the way forward. */
TABI_API tabi_footstep tabi_footstep_arc(double radius, double angle);

/* A robot with a floating waist and two legs of six hinges each, x forward, z up, that walks on
 * level ground. */
typedef struct tabi_walk_def {
  uint32_t def_size;     /* set by the default function */
  int32_t waist;         /* link, of the body that floats */
  int32_t foot[2];       /* links, left and right; the lowest of their shapes are the soles */
  const double *posture; /* q[nq] with level waist and soles: all other joints stay there, and legs
                            bend this way.  NULL: the model's start */
  double waist_height;   /* m, of the waist's origin over the ground; 0: as in the posture */
  double spacing;        /* m, between the middles of the soles; 0: as in the posture */
  double place[3], yaw;  /* m and rad, of the point on the ground between the feet at the start */
  int32_t nstep;
  const tabi_footstep *step;
  tabi_side first;                  /* foot that moves first; then they take turns */
  double stand_before, stand_after; /* s */
  double period;                    /* s, of the pattern generator */
  double horizon;                   /* s, that it looks ahead */
  double jerk_weight;               /* 1/(m/s^3)^2 against 1/m^2 of the zero-moment point's error */
  int32_t passes; /* that correct the zero-moment point for the whole body; 0: none */
  double sample;  /* s, between rows of the trajectory */
} tabi_walk_def;

/* What a robot that walks as planned does at a time. */
typedef struct tabi_walk_state {
  double com[3], com_rate[3];     /* m, m/s */
  double waist[3], waist_yaw;     /* m, rad */
  double zmp[2];                  /* m, planned zero-moment point */
  double motion_zmp[2];           /* m, that of the motion of all bodies */
  double foot[2][3], foot_yaw[2]; /* m and rad, of the middles of the soles */
  bool lifted[2];
} tabi_walk_state;

typedef struct tabi_walk tabi_walk;

/* 5 ms, 1.6 s, 1e-6, two passes, 1 ms, 2 s of standing before and after. */
TABI_API tabi_walk_def tabi_walk_def_default(void);
/* Plans the whole walk.  The model must outlive it. */
TABI_API tabi_walk *tabi_walk_create(const tabi_model *model, const tabi_walk_def *def,
                                     tabi_error *err);
TABI_API void tabi_walk_destroy(tabi_walk *walk); /* NULL is fine */

TABI_API void tabi_walk_start(const tabi_walk *walk, double *q); /* q[nq], at rest */
TABI_API double tabi_walk_duration(const tabi_walk *walk);       /* s */
/* For tabi_pd: column j is joint j of the model; zero for those without one coordinate. */
TABI_API const tabi_trajectory *tabi_walk_trajectory(const tabi_walk *walk);
TABI_API tabi_walk_state tabi_walk_at(const tabi_walk *walk, double time);

TABI_END

#endif
