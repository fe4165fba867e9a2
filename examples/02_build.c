/* 02_build.c - build a double pendulum by hand, let it swing for ten seconds, watch its energy. */
#include <tabi/tabi.h>

#include <stdio.h>
#include <stdlib.h>

/* A rod of 1 kg and 1 m that hangs down from a hinge at z, in its parent's frame. */
static int32_t add_rod(tabi_builder *builder, int32_t parent, const char *name, double z) {
  tabi_link_def link = tabi_link_def_default();
  link.name = name;
  link.mass = 1;
  link.com[2] = -0.5;
  link.inertia[0] = link.inertia[1] = 1.0 / 12;
  link.inertia[2] = 1e-4;
  int32_t rod = tabi_builder_add_link(builder, &link);

  tabi_joint_def joint = tabi_joint_def_default();
  joint.name = name;
  joint.type = TABI_JOINT_CONTINUOUS;
  joint.parent = parent;
  joint.child = rod;
  joint.pos[2] = z;
  joint.axis[0] = 0;
  joint.axis[1] = 1;
  joint.axis[2] = 0;
  tabi_builder_add_joint(builder, &joint);
  return rod;
}

static tabi_model *build_pendulum(tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return NULL;
  int32_t upper = add_rod(builder, TABI_WORLD, "upper", 2);
  add_rod(builder, upper, "lower", -1);
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

static double energy(tabi_dynamics *dynamics, const double *q, const double *v) {
  tabi_dynamics_set_state(dynamics, q, v);
  return tabi_dynamics_kinetic(dynamics) + tabi_dynamics_potential(dynamics);
}

/* One step of the classical Runge-Kutta method for q'' = forward dynamics at (q, q'). */
static void step_rk4(tabi_dynamics *dynamics, double dt, double q[2], double v[2]) {
  static const double reach[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
  double rate[2] = {0}, qdd[2] = {0}, q_sum[2] = {0}, v_sum[2] = {0};
  for (int stage = 0; stage < 4; ++stage) {
    double q_at[2], v_at[2];
    for (int i = 0; i < 2; ++i) {
      q_at[i] = q[i] + reach[stage] * dt * rate[i];
      v_at[i] = v[i] + reach[stage] * dt * qdd[i];
    }
    tabi_dynamics_set_state(dynamics, q_at, v_at);
    tabi_dynamics_forward(dynamics, NULL, qdd);
    for (int i = 0; i < 2; ++i) {
      rate[i] = v_at[i];
      q_sum[i] += weight[stage] * rate[i];
      v_sum[i] += weight[stage] * qdd[i];
    }
  }
  for (int i = 0; i < 2; ++i) {
    q[i] += dt / 6 * q_sum[i];
    v[i] += dt / 6 * v_sum[i];
  }
}

int main(void) {
  tabi_error err = {0};
  tabi_model *model = build_pendulum(&err);
  tabi_dynamics *dynamics = model ? tabi_dynamics_create(model, &err) : NULL;
  if (!dynamics) {
    (void)fprintf(stderr, "error: %s\n", err.message);
    tabi_model_destroy(model);
    return EXIT_FAILURE;
  }

  double q[2] = {1.5, 0.5}, v[2] = {0, 0};
  const double dt = 1e-3, start = energy(dynamics, q, v);
  for (int second = 0; second <= 10; ++second) {
    printf("t %2d s   q %7.3f %7.3f   energy change %9.1e J\n", second, q[0], q[1],
           energy(dynamics, q, v) - start);
    for (int step = 0; step < 1000; ++step)
      step_rk4(dynamics, dt, q, v);
  }

  tabi_dynamics_destroy(dynamics);
  tabi_model_destroy(model);
  return EXIT_SUCCESS;
}
