/* gait.h - the planar biped of paper P3 as a hybrid system: a tree that starts at the support foot,
 * contact modes, guards and jumps.
 *
 *   gait.c       the definition and its checks; memory of a run
 *   foot_tree.c  the robot as a tree that starts at one of its feet
 *   modes.c      the tables of modes, guards and changes between modes
 *   equation.c   accelerations and contact forces in a mode (P3, eqs. 8 to 14)
 *   guards.c     guard functions: heights, forces, speeds
 *   jumps.c      impacts (P3, eqs. 15 to 19), friction that begins or ends, change of support
 *   advance.c    one time step: smooth motion and the events in it
 *   output.c     the state in the robot's own coordinates, and the forces on its soles
 *
 * The tree starts with four joints between ground and sole: along x, along z, about the toe, about
 * the heel.  The mode says which of them are free.  The others are locked, which is how the number
 * of variables changes.  z is always locked: its reaction is the load on the support sole, and the
 * reaction of a locked toe or heel joint tells how heel and toe share that load. */
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
  int32_t link; /* of a foot tree */
  v3 pos;       /* m, link frame */
} tbi_gait_point;

/* The robot as a tree that starts at one of its feet.  Its hinges have the same coordinates as in
 * the robot's model. */
typedef struct tbi_foot_tree {
  tabi_model *model;
  int32_t *dof;  /* for each velocity of the robot: that of the tree, or TABI_NONE */
  int32_t *link; /* for each link of the robot: that of the tree, or TABI_NONE */
  tbi_frame *at; /* for each link of the robot: its frame in that of the tree's link */
  double sole;   /* m, from heel to toe */
  tbi_gait_point heel[2], toe[2]; /* of the support foot and of the swing foot */
  tbi_gait_point *force;          /* [nforce] */
} tbi_foot_tree;

struct tabi_gait {
  const tabi_model *model;
  tabi_gait_def def;
  tabi_gait_force *force;
  tabi_gait_floor *floor;
  int32_t initial_mode;
  int32_t base; /* the body under the planar joint */
  int32_t base_link;
  tbi_frame foot[2];     /* frames of the feet's links in the initial posture */
  tbi_foot_tree tree[2]; /* from either foot */
};

/* foot_tree.c; `frame` is that of the foot's link in the world, in the initial posture */
bool tbi_foot_tree_create(tbi_foot_tree *tree, const tabi_model *model, const tabi_gait_foot *foot,
                          const tbi_frame *frame, tabi_error *err);
void tbi_foot_tree_destroy(tbi_foot_tree *tree);
/* A point of one of the robot's links as a point of the tree. */
tbi_gait_point tbi_foot_tree_point(const tbi_foot_tree *tree, int32_t link, const double *pos);

typedef enum tbi_support_contact { TBI_FLAT, TBI_ON_TOE, TBI_ON_HEEL } tbi_support_contact;
typedef enum tbi_swing_contact { TBI_AWAY, TBI_BY_HEEL, TBI_BY_TOE, TBI_BY_FACE } tbi_swing_contact;

typedef struct tbi_gait_mode {
  const char *name, *slipping; /* the second while the support foot slips */
  tbi_support_contact support;
  tbi_swing_contact swing;
} tbi_gait_mode;

/* Guards: each fires when its function falls through zero. */
typedef enum tbi_gait_guard {
  TBI_HEEL_LANDS,
  TBI_TOE_LANDS,
  TBI_HEEL_UNLOADS, /* of the support sole */
  TBI_TOE_UNLOADS,
  TBI_FOOT_UNLOADS, /* the swing foot */
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
  TBI_GAIT_GUARDS,
} tbi_gait_guard;

typedef struct tbi_gait_guard_info {
  const char *name;
  double leave; /* distance above zero that arms the guard */
  bool level;   /* a force or speed that must not be negative in the mode, rather than a distance
                   to the ground */
} tbi_gait_guard_info;
extern const tbi_gait_guard_info tbi_gait_guard_infos[TBI_GAIT_GUARDS];

typedef enum tbi_gait_jump {
  TBI_RELEASE,
  TBI_IMPACT,
  TBI_SWAP,
  TBI_FRICTION,
  TBI_END
} tbi_gait_jump;

typedef struct tbi_gait_change {
  int32_t from, to; /* modes; to TBI_SAME_MODE for changes of friction and for ends */
  tbi_gait_guard guard;
  tbi_gait_jump jump;
  bool strict; /* not in the paper's set */
} tbi_gait_change;

#define TBI_GAIT_MODES 12
#define TBI_ANY_MODE   (-1)
#define TBI_SAME_MODE  (-1)
extern const tbi_gait_mode tbi_gait_modes[TBI_GAIT_MODES];
extern const tbi_gait_change tbi_gait_changes[];
extern const int32_t tbi_gait_change_count;

/* The discrete state: it changes at events only. */
typedef struct tbi_gait_phase {
  int32_t support; /* foot */
  int32_t mode;
  int32_t slip_sign;         /* of the swing foot: 1 forward, -1 back, 0 sticks */
  int32_t support_slip_sign; /* of the support foot, likewise */
} tbi_gait_phase;

/* Integrals along the motion. */
typedef enum tbi_gait_ledger {
  TBI_DRIVE_WORK,     /* J, by joints that drive */
  TBI_PASSIVE_WORK,   /* J, by springs, dampers and friction */
  TBI_NORMAL_IMPULSE, /* N s, of the swing foot on the ground */
  TBI_SLIP_DISTANCE,  /* m, of the swing foot on the ground, signed */
  TBI_GAIT_LEDGERS,
} tbi_gait_ledger;

/* All of the state but q and v; plain data. */
typedef struct tbi_gait_memory {
  tbi_gait_phase phase;
  int32_t risen;        /* the swing heel has been off the ground since the change of support */
  double support_since; /* s, time of the last change of support */
  double landed_at;     /* s, time at which the swing heel landed last */
  double touchdown;     /* m, how far ahead of the support heel that was */
  double ledger[TBI_GAIT_LEDGERS];
  double impact_loss; /* J */
  double pulled;      /* s, see tabi_gait_state */
  double hold_until;  /* s: nothing is released before */
  int32_t steps, zeno_holds;
  int32_t outcome;
  tbi_progress progress;
} tbi_gait_memory;

/* Forces on the swing foot and on the support sole. */
typedef struct tbi_gait_forces {
  double normal, friction, turn; /* N, N, N m about the contact point: swing foot */
  double load, along;            /* N: support foot, z and x */
  double heel, toe;              /* N: support foot, z */
} tbi_gait_forces;

typedef void tbi_joint_forces_fn(void *user, const double *q, const double *v, double *drive,
                                 double *passive);

#define TBI_GAIT_MAX_ROWS   4
#define TBI_GAIT_MAX_EVENTS 64

/* Constraint rows of a mode: velocities of the swing foot that must be zero. */
typedef struct tbi_constraint_rows {
  int32_t count;
  double *row[TBI_GAIT_MAX_ROWS];    /* [nv] */
  double *column[TBI_GAIT_MAX_ROWS]; /* [nv] generalised force of the row's unit force, friction
                                        included */
  double drift[TBI_GAIT_MAX_ROWS];   /* rate of the row times v */
  double error[TBI_GAIT_MAX_ROWS];   /* position error */
} tbi_constraint_rows;

/* A gait in progress: its state and its work memory. */
typedef struct tbi_gait_run {
  const tabi_gait *gait;
  v3 gravity;
  double tolerance; /* of the integrator */
  tbi_joint_forces_fn *joint_forces;
  void *user;
  /* the state */
  tbi_gait_memory *memory;
  double *q, *v; /* [nv] of the support foot's tree, locked joints included */
  /* computed */
  tabi_dynamics *dynamics[2]; /* of either foot's tree */
  void *masses[2];
  double *mass;                                  /* [nv x nv] */
  double *bias, *drive, *passive, *acceleration; /* [nv] */
  double *correction;                            /* [nv] of positions, by remove_drift */
  double *q_before, *v_before;                   /* [nv] before a jump */
  double *robot_q, *robot_v, *robot_drive, *robot_passive;
  double *jacobian, *rate; /* [3 nv] */
  tbi_constraint_rows rows;
  double *matrix, *rhs; /* of all unknowns */
  int32_t *pivot;
  int32_t *active; /* free velocities of the tree */
  int32_t nactive;
  double *y;
  tbi_events events;
  tbi_guard guard[TBI_MAX_GUARDS];
  int32_t change_of_guard[TBI_MAX_GUARDS]; /* index into tbi_gait_changes */
  int32_t nguard;
  double damping; /* s: the implicit share of damping, the step length; 0 when events are located */
  tbi_gait_forces forces;
  tabi_gait_event *event; /* of the step */
  int32_t nevent;
} tbi_gait_run;

/* The tree of the support foot. */
static inline const tbi_foot_tree *tbi_gait_tree(const tbi_gait_run *run) {
  return &run->gait->tree[run->memory->phase.support];
}
static inline tabi_dynamics *tbi_gait_dynamics(const tbi_gait_run *run) {
  return run->dynamics[run->memory->phase.support];
}
static inline const tbi_gait_mode *tbi_gait_mode_now(const tbi_gait_run *run) {
  return &tbi_gait_modes[run->memory->phase.mode];
}
const char *tbi_gait_phase_name(const tbi_gait_phase *phase);

/* gait.c */
void tbi_gait_place_state(tbi_gait_run *run, tbi_layout *layout);
void tbi_gait_place(tbi_gait_run *run, tbi_layout *layout);
void tbi_gait_make(tbi_gait_run *run); /* once, in the memory placed */
/* Whether this can be a state: its numbers are indices of tables. */
bool tbi_gait_is_state(const tbi_gait_memory *memory, const double *q, const double *v, int32_t nv);

/* equation.c: at run->q, run->v and time t, in the phase of the memory */
/* Lists the free velocities of the phase. */
void tbi_gait_select_dofs(tbi_gait_run *run);
/* Poses, mass matrix and constraint rows; with `sticks` the contact point of the swing foot has a
 * tangential row too. */
void tbi_gait_update_kinematics(tbi_gait_run *run, bool sticks);
/* Whether the contact point of the swing foot sticks in the present phase. */
bool tbi_gait_swing_sticks(const tbi_gait_run *run);
/* Accelerations and forces, by updated kinematics.  False, here and below: no finite solution. */
bool tbi_gait_accelerate(tbi_gait_run *run, double t);
/* Kinematics of the present phase, then accelerations. */
bool tbi_gait_evaluate(tbi_gait_run *run, double t);
/* Projects x, in the metric of kinetic energy, onto the motions whose constraint rows are `target`
 * (NULL: zero) and whose locked velocities are zero; with `friction` normal impulses bring friction
 * impulses with them. */
bool tbi_gait_project(tbi_gait_run *run, const double *target, bool friction, double *x);
double tbi_gait_kinetic_energy(const tbi_gait_run *run);       /* J */
double tbi_gait_damping(const tbi_gait_run *run, int32_t dof); /* N m s/rad */
void tbi_gait_point_motion(const tbi_gait_run *run, const tbi_gait_point *point, double pos[3],
                           double vel[3]);
/* Of the swing foot: the point by which it touches, its heel if none, and its pitch (rad). */
const tbi_gait_point *tbi_gait_contact_point(const tbi_gait_run *run);
double tbi_gait_swing_pitch(const tbi_gait_run *run);

/* guards.c: after accelerating */
double tbi_gait_guard_value(const tbi_gait_run *run, tbi_gait_guard guard);
/* m/s along the ground, of the contact point of the swing foot */
double tbi_gait_slip(const tbi_gait_run *run);

/* jumps.c: whether a change is possible in the present phase; and a change with those that follow
 * from it at once.  NULL: only those that the present state asks for. */
bool tbi_gait_change_applies(const tbi_gait_run *run, const tbi_gait_change *change, double t);
void tbi_gait_apply_change(tbi_gait_run *run, const tbi_gait_change *change, double t);

/* advance.c */
/* Puts the robot on its initial support foot at time t, and sets q and v to that state. */
void tbi_gait_begin(tbi_gait_run *run, double t, double *q, double *v);
/* Moves on until the outcome says that the gait has ended; the robot then stays where it is. */
void tbi_gait_advance(tbi_gait_run *run, double from, double to);
/* Computes all derived quantities from the state. */
void tbi_gait_refresh(tbi_gait_run *run, double t);

/* output.c */
/* The frame of the robot's base link. */
tbi_frame tbi_gait_base_frame(const tbi_gait_run *run);
/* Position and velocity of the robot's model. */
void tbi_gait_robot_state(const tbi_gait_run *run, double *q, double *v);
/* N on heel, on toe, and along x, of the support foot and of the swing foot. */
typedef struct tbi_sole_forces {
  double heel[2], toe[2], along[2];
} tbi_sole_forces;
tbi_sole_forces tbi_gait_sole_forces(const tbi_gait_run *run);
tabi_gait_state tbi_gait_state(const tbi_gait_run *run);
/* Driving torque of a joint; dof is one of the robot's model. */
double tbi_gait_drive(const tbi_gait_run *run, int32_t dof);
/* Second derivatives of the robot's coordinates, [nv] of its model. */
void tbi_gait_acceleration(tbi_gait_run *run, double *qdd);

#endif
