/* consumer.c - uses both installed libraries: loads a robot and drops it. */
#include <tabi/tabi.h>
#include <tabi/tabi_io.h>

#include <stdio.h>
#include <stdlib.h>

/* In free fall the base of a resting robot accelerates with gravity, joints or no joints. */
static int drop(const tabi_model *model) {
  tabi_dynamics *dynamics = tabi_dynamics_create(model, NULL);
  double *q = calloc((size_t)tabi_model_nq(model), sizeof *q);
  double *v = calloc((size_t)tabi_model_nv(model), sizeof *v);
  double *qdd = calloc((size_t)tabi_model_nv(model), sizeof *qdd);
  int failed = 1;
  if (dynamics && q && v && qdd) {
    tabi_model_initial_q(model, q);
    tabi_dynamics_set_state(dynamics, q, v);
    tabi_dynamics_forward(dynamics, NULL, qdd);
    printf("%d joints, %.1f kg, falls with %.2f m/s^2\n", (int)tabi_model_njoint(model),
           tabi_model_mass(model), qdd[2]);
    failed = !(qdd[2] < -9.8 && qdd[2] > -9.82);
  }
  free(qdd);
  free(v);
  free(q);
  tabi_dynamics_destroy(dynamics);
  return failed;
}

int main(int argc, char **argv) {
  tabi_error err;
  tabi_model *model = argc == 2 ? tabi_model_load(argv[1], NULL, &err) : NULL;
  if (!model) return 1;
  int failed = drop(model);
  tabi_model_destroy(model);
  return failed;
}
