/* world.h - a world's memory, in groups, and the stages of a step.
 *
 *   one block:  tabi_world | state (what a snapshot copies) | constants | workspace of the steps
 */
#ifndef TBI_WORLD_H
#define TBI_WORLD_H

#include "contact/formulation.h"
#include "gait/gait.h"
#include "problem/setup.h"
#include "world/sensors.h"

/* What a contact leaves for the next step to start from. */
typedef struct tbi_warm {
  uint64_t id;
  v3 impulse;    /* N s, world axes, on b */
  double angle;  /* rad, of lcp's friction axes */
  v3 deflection; /* m, tangential, of penalty's springs: world axes */
} tbi_warm;

/* How dry friction of a joint enters a step (active_set/joint_friction.c). */
typedef enum tbi_joint_friction {
  TBI_FRICTION_NONE,   /* there is none */
  TBI_FRICTION_STICKS, /* predicted: the joint does not move and is taken out of M */
  TBI_FRICTION_SLIPS,  /* predicted: the impulse is known */
  TBI_FRICTION_ROW,    /* a row of the problem */
  TBI_FRICTION_FAILED, /* likewise, since a prediction of this step has failed */
} tbi_joint_friction;

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

/* What the problem of a step has at most, points apart. */
typedef struct tbi_capacity {
  int64_t ports, blocks, rows;
  int64_t port_y; /* twists in Y and tails of all ports */
} tbi_capacity;

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
  tabi_world_def fallback_def; /* of exact, if def.fallback asks for it */
  tabi_error error;            /* of the last step */
  size_t memory, state_size;
  tbi_capacity capacity;
  tbi_timers timers;

  /* What a snapshot copies: all that decides the next step. */
  struct {
    tbi_world_head *head;
    double *q, *v;
    tabi_servo *servo;   /* [njoint] */
    double *control;     /* [nactuator] */
    sv *external;        /* wrench on each body about the origin of its tree: [nbody] */
    tbi_warm *warm;      /* sorted by id: [max_contacts] */
    double *row_impulse; /* of the step before: [TBI_ROW_KINDS * nv] */
    uint8_t *row_steps;  /* for how many steps friction of a joint stays a row, since a prediction
                            has failed: [nv] */
  } state;
  tbi_sensors sensors; /* its first arrays are part of the state */
  tbi_gait_run gait;   /* of a planar biped: its memory, q and v are part of the state */

  /* Made once. */
  struct {
    tabi_material_def *surface;
    int32_t *shape_body;
    double *shape_radius; /* m, from the origin of its body */
    double weight;        /* N, of all that moves */
    int32_t *loops;       /* connections, and couplings behind them, by cluster: [nloop] */
    int32_t nloop;
  } constants;
  tabi_dynamics *d;
  bool current; /* d is at the present q and v */
  tbi_collision *collision;

  /* What a step makes, in the order of its stages. */
  struct {
    double *drive;         /* joint forces that do work: [nv] */
    double *passive;       /* of springs, dampers and implicit servos, at the joints: [nv] */
    double *diagonal;      /* of M beside the links' inertia: rotors, implicit springs: [nv] */
    double *joint_impulse; /* of all forces at the joints over the step: [nv] */
    sv *body_impulse;      /* of all other forces but constraints, on bodies: [nbody] */
  } forces;
  struct {
    tbi_candidate *list;       /* points that may close in this step; their number: setup */
    tbi_candidate *stage_list; /* those of a stage of rk4, under compliant methods */
    double *margin;            /* m, up to which shapes are looked at: [nshape] */
    double *impact_time;       /* by tree: share of the step before a rebound; negative: none */
  } candidates;
  struct {
    tbi_joint_friction *friction; /* [nv] */
    double *friction_impulse;     /* of joints that stick or slip by prediction: [nv] */
    bool *stuck;                  /* joints that are taken out of M: [nv] */
    bool stops;                   /* some of these had a speed to lose */
    uint8_t *limited;             /* limits that have rows, a bit each: [nv] */
  } active_set;
  struct {
    double *u;      /* joint impulses with what elimination leaves of the bodies': [nv] */
    double *z;      /* D^-1/2 u: the free motion in the coordinates of the problem: [nv] */
    double *v_free; /* velocity without constraints, where it is asked for: [nv] */
  } free;
  tbi_setup setup; /* the problem of the step */
  struct {
    double *v_new, *v_move, *q_new; /* velocity at the end, the one that moves, position */
    tabi_certificate certificate;
    tabi_contact *contact; /* in the memory of scratch.method, from the end of the step */
    int32_t ncontact;
    tabi_connection_state *connection; /* all but the errors of position */
  } solution;
  /* Memory without a meaning between two calls of a stage. */
  struct {
    double *dofs;           /* [nv] */
    double *stage;          /* of rk4: [4 nq + 8 nv] */
    void *shared;           /* collision's, then masses of d, then blocks of the problem */
    void *method;           /* the method's, until it is done */
    void *fallback;         /* exact's, if def.fallback asks for it */
    const double *gait_tau; /* joint forces of the step under way */
    void *gait_before;      /* state of the gait before the step */
  } scratch;
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
  return tbi_sensor_entry(&w->sensors, sensor, w->state.head->steps + 1);
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

/* Called before the workspace is written to: the contacts of other worlds that share it are gone
 * (memory.c). */
void tbi_world_claim_workspace(tabi_world *w);
/* w->d at the present state. */
tabi_dynamics *tbi_world_dynamics(tabi_world *world);

/* -- the stages of a step; each says what it reads and what it writes */

/* forces.c: state -> forces.  TABI_ERR_ARGUMENT for numbers that are no forces. */
tabi_status tbi_world_forces(tabi_world *w, const double *tau);
/* The same forces at another state, all explicit: the stages of rk4. */
void tbi_world_forces_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force);
/* Likewise, drives apart from springs and dampers. */
void tbi_world_forces_apart(const tabi_world *w, const double *q, const double *v,
                            const double *tau, double *drive, double *passive);
double tbi_world_spring_energy(const tabi_world *w);

/* candidates.c: state, d -> candidates */
tabi_status tbi_world_candidates(tabi_world *w);
/* candidates, free -> the targets of the problem's points, impact_time */
void tbi_world_targets(tabi_world *w);

/* free_motion.c: forces, d -> forces.joint_impulse, forces.body_impulse */
void tbi_world_impulse(tabi_world *w);
/* forces, active_set -> the factor of M in d, free.u, free.z */
void tbi_world_free_motion(tabi_world *w);
/* free.z -> free.v_free */
void tbi_world_free_velocity(tabi_world *w);

/* active_set/: forces, candidates -> active_set, free, setup, solution.v_new and the certificate */
tabi_status tbi_world_find_velocity(tabi_world *w);

/* connections.c: d -> setup.loops.  Once before that, their order. */
void tbi_world_order_loops(tabi_world *w);
void tbi_world_loops(tabi_world *w);
/* setup.loops -> solution.connection */
void tbi_world_keep_loops(tabi_world *w);
/* Under rk4 springs between links are forces: against those in d->force. */
void tbi_world_pull_springs(tabi_world *w);
double tbi_world_connection_energy(const tabi_world *w);

/* warm.c: state.warm -> impulses of the problem's points, and back at the end of the step */
void tbi_world_warm_start(tabi_world *w);
void tbi_world_keep_warm(tabi_world *w);

/* integrators.c: solution.v_new -> solution.v_move, solution.q_new; under rk4 v_new as well */
void tbi_world_integrate(tabi_world *w, const double *tau);

/* contacts.c: setup -> solution.contact */
void tbi_world_list_contacts(tabi_world *w);
/* How many are still there. */
int32_t tbi_world_ncontact(const tabi_world *w);

/* gait_step.c: a planar biped that walks by events.  Its memory, its initial state from q and v,
 * what is to be seen of it after a step, and back when that failed. */
void tbi_world_place_gait_state(tbi_layout *at, tabi_world *w);
void tbi_world_place_gait(tbi_layout *at, tabi_world *w);
size_t tbi_world_gait_state_size(const tabi_world *w); /* bytes, 0 without a biped */
void tbi_world_make_gait(tabi_world *w);
void tbi_world_refresh_gait(tabi_world *w);
void tbi_world_keep_gait(tabi_world *w);
void tbi_world_undo_gait(tabi_world *w);

/* state.c: whether positions and velocities, or all bytes of a snapshot, are those of a world that
 * can be.  The second uses solution.q_new, solution.v_new and scratch.gait_before. */
bool tbi_world_is_motion(const tabi_model *model, const double *q, const double *v);
bool tbi_world_is_state(tabi_world *w, const void *snapshot);

#endif
