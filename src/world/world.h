/* world.h - a world's memory, in groups, and the stages of a step.
 *
 *   one block:  tabi_world | state | constants | state of contacts | workspace of the steps
 */
#ifndef TBI_WORLD_H
#define TBI_WORLD_H

#include "contact/energy_limit.h"
#include "contact/formulation.h"
#include "gait/gait.h"
#include "model/clusters.h"
#include "model/limits.h"
#include "problem/setup.h"
#include "world/sensors.h"
#include "world/tendons.h"

/* What a contact leaves for the next step to start from. */
typedef struct tbi_warm {
  uint64_t id;
  v3 impulse;    /* N s, world axes, on b */
  double angle;  /* rad, of lcp's friction axes */
  v3 deflection; /* m, tangential, of penalty's springs: world axes */
} tbi_warm;

/* Likewise its couples of rolling and torsional friction. */
typedef struct tbi_warm_couple {
  v3 impulse;    /* N m s, world axes, on b */
  v3 deflection; /* rad, of penalty's springs: world axes */
} tbi_warm_couple;

/* What a contact leaves for a step that is solved at its middle (middle.c). */
typedef struct tbi_rolling {
  v3 velocity; /* m/s, of b against a after the solution, world axes */
  v3 normal;   /* or zero: it did not push */
} tbi_rolling;

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
  uint64_t seed; /* of lcp's axes */
  double work;   /* J, of all forces but gravity, springs and constraints */
  int64_t nwarm;
  int64_t state_size, contact_size; /* bytes of a snapshot: of this part, and of each contact */
  bool lifted;                      /* the wrenches have the buoyancy of the next step already */
  bool external;                    /* tabi_world_apply has added a wrench to the next step */
  bool prescribes;                  /* some joint moves as told */
} tbi_world_head;

/* What a step leaves of a tree. */
enum {
  TBI_LEFT_NOTHING,
  TBI_LEFT_MOMENTUM, /* of the island that it leads, which floats */
  TBI_LEFT_SPRINGS,  /* of its contacts under penalty */
};
typedef struct tbi_momentum {
  union {
    struct {
      v3 lin, ang, com; /* momentum, angular momentum about the centre of mass, and where that is */
    };
    double elastic; /* J, predicted for the end of the step */
  };
  int64_t known; /* TBI_LEFT_NOTHING to TBI_LEFT_SPRINGS */
} tbi_momentum;

/* A tree in a step (momentum.c, free_motion.c).  Trees that contacts and connections hold together
 * are an island, a list that begins with its leader. */
typedef struct tbi_floating {
  bool based;        /* made once: its cluster has free bases and no connection to the world */
  bool rebounds;     /* some contact of it does in this step, or may */
  bool extrapolated; /* its bias forces are those of the middle of the step */
  bool spins;        /* a lone body that turns freely over the step, energy and momentum kept: */
  v3 spin;           /* rad/s, world axes: takes it to its new attitude */
  v3 spin_end;       /* rad/s, world axes: angular velocity at the end of the step */
  int32_t leader;    /* another tree of the same island, or this one */
  int32_t next;      /* tree of the same island, or TABI_NONE */
  int32_t last;      /* of leaders: the last tree of the island */
  bool grounded;     /* of leaders: the world acts on the island */
  bool exact;        /* of leaders: it keeps its momentum by itself */
  bool touched;      /* velocities changed at once, by contacts or joint limits */
  bool jumps;        /* ... by new ones only, under middle.c */
  double change[6];  /* m/s, rad/s: what restoring momentum added to its base, axes of the joint */
  /* energy_balance.c */
  bool driven;    /* something active acts on it: joint forces, servos, wrenches, told motion */
  double scale;   /* of its velocities at the end of the step */
  bool balanced;  /* of leaders: nothing drives the island, and the world holds it */
  bool works;     /* of leaders: something does work of which the balance knows nothing */
  bool deep;      /* of leaders: some contact is deeper than allowed */
  double closing; /* J, of leaders: at most so much work may connections do that close */
  double kinetic, potential; /* J, of leaders: of the island at the state of d */
  double before;             /* J, of leaders: both, at the start of the step */
  double loaded;             /* J, of leaders: what the step added to springs of contacts */
  bool kept;                 /* of leaders: its energy is that of floating_balance.c */
  /* swinging.c */
  bool hangs;  /* made once: the world holds its cluster, which may swing */
  bool swings; /* solved for at the middle of the step */
} tbi_floating;

/* Of a cluster whose contacts take back overlap (active_set/depth_correction.c). */
typedef struct tbi_correction {
  double wanted;  /* m/s, largest correction of its contacts */
  double asked;   /* m/s, largest change of normal velocity that they ask for */
  double speed;   /* m/s, that its fastest body gains */
  double impulse; /* N s, the largest with another body */
  double mass;    /* kg */
  double share;   /* of its corrections, for the next solution */
} tbi_correction;

/* Blocks that the problem of a step has memory for at first, and at most. */
#define TBI_FIRST_BLOCKS ((int64_t)1 << 16)
#define TBI_MAX_BLOCKS   ((int64_t)1 << 22)

/* The largest problem that a step may have; its points are def.max_contacts.  Points and blocks may
 * grow (capacity.c). */
typedef struct tbi_capacity {
  int64_t ports, blocks, rows;
  int64_t port_y; /* twists in Y and in the tails of all ports */
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
  tabi_world_def
      fallback_def;   /* def with the method exact, for TABI_FALLBACK_EXACT and energy_limit */
  bool limits_energy; /* contact/energy_limit.c looks at steps */
  bool has_couples;   /* some material has rolling or torsional friction, which the method obeys */
  tabi_error error;   /* of the last step */
  size_t memory, state_size; /* bytes, of the world, and of its state without that of contacts */
  tbi_capacity capacity;
  bool grows;        /* max_contacts was not given */
  bool lacks_blocks; /* what the last step has failed for is blocks, not contacts */
  void *grown;       /* the block of contacts and workspace, or NULL: in that of the world */
  size_t grown_size; /* bytes */
  tbi_timers timers;

  /* What a snapshot copies: all that decides the next step. */
  struct {
    tbi_world_head *head;
    double *q, *v;
    double *v_change; /* of v in the last step, of trees without jumps, or 0: [tbi_world_nchange] */
    tbi_momentum *momentum; /* of islands that float, by leader, and of springs: [ntree] */
    tabi_servo *servo;      /* [njoint] */
    double *control;        /* inputs u of actuators: [nactuator] */
    uint8_t *tendon_hold;   /* tbi_tendon_hold of the step before: [ntendon] */
    double *told_v;      /* velocities of joints that move as told, else 0; during a step those of
                            its start, which v has else: [nv] */
    bool *told;          /* whether they do: [nv] */
    bool *in_place;      /* ... without changing their position: [nv] */
    sv *external;        /* wrench on each body about the origin of its tree: [nbody] */
    double *row_impulse; /* N s or N m s, of the step before, by tbi_row_id: [TBI_ROW_KINDS * nv] */
    int8_t *saturated;   /* drives that the step before left at a limit: 1 upper, -1 lower, else 0:
                            joints, then actuators: [njoint + nactuator] */
    uint8_t *row_steps;  /* for how many more steps friction of a joint stays a row, after a
                            prediction has failed: [nv] */
    int32_t *quiet; /* if def.sleep, at the end: steps for which each tree has been slow enough:
                       [ntree] */
    int32_t *bed;   /* ... 1 + the first tree of the island with which it sleeps, or 0: [ntree] */
    /* of contacts, nwarm of them, apart from the rest: */
    tbi_warm *warm;          /* sorted by id: [max_contacts] */
    uint8_t *slipping;       /* of each, as in tbi_point: [max_contacts] */
    tbi_warm_couple *couple; /* of each, if has_couples: [max_contacts] */
    tbi_rolling *rolling;    /* of each, if is_middle: [max_contacts] */
    tabi_contact *contact;   /* of each, if def.sleep: [max_contacts] */
  } state;
  tbi_sensors sensors; /* its first arrays are part of the state */
  tbi_gait_run *gait;  /* of a planar biped: its memory, q and v are part of the state */

  /* Made once. */
  struct {
    tabi_material_def *surface; /* of each pair of materials (contact/surface.h) */
    int32_t *shape_body;        /* or TABI_WORLD: [nshape] */
    double *shape_radius;       /* m, of its farthest point from the origin of its body: [nshape] */
    double weight;              /* N, of all that moves */
    bool lifts;                 /* some link has buoyancy */
    int32_t *loops;             /* owners (model/clusters.h) by cluster: [nloop] */
    int32_t nloop;
    int32_t *joint_dof; /* velocity of a joint with one coordinate that moves, or TABI_NONE:
                           [njoint] */
    double *effort;     /* N m or N, its effort limit, else infinite: [nv] */
    double *most_force; /* N m or N, of all actuators of a joint, infinite without any: [njoint] */
    bool *looped;       /* whether a loop constraint acts on the joint of each velocity: [nv] */
  } constants;
  tabi_dynamics *d;
  bool current; /* d is at the present q and v, unless another world has it */
  tbi_collision *collision;
  bool shares; /* both are the workspace's */

  /* What a step makes, in the order of its stages. */
  struct {
    bool jumps;  /* some told velocity is another than in the step before */
    double work; /* J, of the prescribed motion in this step */
  } prescribed;
  struct {
    double *drive;    /* N m or N: given joint forces, actuators, explicit servos and those at their
                         limits: [nv] */
    double *give;     /* N m s or N s/m, by which a drive falls as the joint gains speed: [nv] */
    double *passive;  /* N m or N: springs, dampers and implicit servos of joints: [nv] */
    double *diagonal; /* added to that of M: rotors, implicit springs, dampers and servos: [nv] */
    double *joint_impulse; /* h (drive + passive): [nv] */
    sv *body_impulse;      /* -h times bias, gravity, external wrenches and explicit springs between
                              links, as d->force has them: [nbody] */
  } forces;
  struct {
    tbi_candidate *list;       /* points that may close in this step: [setup.ncandidate] */
    tbi_candidate *stage_list; /* those of a stage of rk4, under compliant methods */
    bool stage_lacks;          /* ... of which some stage had more than max_contacts */
    double *margin;            /* m, how far each shape may come in this step: [nshape] */
    double *impact_time;       /* share of the step before the first rebound of a tree; negative:
                                  none: [ntree] */
  } candidates;
  struct {
    uint8_t *friction;        /* tbi_joint_friction of each, in a byte: [nv] */
    double *friction_impulse; /* of joints that are predicted to stick or slip: [nv] */
    bool *stuck;              /* joints that are taken out of M: [nv] */
    bool stops;               /* some stuck joint had a velocity to lose */
    int8_t *saturated;        /* drives at a limit of force, as state.saturated */
    bool *soft;               /* joints with an implicit servo or actuator: [nv] */
    uint8_t *limited;         /* limits with rows, bits 1 << TBI_ROW_LOWER, _UPPER: [nv] */
  } active_set;
  struct {
    double *u;      /* joint impulses, then L^-T of them with the bodies' impulses: [nv] */
    double *z;      /* D^-1/2 u, to which loop constraints add theirs: [nv] */
    double *v_free; /* velocity without contacts and rows; midpoint and penalty: [nv] */
    /* if is_middle, or if trees may swing: */
    double *q_middle; /* posture at which velocities are solved for: [nq] */
    double *v_bias;   /* velocity of the bias forces, at last: [nv] */
    sv *bias;         /* if is_middle: forces of tbi_rnea_forces in body_impulse: [nbody] */
  } free;
  tbi_tendons tendons;
  tbi_setup setup; /* the problem of the step */
  /* Impacts one after another (impacts.c); nothing of it is used without sequential. */
  struct {
    bool sequential;     /* the def asks for it, and the method rebounds */
    bool any;            /* there were impacts in this step */
    v3 *impulse, *early; /* N s in the frame of each point, and times the share of the step before
                            each impact: [max_contacts] */
    v3 *warm;            /* initial guess of the method, kept meanwhile: [max_contacts] */
    v3 *approach;        /* velocities before an impact: [max_contacts] */
    double *gap, *time; /* m at the present, and share of the step when it closes: [max_contacts] */
    int32_t *struck;    /* points of one impact: [max_contacts] */
    sv *received;       /* wrenches of all impacts: [ports] */
    sv *velocity, *kept;     /* of ports, and what they had received, before an impact: [ports] */
    double *sum, *early_sum; /* as problem.sum */
    double *v_early; /* by how much positions move slower than v_new, because of what impacts do
                        late in the step: [nv] */
  } impacts;
  struct {
    double *v_new;  /* velocity at the end of the step: [nv] */
    double *v_move; /* velocity that takes q to q_new: [nv] */
    double *q_new;  /* [nq] */
    tabi_certificate certificate;
    tabi_contact *contact; /* in the memory of scratch.method, from the end of the step on; if
                              def.sleep, state.contact */
    int32_t ncontact;
    tabi_connection_state *connection; /* all but gap and turn: [nconnection] */
    double *commanded; /* N m or N: of all drives of a joint, without limits of force: [nv] */
    double *applied;   /* and what acted: [nv] */
  } solution;
  struct {
    tbi_floating *tree; /* [ntree] */
    bool any;           /* the momentum of some island is restored in this step */
    bool balanced;      /* the energy of some island is balanced */
    bool hangs;         /* some tree does (swinging.c), once */
    bool swings;        /* some tree does in this step */
  } floating;
  struct {
    tbi_correction *cluster; /* [ncluster] */
    double *target;          /* m/s, of points, in the memory of setup.order: [max_contacts] */
  } correction;
  /* sleep.c, if def.sleep */
  struct {
    bool *restless;   /* trees that never sleep, once: [ntree] */
    bool *still;      /* trees that cannot move in this step: [ntree] */
    bool *idle;       /* those and what sleeps; scratch where trees fall asleep: [ntree] */
    tabi_range *busy; /* bodies of trees that are awake, in order: [ntree] */
    int32_t nbusy;
    int32_t *first;          /* scratch: [ntree] */
    int32_t *slot;           /* of candidates, in the state of contacts: [max_contacts] */
    int32_t ncontact, npush; /* of trees that sleep, and those of them that push */
    bool posed;              /* d has their poses */
  } sleep;
  /* Memory without a meaning between two calls of a stage. */
  struct {
    double *dofs;           /* [nv] */
    double *stage;          /* of rk4: [nv + tbi_rk4_scratch] */
    void *shared;           /* of collision, then of d's masses, then the blocks of the problem */
    void *method;           /* of the method, until solution.contact takes its place */
    void *fallback;         /* of exact, for TABI_FALLBACK_EXACT */
    void *energy_limit;     /* of contact/energy_limit.c */
    const double *gait_tau; /* joint forces of the step under way, or NULL */
    void *gait_before;      /* state of the gait before the step */
  } scratch;
};

/* The velocities of one tree, which follow one another. */
static inline tabi_range tbi_tree_dofs(const tabi_model *model, int32_t tree) {
  int32_t first = model->body[model->tree_body[tree]].v;
  int32_t end = tree + 1 < model->ntree ? model->body[model->tree_body[tree + 1]].v : model->nv;
  return (tabi_range){first, end - first};
}

static inline tabi_range tbi_tree_bodies(const tabi_model *model, int32_t tree) {
  int32_t first = model->tree_body[tree];
  int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
  return (tabi_range){first, end - first};
}

/* The velocity that an actuator drives; TABI_NONE: a tendon (tendons.c), or what cannot move. */
static inline int32_t tbi_actuator_dof(const tabi_world *w, int32_t actuator) {
  int32_t joint = w->model->actuator[actuator].joint;
  return joint == TABI_NONE ? TABI_NONE : w->constants.joint_dof[joint];
}

/* Whether connections or couplings act on a tree. */
static inline bool tbi_tree_has_loops(const tabi_model *model, int32_t tree) {
  int32_t cluster = model->tree_cluster[tree];
  return model->cluster_loop[cluster + 1] > model->cluster_loop[cluster];
}

/* Whether a planar biped advances by contact modes and events. */
static inline bool tbi_world_has_gait(const tabi_world *w) { return w->method->info.planar_biped; }

static inline bool tbi_world_falls_back(const tabi_world *w) {
  return w->def.fallback == TABI_FALLBACK_EXACT && w->method->info.sweeps;
}

/* Whether all forces are those at the start of the step, or of a stage of rk4. */
static inline bool tbi_world_is_explicit(const tabi_world *w) {
  return w->def.integrator == TABI_RK4 || w->def.integrator == TABI_EULER;
}

/* Whether velocities are solved for once and then move the bodies: momentum.c applies. */
static inline bool tbi_world_is_implicit(const tabi_world *w) {
  return !tbi_world_is_explicit(w) && !tbi_world_has_gait(w);
}

/* Whether velocities are solved for at the posture of the middle of the step (middle.c).  Impacts
 * one after another start from gaps at its start. */
static inline bool tbi_world_is_middle(const tabi_world *w) {
  bool by_events = w->def.impacts == TABI_IMPACTS_SEQUENTIAL;
  bool asked = w->def.integrator == TABI_RK4 || (w->def.integrator == TABI_MIDPOINT && !by_events);
  return asked && w->method->middle;
}

/* Whether trees that hang from the world and nothing drives are, where others are not
 * (swinging.c). */
static inline bool tbi_world_may_swing(const tabi_world *w) {
  return tbi_world_is_implicit(w) && !tbi_world_is_middle(w);
}
static inline bool tbi_tree_is_middle(const tabi_world *w, int32_t tree) {
  return tbi_world_is_middle(w) || w->floating.tree[tree].swings;
}

/* Whether a tree sleeps, or that of a velocity. */
static inline bool tbi_tree_sleeps(const tabi_world *w, int32_t tree) {
  return w->def.sleep && w->state.bed[tree] != 0;
}
static inline bool tbi_dof_sleeps(const tabi_world *w, int32_t dof) {
  return w->def.sleep && tbi_tree_sleeps(w, w->model->body[w->model->dof_body[dof]].tree);
}

/* Where the state of a contact goes. */
static inline int32_t tbi_contact_slot(const tabi_world *w, int32_t candidate) {
  return w->def.sleep ? w->sleep.slot[candidate] : candidate;
}

/* s, from the posture at which contacts are solved for to the end of the step; likewise that of a
 * tree */
static inline double tbi_world_remaining(const tabi_world *w) {
  return tbi_world_is_middle(w) ? 0.5 * w->def.timestep : w->def.timestep;
}
static inline double tbi_tree_remaining(const tabi_world *w, int32_t tree) {
  return tbi_tree_is_middle(w, tree) ? 0.5 * w->def.timestep : w->def.timestep;
}

/* The reading of a sensor, which is the oldest entry of its ring. */
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
/* The same for what reads d only. */
void tbi_world_claim_posture(tabi_world *w);
/* w->d at the present state. */
tabi_dynamics *tbi_world_dynamics(tabi_world *world);

/* -- the stages of a step; each says what it reads and what it writes */

/* prescribed.c: swaps state.v and state.told_v of joints that move as told -> prescribed.
 * TABI_ERR_ARGUMENT for what is no velocity. */
tabi_status tbi_world_prescribe(tabi_world *w);
/* Swaps them back. */
void tbi_world_end_prescription(tabi_world *w);
/* d, prescribed -> a share of the impulse that jumps of told velocities are to each body, added to
 * impulse[nbody]; d->flow is scratch */
void tbi_world_add_jumps(tabi_world *w, double share, sv *impulse);
/* Leaves out candidates between bodies that no impulse moves; their number. */
int32_t tbi_world_drop_told_pairs(const tabi_world *w, tbi_candidate *list, int32_t count);
/* state.in_place -> solution.q_new, .v_move */
void tbi_world_keep_in_place(tabi_world *w);
/* d, solution.v_new, the problem -> prescribed.work; d->force and d->flow are scratch */
void tbi_world_prescribed_work(tabi_world *w);
/* velocities that are taken out of M in every stage of rk4, or NULL */
static inline const bool *tbi_world_told(const tabi_world *w) {
  return w->state.head->prescribes ? w->state.told : NULL;
}

/* drives.c: model -> constants.joint_dof, .effort, once */
void tbi_world_find_drives(tabi_world *w);
/* An actuator over a step: its force without its range and before its gear, which falls by
 * give / gear (v+ - v); give is at the joint.  0: it is explicit. */
typedef struct tbi_linear_force {
  double force, give;
} tbi_linear_force;
tbi_linear_force tbi_world_actuator(const tabi_world *w, int32_t actuator);
/* That force at solution.v_new. */
double tbi_world_actuator_at(const tabi_world *w, int32_t actuator);
/* state, active_set.saturated, tau -> forces.drive, .give, active_set.soft; adds implicit drives to
 * forces.passive and .diagonal */
void tbi_world_drives(tabi_world *w, const double *tau);
/* All drives and tau at another state, explicit: force[nv]. */
void tbi_world_drives_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force);
/* solution.v_new -> sums of the drives of each joint, without limits of force, and with all but the
 * effort limits of joints: [nv] */
void tbi_world_laws(const tabi_world *w, double *asked, double *law);
/* Pushes links that have buoyancy. */
void tbi_world_lift(tabi_world *w);
/* forces.c: state, tau -> forces.drive, .passive, .diagonal.  TABI_ERR_ARGUMENT for inputs that are
 * not finite or absurdly large. */
tabi_status tbi_world_forces(tabi_world *w, const double *tau);
/* The same after active_set.saturated has changed. */
void tbi_world_set_forces(tabi_world *w, const double *tau);
/* Drive and passive forces together at another state, all explicit: for the stages of rk4. */
void tbi_world_forces_at(const tabi_world *w, const double *q, const double *v, const double *tau,
                         double *force);
/* Likewise, but separately: for gait. */
void tbi_world_forces_apart(const tabi_world *w, const double *q, const double *v,
                            const double *tau, double *drive, double *passive);
/* J, of springs at joints, between links and along tendons, at the present state. */
double tbi_world_spring_energy(const tabi_world *w);

/* candidates.c: d -> candidates.margin, candidates.list, setup.ncandidate */
tabi_status tbi_world_candidates(tabi_world *w);
/* capacity.c: the world's error where a step needs more memory; TABI_ERR_CAPACITY. */
tabi_status tbi_world_lacks_contacts(tabi_world *w);
tabi_status tbi_world_lacks_blocks(tabi_world *w);
/* candidates.list, setup.problem -> surface, friction and targets of its points,
 * candidates.impact_time */
void tbi_world_targets(tabi_world *w);
/* -> candidates.impact_time of the trees of a point, if this is their first: share of the step;
 * floating.tree.rebounds */
void tbi_world_note_impact(tabi_world *w, const tbi_point *c, double share, bool rebounds);
/* Impacts of the step one after another, if the def asks for it, before the method solves the rest
 * (impacts.c).  False: there are none. */
bool tbi_world_impacts(tabi_world *w, bool *energy_limited);
/* After the solution: adds their impulses to those of points, ports and the sum. */
void tbi_world_add_impacts(tabi_world *w);
/* Which contacts slide at the end of the step (slip.c). */
void tbi_world_note_slip(tabi_world *w);

/* free_motion.c: forces, state.external, d -> forces.joint_impulse, forces.body_impulse.  d->acc
 * then has the bodies' accelerations at zero joint acceleration, which tbi_world_loops reads. */
void tbi_world_impulse(tabi_world *w);
/* forces.drive, .passive -> forces.joint_impulse */
void tbi_world_joint_impulse(tabi_world *w);
/* forces, active_set, free.u as tbi_apply_joint_friction leaves it -> the factor of M in d, free.u,
 * free.z, setup.pivot_root */
void tbi_world_free_motion(tabi_world *w);
/* state.v, free.z, the factor of M in d -> free.v_free */
void tbi_world_free_velocity(tabi_world *w);

/* active_set/: state, forces, candidates.list -> active_set, free, setup, solution.v_new,
 * solution.connection, solution.certificate, solution.commanded, solution.applied */
tabi_status tbi_world_find_velocity(tabi_world *w, const double *tau);

/* connections.c: model -> constants.loops, .looped, once */
void tbi_world_order_loops(tabi_world *w);
/* constants.loops, d -> setup.loops.loop, .count */
void tbi_world_loops(tabi_world *w);
/* a tree that a loop constraint holds */
int32_t tbi_loop_tree(const tabi_model *model, const tbi_loop *loop);
/* setup.loops -> solution.connection, solution.certificate.connection */
void tbi_world_keep_loops(tabi_world *w);
/* d -> d->force: explicit springs between links (rk4 and euler), with the sign of rnea.c */
void tbi_world_pull_springs(tabi_world *w);
/* J, of springs between links. */
double tbi_world_connection_energy(const tabi_world *w);

/* warm.c: state.warm -> impulse, angle and deflection of the problem's points */
void tbi_world_warm_start(tabi_world *w);
/* The index of a contact in state.warm, or -1. */
int64_t tbi_world_find_warm(const tabi_world *w, uint64_t id);
/* setup.problem.point -> state.warm */
void tbi_world_keep_warm(tabi_world *w);

/* couples.c: surfaces of the problem's points, state.couple -> the problem's couples */
void tbi_world_make_couples(tabi_world *w);
/* setup.problem.couple -> state.couple */
void tbi_world_keep_couples(tabi_world *w);
/* middle.c: state, d -> d at the middle of the step */
void tbi_middle_begin(tabi_world *w);
/* setup.problem, state.warm, state.rolling -> targets and deflection of its points,
 * setup.problem.still */
void tbi_middle_targets(tabi_world *w);
/* free.bias, state.v, solution.v_new -> solution.v_new with bias forces at the mean velocity */
void tbi_middle_refresh(tabi_world *w);
/* setup.problem -> state.rolling */
void tbi_middle_keep(tabi_world *w);

/* swinging.c: model, floating.tree -> floating.hangs, .tree.hangs, once */
void tbi_world_find_hanging(tabi_world *w);
/* Whether something active acts on a tree: joint forces, servos, external wrenches, told motion. */
bool tbi_world_drives_tree(const tabi_world *w, int32_t tree);
/* -> floating.tree.driven */
void tbi_world_find_driven(tabi_world *w);
/* d at the start of the step, candidates, forces.drive -> floating.swings, .tree.swings,
 * free.q_middle; d, of trees that swing, at the middle */
void tbi_world_swing(tabi_world *w);
/* d, of trees that swing, where the equation of motion of the step holds */
void tbi_world_feel_swinging(tabi_world *w);
/* setup.problem, solution.v_new, what tbi_keep_rows has not replaced yet -> state.v_change */
void tbi_world_keep_swinging(tabi_world *w);

/* integrators.c: state, solution.v_new, candidates.impact_time, free.z -> solution.v_move,
 * solution.q_new.  rk4 also replaces solution.v_new, and leaves d and setup.loops at its last
 * stage. */
tabi_status tbi_world_integrate(tabi_world *w, const double *tau);

/* momentum.c: model -> floating.tree, once */
void tbi_world_find_bases(tabi_world *w);
/* The length of state.v_change: nv where some tree may be solved for at the middle of the step,
 * else 0. */
int32_t tbi_world_nchange(const tabi_world *w);
/* setup.problem, forces.drive, state.external -> floating */
void tbi_world_find_floating(tabi_world *w);
/* floating: whether nothing of the world acts on a tree, directly or through others. */
bool tbi_world_floats(tabi_world *w, int32_t tree);
/* The first tree of the island of a tree. */
int32_t tbi_world_leader(tabi_world *w, int32_t tree);
/* floating, state -> positions and velocities in solution, state.v_change, state.momentum; d at the
 * new state where floating.any or .balanced */
void tbi_world_keep_momentum(tabi_world *w);
/* Whether that has changed the velocity of a tree's base, by floating.tree[tree].change. */
bool tbi_world_is_restored(tabi_world *w, int32_t tree);

/* energy_balance.c: what the step has left, floating -> floating.tree: whether there is a balanced
 * island */
bool tbi_world_find_balanced(tabi_world *w);
/* d at the state of the start, or of the middle -> floating.tree: their energies at the start */
void tbi_world_measure_balanced(tabi_world *w);
/* The same of those that swing, d at the start; later it is not. */
void tbi_world_measure_swinging(tabi_world *w);
/* d at the new state -> solution.v_new, solution.certificate.balance_work */
void tbi_world_balance_energy(tabi_world *w);
/* Points of penalty -> state.momentum of trees of which nothing else is left. */
void tbi_world_keep_springs(tabi_world *w);

/* J, of dampers and dry friction of the joints of an island over the step. */
double tbi_world_joint_work(const tabi_world *w, int32_t leader);

/* floating_balance.c: floating -> floating.tree.kept: whether there is such an island */
bool tbi_world_find_kept(tabi_world *w);
/* state, state.momentum -> floating.tree.before of these; d is at the start of the step then */
void tbi_world_measure_kept(tabi_world *w);
/* J, of the motion that joints add, at the state of d; its momentum there, mass, and angular
 * velocity as a rigid body */
double tbi_world_inner_energy(const tabi_world *w, int32_t leader, const tbi_momentum *at,
                              double mass, v3 turn);
/* One of them, and what it shall have at its new postures, with that energy before ->
 * solution.v_new, solution.certificate.balance_work, floating.tree */
void tbi_world_keep_energy(tabi_world *w, int32_t leader, const tbi_momentum *end, double mass,
                           v3 turn, double inner);

/* After the state was replaced: nothing is known of the step before. */
void tbi_world_forget_motion(tabi_world *w);

/* sleep.c: model -> sleep, once. */
void tbi_sleep_start(tabi_world *w);
/* state.bed, state.contact -> sleep, where others may have used d and collision, or the state is
 * another. */
void tbi_sleep_refresh(tabi_world *w);
/* All are awake. */
void tbi_sleep_forget(tabi_world *w);
/* Brings d to the present state. */
void tbi_sleep_pose(tabi_world *w);
/* forces.drive, state -> sleep.still, state.bed: wakes what is driven. */
void tbi_sleep_begin(tabi_world *w);
/* Wakes what something may touch; true: there are more candidates then. */
bool tbi_sleep_wake_touched(tabi_world *w, const tbi_candidate *list, int32_t count);
/* Contacts that are none of the step. */
int32_t tbi_sleep_contacts(const tabi_world *w);
/* -> active_set.friction, .limited: none of those asleep */
void tbi_sleep_hold(tabi_world *w);
/* solution.v_move -> solution.q_new, of what is awake */
void tbi_sleep_move(tabi_world *w);
/* candidates.list -> sleep.slot; contacts of those asleep move out of their way */
void tbi_sleep_make_slots(tabi_world *w);
/* After the step: what falls asleep.  d is at the new state. */
void tbi_sleep_end(tabi_world *w);

/* contacts.c: candidates.list, setup.problem -> solution.contact, solution.ncontact */
void tbi_world_list_contacts(tabi_world *w);
/* snapshot.c: what the state has of each contact; bytes of an entry, 0 if the world has none. */
typedef struct tbi_contact_array {
  void *at;
  size_t size;
} tbi_contact_array;
enum { TBI_CONTACT_ARRAYS = 5 };
void tbi_world_contact_arrays(const tabi_world *w, tbi_contact_array array[TBI_CONTACT_ARRAYS]);
size_t tbi_world_contact_size(const tabi_world *w); /* bytes of all of them together */
/* Contacts of the last step; 0 after another world has used the workspace. */
int32_t tbi_world_ncontact(const tabi_world *w);

/* gait_step.c: a planar biped that advances by contact modes and events.
 * The memory of its state, and the remaining memory. */
void tbi_world_place_gait_state(tbi_layout *at, tabi_world *w);
void tbi_world_place_gait(tbi_layout *at, tabi_world *w);
size_t tbi_world_gait_state_size(const tabi_world *w); /* bytes, 0 without a biped */
/* state.q, state.v -> gait, once */
void tbi_world_make_gait(tabi_world *w);
/* After the state of the gait was replaced: brings all that follows from it up to date. */
void tbi_world_refresh_gait(tabi_world *w);
/* gait -> state.head->work, solution.contact, solution.certificate */
void tbi_world_keep_gait(tabi_world *w);
/* scratch.gait_before -> gait, after a step that failed */
void tbi_world_undo_gait(tabi_world *w);

/* blame.c: fills the world's error with what made the step diverge; TABI_ERR_DIVERGED. */
tabi_status tbi_world_blame(tabi_world *w);

/* state.c: whether positions and velocities, or all bytes of a snapshot, are a valid state.  The
 * second uses solution.q_new, solution.v_new and scratch.gait_before. */
bool tbi_world_is_motion(const tabi_model *model, const double *q, const double *v);
bool tbi_world_is_state(tabi_world *w, const void *snapshot, size_t size);

#endif
