/* servo_check.c - servos that are unstable at the time step of the scene, because they are
 * explicit.
 *
 * Under rk4 and euler all servos are explicit, and under semi-implicit those that do not ask to be
 * implicit (midpoint is not checked).  With gains K and dampers C the fastest motions of a robot
 * are near the largest eigenvalues of M^-1 C and M^-1 K; power iteration finds them, at the initial
 * posture and without contacts, whose forces are constant within a step.  Along such a motion u the
 * robot is one oscillator, x'' + c x' + k x = 0 with c = u'Cu / u'Mu and k = u'Ku / u'Mu, and the
 * integrator multiplies it per step by numbers that must not exceed 1. */
#include "base/assertion.h"
#include "base/error.h"
#include "scene/scene.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 60, NAMED = 3, HALVINGS = 40 };
#define SLACK 1e-9 /* by which a factor may exceed 1 */

/* One of a robot's motions. */
typedef struct oscillator {
  double k, c; /* 1/s^2, 1/s */
} oscillator;

/* One robot, its servos in the coordinates of the model. */
typedef struct checked {
  const tbi_scene_reader *r;
  int32_t robot;
  tabi_dynamics *d;
  double *kp, *kd;           /* [nv] */
  double *mode, *load, *acc; /* [nv] */
  double *rest;              /* accelerations without load: [nv] */
} checked;

/* -- stability */

/* by what rk4 multiplies exp(l t) in one step, z = h l */
static double rk4_factor(double complex z) {
  return cabs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4))));
}

/* Velocity first, then the position along it: both roots are within the unit circle (Jury). */
static bool is_stable_semi_implicit(oscillator o, double h) {
  return h * o.c <= 2 + SLACK && h * h * o.k + 2 * h * o.c <= 4 + SLACK;
}

static bool is_stable(oscillator o, tabi_integrator integrator, double h) {
  double complex root = csqrt(o.c * o.c - 4 * o.k);
  const double complex z[2] = {h * (-o.c + root) / 2, h * (-o.c - root) / 2};
  bool stable = true;
  for (int i = 0; i < 2; ++i) {
    double factor = integrator == TABI_RK4 ? rk4_factor(z[i]) : cabs(1 + z[i]);
    stable = stable && factor <= 1 + SLACK;
  }
  bool all_explicit = integrator == TABI_RK4 || integrator == TABI_EULER;
  return all_explicit ? stable : is_stable_semi_implicit(o, h);
}

/* -- the fastest motion */

/* acc = M^-1 load */
static void accelerate(const checked *c) {
  tabi_dynamics_forward(c->d, c->load, c->acc);
  for (int32_t i = 0; i < tabi_model_nv(c->r->scene->model); ++i)
    c->acc[i] -= c->rest[i];
}

static double sum_of(const checked *c, const double *weight, const double *a, const double *b) {
  double sum = 0;
  for (int32_t i = 0; i < tabi_model_nv(c->r->scene->model); ++i)
    sum += (weight ? weight[i] : 1) * a[i] * b[i];
  return sum;
}

/* c->mode becomes the motion with the largest eigenvalue of M^-1 diag(gain). */
static oscillator fastest_motion(const checked *c, const double *gain) {
  int32_t nv = tabi_model_nv(c->r->scene->model);
  for (int32_t i = 0; i < nv; ++i)
    c->mode[i] = 1 + 0.1 * (i % 7);
  for (int step = 0; step < ITERATIONS; ++step) {
    for (int32_t i = 0; i < nv; ++i)
      c->load[i] = gain[i] * c->mode[i];
    accelerate(c);
    double size = sum_of(c, NULL, c->acc, c->load); /* u'Mu */
    if (!(size > 0 && size <= DBL_MAX)) return (oscillator){0, 0};
    for (int32_t i = 0; i < nv; ++i)
      c->mode[i] = c->acc[i] / sqrt(size);
  }
  return (oscillator){sum_of(c, c->kp, c->mode, c->mode), sum_of(c, c->kd, c->mode, c->mode)};
}

/* -- gains and names */

/* False if nothing of the robot is explicit, or some servo is implicit and stiffens the others. */
static bool gather_gains(const checked *c) {
  const tabi_scene *scene = c->r->scene;
  const tbi_scene_robot *robot = &scene->robots[c->robot];
  bool all_explicit = scene->world.integrator == TABI_RK4 || scene->world.integrator == TABI_EULER;
  memset(c->kp, 0, sizeof *c->kp * (size_t)tabi_model_nv(scene->model));
  memset(c->kd, 0, sizeof *c->kd * (size_t)tabi_model_nv(scene->model));
  bool any = false;
  for (int32_t i = 0; i < c->r->nservo; ++i) {
    const tabi_pd_joint *servo = &c->r->servos[i];
    bool own =
        servo->joint >= robot->first_joint && servo->joint < robot->first_joint + robot->njoint;
    if (!own || (servo->kp == 0 && servo->kd == 0)) continue;
    if (servo->implicit && !all_explicit) return false;
    tabi_joint_def joint = tabi_model_joint(scene->model, servo->joint);
    int32_t dof = tabi_model_joint_v(scene->model, servo->joint).first;
    c->kp[dof] = servo->kp + (all_explicit ? joint.stiffness : 0);
    c->kd[dof] = servo->kd + (all_explicit ? joint.damping : 0);
    any = true;
  }
  return any;
}

/* The servo that takes the largest part in c->mode and is not named yet, or TABI_NONE. */
static int32_t next_servo(const checked *c, const double *gain, double *share) {
  int32_t found = TABI_NONE;
  *share = 0;
  for (int32_t i = 0; i < c->r->nservo; ++i) {
    int32_t dof = tabi_model_joint_v(c->r->scene->model, c->r->servos[i].joint).first;
    double own = gain[dof] * c->mode[dof] * c->mode[dof];
    if (own <= *share) continue;
    *share = own;
    found = i;
  }
  if (found != TABI_NONE)
    c->mode[tabi_model_joint_v(c->r->scene->model, c->r->servos[found].joint).first] = 0;
  return found;
}

/* "'l_ankle_roll', 'r_ankle_roll'", those with at least a tenth of the largest part; the first. */
static int32_t name_servos(const checked *c, const double *gain, char *names, size_t size) {
  double largest = 0;
  double share = 0;
  int32_t first = next_servo(c, gain, &largest);
  int32_t at = first;
  size_t used = 0;
  share = largest;
  for (int i = 0; i < NAMED && at != TABI_NONE && share >= 0.1 * largest && used < size; ++i) {
    const char *name = tabi_model_joint(c->r->scene->model, c->r->servos[at].joint).name;
    int n = snprintf(names + used, size - used, "%s'%.50s'", i > 0 ? ", " : "", name ? name : "");
    used += n > 0 ? (size_t)n : 0;
    at = next_servo(c, gain, &share);
  }
  return first;
}

/* A step at which it is stable, by halves. */
static double stable_step(oscillator o, tabi_integrator integrator, double h) {
  for (int i = 0; i < HALVINGS && !is_stable(o, integrator, h); ++i)
    h /= 2;
  return h;
}

static void warn(const checked *c, oscillator o, const double *gain) {
  const tabi_scene *scene = c->r->scene;
  const tabi_world_def *world = &scene->world;
  bool all_explicit = world->integrator == TABI_RK4 || world->integrator == TABI_EULER;
  char names[200] = "";
  int32_t first = name_servos(c, gain, names, sizeof names);
  if (first == TABI_NONE) return;
  const tabi_pd_joint *servo = &c->r->servos[first];
  const char *cure =
      all_explicit ? "integrator: semi-implicit with implicit: true" : "implicit: true";
  tbi_tell(c->r->def->warn, c->r->def->warn_user, TABI_SEVERITY_WARNING,
           c->r->robots[c->robot].controller->place,
           "robot '%.40s': servos of %s (kp %g, kd %g) are explicit under %s and unstable "
           "at %g s; take %s, a step of %.2g s, or rotors: joints: {%.40s: "
           "{rotor_inertia: .., gear: ..}}",
           scene->robots[c->robot].name, names, servo->kp, servo->kd,
           tabi_integrator_name(world->integrator), world->timestep, cure,
           stable_step(o, world->integrator, world->timestep),
           tabi_model_joint(scene->model, servo->joint).name +
               strlen(scene->robots[c->robot].prefix));
}

static void check_robot(const checked *c) {
  const tabi_world_def *world = &c->r->scene->world;
  if (!gather_gains(c)) return;
  const double *const gain[2] = {c->kd, c->kp};
  for (int i = 0; i < 2; ++i) {
    oscillator o = fastest_motion(c, gain[i]);
    if (is_stable(o, world->integrator, world->timestep)) continue;
    warn(c, o, gain[i]);
    return;
  }
}

bool tbi_scene_check_servos(const tbi_scene_reader *r) {
  const tabi_scene *scene = r->scene;
  size_t nv = (size_t)tabi_model_nv(scene->model);
  bool own_integrator = tabi_contact_describe(scene->world.contact)->planar_biped ||
                        scene->world.integrator == TABI_MIDPOINT;
  if (!r->def->warn || r->nservo == 0 || own_integrator) return true;
  double *memory = calloc(6 * nv, sizeof *memory);
  tabi_error err = {.status = TABI_ERR_MEMORY};
  tabi_dynamics *d = memory ? tabi_dynamics_create(scene->model, &err) : NULL;
  if (!d) {
    free(memory);
    /* a model whose dynamics are refused is reported by those who need them */
    return err.status == TABI_ERR_MEMORY ? tbi_fail_memory(r->error) : true;
  }
  /* at rest: the velocity does not enter M */
  tabi_dynamics_set_state(d, scene->q, memory);
  checked c = {r,
               0,
               d,
               memory,
               memory + nv,
               memory + 2 * nv,
               memory + 3 * nv,
               memory + 4 * nv,
               memory + 5 * nv};
  tabi_dynamics_forward(d, NULL, c.rest);
  for (c.robot = 0; c.robot < scene->nrobot; ++c.robot)
    check_robot(&c);
  tabi_dynamics_destroy(d);
  free(memory);
  return true;
}
