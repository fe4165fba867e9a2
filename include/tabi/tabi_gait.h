/* tabi_gait.h - event-driven walking of a planar biped.
 *
 * The contact method `gait` knows a fixed set of modes: how the supporting foot stands (flat, on
 * its toe, on its heel) and how the other one touches (not, by heel, by toe, flat).  Each mode has
 * its own equations and number of variables; events between them are located in time, feet that
 * land slip until friction stops them, and then the support changes sides.
 *
 * The robot moves in the vertical plane of x (forward) and z (up): its base joint is planar and all
 * others are hinges about the y axis.  Give a gait to tabi_world_def and choose TABI_CONTACT_GAIT.
 */
#ifndef TABI_GAIT_H
#define TABI_GAIT_H

#include "tabi.h"

TABI_BEGIN

/* The sole of a foot, seen from the side. */
typedef struct tabi_gait_foot {
  int32_t link;
  double heel[3], toe[3]; /* m, link frame */
} tabi_gait_foot;

/* Joint torques that act as a force at a point would, seen from the supporting foot:
 *     tau = J' f,   f = amplitude cos(2 pi (t - T) / period)   along x and z,
 * T being the time of the last change of support. */
typedef struct tabi_gait_force {
  int32_t link[2];     /* while the first and while the second foot supports */
  double point[3];     /* m, link frame */
  double amplitude[2]; /* N */
  double period[2];    /* s; 0: constant */
} tabi_gait_force;

/* A link whose origin must stay above a height, or the robot has fallen. */
typedef struct tabi_gait_floor {
  int32_t link;
  double height; /* m */
} tabi_gait_floor;

typedef enum tabi_gait_events {
  TABI_GAIT_LOCATED, /* found in time, to rounding */
  TABI_GAIT_STEP,    /* taken at the end of the step in which they fall, damping implicit */
} tabi_gait_events;

typedef enum tabi_gait_guards {
  TABI_GAIT_STRICT, /* a sole that would have to pull at its toe tips over its heel */
  TABI_GAIT_PAPER,  /* it pulls, and the time is counted */
} tabi_gait_guards;

typedef enum tabi_gait_impact {
  TABI_GAIT_NORMAL,  /* landing has no impulse along the ground */
  TABI_GAIT_COULOMB, /* it has one, within friction */
} tabi_gait_impact;

typedef struct tabi_gait_def {
  uint32_t def_size;
  tabi_gait_foot foot[2];
  int32_t support;   /* the foot that supports at the start: 0 or 1 */
  const char *start; /* mode at the start, as "1" or "4" */
  tabi_gait_events events;
  tabi_gait_guards guards;
  tabi_gait_impact impact;
  double friction;         /* of the foot that lands */
  double support_friction; /* of the supporting one; infinite: it never slips */
  double slip_stop;        /* m/s, at which a flat foot has landed */
  double pivot_damping;    /* N m s/rad, of a supporting foot that turns on its toe or heel */
  double least_stride;     /* m, by which the heel must land ahead of the other */
  double scuff;            /* m, by which the free foot's toe may be below the ground */
  double sink;             /* m, likewise its heel, until it has risen */
  int32_t nforce;
  const tabi_gait_force *force;
  int32_t nfloor; /* 0: every link but the feet above the ground */
  const tabi_gait_floor *floor;
} tabi_gait_def;

TABI_API tabi_gait_def tabi_gait_def_default(void);
/* The number of a mode, or TABI_NONE. */
TABI_API int32_t tabi_gait_mode_find(const char *name);
/* Both views of the robot, from either foot.  The model must outlive it, and it the worlds. */
TABI_API tabi_gait *tabi_gait_create(const tabi_model *model, const tabi_gait_def *def,
                                     tabi_error *err);
TABI_API void tabi_gait_destroy(tabi_gait *gait); /* NULL is fine */
/* As it was made, with all floors; its arrays live as long as the gait. */
TABI_API tabi_gait_def tabi_gait_settings(const tabi_gait *gait);

typedef enum tabi_gait_outcome {
  TABI_GAIT_WALKS,
  TABI_GAIT_TOE_FIRST,   /* the free foot came down on its toe */
  TABI_GAIT_SCUFFED,     /* its toe hit the ground on the way forward */
  TABI_GAIT_SANK,        /* its heel went through the ground behind */
  TABI_GAIT_BEHIND,      /* it landed level with the other or behind */
  TABI_GAIT_JOINT_LIMIT, /* a knee, say, at the end of its range */
  TABI_GAIT_FELL,        /* a link is below its floor */
  TABI_GAIT_FLEW,        /* the supporting foot would leave the ground */
  TABI_GAIT_JAMMED,      /* friction leaves no finite force */
  TABI_GAIT_OUTCOME_COUNT,
} tabi_gait_outcome;
TABI_API const char *tabi_gait_outcome_text(tabi_gait_outcome outcome);

/* Where a walk stands. */
typedef struct tabi_gait_state {
  const char *mode; /* "1" to "4", with ' on the toe and " on the heel, ~ when it slips */
  int32_t support;  /* 0 or 1 */
  int32_t steps;    /* changes of support so far */
  double since;     /* s, time of the last one */
  tabi_gait_outcome outcome;
  double heel_force, toe_force; /* N, on the supporting sole */
  double support_friction;      /* N, on it along x */
  double normal, friction;      /* N, on the other foot */
  double slip;                  /* m/s, of its touching point along x */
  double heel[2], toe[2];       /* m, x and z of the other foot */
  double work, loss;            /* J since the start: done by joints; lost to damping, friction
                                   and impacts, or kept in springs */
  double pulled;                /* s during which the supporting toe or heel had to pull */
  int32_t rested;               /* times that a crowd of events was ended by holding on */
} tabi_gait_state;
/* Of a world whose contact method is TABI_CONTACT_GAIT. */
TABI_API tabi_gait_state tabi_world_gait(const tabi_world *world);
/* tau [nv]: what drives the joints, N m: the forces above, servos, actuators and what the step was
 * given.  Dampers and springs are not in it. */
TABI_API void tabi_world_gait_torque(const tabi_world *world, double *tau);

/* A change of mode. */
typedef struct tabi_gait_event {
  double time;
  const char *from, *to, *cause;
  double lost;   /* J, kinetic energy */
  double stride; /* m, of a change of support: from the old heel to the new */
  double slip;   /* m, of a change of support: the way of the landing foot on the ground */
  double push;   /* N, its mean normal force since it landed */
} tabi_gait_event;
/* Those of the last step; the array lives until the next one. */
TABI_API const tabi_gait_event *tabi_world_gait_events(const tabi_world *world, int32_t *count);

TABI_END

#endif
