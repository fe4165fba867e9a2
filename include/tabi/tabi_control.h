/* tabi_control.h - joint control: springs and dampers that hold a posture or follow a trajectory,
 * trajectories that make a robot walk, and a stabiliser that keeps it from falling. */
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
  int32_t actuator; /* of the model, whose input makes it rest at the target, if it has a spring,
                       or else is the target; TABI_NONE: the gains */
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
  const tabi_trajectory *torque;     /* likewise, N m or N in the same columns, added to what the
                                        gains give; NULL: none.  Only for joints with kp > 0 */
} tabi_pd_def;

typedef struct tabi_pd tabi_pd;

TABI_API tabi_pd_def tabi_pd_def_default(void);
TABI_API tabi_pd *tabi_pd_create(const tabi_model *model, const tabi_pd_def *def, tabi_error *err);
TABI_API void tabi_pd_destroy(tabi_pd *pd); /* NULL is fine */

/* Sets the servos and actuators of a world for its next step, which takes `timestep` s: explicit
 * ones aim at where the trajectory is at its start, implicit ones at where it will be at its end.
 * Allocates nothing. */
TABI_API void tabi_pd_apply(tabi_pd *pd, tabi_world *world, double timestep);
/* The same with targets and their rates given, by column, for all joints alike. */
TABI_API void tabi_pd_apply_targets(const tabi_pd *pd, tabi_world *world, const double *target,
                                    const double *rate);

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
/* Likewise N m or N: what moves the joints so while the floor pushes at the zero-moment point. */
TABI_API const tabi_trajectory *tabi_walk_torque(const tabi_walk *walk);
TABI_API tabi_walk_state tabi_walk_at(const tabi_walk *walk, double time);

/* ---------------------------------------------------------------------------- stabiliser */

/* Gains that hold a mass centre at a height over a zero-moment point p, which follows where it is
 * sent by p' = (sent - p) / delay:  sent = planned + gain[0] dx + gain[1] dx' + gain[2] dp  for
 * deviations dx of the mass centre and dp of p from the plan.  They give the poles pole[0], pole[1]
 * (1/s, negative) and the natural one of the pendulum, -sqrt(gravity / height). */
TABI_API void tabi_lipm_gains(double height, double gravity, double delay, const double pole[2],
                              double gain[3]);

/* Feels with sensors of the model how a walking robot deviates from its plan, and turns and
 * lowers its feet so that the floor pushes it back. */
typedef struct tabi_stabiliser_def {
  uint32_t def_size;     /* set by the default function */
  const tabi_walk *walk; /* must outlive the stabiliser */
  int32_t force[2];      /* sensors of force and torque at joints above the soles, left and right */
  int32_t gyro;          /* sensors on the waist's body */
  int32_t accelerometer; /* encoders that the model has are used too; joints without are taken to
                            be where they were sent */
  double pole[2];        /* 1/s, as in tabi_lipm_gains */
  double delay;          /* s, of the zero-moment point */
  double foot_damping;   /* N m s/rad, of feet that turn under a wrong centre of pressure */
  double height_damping; /* N s/m, of feet that sink under a wrong share of the weight */
  double return_standing; /* s, in which feet return to the plan: standing ... */
  double return_lifted;   /* ... and lifted */
  double speed_filter;    /* Hz, of the speed of the mass centre */
  double attitude_time;   /* s, in which the accelerometer corrects the gyro */
} tabi_stabiliser_def;

typedef struct tabi_stabiliser tabi_stabiliser;

/* What it felt and did in its last update. */
typedef struct tabi_stabiliser_state {
  double tilt[2];               /* rad, of the waist about x and y */
  double com_error[2];          /* m, from the plan */
  double com_rate_error[2];     /* m/s */
  double zmp[2], zmp_wanted[2]; /* m */
  double foot_turn[2][2];       /* rad, of the feet about their x and y */
  double foot_height;           /* m, by which the left foot is lower and the right one higher */
} tabi_stabiliser_state;

/* -13 and -4 1/s, 0.04 s, 25 N m s/rad, 3500 N s/m, 1.5 and 0.08 s, 6 Hz, 2 s. */
TABI_API tabi_stabiliser_def tabi_stabiliser_def_default(void);
TABI_API tabi_stabiliser *tabi_stabiliser_create(const tabi_model *model,
                                                 const tabi_stabiliser_def *def, tabi_error *err);
TABI_API void tabi_stabiliser_destroy(tabi_stabiliser *stabiliser); /* NULL is fine */
/* Before a walk starts anew. */
TABI_API void tabi_stabiliser_reset(tabi_stabiliser *stabiliser);

/* Reads the sensors of a world and finds targets for its next step, which takes `timestep` s.
 * Allocates nothing. */
TABI_API void tabi_stabiliser_update(tabi_stabiliser *stabiliser, const tabi_world *world,
                                     double timestep);
/* For tabi_pd_apply_targets, a number for each joint of the model. */
TABI_API const double *tabi_stabiliser_target(const tabi_stabiliser *stabiliser);
TABI_API const double *tabi_stabiliser_rate(const tabi_stabiliser *stabiliser);
TABI_API tabi_stabiliser_state tabi_stabiliser_get_state(const tabi_stabiliser *stabiliser);

TABI_END

#endif
