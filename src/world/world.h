/* world.h - a world's memory.
 *
 *   one block:  tabi_world | state (what a snapshot copies) | the rest, made anew in every step
 */
#ifndef TBI_WORLD_H
#define TBI_WORLD_H

#include "contact/formulation.h"
#include "gait/gait.h"
#include "problem/setup.h"
#include "world/sensors.h"

/* What a contact or row leaves for the next step to start from. */
typedef struct tbi_warm {
  uint64_t id;
  v3 impulse; /* world axes, on b */
  double angle;
  v3 stretch;
} tbi_warm;

/* How dry friction of a joint is dealt with in a step (grip.c). */
typedef enum tbi_grip {
  TBI_GRIP_NONE,   /* there is none */
  TBI_GRIP_STICKS, /* the joint is held */
  TBI_GRIP_SLIPS,  /* the impulse is known */
  TBI_GRIP_ROW,    /* as a row of the problem */
  TBI_GRIP_FAILED, /* likewise, since one of the others has failed */
} tbi_grip;

static inline uint64_t tbi_row_id(int32_t dof, int kind) {
  return (uint64_t)dof * TBI_ROW_KINDS + (uint64_t)kind;
}

/* The numbers of the state that are no arrays. */
typedef struct tbi_world_head {
  int64_t steps;
  uint64_t random;
  double work; /* J, of all forces but gravity, springs and constraints */
  int64_t nwarm;
  bool external; /* some wrench acts from outside in the next step */
} tbi_world_head;

/* What there is at most in the problem of a step, points apart. */
typedef struct tbi_room {
  int64_t ports, blocks, rows;
  int64_t port_y; /* twists in Y and tails of all ports */
} tbi_room;

/* Where the time of steps goes, if there is a clock (stats.c). */
typedef struct tbi_timers {
  double (*clock)(void *user); /* or NULL */
  void *user;
  double last; /* s, when the stage that is under way began */
  int64_t steps;
  double seconds[TABI_STAGE_COUNT];
} tbi_timers;

struct tabi_world {
  const tabi_model *model;
  const tbi_formulation *method;
  tabi_world_def def;
  tabi_error error; /* of the last step */
  size_t memory, state_size;
  tbi_room room;
  tbi_timers timers;
  /* the state */
  tbi_world_head *head;
  double *q, *v;
  tabi_servo *servo;   /* [njoint] */
  double *control;     /* [nactuator] */
  sv *external;        /* wrench on each body about the world's origin of its tree: [nbody] */
  tbi_warm *warm;      /* sorted by id: [max_contacts] */
  double *row_impulse; /* [TBI_ROW_KINDS * nv] */
  uint8_t *doubt;      /* for how many steps joints get rows, since a guess has failed: [nv] */
  tbi_sensors sensors; /* the first arrays of it */
  tbi_gait_run walk;   /* of TABI_CONTACT_GAIT: memory, q and v of it */

  /* made once */
  tabi_material_def *surface;
  int32_t *shape_body;
  double *shape_radius; /* from the origin of its body */
  double weight;        /* N, of all that moves */
  int32_t *tied;        /* connections, and couplings behind them, by cluster: [ntied] */
  int32_t ntied;

  /* made anew in every step */
  bool current; /* d is at the present q and v */
  tabi_dynamics *d;
  void *shared; /* collision's scratch, then masses of d, then blocks of the problem */
  tbi_collision *collision;
  tbi_setup setup;
  tbi_candidate *candidate, *stage_candidate; /* of the step, and of a stage of rk4 under penalty */
  double *gap;                                /* by candidate */
  double *margin;                             /* [nshape] */
  double *force;                              /* joint forces of the step that do work: [nv] */
  double *bias;                               /* [nv] */
  double *diagonal;                           /* of M, with rotors and implicit springs: [nv] */
  double *z;                                  /* [nv] */
  double *impulse;                            /* of forces at the joints: [nv] */
  sv *thrust;                     /* of all other forces but constraints, on bodies: [nbody] */
  tbi_grip *grip;                 /* [nv] */
  double *grip_impulse;           /* of those that stick or slip: [nv] */
  bool *stuck;                    /* whether a joint is held: [nv] */
  bool stops;                     /* some of these had a speed to lose */
  uint8_t *limited;               /* limits that have rows, a bit each: [nv] */
  double *v_free;                 /* velocity without constraints, where it is asked for: [nv] */
  double *v_new, *v_move, *q_new; /* velocity at the end, the one that moves, position */
  double *stage;                  /* of rk4: [4 nq + 8 nv] */
  double *impact_time;            /* by tree: share of the step before a rebound; negative: none */
  void *scratch;                  /* of the formulation, until it is done */
  const double *walk_tau;         /* joint forces of the walk's step */
  void *walk_before;              /* its state before the step */
  void *fallback;                 /* scratch of exact, if def.fallback asks for it */
  tabi_world_def fallback_def;    /* what exact is then asked for */
  tabi_contact *contact;          /* in the memory of scratch, from the end of the step */
  int32_t ncontact;
  tabi_connection_state *connection; /* all but gap and turn */
  tabi_certificate certificate;
};

#define TBI_MAX_SPEED 1e8 /* m/s or rad/s; more has diverged */

/* Whether a planar biped advances by contact modes and events. */
static inline bool tbi_world_has_gait(const tabi_world *w) { return w->method->info.planar_biped; }

static inline bool tbi_world_falls_back(const tabi_world *w) {
  return w->def.fallback == TABI_FALLBACK_EXACT && w->method->info.sweeps;
}

/* Whether all forces are taken from the start of the step, or of a stage. */
static inline bool tbi_world_is_explicit(const tabi_world *w) {
  return w->def.integrator == TABI_RK4 || w->def.integrator == TABI_EULER;
}

/* What a sensor says. */
static inline const double *tbi_world_reading(const tabi_world *w, int32_t sensor) {
  return tbi_sensor_entry(&w->sensors, sensor, w->head->steps + 1);
}

/* A step begins; a stage of it ends. */
static inline void tbi_timers_begin(tbi_timers *timers) {
  if (timers->clock) timers->last = timers->clock(timers->user);
}
static inline void tbi_timers_end(tbi_timers *timers, tabi_stage stage) {
  if (!timers->clock) return;
  double now = timers->clock(timers->user);
  timers->seconds[stage] += now - timers->last;
  timers->last = now;
}

/* w->d at the present state. */
tabi_dynamics *tbi_world_dynamics(tabi_world *world);
/* Springs, dampers, servos, actuators and joint forces: what pulls at the start of the step, and
 * what of it is implicit (forces.c).  TABI_ERR_ARGUMENT for numbers that are no forces. */
tabi_status tbi_world_forces(tabi_world *w, const double *tau);
/* The same forces at another state, all explicit: the stages of rk4. */
void tbi_world_forces_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force);
/* Likewise, those that drive and those of springs and dampers apart. */
void tbi_world_forces_apart(const tabi_world *w, const double *q, const double *v,
                            const double *tau, double *drive, double *passive);
double tbi_world_spring_energy(const tabi_world *w);
/* The impulse of all that pulls over the step, and z = D^-1/2 L^-T of it, with the factor of M
 * (free_motion.c). */
void tbi_world_impulse(tabi_world *w);
void tbi_world_free_motion(tabi_world *w);
/* v_free from z. */
void tbi_world_free_velocity(tabi_world *w);
/* Points of contact that may close in this step, and what the problem's points have to reach
 * (candidates.c). */
tabi_status tbi_world_candidates(tabi_world *w);
void tbi_world_targets(tabi_world *w);
/* The new position from the new velocity, or both by the stages of rk4 (move.c). */
void tbi_world_move(tabi_world *w);
void tbi_world_move_by_stages(tabi_world *w, const double *tau);
/* Which joints stick or slip by dry friction, by guess; z with what that gives; whether v_new and
 * all impulses prove it, or the step has to be solved again (grip.c). */
void tbi_world_guess_grips(tabi_world *w);
void tbi_world_apply_grips(tabi_world *w);
void tbi_world_set_flow(tabi_world *w); /* thrust, and what joints lose that stick, to d->flow */
bool tbi_world_prove_grips(tabi_world *w, int attempt);
void tbi_world_keep_grips(tabi_world *w);
/* Which limits may be reached: those within the distance `near` and two steps at the speed before
 * or that of v.  Whether v_new reaches no others; if it does, these are added (rows.c). */
void tbi_world_guess_limits(tabi_world *w, const double *v, double near);
bool tbi_world_prove_limits(tabi_world *w);
/* These limits, and dry friction, into setup.problem.row. */
void tbi_world_rows(tabi_world *w);
void tbi_world_keep_rows(tabi_world *w);
/* Connections and couplings into setup.ties, at the state of d and with the accelerations of
 * rnea.c at hand (connections.c); once before that, their order. */
void tbi_world_order_ties(tabi_world *w);
void tbi_world_ties(tabi_world *w);
void tbi_world_keep_ties(tabi_world *w);
/* Under rk4 springs between links are forces: against those in d->force. */
void tbi_world_pull_springs(tabi_world *w);
double tbi_world_connection_energy(const tabi_world *w);
/* The step of a planar biped that walks by events (gait_step.c): its memory, its start from q and
 * v, the new state into q_new and v_new, what then is to be seen of it, and back when it was not
 * good. */
void tbi_world_place_walk_state(tbi_layout *at, tabi_world *w);
void tbi_world_place_walk(tbi_layout *at, tabi_world *w);
void tbi_world_make_walk(tabi_world *w);
void tbi_world_refresh_walk(tabi_world *w);
void tbi_world_keep_walk(tabi_world *w);
void tbi_world_undo_walk(tabi_world *w);
/* Whether positions and velocities, or all bytes of a snapshot, are those of a world that can be
 * (state.c).  The second uses q_new, v_new and walk_before. */
bool tbi_world_is_motion(const tabi_model *model, const double *q, const double *v);
bool tbi_world_is_state(tabi_world *w, const void *snapshot);
/* Impulses of the step before for the points, and those of this one for the next (warm.c). */
void tbi_world_warm_start(tabi_world *w);
void tbi_world_keep_warm(tabi_world *w);

#endif
