/* tabi_gait.h - event-driven gait of a planar biped (paper P3).
 *
 * The contact method `gait` is a hybrid system with a fixed set of contact modes: how the support
 * foot touches the ground (flat, by its toe, by its heel) and how the swing foot does (not, by its
 * heel, by its toe, flat).  Each mode has its own equation of motion and number of variables.
 * Events between modes are located in time.  A swing foot that lands slips until friction stops it;
 * then it becomes the support foot.
 *
 * The robot moves in the vertical plane of x (forward) and z (up): its base joint is planar and all
 * other joints are hinges about the y axis.  Give a gait to tabi_world_def and choose
 * TABI_CONTACT_GAIT. */
#ifndef TABI_GAIT_H
#define TABI_GAIT_H

#include "tabi.h"

TABI_BEGIN

/* The sole of a foot, seen from the side. */
typedef struct tabi_gait_foot {
  int32_t link;
  double heel[3], toe[3]; /* m, link frame */
} tabi_gait_foot;

/* Feed-forward joint torques, equal to those of a force at a point of the tree that starts at the
 * support foot (P3, eq. 20):
 *     tau = J' f,   f = amplitude cos(2 pi (t - T) / period)   along x and z,
 * where T is the time of the last change of support. */
typedef struct tabi_gait_force {
  int32_t link[2];     /* while the first and while the second foot is the support foot */
  double point[3];     /* m, link frame */
  double amplitude[2]; /* N */
  double period[2];    /* s; 0: constant */
} tabi_gait_force;

/* A link whose origin must stay above a height; below it the robot has fallen. */
typedef struct tabi_gait_floor {
  int32_t link;
  double height; /* m */
} tabi_gait_floor;

typedef enum tabi_gait_events {
  TABI_GAIT_LOCATED, /* located in time, to rounding */
  TABI_GAIT_STEP,    /* handled at the end of the step in which they occur, damping implicit */
} tabi_gait_events;

typedef enum tabi_gait_guards {
  TABI_GAIT_STRICT, /* a support sole whose toe would have to pull tips over its heel */
  TABI_GAIT_PAPER,  /* as published: the toe pulls, and the time is counted */
} tabi_gait_guards;

typedef enum tabi_gait_impact {
  TABI_GAIT_NORMAL,  /* landing has no tangential impulse, as published */
  TABI_GAIT_COULOMB, /* landing has a tangential impulse within Coulomb friction */
} tabi_gait_impact;

typedef struct tabi_gait_def {
  uint32_t def_size; /* set by the default function */
  tabi_gait_foot foot[2];
  int32_t initial_support;  /* support foot at the start: 0 or 1 */
  const char *initial_mode; /* contact mode at the start, such as "1" or "4" */
  tabi_gait_events events;
  tabi_gait_guards guards;
  tabi_gait_impact impact;
  double friction;         /* coefficient of the swing foot */
  double support_friction; /* coefficient of the support foot; infinite: it never slips */
  double slip_stop;        /* m/s, slip speed at which a flat swing foot has landed */
  double pivot_damping;    /* N m s/rad, of a support foot that turns on its toe or heel */
  double min_stride;       /* m, by which the swing heel must land ahead of the support heel */
  double scuff;            /* m, by which the toe of a free swing foot may be below the ground */
  double sink;             /* m, likewise its heel, until that has risen */
  int32_t nforce;
  const tabi_gait_force *force;
  int32_t nfloor; /* 0: every link but the feet must stay above the ground */
  const tabi_gait_floor *floor;
} tabi_gait_def;

TABI_API tabi_gait_def tabi_gait_def_default(void);
/* The index of a mode by its name, or TABI_NONE. */
TABI_API int32_t tabi_gait_find_mode(const char *name);
/* Builds the two trees of the robot that start at its feet.  The model must outlive the gait, and
 * the gait its worlds. */
TABI_API tabi_gait *tabi_gait_create(const tabi_model *model, const tabi_gait_def *def,
                                     tabi_error *err);
TABI_API void tabi_gait_destroy(tabi_gait *gait); /* NULL is fine */
/* The definition, with all floors filled in; its arrays live as long as the gait. */
TABI_API tabi_gait_def tabi_gait_get_def(const tabi_gait *gait);

typedef enum tabi_gait_outcome {
  TABI_GAIT_ONGOING,
  TABI_GAIT_TOE_FIRST,   /* the swing foot landed on its toe */
  TABI_GAIT_SCUFFED,     /* the swing toe hit the ground on its way forward */
  TABI_GAIT_SANK,        /* the swing heel went through the ground behind */
  TABI_GAIT_BEHIND,      /* the swing foot landed level with the support foot or behind it */
  TABI_GAIT_JOINT_LIMIT, /* a joint reached the end of its range */
  TABI_GAIT_FELL,        /* a link is below its floor */
  TABI_GAIT_FLEW,        /* the support foot would leave the ground */
  TABI_GAIT_JAMMED,      /* friction leaves no finite contact force */
  TABI_GAIT_OUTCOME_COUNT,
} tabi_gait_outcome;
TABI_API const char *tabi_gait_outcome_text(tabi_gait_outcome outcome);

/* The state of a gait. */
typedef struct tabi_gait_state {
  const char *mode;     /* "1" to "4"; ' on the toe, " on the heel; ~ while the support slips */
  int32_t support;      /* support foot: 0 or 1 */
  int32_t steps;        /* changes of support so far */
  double support_since; /* s, time of the last one */
  tabi_gait_outcome outcome;
  double heel_force, toe_force; /* N, vertical, on the support foot */
  double support_friction;      /* N, along x, on the support foot */
  double normal, friction;      /* N, on the swing foot */
  double slip;                  /* m/s, along x, of the contact point of the swing foot */
  double heel[2], toe[2];       /* m, x and z, of the swing foot */
  double work;                  /* J since the start, done by the joints */
  double absorbed;              /* J since the start, by damping, friction, impacts and springs */
  double pulled;                /* s during which the support toe or heel had to pull */
  int32_t zeno_holds;           /* times that too many events within 1 ms (Zeno behaviour) were
                                   ended by suspending releases */
} tabi_gait_state;
/* Of a world whose contact method is TABI_CONTACT_GAIT. */
TABI_API tabi_gait_state tabi_world_gait_state(const tabi_world *world);
/* tau[nv]: driving joint torques, N m: those of tabi_gait_force, servos, actuators and the torques
 * given to the step.  Dampers and springs are not included. */
TABI_API void tabi_world_gait_torque(const tabi_world *world, double *tau);

/* A change of mode. */
typedef struct tabi_gait_event {
  double time; /* s */
  const char *from, *to, *cause;
  double dissipated; /* J, kinetic energy */
  /* of a heel that lands and of a change of support: */
  double touchdown; /* m, from the support heel to the other when that landed, before it slipped */
  /* of a change of support: */
  double stride;      /* m, from the old support heel to the new one */
  double slip;        /* m, signed slip distance of the landing foot */
  double mean_normal; /* N, mean normal force on the landing foot since it landed */
} tabi_gait_event;
/* Events of the last step; the array lives until the next one. */
TABI_API const tabi_gait_event *tabi_world_gait_events(const tabi_world *world, int32_t *count);

TABI_END

#endif
