/* gait.h - a planar biped seen from its supporting foot, and the machine of its contact modes.
 *
 *   gait.c       what is fixed: settings, both views of the robot
 *   view.c       the robot as a tree that starts at one foot
 *   modes.c      the table of modes and of the changes between them
 *   equation.c   accelerations and contact forces in a mode
 *   signals.c    what is watched: heights, forces, speeds
 *   jumps.c      impacts, friction that begins or ends, change of support
 *   advance.c    one step: smooth motion and the events in it
 *   report.c     what is to be seen of it
 *
 * The tree starts with four joints between ground and sole: along x, along z, about the toe, about
 * the heel.  The mode says which of them are free; the others are locked, which is how the number
 * of variables changes.  z is always locked: its reaction is the load on the sole, and that of a
 * locked toe or heel tells how heel and toe share it. */
#ifndef TBI_GAIT_H
#define TBI_GAIT_H

#include "base/layout.h"
#include "dynamics/dynamics.h"
#include "integrate/events.h"
#include "tabi/tabi_gait.h"

typedef enum tbi_ground_joint {
  TBI_ALONG_X,
  TBI_ALONG_Z,
  TBI_ABOUT_TOE,
  TBI_ABOUT_HEEL,
  TBI_GROUND_JOINTS,
} tbi_ground_joint;

typedef struct tbi_gait_point {
  int32_t link; /* of a view */
  v3 pos;
} tbi_gait_point;

/* The robot as a tree that starts at one of its feet.  Coordinates of its hinges are those of the
 * robot's model. */
typedef struct tbi_view {
  tabi_model *model;
  int32_t *dof;  /* of the robot's velocities: the same in the view, or TABI_NONE */
  int32_t *link; /* of the robot's links: the same in the view, or TABI_NONE */
  tbi_frame *at; /* of the robot's links: their frames in those of the view's links */
  double sole;   /* m, from heel to toe */
  tbi_gait_point heel[2], toe[2]; /* of the supporting foot, and of the other */
  tbi_gait_point *force;          /* [nforce] */
} tbi_view;

struct tabi_gait {
  const tabi_model *model;
  tabi_gait_def def;
  tabi_gait_force *force;
  tabi_gait_floor *floor;
  int32_t start; /* mode */
  int32_t base;  /* the body under the planar joint */
  int32_t base_link;
  tbi_frame foot[2]; /* frames of their links at the start */
  tbi_view view[2];
};

/* view.c; the frame is that of the foot's link in the world, at the start */
bool tbi_view_create(tbi_view *view, const tabi_model *model, const tabi_gait_foot *foot,
                     const tbi_frame *frame, tabi_error *err);
void tbi_view_destroy(tbi_view *view);
tbi_gait_point tbi_view_point(const tbi_view *view, int32_t link, const double *pos);

typedef enum tbi_stance { TBI_FLAT, TBI_ON_TOE, TBI_ON_HEEL } tbi_stance;
typedef enum tbi_touch_kind { TBI_AWAY, TBI_BY_HEEL, TBI_BY_TOE, TBI_BY_FACE } tbi_touch_kind;

typedef struct tbi_gait_mode {
  const char *name, *slipping; /* the second while the supporting foot slips */
  tbi_stance support;
  tbi_touch_kind other;
} tbi_gait_mode;

/* What is watched; each fires when it falls through zero. */
typedef enum tbi_signal {
  TBI_HEEL_LANDS,
  TBI_TOE_LANDS,
  TBI_HEEL_UNLOADS, /* of the supporting sole */
  TBI_TOE_UNLOADS,
  TBI_FOOT_UNLOADS, /* the other foot */
  TBI_FOOT_TOE_UNLOADS,
  TBI_FOOT_HEEL_UNLOADS,
  TBI_SLIP_ENDS,
  TBI_SOLE_RETURNS,
  TBI_POINT_STOPS,
  TBI_POINT_SLIPS,
  TBI_SUPPORT_STOPS,
  TBI_SUPPORT_SLIPS,
  TBI_LOAD_ENDS,
  TBI_TOE_SCUFFS,
  TBI_HEEL_SINKS,
  TBI_JOINT_ENDS,
  TBI_LINK_FALLS,
  TBI_SIGNALS,
} tbi_signal;

typedef struct tbi_signal_info {
  const char *name;
  double leave; /* by how much it must have been above zero to count */
  bool level;   /* a force or speed that must not be negative, rather than a way to the ground */
} tbi_signal_info;
extern const tbi_signal_info tbi_signals[TBI_SIGNALS];

typedef enum tbi_jump { TBI_RELEASE, TBI_IMPACT, TBI_SWAP, TBI_FRICTION, TBI_END } tbi_jump;

typedef struct tbi_gait_change {
  int32_t from, to; /* modes; to TBI_SAME for changes of friction and for ends */
  tbi_signal signal;
  tbi_jump jump;
  bool strict; /* not in the paper's set */
} tbi_gait_change;

#define TBI_MODES 12
#define TBI_ANY   (-1)
#define TBI_SAME  (-1)
extern const tbi_gait_mode tbi_gait_modes[TBI_MODES];
extern const tbi_gait_change tbi_gait_changes[];
extern const int32_t tbi_gait_change_count;

/* What changes at events only. */
typedef struct tbi_phase {
  int32_t support; /* foot */
  int32_t mode;
  int32_t slide;         /* of the other foot: 1 forward, -1 back, 0 sticks */
  int32_t support_slide; /* of the supporting one, likewise */
} tbi_phase;

/* Integrals along the motion. */
typedef enum tbi_ledger {
  TBI_WORK,  /* J, by joints that drive */
  TBI_DRAG,  /* J, by springs, dampers and friction */
  TBI_PUSH,  /* N s, of the other foot on the ground */
  TBI_SLIDE, /* m, its way on the ground */
  TBI_LEDGERS,
} tbi_ledger;

/* All that decides how it goes on, but q and v; plain data. */
typedef struct tbi_gait_memory {
  tbi_phase phase;
  int32_t risen; /* the other foot's heel has been off the ground since it was left behind */
  double since, landed;
  double ledger[TBI_LEDGERS];
  double lost; /* J, at impacts */
  double pulled;
  double hold_until; /* s: nothing is released before */
  int32_t steps, rested;
  int32_t outcome;
  tbi_progress progress;
} tbi_gait_memory;

/* Forces of the other foot's contact and on the supporting sole, and the accelerations. */
typedef struct tbi_gait_forces {
  double normal, friction, turn; /* N, N, N m about the touching point */
  double load, along;            /* N: support, z and x */
  double heel, toe;              /* N: support, z */
} tbi_gait_forces;

typedef void tbi_joint_forces_fn(void *user, const double *q, const double *v, double *drive,
                                 double *passive);

#define TBI_MAX_ROWS   4
#define TBI_MAX_EVENTS 64

/* Rows that hold in a mode: speeds of the other foot that must be zero. */
typedef struct tbi_held {
  int32_t count;
  double *row[TBI_MAX_ROWS];    /* [nv] */
  double *column[TBI_MAX_ROWS]; /* [nv] what its force does: friction added */
  double drift[TBI_MAX_ROWS];   /* rate of the row times v */
  double error[TBI_MAX_ROWS];   /* position that should be zero */
} tbi_held;

/* A walk under way: its state and the memory it is computed in. */
typedef struct tbi_walk {
  const tabi_gait *gait;
  v3 gravity;
  double tolerance; /* of the integrator */
  tbi_joint_forces_fn *joint_forces;
  void *user;
  /* the state */
  tbi_gait_memory *memory;
  double *q, *v; /* of the view from the supporting foot, locked joints included: [nv] */
  /* computed */
  tabi_dynamics *view[2];
  void *view_masses[2];
  double *mass, *bias, *drive, *passive, *acceleration; /* [nv x nv], [nv] ... */
  double *robot_q, *robot_v, *robot_drive, *robot_passive;
  double *jacobian, *rate; /* [3 nv] */
  tbi_held held;
  double *matrix, *rhs; /* of all unknowns */
  int32_t *pivot;
  int32_t *active; /* free velocities of the view */
  int32_t nactive;
  double *y;
  tbi_events events;
  tbi_guard guard[TBI_MAX_GUARDS];
  int32_t watched[TBI_MAX_GUARDS]; /* index of the change that a guard belongs to */
  int32_t nguard;
  double damping; /* s: the implicit share of damping, the step length; 0 when events are located */
  tbi_gait_forces forces;
  tabi_gait_event *event; /* of the step */
  int32_t nevent;
} tbi_walk;

static inline const tbi_view *tbi_walk_view(const tbi_walk *w) {
  return &w->gait->view[w->memory->phase.support];
}
static inline const tbi_gait_mode *tbi_walk_mode(const tbi_walk *w) {
  return &tbi_gait_modes[w->memory->phase.mode];
}
const char *tbi_phase_name(const tbi_phase *phase);

/* gait.c */
void tbi_walk_place_state(tbi_walk *w, tbi_layout *layout);
void tbi_walk_place(tbi_walk *w, tbi_layout *layout);
void tbi_walk_make(tbi_walk *w); /* once, in the memory placed */
/* Whether this can be a state: tables are read by its numbers. */
bool tbi_walk_is_state(const tbi_gait_memory *memory, const double *q, const double *v, int32_t nv);

/* equation.c: at w->q, w->v and time t, in the phase of the memory */
/* Which velocities are free. */
void tbi_walk_activate(tbi_walk *w);
/* Poses, masses and held rows; with `grip` the touching point is held along the ground too. */
void tbi_walk_look(tbi_walk *w, bool grip);
/* Whether the touching point sticks in the present phase. */
bool tbi_walk_sticks(const tbi_walk *w);
/* Both of these after looking.  False: no finite solution. */
bool tbi_walk_accelerate(tbi_walk *w, double t);
/* The motion nearest to x, in the sense of kinetic energy, whose held rows are `target` (NULL:
 * zero) and whose locked velocities are zero; with `rub` impulses bring friction with them. */
bool tbi_walk_project(tbi_walk *w, const double *target, bool rub, double *x);
double tbi_walk_kinetic(const tbi_walk *w);
double tbi_walk_damping(const tbi_walk *w, int32_t k); /* N m s/rad */
void tbi_walk_point(const tbi_walk *w, const tbi_gait_point *point, double pos[3], double vel[3]);

/* signals.c: after accelerating */
double tbi_walk_signal(const tbi_walk *w, tbi_signal signal);
double tbi_walk_slip(const tbi_walk *w);

/* jumps.c: whether a change is possible in the present phase; and a change with those that follow
 * from it at once.  NULL: only those that the present state asks for. */
bool tbi_walk_applies(const tbi_walk *w, const tbi_gait_change *change, double t);
void tbi_walk_change(tbi_walk *w, const tbi_gait_change *change, double t);

/* advance.c */
/* Stands the robot on its first supporting foot at time t, and sets q and v to that. */
void tbi_walk_start(tbi_walk *w, double t, double *q, double *v);
/* Moves on, until the outcome says that it has ended; then the rest of the step stands still. */
void tbi_walk_advance(tbi_walk *w, double from, double to);
/* Computes anew what follows from the state. */
void tbi_walk_refresh(tbi_walk *w, double t);

/* report.c: what is to be seen of a walk */
/* The frame of the robot's base link. */
tbi_frame tbi_walk_base(const tbi_walk *w);
/* Position and velocity of the robot's model. */
void tbi_walk_robot(const tbi_walk *w, double *q, double *v);
/* N on heel, toe, and along x, of the supporting foot and of the other. */
typedef struct tbi_sole_forces {
  double heel[2], toe[2], along[2];
} tbi_sole_forces;
tbi_sole_forces tbi_walk_sole(const tbi_walk *w);
tabi_gait_state tbi_walk_state(const tbi_walk *w);
/* What drives a joint; dof is one of the robot's model. */
double tbi_walk_drive(const tbi_walk *w, int32_t dof);
/* Second derivatives of the robot's coordinates, [nv] of its model. */
void tbi_walk_acceleration(tbi_walk *w, double *qdd);

#endif
