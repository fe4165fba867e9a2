/* tabi_control.h - joint PD control of a posture or trajectory, a pattern generator for walking,
 * and a stabiliser that keeps a walking robot from falling. */
#ifndef TABI_CONTROL_H
#define TABI_CONTROL_H

#include "tabi.h"

TABI_BEGIN

/* -------------------------------------------------------------------------- trajectories */

/* Columns of numbers over time: linear between samples, constant before the first and after the
 * last. */
typedef struct tabi_trajectory tabi_trajectory;

/* time[nsample] in s, increasing; value[nsample x ncolumn], sample by sample.  Both are copied. */
TABI_API tabi_trajectory *tabi_trajectory_create(int32_t nsample, int32_t ncolumn,
                                                 const double *time, const double *value,
                                                 tabi_error *err);
TABI_API void tabi_trajectory_destroy(tabi_trajectory *trajectory); /* NULL is fine */

TABI_API int32_t tabi_trajectory_ncolumn(const tabi_trajectory *trajectory);
/* s, times of the first and of the last sample */
TABI_API double tabi_trajectory_start(const tabi_trajectory *trajectory);
TABI_API double tabi_trajectory_end(const tabi_trajectory *trajectory);
/* value[ncolumn] and rate[ncolumn], the slope between the two samples around the time and zero
 * outside; either may be NULL. */
TABI_API void tabi_trajectory_sample(const tabi_trajectory *trajectory, double time, double *value,
                                     double *rate);

/* ------------------------------------------------------------------------- joint control */

/* PD control of one joint. */
typedef struct tabi_pd_joint {
  int32_t joint;    /* with one coordinate */
  int32_t actuator; /* of the model, used instead of the gains; TABI_NONE: none.  If it has a spring
                       its input moves the equilibrium to the target, else it is the target */
  int32_t column;   /* of the trajectory, for the target; TABI_NONE: `target` */
  double target;    /* rad or m */
  double kp, kd;    /* N m/rad and N m s/rad, or N/m and N s/m */
  bool implicit;    /* integrated implicitly, stable at any gain, as in tabi_servo */
} tabi_pd_joint;

typedef struct tabi_pd_def {
  uint32_t def_size; /* set by the default function */
  int32_t njoint;
  const tabi_pd_joint *joint;
  const tabi_trajectory *trajectory; /* must outlive the controller; NULL: constant targets */
  const tabi_trajectory *torque; /* feed-forward, likewise: N m or N in the same columns, added to
                                    that of the gains of joints with kp > 0; NULL: none */
  const tabi_trajectory *rate; /* likewise: rad/s or m/s in the same columns, in place of the slope
                                  of the trajectory; NULL: that slope */
} tabi_pd_def;

typedef struct tabi_pd tabi_pd;

TABI_API tabi_pd_def tabi_pd_def_default(void);
TABI_API tabi_pd *tabi_pd_create(const tabi_model *model, const tabi_pd_def *def, tabi_error *err);
TABI_API void tabi_pd_destroy(tabi_pd *pd); /* NULL is fine */

/* Sets the servos and actuators of a world for its next step of `timestep` s: the targets of
 * explicit servos are those at its start, of implicit ones those at its end.  Allocates nothing. */
TABI_API void tabi_pd_apply(tabi_pd *pd, tabi_world *world, double timestep);
/* The same with given targets and rates, by column. */
TABI_API void tabi_pd_apply_targets(const tabi_pd *pd, tabi_world *world, const double *target,
                                    const double *rate);

/* ------------------------------------------------------------------------------- walking */

typedef enum tabi_side { TABI_LEFT, TABI_RIGHT } tabi_side;

/* Where the swing foot lands: beside the stance foot, and from there forward, to the left, and
 * turned counter-clockwise about the point between the feet.  All zero: in place, or feet together.
 */
typedef struct tabi_footstep {
  double forward, sideways; /* m */
  double turn;              /* rad */
  double double_support;    /* s, before the step, in which the ZMP moves to the stance foot */
  double single_support;    /* s, in which the swing foot moves */
  double lift;              /* m, of the swing foot */
} tabi_footstep;

/* 0.1 s and 0.75 s, 0.05 m, in place. */
TABI_API tabi_footstep tabi_footstep_default(void);
/* The same along an arc of `angle` rad whose centre is `radius` m to the left; negative: to the
 * right.  With both negative the robot turns right on its way forward. */
TABI_API tabi_footstep tabi_footstep_arc(double radius, double angle);

/* A walk on level ground, of a robot with a floating waist and two legs of six hinges each, x
 * forward and z up. */
typedef struct tabi_walk_def {
  uint32_t def_size;     /* set by the default function */
  int32_t waist;         /* link of the floating body */
  int32_t foot[2];       /* links, left and right; the lowest of their shapes are the soles */
  const double *posture; /* q[nq] with level waist and soles: joints other than those of the legs
                            stay there, and the legs bend this way.  NULL: the model's initial q */
  double waist_height;   /* m, of the waist's origin over the ground; 0: as in the posture */
  double spacing;        /* m, between the middles of the soles; 0: as in the posture */
  double place[3], yaw;  /* m and rad, initially, of the point on the ground between the feet */
  int32_t nstep;
  const tabi_footstep *step;
  tabi_side first;                  /* the first swing foot; then the feet alternate */
  double stand_before, stand_after; /* s */
  double period;                    /* s, of the pattern generator */
  double horizon;                   /* s, preview horizon */
  double jerk_weight;               /* 1/(m/s^3)^2, against 1/m^2 of the ZMP error */
  int32_t passes; /* of the dynamic filter, which corrects the CoM for the whole-body ZMP; 0: the
                     cart-table model alone */
  double sample_period; /* s, of the trajectory */
} tabi_walk_def;

/* The plan of a walk at a time. */
typedef struct tabi_walk_state {
  double com[3], com_rate[3];     /* m, m/s */
  double waist[3], waist_yaw;     /* m, rad */
  double zmp[2];                  /* m, desired ZMP */
  double motion_zmp[2];           /* m, ZMP of the whole-body motion */
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

TABI_API void tabi_walk_initial_q(const tabi_walk *walk, double *q); /* q[nq]; v is zero */
TABI_API double tabi_walk_duration(const tabi_walk *walk);           /* s */
/* Joint positions, for tabi_pd: column j is joint j of the model; zero for those without one
 * coordinate. */
TABI_API const tabi_trajectory *tabi_walk_trajectory(const tabi_walk *walk);
/* Likewise feed-forward joint torques, N m or N: inverse dynamics with the ground force at the ZMP.
 */
TABI_API const tabi_trajectory *tabi_walk_torque(const tabi_walk *walk);
TABI_API tabi_walk_state tabi_walk_at(const tabi_walk *walk, double time);

/* ------------------------------------------------------------------------------- bipeds */

enum { TABI_LEG_MAX = 7, TABI_SOLE_MAX = 16 };

/* A leg and the sole below it. */
typedef struct tabi_leg {
  int32_t njoint;              /* 5 to 7 */
  int32_t joint[TABI_LEG_MAX]; /* hinges with a drive, from the waist down */
  int32_t nsoft; /* joints between that hold by themselves: a spring and no drive, or */
  int32_t soft[TABI_LEG_MAX]; /* a range of 0.25 rad or 5 cm at most */
  int32_t foot;               /* link of the sole */
  double pos[3], quat[4];     /* frame of the sole in that of this link: in its middle, x forward,
                                 z up */
  double length, width;       /* m, of the sole along x and y of that frame */
  int32_t ncorner;            /* its outline in that frame, counter-clockwise: the hull of the */
  double corner[TABI_SOLE_MAX][2]; /* points that touch level ground */
  double reach;                    /* m, from the hip down to the sole of a straight leg */
  double knee_bend;                /* rad, of the middle pitch joint as tabi_biped_stand bends it */
} tabi_leg;

/* How a robot with a floating base and two legs walks. */
typedef struct tabi_biped {
  int32_t base;       /* its free joint */
  int32_t waist;      /* link of the body from which the legs hang */
  tabi_leg leg[2];    /* left and right */
  double front[3];    /* unit, level: where it looks in the posture it was found in, world axes */
  double in_waist[4]; /* quaternion: axes forward, left, up in those of the waist link */
  double spacing;     /* m, between the middles of the soles when it stands */
  double mass;        /* kg */
  const char *front_why; /* what decided the front */
} tabi_biped;

/* Finds the legs of the robot that a link belongs to (TABI_NONE: of the first that has any), in the
 * posture q[nq] with upright waist and level soles.  Legs are the two limbs that end in the lowest
 * colliding shapes.  front, in world axes, NULL: found too.  TABI_ERR_MODEL with the reason if it
 * is no biped.  Allocates scratch. */
TABI_API tabi_status tabi_biped_find(const tabi_model *model, int32_t link, const double *q,
                                     const double *front, tabi_biped *biped, tabi_error *err);
/* Bends the legs in q[nq] by `bend` rad in the knee (0: 1 rad, or less where the effort limit of
 * the knee asks for it), level soles `spacing` apart at height `ground` below the centre of mass;
 * joints outside the legs stay.  TABI_ERR_MODEL with the reason if the legs cannot.  Allocates
 * scratch. */
TABI_API tabi_status tabi_biped_stand(const tabi_model *model, tabi_biped *biped, double bend,
                                      double ground, double *q, tabi_error *err);

/* ------------------------------------------------------------------- walking by command */

/* Walks online: places and times of steps follow from the state of the robot (docs/balance.md). */
typedef struct tabi_stepper_def {
  uint32_t def_size;       /* set by the default function */
  const tabi_biped *biped; /* copied */
  const double *posture; /* q[nq] of tabi_biped_stand, copied; joints outside the legs stay there */
  double friction;       /* coefficient between soles and ground that forces keep to */
  /* Sensors of the worlds that it drives.  Without them it knows their state. */
  const int32_t *encoder; /* [njoint] by joint of the model, TABI_NONE where there is none, copied;
                             NULL: no sensors at all */
  int32_t gyro, accelerometer; /* in the frame of the base joint's child */
  int32_t force[2];            /* force and torque at the last joint of each leg */
  bool sees_ground; /* it looks where it steps: stairs, slopes; else it feels the ground only */
} tabi_stepper_def;

/* What the robot shall do; speeds are cut to what its legs can do and reached gradually. */
typedef struct tabi_stepper_command {
  double velocity[3]; /* m/s forward and to the left, rad/s counter-clockwise */
  int32_t steps; /* how many more, then it stands; negative: until told otherwise.  0: it stands,
                    and steps only to keep its balance */
} tabi_stepper_command;

typedef enum tabi_stepper_phase {
  TABI_STEPPER_STANDS,
  TABI_STEPPER_SHIFTS, /* from both feet to one, before the first step */
  TABI_STEPPER_DOUBLE, /* both feet on the ground, between steps */
  TABI_STEPPER_SINGLE,
  TABI_STEPPER_FALLEN, /* it gave up: joints are damped only */
} tabi_stepper_phase;

/* Estimates and outputs of the last update. */
typedef struct tabi_stepper_state {
  tabi_stepper_phase phase;
  tabi_side stance;           /* meaningless while it stands */
  int32_t steps;              /* that were made */
  double dcm[2], cop[2];      /* m, divergent component of motion and desired centre of pressure */
  double com[3], com_rate[3]; /* m, m/s */
  double sole[2][3], yaw[2];  /* m, rad */
  double place[2], remaining; /* m, s: where and when the swing foot lands */
} tabi_stepper_state;

/* What steps it makes, by its size. */
typedef struct tabi_stepper_limits {
  double height, omega;      /* m, of the CoM; 1/s */
  double step_time;          /* s, double support included */
  double lift;               /* m */
  double velocity[3];        /* m/s, m/s, rad/s, max */
  double stride, spacing[2]; /* m, max; min and max */
} tabi_stepper_limits;

typedef struct tabi_stepper tabi_stepper;

TABI_API tabi_stepper_def tabi_stepper_def_default(void); /* friction 0.5 */
/* The model must outlive it. */
TABI_API tabi_stepper *tabi_stepper_create(const tabi_model *model, const tabi_stepper_def *def,
                                           tabi_error *err);
TABI_API void tabi_stepper_destroy(tabi_stepper *stepper); /* NULL is fine */
/* Call before it starts again; it then stands. */
TABI_API void tabi_stepper_reset(tabi_stepper *stepper);
TABI_API void tabi_stepper_set_command(tabi_stepper *stepper, const tabi_stepper_command *command);
TABI_API tabi_stepper_command tabi_stepper_get_command(const tabi_stepper *stepper);
/* Sets servos and actuators of a world for its next step of `timestep` s.  Allocates nothing. */
TABI_API void tabi_stepper_update(tabi_stepper *stepper, tabi_world *world, double timestep);
TABI_API tabi_stepper_state tabi_stepper_get_state(const tabi_stepper *stepper);
TABI_API tabi_stepper_limits tabi_stepper_get_limits(const tabi_stepper *stepper);
/* Joint forces that the last update asked for, [nv]: N m or N. */
TABI_API const double *tabi_stepper_torque(const tabi_stepper *stepper);
/* All that decides the next update, without pointers: for snapshots beside those of a world. */
TABI_API size_t tabi_stepper_snapshot_size(const tabi_stepper *stepper);
TABI_API void tabi_stepper_save(const tabi_stepper *stepper, void *snapshot);
TABI_API void tabi_stepper_restore(tabi_stepper *stepper, const void *snapshot);

/* ---------------------------------------------------------------------------- stabiliser */

/* State feedback of the linear inverted pendulum whose ZMP p follows a desired one with delay,
 * p' = (desired - p) / delay:  desired = planned + gain[0] dx + gain[1] dx' + gain[2] dp  for
 * deviations dx of the CoM and dp of p from the plan.  The closed loop has the poles pole[0],
 * pole[1] (1/s, negative) and the natural one of the pendulum, -sqrt(gravity / height).  height (m,
 * of the CoM), gravity (m/s^2) and delay (s) must be positive. */
TABI_API void tabi_lipm_gains(double height, double gravity, double delay, const double pole[2],
                              double gain[3]);

/* Measures with sensors of the model how a walking robot deviates from its plan, and turns and
 * lowers its feet so that the ground forces correct it.  Encoders of the model are used too; a
 * joint without one is taken to be at its target. */
typedef struct tabi_stabiliser_def {
  uint32_t def_size;     /* set by the default function */
  const tabi_walk *walk; /* must outlive the stabiliser */
  int32_t force[2];      /* sensors of force and torque at joints above the soles, left and right */
  int32_t gyro, accelerometer; /* sensors on the waist's body */
  double pole[2];              /* 1/s, as in tabi_lipm_gains */
  double delay;                /* s, of the ZMP */
  double foot_damping;    /* N m s/rad: moment error of a foot over the rate at which it turns */
  double height_damping;  /* N s/m: error of the load difference over the rate of foot_height */
  double return_standing; /* s, time constant with which stance feet return to the plan ... */
  double return_lifted;   /* ... and swing feet */
  double speed_filter;    /* Hz, low-pass of the CoM velocity */
  double attitude_time;   /* s, time constant with which the accelerometer corrects the gyro */
} tabi_stabiliser_def;

typedef struct tabi_stabiliser tabi_stabiliser;

/* Estimates and outputs of the last update. */
typedef struct tabi_stabiliser_state {
  double tilt[2];                /* rad, of the waist about x and y */
  double com_error[2];           /* m, of the CoM from the plan */
  double com_rate_error[2];      /* m/s */
  double zmp[2], zmp_desired[2]; /* m */
  double foot_turn[2][2];        /* rad, of the feet about their x and y */
  double foot_height;            /* m, by which the left foot is lower and the right one higher */
} tabi_stabiliser_state;

/* -13 and -4 1/s, 0.04 s, 25 N m s/rad, 3500 N s/m, 1.5 and 0.08 s, 6 Hz, 2 s. */
TABI_API tabi_stabiliser_def tabi_stabiliser_def_default(void);
TABI_API tabi_stabiliser *tabi_stabiliser_create(const tabi_model *model,
                                                 const tabi_stabiliser_def *def, tabi_error *err);
TABI_API void tabi_stabiliser_destroy(tabi_stabiliser *stabiliser); /* NULL is fine */
/* Call before a walk is started again. */
TABI_API void tabi_stabiliser_reset(tabi_stabiliser *stabiliser);

/* Reads the sensors of a world and computes targets for its next step of `timestep` s.  Allocates
 * nothing. */
TABI_API void tabi_stabiliser_update(tabi_stabiliser *stabiliser, const tabi_world *world,
                                     double timestep);
/* For tabi_pd_apply_targets, [njoint]. */
TABI_API const double *tabi_stabiliser_target(const tabi_stabiliser *stabiliser);
TABI_API const double *tabi_stabiliser_rate(const tabi_stabiliser *stabiliser);
TABI_API tabi_stabiliser_state tabi_stabiliser_get_state(const tabi_stabiliser *stabiliser);

TABI_END

#endif
