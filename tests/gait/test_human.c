/* test_human.c - a planar biped of the size of a man walks by torques of the published form, so
 * that the method is not tied to one set of numbers; and its feet, too, slip the farther the less
 * friction there is. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_gait.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>

#define MAX_STEPS 16

typedef struct trial {
  tabi_scene *scene;
  tabi_world *world;
  int nstep, nheel;
  tabi_gait_event step[MAX_STEPS];
} trial;

static trial open_trial(double friction) {
  trial w = {0};
  char text[32];
  const char *set = text;
  tabi_scene_def def = tabi_scene_def_default();
  (void)snprintf(text, sizeof text, "gait.friction=%g", friction);
  def.set = &set;
  def.nset = 1;
  w.scene = load_shipped_scene("human_walk", &def);
  w.world = open_world(w.scene, NULL);
  return w;
}

static void close_trial(trial *w) {
  tabi_world_destroy(w->world);
  tabi_scene_destroy(w->scene);
}

/* false: the gait has ended */
static bool step_trial(trial *w) {
  int32_t count;
  tabi_scene_control(w->scene, w->world);
  tabi_status status = tabi_world_step(w->world, NULL);
  if (status != TABI_OK && status != TABI_ERR_ENDED)
    fail_msg("%s", tabi_world_error(w->world)->message);
  if (status != TABI_OK) return false;
  const tabi_gait_event *event = tabi_world_gait_events(w->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (strcmp(event[i].cause, "heel lands") == 0) ++w->nheel;
    if (strcmp(event[i].cause, "slip ends") == 0 && w->nstep < MAX_STEPS)
      w->step[w->nstep++] = event[i];
  }
  return true;
}

/* kinetic and potential energy, less the work done, plus what was lost: constant */
static double balance(const trial *w) {
  tabi_energy energy = tabi_world_energy(w->world);
  tabi_gait_state state = tabi_world_gait_state(w->world);
  return energy.kinetic + energy.potential - state.work + state.absorbed;
}

/* at least four steps, each by the heel first, and the balance of energy along the way */
static void human_walks(void **state) {
  (void)state;
  trial w = open_trial(0.5);
  double before = balance(&w);
  double worst = 0;
  while (step_trial(&w))
    worst = fmax(worst, fabs(balance(&w) - before));
  for (int i = 0; i < w.nstep; ++i) {
    print_message("step %d: %.3f s, stride %.3f m, slip %+.4f m, push %.0f N\n", i + 1,
                  w.step[i].time, w.step[i].stride, w.step[i].slip, w.step[i].mean_normal);
    assert_true(w.step[i].stride > 0.05);
  }
  tabi_gait_state end = tabi_world_gait_state(w.world);
  print_message("ends at %.3f s: %s; a sole had to pull %.1f %% of the time; energy: %.1e J\n",
                tabi_world_time(w.world), tabi_gait_outcome_text(end.outcome),
                100 * end.pulled / tabi_world_time(w.world), worst);
  assert_true(w.nstep >= 4);
  assert_true(w.nheel >= w.nstep);
  assert_true(worst < 1e-6);
  close_trial(&w);
}

static void slip_grows(void **state) {
  (void)state;
  static const double friction[] = {0.5, 0.3, 0.1};
  double longest = 0;
  for (size_t i = 0; i < sizeof friction / sizeof friction[0]; ++i) {
    trial w = open_trial(friction[i]);
    while (w.nstep == 0)
      assert_true(step_trial(&w));
    print_message("friction %.1f: the first foot slips %+.4f m\n", friction[i], w.step[0].slip);
    assert_true(fabs(w.step[0].slip) > longest);
    longest = fabs(w.step[0].slip);
    close_trial(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(human_walks),
      cmocka_unit_test(slip_grows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
