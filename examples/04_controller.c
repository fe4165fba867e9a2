/* 04_controller.c - a controller of one's own: computed torque.
 *
 * The robot hangs from its pelvis and bends its knees.  Before every step the controller reads
 * positions and velocities, asks inverse dynamics for the torques of the wanted acceleration
 *     qdd = qdd_d + kd (v_d - v) + kp (q_d - q)
 * adds what friction in the joints takes, and hands them to the step. */
#include <tabi/tabi.h>
#include <tabi/tabi_io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct controller {
  const tabi_model *robot;
  tabi_dynamics *dynamics; /* its own: a world's may only be looked at */
  double *qdd, *tau;       /* [nv] */
  double error;            /* rad, the largest so far */
} controller;

static const double kp = 400, kd = 40; /* 1/s^2, 1/s: critically damped at 20 rad/s */

typedef struct reference {
  double q, v, a;
} reference;

/* Knees bend by 0.6 rad at 0.5 Hz; all other joints stay where they are. */
static reference wanted(const tabi_joint_def *joint, double t) {
  const double w = acos(-1); /* rad/s */
  if (!joint->name || !strstr(joint->name, "knee")) return (reference){0};
  return (reference){0.3 * (1 - cos(w * t)), 0.3 * w * sin(w * t), 0.3 * w * w * cos(w * t)};
}

static bool is_driven(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE && joint->stiffness == 0;
}

static void update(controller *c, const tabi_world *world) {
  const double *q = tabi_world_q(world), *v = tabi_world_v(world);
  for (int32_t i = 0; i < tabi_model_njoint(c->robot); ++i) {
    tabi_joint_def joint = tabi_model_joint(c->robot, i);
    if (!is_driven(&joint)) continue;
    int32_t iq = tabi_model_joint_q(c->robot, i).first, iv = tabi_model_joint_v(c->robot, i).first;
    reference r = wanted(&joint, tabi_world_time(world));
    c->qdd[iv] = r.a + kd * (r.v - v[iv]) + kp * (r.q - q[iq]);
    c->error = fmax(c->error, fabs(r.q - q[iq]));
  }
  tabi_dynamics_set_state(c->dynamics, q, v);
  tabi_dynamics_inverse(c->dynamics, c->qdd, c->tau);
  /* friction in the joints is not part of inverse dynamics */
  for (int32_t i = 0; i < tabi_model_njoint(c->robot); ++i) {
    tabi_joint_def joint = tabi_model_joint(c->robot, i);
    if (!is_driven(&joint)) continue;
    reference r = wanted(&joint, tabi_world_time(world));
    c->tau[tabi_model_joint_v(c->robot, i).first] +=
        joint.damping * r.v + joint.friction * tanh(r.v / 1e-3);
  }
}

static int run(controller *c, tabi_world *world) {
  while (tabi_world_time(world) < 2) {
    update(c, world);
    if (tabi_world_step_or_grow(world, c->tau) == TABI_OK) continue;
    (void)fprintf(stderr, "%s\n", tabi_world_error(world)->message);
    return EXIT_FAILURE;
  }
  printf("%d joint velocities, %g s, largest tracking error %.2f mrad\n", tabi_model_nv(c->robot),
         tabi_world_time(world), 1e3 * c->error);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  tabi_error err = {0};
  tabi_load_def load = tabi_load_def_default();
  load.base = TABI_BASE_FIXED;
  tabi_model *robot = tabi_model_load(argc > 1 ? argv[1] : "models/humanoid36.urdf", &load, &err);
  tabi_world *world = robot ? tabi_world_create(robot, NULL, &err) : NULL;
  controller c = {.robot = robot};
  if (world) c.dynamics = tabi_dynamics_create(robot, &err);
  if (c.dynamics) c.qdd = calloc(2 * (size_t)tabi_model_nv(robot) + 1, sizeof *c.qdd);
  if (c.qdd) c.tau = c.qdd + tabi_model_nv(robot);
  int status = c.qdd ? run(&c, world) : EXIT_FAILURE;
  if (err.status != TABI_OK) (void)fprintf(stderr, "%s\n", err.message);
  free(c.qdd);
  tabi_dynamics_destroy(c.dynamics);
  tabi_world_destroy(world);
  tabi_model_destroy(robot);
  return status;
}
