/* test_loops.c - loops closed by connect, weld and joint couplings, moving in tabi and in MuJoCo.
 *
 * MuJoCo's constraints are springs, as stiff as its time step allows; tabi's are rigid.  So both
 * are followed for a second and compared loosely, which a wrong frame, a wrong sign or a lost axis
 * would not survive. */
#include "oracle/twins.h"

#include <stdlib.h>

#define DURATION 1.0  /* s */
#define STEP     5e-4 /* s, of tabi */

/* Both begin at rest where the file puts them. */
static tabi_world *start(const twins *t) {
  tabi_error err = {0};
  tabi_world_def def = tabi_world_def_default(t->tabi);
  def.timestep = STEP;
  tabi_world *world = tabi_world_create(t->tabi, &def, &err);
  if (!world) fail_msg("%s", err.message);
  return world;
}

void twins_test_loops(const char *file) {
  twins t;
  twins_open(&t, file);
  tabi_world *world = start(&t);
  double *q = calloc(2 * t.nq + 1, sizeof *q);
  assert_non_null(q);
  double *begun = q + t.nq;
  tabi_model_initial_q(t.tabi, begun);
  double moved = 0;
  double worst = 0;
  for (int i = 1; i <= (int)(DURATION / STEP + 0.5); ++i) {
    while (t.data->time < i * STEP - t.mj->opt.timestep / 2)
      mj_step(t.mj, t.data);
    if (tabi_world_step(world, NULL) != TABI_OK) fail_msg("%s", tabi_world_error(world)->message);
    twins_q(&t, t.data->qpos, q);
    for (size_t k = 0; k < t.nq; ++k) {
      moved = fmax(moved, fabs(q[k] - begun[k]));
      worst = fmax(worst, fabs(tabi_world_q(world)[k] - q[k]));
    }
  }
  print_message("%s: moved by %.3g, apart by %.2g\n", file, moved, worst);
  assert_true(moved > 1);
  assert_true(worst < 2e-3);
  for (int32_t i = 0; i < tabi_model_nconnection(t.tabi); ++i) {
    assert_true(fabs(tabi_world_connection(world, i).gap) < 1e-6);
  }
  free(q);
  tabi_world_destroy(world);
  twins_close(&t);
}
