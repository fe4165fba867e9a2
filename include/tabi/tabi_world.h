/* tabi_world.h - worlds: how they are made, stepped, driven and measured. */
#ifndef TABI_WORLD_H
#define TABI_WORLD_H

#include "tabi_model.h"

TABI_BEGIN

typedef struct tabi_world tabi_world;
typedef struct tabi_workspace tabi_workspace;
typedef struct tabi_gait tabi_gait; /* tabi_gait.h */

/* The six methods, then the published variants of four of them. */
typedef enum tabi_contact_kind {
  TABI_CONTACT_CONE,    /* projected Gauss-Seidel over contacts with the true friction cone */
  TABI_CONTACT_LCP,     /* one sliding or four static directions of friction */
  TABI_CONTACT_EXACT,   /* the law of cone, solved to a small residual by Newton's method */
  TABI_CONTACT_PENALTY, /* springs and dampers, implicit: nothing is rigid */
  TABI_CONTACT_IMPULSE, /* restitution at all points at once, by pseudo-inverse and exclusion */
  TABI_CONTACT_GAIT,    /* contact modes of a planar biped, events located in time: tabi_gait.h */
  TABI_CONTACT_METHODS, /* how many methods there are */
  TABI_CONTACT_CONE_PAPER = TABI_CONTACT_METHODS, /* extended projected Gauss-Seidel row by row */
  TABI_CONTACT_LCP_PAPER,                         /* joint rows and, on demand, the dense matrix */
  TABI_CONTACT_PENALTY_PAPER,                     /* one point after another */
  TABI_CONTACT_IMPULSE_PAPER, /* points that pull are released together and for good */
  TABI_CONTACT_COUNT,
} tabi_contact_kind;

typedef enum tabi_integrator {
  TABI_SEMI_IMPLICIT, /* positions move with the new velocity */
  TABI_MIDPOINT,      /* positions move with the mean of old and new in free motion */
  TABI_RK4,           /* contact forces constant over the four stages, connections solved in each */
  TABI_EULER,         /* everything from the start of the step, positions too: for comparison */
  TABI_INTEGRATOR_COUNT,
} tabi_integrator;

/* What a contact method or variant can do. */
typedef struct tabi_contact_info {
  const char *name;         /* the word used by scenes and the command: "cone", "cone-paper" */
  const char *summary;      /* one line */
  tabi_contact_kind method; /* itself, or of a variant the method that it belongs to */
  int32_t published;        /* of a method its published variant, or TABI_NONE */
  bool rebounds;            /* obeys the restitution of materials */
  bool compliant;           /* contact forces are the springs and dampers of materials */
  bool sweeps;              /* solves by sweeps: fallback exact may take over */
  bool newton;              /* fallback newton may take over */
  bool exact;               /* is the method to which others fall back */
  bool dense_storage;       /* can store the papers' dense matrix */
  bool implicit_only;       /* not under rk4 and euler */
  bool planar_biped;        /* needs def.gait.biped, and advances by events */
  bool couples;             /* obeys the rolling and torsional friction of materials, if compliant
                               not under rk4 and euler */
} tabi_contact_info;
/* Lives as long as the program. */
TABI_API const tabi_contact_info *tabi_contact_describe(tabi_contact_kind kind);

/* The words used by scenes and the command; TABI_NONE for a word that is none of them. */
TABI_API const char *tabi_contact_name(tabi_contact_kind kind);
TABI_API int32_t tabi_contact_find(const char *name);
TABI_API const char *tabi_integrator_name(tabi_integrator integrator);
TABI_API int32_t tabi_integrator_find(const char *name);

/* The solver that takes over where sweeps of cone or lcp leave more than the tolerance.  The result
 * obeys Coulomb's cone: lcp's pyramid becomes one. */
typedef enum tabi_fallback {
  TABI_FALLBACK_DEFAULT, /* newton for cone if its tolerance is not 0, else none */
  TABI_FALLBACK_NONE,    /* sweeps only */
  TABI_FALLBACK_NEWTON,  /* of cone: a few steps of Newton's method where sweeps converge slowly */
  TABI_FALLBACK_EXACT,   /* after all sweeps the method exact, which takes the time it needs */
  TABI_FALLBACK_COUNT,
} tabi_fallback;

/* What rebounds when several contacts close in one step (docs/contact.md). */
typedef enum tabi_impacts {
  TABI_IMPACTS_SIMULTANEOUS, /* every contact for the speed with which it closes at the start */
  TABI_IMPACTS_SEQUENTIAL,   /* one after another, the earliest first */
  TABI_IMPACTS_COUNT,
} tabi_impacts;

/* How cone-paper and lcp-paper store the contact matrix (the Delassus operator). */
typedef enum tabi_storage {
  TABI_STORAGE_PORTS,       /* by ports of bodies in contact, linear in contacts: docs/contact.md */
  TABI_STORAGE_DENSE,       /* the papers' dense matrix, for their timing figures */
  TABI_STORAGE_TEST_FORCES, /* the same, each column by forward dynamics under a unit force */
  TABI_STORAGE_COUNT,
} tabi_storage;

typedef struct tabi_world_def {
  uint32_t def_size;
  tabi_contact_kind contact;
  tabi_integrator integrator;
  double timestep;         /* s, 1e-7 to 0.1 */
  double gravity[3];       /* m/s^2 */
  double tolerance;        /* at which a solver may stop: cone and lcp, change of velocity in a
                              sweep, m/s; exact, residual against the velocities that contacts
                              have to stop; gait, local error of position and speed.  Negative:
                              1e-8, exact 1e-10 */
  int32_t iterations;      /* max sweeps, >= 2; exact: max factorisations.  0: 120, exact 1000 */
  int32_t budget;          /* of cone: sweeps that a step may take, a step of Newton's method
                              counting as ten; what is then left is in the certificate, and adds
                              no energy.  0: 20 for heaps of many bodies that move, else no
                              bound */
  tabi_fallback fallback;  /* solver that takes over where sweeps converge slowly */
  tabi_impacts impacts;    /* of cone, lcp, exact and impulse; other methods, rk4 and euler
                              ignore it */
  int32_t max_contacts;    /* points, up to 1e6, that the world has memory for: exactly so many,
                              for its whole life.  0: as many as the shapes may reasonably have at
                              once, see docs/scenes.md; more by tabi_world_grow */
  bool sleep;              /* what rests is not computed until something wakes it, see
                              tabi_world_sleeps; only semi-implicit steps of cone, lcp, exact and
                              impulse and their variants */
  double allowed_depth;    /* m, overlap that is not corrected.  Negative: 5e-6, rk4 and euler
                              1e-4 */
  double correction;       /* share of deeper overlap that one step takes back, 0 to 1 */
  double correction_speed; /* m/s, limit of that and of the correction of limits and connections */
  double warm_start;       /* share of the last impulses to start from, 0 to 1 */
  double friction; /* coefficient of all contacts, static and kinetic, whatever the materials say;
                      negative: as they say.  gait has its own */
  uint64_t seed;   /* of the world's random numbers */
  tabi_workspace *workspace; /* NULL: the world has its own.  Must outlive the world */
  /* knobs of single methods and their variants; the others ignore them */
  struct {
    tabi_storage storage; /* of cone-paper */
  } cone;
  struct {
    tabi_storage storage; /* of lcp-paper */
    bool static_friction; /* false: only sliding contacts have friction */
  } lcp;
  struct {
    double tangential_stiffness; /* in units of the material's stiffness; 0 to 1000 */
  } penalty;
  struct {
    const tabi_gait *biped; /* made for the model; must outlive the world */
  } gait;
} tabi_world_def;

/* The model's gravity and time step, cone, semi-implicit. */
TABI_API tabi_world_def tabi_world_def_default(const tabi_model *model);

/* Scratch memory of steps, most of what a world needs.  Worlds that step one after another, in one
 * thread, may share one, also worlds of different models: results do not depend on it, but the
 * contacts of a world are gone when another one with the same workspace steps or gets a state, and
 * what tabi_world_dynamics() gave is then the other's.  Worlds of one model share the most.  Large
 * enough for worlds of this model and def (NULL: the default), and for all smaller ones. */
TABI_API tabi_workspace *tabi_workspace_create(const tabi_model *model, const tabi_world_def *def,
                                               tabi_error *err);
TABI_API void tabi_workspace_destroy(tabi_workspace *workspace);      /* NULL is fine */
TABI_API size_t tabi_workspace_size(const tabi_workspace *workspace); /* bytes */

/* The model must outlive the world. */
TABI_API tabi_world *tabi_world_create(const tabi_model *model, const tabi_world_def *def,
                                       tabi_error *err);
TABI_API void tabi_world_destroy(tabi_world *world);
TABI_API const tabi_model *tabi_world_model(const tabi_world *world);
/* The def that it was made by, defaults filled in. */
TABI_API tabi_world_def tabi_world_get_def(const tabi_world *world);

/* Advance one time step under joint forces tau[nv], held constant over it; NULL for none.
 * On an error the state stays as it was before the step and tabi_world_error tells why.
 * Never allocates: a step that meets more contacts than the world has memory for fails with
 * TABI_ERR_CAPACITY, and can be repeated after tabi_world_grow. */
TABI_API tabi_status tabi_world_step(tabi_world *world, const double *tau);
/* Takes more memory, for twice as many contacts, at most 1e6; allocates.  The state stays as it is,
 * to the last bit, and so do the pointers of tabi_world_q, tabi_world_v and tabi_world_dynamics;
 * the contacts of the last step are gone, and snapshots become larger.  Results do not depend on
 * the capacity.  TABI_ERR_CAPACITY where max_contacts was given; TABI_ERR_ARGUMENT where a given
 * workspace is too small. */
TABI_API tabi_status tabi_world_grow(tabi_world *world, tabi_error *err);
/* The same step, which grows the world and is repeated where it needs more memory: allocates, but
 * only then. */
TABI_API tabi_status tabi_world_step_or_grow(tabi_world *world, const double *tau);
TABI_API const tabi_error *tabi_world_error(const tabi_world *world); /* of the last failure */

TABI_API const double *tabi_world_q(const tabi_world *world); /* [nq] */
TABI_API const double *tabi_world_v(const tabi_world *world); /* [nv] */
/* Refuses numbers that are not finite and quaternions without length. */
TABI_API tabi_status tabi_world_set_state(tabi_world *world, const double *q, const double *v,
                                          tabi_error *err);
TABI_API int64_t tabi_world_steps(const tabi_world *world);
TABI_API double tabi_world_time(const tabi_world *world); /* s: steps times the time step */
/* Poses, velocities and Jacobians at the present state, read-only: the world steps with the same
 * memory.  For another state, or inverse and forward dynamics, make one of your own. */
TABI_API const tabi_dynamics *tabi_world_dynamics(tabi_world *world);

/* A spring and damper that drive a joint with one coordinate to a target.  Implicit ones enter the
 * mass matrix and are stable at any stiffness.  The joint's effort limit bounds both, together with
 * its actuators. */
typedef struct tabi_servo {
  double kp, kd;              /* N m/rad and N m s/rad, or N/m and N s/m */
  double target, target_rate; /* rad, rad/s or m, m/s */
  bool implicit;
} tabi_servo;
/* Stays until it is set again; kp = kd = 0 turns it off. */
TABI_API void tabi_world_set_servo(tabi_world *world, int32_t joint, const tabi_servo *servo);
/* As it was set last; kp = kd = 0 where none was. */
TABI_API tabi_servo tabi_world_get_servo(const tabi_world *world, int32_t joint);
/* How a joint moves, whatever pushes: a turntable, a lift, a shaker, or a motor without limits. */
typedef struct tabi_motion {
  double v[6];   /* its velocities, as in v[nv], at the end of the next step: m/s, rad/s */
  bool in_place; /* contacts feel the velocity, the position stays: a belt, a roller */
} tabi_motion;
/* Stays until it is set again; NULL lets the joint move freely.  Not under contact method gait. */
TABI_API void tabi_world_set_motion(tabi_world *world, int32_t joint, const tabi_motion *motion);
/* Input of an actuator of the model, clamped to its range; stays until it is set again. */
TABI_API void tabi_world_set_control(tabi_world *world, int32_t actuator, double u);
/* What drove a joint with one coordinate in the last step: its servo, its actuators and the joint
 * force of tabi_world_step; implicit servos and actuators at the end of the step, under rk4, euler
 * and all that is explicit at its start.  Zero before the first step. */
typedef struct tabi_effort {
  double commanded; /* N m or N, without limits of force */
  double applied;   /* N m or N, what acted.  Joint forces of tabi_world_step are not limited */
  double limit; /* N m or N, >= 0: the joint's effort limit or, if its actuators alone drive it and
                   cannot reach that, the most they give; infinite: none */
} tabi_effort;
TABI_API tabi_effort tabi_world_effort(const tabi_world *world, int32_t joint);
/* A force and torque on a link at a point, all in world axes, during the next step only. */
TABI_API void tabi_world_apply(tabi_world *world, int32_t link, const double force[3],
                               const double torque[3], const double point[3]);

typedef struct tabi_contact {
  int32_t shape_a, shape_b, link_a, link_b; /* a link may be TABI_WORLD */
  double point[3], normal[3];               /* world; the normal points from a to b */
  double gap;         /* m at the start of the step, negative when overlapping */
  double impulse[3];  /* N s on b, world */
  double velocity[3]; /* m/s, of b against a at the end of the step, world */
  double friction;    /* the coefficient that was used */
  double couple[3];   /* N m s on b, world: rolling and torsional friction */
} tabi_contact;
/* The contacts of the last step; the array lives until the next one. */
TABI_API const tabi_contact *tabi_world_contacts(const tabi_world *world, int32_t *count);
/* Force and torque about a point (world coordinates) of all contacts on a link in the last step,
 * mean over it; N and N m, world axes. */
TABI_API void tabi_world_contact_wrench(const tabi_world *world, int32_t link,
                                        const double point[3], double force[3], double torque[3]);

/* Whether the tree of a link sleeps, under def.sleep.  Trees that contacts hold together fall
 * asleep together when for 0.5 s none of them has had more kinetic energy than its mass has at a
 * speed of allowed_depth (at least 1e-6 m) in 0.5 s.  They are then at rest, and their contacts are
 * those of the last step before.  What may touch them within a step wakes them, and so do forces,
 * servos and prescribed motion on one of them, and a new state.  Trees with actuators, sensors,
 * connections, tendons or buoyancy never sleep. */
TABI_API bool tabi_world_sleeps(const tabi_world *world, int32_t link);
TABI_API int32_t tabi_world_count_asleep(const tabi_world *world); /* moving links */

/* How well the last step obeyed the laws of contact: the worst contact of each, of what is awake.
 */
typedef struct tabi_certificate {
  double gap;             /* m, overlap predicted for the end of the step */
  double complementarity; /* m/s, of contacts that push and part */
  double cone;            /* N, friction beyond the cone */
  double dissipation;     /* m/s, of friction that does not oppose slip */
  int32_t contacts;       /* number of contacts that push */
  double connection;      /* m/s or rad/s, by which connections that contradict were missed */
  int32_t iterations;     /* sweeps, factorisations or passes; see the method */
  bool converged;         /* the tolerance was reached */
  bool fallback;          /* def.fallback took over, in some island at least */
  bool energy_limited;    /* impulses that would have added energy were replaced: rebounds or
                             friction reduced, rebounds that contradict each other too */
  bool too_large;         /* some island that needed def.fallback was too large for its memory and
                             stayed as sweeps had left it */
  double contact_work;    /* J, by which the impulses of contacts and joint rows changed the kinetic
                             energy (with that of penalty's springs), all but the next: > 0 is
                             energy from nowhere */
  double correction_work; /* J, by which depth corrections pushed apart what overlapped */
  double balance_work;    /* J, by which velocities of what nothing drives were scaled so that it
                             gains no energy: < 0 was taken */
  double elastic;         /* J, in penalty's springs at the end of the step */
} tabi_certificate;
TABI_API tabi_certificate tabi_world_certificate(const tabi_world *world);

/* Balance of the tree of a link in the last step, by its contacts with other trees or the world. */
enum { TABI_BALANCE_CORNERS = 16 };
typedef struct tabi_balance {
  double com[3];   /* m, centre of mass of the tree after the step */
  double force[3]; /* N, of its contacts with others, mean over the step */
  double zmp[3];   /* m, where these have no moment about x and y, at their mean height;
                      meaningless while force[2] is 0 */
  double margin;   /* m from there to the nearest edge of the support polygon, negative outside;
                      0 without a polygon */
  int32_t ncorner;
  double corner[TABI_BALANCE_CORNERS][2]; /* m, of the support polygon: the hull, seen from above,
                                             of the points that push it up, counter-clockwise; of a
                                             rounder one a polygon inside */
} tabi_balance;
TABI_API tabi_balance tabi_world_balance(tabi_world *world, int32_t link);

/* A connection in the last step. */
typedef struct tabi_connection_state {
  double gap;  /* m, largest position error at the present state; spring: |length - rest length| */
  double turn; /* rad, largest angle error */
  double force[3], torque[3]; /* N and N m on b at the origin of its frame, world axes, mean */
  double missed;  /* m/s or rad/s by which its target was missed: it contradicts, or is open */
  bool redundant; /* some of its axes repeat others; the force is then one of many */
} tabi_connection_state;
TABI_API tabi_connection_state tabi_world_connection(tabi_world *world, int32_t connection);

/* A tendon at the present state; its force in the last step. */
typedef struct tabi_tendon_state {
  double length, rate; /* m and m/s, or rad and rad/s */
  double force;        /* N or N m, mean of all that acts along it; > 0 makes it longer */
} tabi_tendon_state;
TABI_API tabi_tendon_state tabi_world_tendon(tabi_world *world, int32_t tendon);

/* The point where a ray meets a shape. */
typedef struct tabi_ray_hit {
  int32_t shape, link;        /* a link may be TABI_WORLD */
  double distance;            /* m from the origin */
  double point[3], normal[3]; /* world; the normal points out of the shape */
} tabi_ray_hit;
/* The first colliding shape on a ray, at the present state, within a distance (m, may be infinite);
 * false: none.  The direction may have any length but zero.  A ray that starts inside a shape meets
 * it at distance 0, with a normal against its direction.  Triangles and height fields are met from
 * the side where they are counter-clockwise only; below a height field is inside. */
TABI_API bool tabi_world_ray(tabi_world *world, const double origin[3], const double direction[3],
                             double max_distance, tabi_ray_hit *hit);
/* z of the first colliding shape below a point that does not move; NAN: there is none. */
TABI_API double tabi_world_ground_below(tabi_world *world, const double point[3]);

/* The reading of a sensor of the model after the last step: value[tabi_sensor_type_size]; returns
 * that size.  Positions and rates are those after the step; forces and accelerations are means over
 * it, at the posture of its start.  Before the first step, and after tabi_world_set_state, nothing
 * is known of forces. */
TABI_API int32_t tabi_world_sensor(const tabi_world *world, int32_t sensor, double *value);

/* Kinetic, potential and spring energy at the present state, and the work of joint forces, servos,
 * actuators, and external forces since the world was made; J. */
typedef struct tabi_energy {
  double kinetic, potential, spring, work;
} tabi_energy;
TABI_API tabi_energy tabi_world_energy(tabi_world *world);

/* All that decides the next step, warm starts and random numbers included: equal snapshots step
 * equally.  What cannot be a snapshot of the world is refused, and the world stays as it is.
 * Snapshots from before the world has grown fit, and so do those of a world that has grown more:
 * this one then grows too (TABI_ERR_MEMORY). */
TABI_API size_t tabi_world_snapshot_size(const tabi_world *world);
TABI_API void tabi_world_save(const tabi_world *world, void *snapshot);
TABI_API tabi_status tabi_world_restore(tabi_world *world, const void *snapshot, size_t size);
/* Continues from the state of another world, under the settings of this one: another contact
 * method, other masses or materials, with the same joints, bodies and sensors.  Under another time
 * step the time becomes the nearest whole number of steps, warm-start forces stay the same, and
 * sensors must have no delay.  `from` is not changed.  Grows if `from` has. */
TABI_API tabi_status tabi_world_continue(tabi_world *world, const tabi_world *from,
                                         tabi_error *err);
/* A hash of q, v and the step count. */
TABI_API uint64_t tabi_world_hash(const tabi_world *world);

/* Parts of a step, for those who ask where its time goes. */
typedef enum tabi_stage {
  TABI_STAGE_FORCES,     /* of springs, servos, actuators */
  TABI_STAGE_KINEMATICS, /* poses, velocities, inertias */
  TABI_STAGE_COLLISION,  /* points where shapes are or may come into contact */
  TABI_STAGE_FACTOR,     /* mass matrix and free motion */
  TABI_STAGE_PROBLEM,    /* contacts, limits and connections as equations */
  TABI_STAGE_SOLVE,      /* the contact method, and the certificate */
  TABI_STAGE_MOVE,       /* the new state */
  TABI_STAGE_SENSORS,
  TABI_STAGE_REST, /* the remainder: warm starts and the list of contacts */
  TABI_STAGE_COUNT,
} tabi_stage;
TABI_API const char *tabi_stage_name(tabi_stage stage);

typedef struct tabi_stats {
  size_t memory;                    /* bytes of the world, without the model */
  int64_t steps;                    /* that were timed */
  double seconds[TABI_STAGE_COUNT]; /* s, sum over these steps */
} tabi_stats;
TABI_API tabi_stats tabi_world_stats(const tabi_world *world);
/* The library has no clock of its own: given one that returns seconds, it times the stages of all
 * further steps, from zero; NULL ends it.  Steps and snapshots do not depend on it. */
TABI_API void tabi_world_set_clock(tabi_world *world, double (*seconds)(void *user), void *user);

TABI_END

#endif
