/* tendons.h - tendons of a world: what acts along them in a step.
 *
 * Along a tendon of length l and rate u there act its spring and damper, dry friction, actuators,
 * inertia that moves with it, and its limits.  Forces that are the same whatever the step brings
 * are an impulse at the joints; those that depend on u at its end make one loop constraint
 * (loops.h), a spring, or a rigid one where a limit or dry friction holds the tendon.  Which of
 * these it is, is predicted and verified as for joints (active_set/). */
#ifndef TBI_WORLD_TENDONS_H
#define TBI_WORLD_TENDONS_H

#include "base/layout.h"
#include "model/model.h"

struct tbi_loop;

/* What a tendon does at the end of a step. */
typedef enum tbi_tendon_hold {
  TBI_TENDON_FREE,
  TBI_TENDON_LOWER, /* it is at its limit */
  TBI_TENDON_UPPER,
  TBI_TENDON_STICKS, /* dry friction holds it */
} tbi_tendon_hold;

/* How the force of an actuator is limited in a step. */
typedef enum tbi_actuator_clamp {
  TBI_CLAMP_NONE,
  TBI_CLAMP_MIN,
  TBI_CLAMP_MAX,
} tbi_actuator_clamp;

/* A tendon in a step. */
typedef struct tbi_tendon {
  double length, rate; /* at the state of d */
  /* predicted */
  uint8_t hold;    /* tbi_tendon_hold */
  bool slack;      /* its spring is unloaded at the end of the step */
  double friction; /* N, of dry friction against its motion, or 0 */
  /* from these, for the solution that follows */
  double known;           /* N s: impulse along it */
  double stiffness, give; /* N/m and kg: of its loop, as tbi_loop has them */
  double damping, load;   /* N s/m and N s */
  double target;          /* m/s, of one that is held */
  double force;           /* N, mean of the last step, all but inertia: > 0 makes it longer */
} tbi_tendon;

typedef struct tbi_tendons {
  tbi_tendon *tendon; /* [ntendon] */
  double *arm;        /* moment arms, as model->tendon_dof: [ntendon_dof] */
  double *mobility;   /* change of u per impulse, at the initial q: [ntendon] */
  uint8_t *clamp;     /* tbi_actuator_clamp of actuators on tendons: [nactuator] */
} tbi_tendons;

void tbi_tendons_place(tbi_layout *at, const tabi_model *model, tbi_tendons *tendons);
/* d at the initial state -> mobility, once; d->D_inv and d->U are overwritten */
void tbi_world_start_tendons(tabi_world *w);

/* d -> lengths, rates and arms; state.tendon_hold -> what is predicted */
void tbi_world_measure_tendons(tabi_world *w);
void tbi_predict_tendons(tabi_world *w);
/* what is predicted -> known impulses, which are added to free.u, and the laws of loops */
void tbi_apply_tendons(tabi_world *w);
/* The loop constraint of a tendon; false: it has none in this step. */
bool tbi_world_tendon_loop(const tabi_world *w, int32_t tendon, struct tbi_loop *loop);
/* Whether solution.v_new and the impulses of loops agree with what was predicted; if not, the
 * prediction is another one.  It is accepted after many attempts. */
bool tbi_verify_tendons(tabi_world *w, int attempt);
/* How many attempts may change a prediction. */
#define TBI_TENDON_ATTEMPTS 24
/* The solution -> state.tendon_hold; forces.joint_impulse, forces.drive, solution.commanded and
 * .applied with those of tendons */
void tbi_world_keep_tendons(tabi_world *w);

/* Adds all forces of tendons at the state of d to joint forces: for the stages of rk4. */
void tbi_world_pull_tendons(tabi_world *w, double *force);
/* J, at the state of d: of springs, and of inertia along tendons. */
double tbi_world_tendon_energy(const tabi_world *w);
double tbi_world_tendon_kinetic(const tabi_world *w);

#endif
