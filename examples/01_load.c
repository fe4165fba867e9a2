/* 01_load.c - load a robot, bend its knees, ask what it weighs, where its mass is and how much
 * torque its joints need to hold still. */
#include <tabi/tabi.h>
#include <tabi/tabi_io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void bend(const tabi_model *robot, const char *joint, double angle, double *q) {
  int32_t index = tabi_model_find_joint(robot, joint);
  if (index != TABI_NONE) q[tabi_model_joint_q(robot, index).first] = angle;
}

static void print_torques(const tabi_model *robot, const double *tau) {
  for (int32_t i = 0; i < tabi_model_njoint(robot); ++i) {
    tabi_joint_def joint = tabi_model_joint(robot, i);
    if (joint.type != TABI_JOINT_REVOLUTE) continue;
    double torque = tau[tabi_model_joint_v(robot, i).first];
    if (fabs(torque) > 1) printf("%-12s %7.3f N m\n", joint.name, torque);
  }
}

static int hold_still(const tabi_model *robot, tabi_dynamics *dynamics) {
  size_t nq = (size_t)tabi_model_nq(robot), nv = (size_t)tabi_model_nv(robot);
  double *q = calloc(nq + 2 * nv + 1, sizeof *q);
  if (!q) return EXIT_FAILURE;
  double *v = q + nq, *tau = v + nv;

  tabi_model_initial_q(robot, q);
  bend(robot, "l_knee", 0.8, q);
  bend(robot, "r_knee", 0.8, q);
  tabi_dynamics_set_state(dynamics, q, v);

  double com[3];
  tabi_dynamics_com(dynamics, com);
  printf("%.2f kg, centre of mass at %.3f %.3f %.3f m\n", tabi_model_mass(robot), com[0], com[1],
         com[2]);
  tabi_dynamics_inverse(dynamics, NULL, tau);
  print_torques(robot, tau);
  free(q);
  return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
  tabi_load_def def = tabi_load_def_default();
  def.base = TABI_BASE_FIXED; /* hold it by the pelvis */

  tabi_error err;
  tabi_model *robot = tabi_model_load(argc > 1 ? argv[1] : "models/humanoid36.urdf", &def, &err);
  tabi_dynamics *dynamics = robot ? tabi_dynamics_create(robot, &err) : NULL;
  int status = EXIT_FAILURE;
  if (dynamics) {
    status = hold_still(robot, dynamics);
  } else {
    char text[1024];
    tabi_error_text(&err, "error", text, sizeof text);
    (void)fprintf(stderr, "%s\n", text);
  }
  tabi_dynamics_destroy(dynamics);
  tabi_model_destroy(robot);
  return status;
}
