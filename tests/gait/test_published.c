/* test_published.c - the gait published in P3: a biped driven by torques alone makes steps that
 * grow shorter, while its landing feet slip farther, and falls.
 *
 * Times, strides and forces are those that an independent program found for the same start.  Along
 * the way hold: the balance of energy, the balance of momentum with the forces listed on heels and
 * toes, and the heights of the points that touch. */
#include "gait/biped.h"

#include <stdio.h>
#include <string.h>

#define MAX_STEPS 12

typedef struct step {
  double time, touchdown, stride, slip, push;
} step;

typedef struct trace {
  int nstep;
  step step[MAX_STEPS];
  double worst_balance; /* J, between events: largest of a step, and sum of all */
  double drift;
  tabi_gait_state end;
  double time;
} trace;

static void note_events(const biped *b, trace *w, bool *quiet) {
  int32_t count;
  const tabi_gait_event *event = tabi_world_gait_events(b->world, &count);
  *quiet = count == 0;
  for (int32_t i = 0; i < count; ++i) {
    bool impact = strstr(event[i].cause, "lands") || strstr(event[i].cause, "returns");
    if (impact && event[i].dissipated < -1e-12) fail_msg("%s: gains energy", event[i].cause);
    if (strcmp(event[i].cause, "slip ends") != 0) continue;
    assert_true(w->nstep < MAX_STEPS);
    w->step[w->nstep++] = (step){event[i].time, event[i].touchdown, event[i].stride, event[i].slip,
                                 event[i].mean_normal};
  }
}

/* Walks to its end; between events the balance of energy is measured. */
static trace run(biped *b) {
  trace w = {0};
  biped_open(b);
  double before = biped_balance(b);
  while (biped_step(b)) {
    bool quiet;
    note_events(b, &w, &quiet);
    double after = biped_balance(b);
    if (quiet) w.worst_balance = fmax(w.worst_balance, fabs(after - before));
    if (quiet) w.drift += after - before;
    before = after;
    assert_true(tabi_world_time(b->world) < 20);
  }
  w.end = tabi_world_gait_state(b->world);
  w.time = tabi_world_time(b->world);
  return w;
}

static void print_trace(const char *name, const trace *w) {
  for (int i = 0; i < w->nstep; ++i) {
    print_message("%s, step %d: %.4f s, lands %.3f m ahead, slip %+.3f m, stride %.3f m, "
                  "push %.1f N\n",
                  name, i + 1, w->step[i].time, w->step[i].touchdown, w->step[i].slip,
                  w->step[i].stride, w->step[i].push);
  }
  print_message("%s ends at %.3f s: %s; a sole had to pull %.0f %% of the time\n", name, w->time,
                tabi_gait_outcome_text(w->end.outcome), 100 * w->end.pulled / w->time);
}

/* five swaps at known times, strides that shrink, a push that weakens, then the fall */
static void five_steps(void **state) {
  (void)state;
  static const double time[5] = {1.466, 2.620, 3.626, 4.476, 5.214};
  static const double stride[5] = {0.371, 0.357, 0.353, 0.329, 0.306};
  static const double touchdown[5] = {0.549, 0.361, 0.332, 0.229, 0.103};
  static const double push[5] = {67, 46, 28, 18, 15};
  biped b = biped_default();
  trace w = run(&b);
  print_trace("five", &w);
  assert_int_equal(w.nstep, 5);
  for (int i = 0; i < 5; ++i) {
    assert_near(w.step[i].time, time[i], 0.02);
    assert_near(w.step[i].stride, stride[i], 2e-3);
    assert_near(w.step[i].touchdown, touchdown[i], 2e-3);
    /* the support foot does not move */
    assert_near(w.step[i].stride, w.step[i].touchdown + w.step[i].slip, 1e-7);
    assert_near(w.step[i].push, push[i], 1);
    if (i == 0) continue;
    assert_true(w.step[i].stride < w.step[i - 1].stride);
    assert_true(w.step[i].push < w.step[i - 1].push);
  }
  assert_int_equal(w.end.outcome, TABI_GAIT_BEHIND);
  assert_near(w.time, 5.587, 0.02);
  print_message("balance of energy between events: %.1e J\n", w.worst_balance);
  assert_true(w.worst_balance < 1e-6);
  biped_close(&b);
}

static void six_steps(void **state) {
  (void)state;
  static const double time[6] = {1.729, 3.014, 4.135, 5.156, 6.098, 6.944};
  static const double stride[6] = {0.412, 0.346, 0.329, 0.380, 0.377, 0.374};
  biped b = biped_default();
  memcpy(b.angle, biped_six, sizeof b.angle);
  b.timestep = 5e-3;
  trace w = run(&b);
  print_trace("six", &w);
  assert_int_equal(w.nstep, 6);
  for (int i = 0; i < 6; ++i) {
    assert_near(w.step[i].time, time[i], 0.02);
    assert_near(w.step[i].stride, stride[i], 2e-3);
  }
  assert_true(w.worst_balance < 1e-6);
  biped_close(&b);
}

/* where events are located, the length of the steps between does not matter */
static void any_step_length(void **state) {
  (void)state;
  trace w[2];
  static const double timestep[2] = {4e-3, 1.5e-3};
  for (int i = 0; i < 2; ++i) {
    biped b = biped_default();
    b.timestep = timestep[i];
    w[i] = run(&b);
    biped_close(&b);
  }
  assert_int_equal(w[0].nstep, w[1].nstep);
  for (int i = 0; i < w[0].nstep; ++i)
    assert_near(w[0].step[i].time, w[1].step[i].time, 1e-7);
}

/* Events at the ends of 5 ms steps, as published: the same story, later or earlier by some steps,
 * and energy to one per cent of what is put in. */
static void events_by_step(void **state) {
  (void)state;
  biped b = biped_default();
  b.def.events = TABI_GAIT_STEP;
  b.timestep = 5e-3;
  trace w = run(&b);
  print_trace("by steps of 5 ms", &w);
  assert_in_range(w.nstep, 4, 6);
  for (int i = 1; i < w.nstep; ++i)
    assert_true(w.step[i].push < w.step[i - 1].push);
  print_message("energy: %.3f J of %.1f J missed\n", fabs(w.drift), w.end.work + w.end.absorbed);
  assert_true(fabs(w.drift) < 0.01 * (w.end.work + w.end.absorbed));
  biped_close(&b);
}

/* less friction, longer slip */
static void slippery(void **state) {
  (void)state;
  static const double friction[3] = {0.5, 0.3, 0.1};
  double slip[3];
  for (int i = 0; i < 3; ++i) {
    biped b = biped_default();
    b.def.friction = friction[i];
    b.timestep = 5e-3;
    trace w = run(&b);
    assert_true(w.nstep > 0);
    slip[i] = fabs(w.step[0].slip);
    print_message("friction %g: first foot slips by %.3f m\n", friction[i], slip[i]);
    if (i > 0) assert_true(slip[i] > slip[i - 1]);
    biped_close(&b);
  }
}

/* Momentum along x and z, and about y through the world's origin, of the whole robot. */
static void momentum(biped *b, double p[3]) {
  const tabi_dynamics *d = tabi_world_dynamics(b->world);
  double lin[3], ang[3], com[3];
  tabi_dynamics_momentum(d, lin, ang);
  tabi_dynamics_com(d, com);
  p[0] = lin[0];
  p[1] = lin[2];
  p[2] = ang[1] + com[2] * lin[0] - com[0] * lin[2];
}

/* Its rate, by the forces listed on heels and toes and by weight. */
static void push_of_ground(biped *b, double f[3]) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(b->world, &count);
  double com[3];
  double weight = 11.5 * 9.80;
  tabi_dynamics_com(tabi_world_dynamics(b->world), com);
  f[0] = 0;
  f[1] = -weight;
  f[2] = com[0] * weight;
  for (int32_t i = 0; i < count; ++i) {
    const double *at = contact[i].point;
    double along = contact[i].impulse[0] / b->timestep;
    double up = contact[i].impulse[2] / b->timestep;
    f[0] += along;
    f[1] += up;
    f[2] += at[2] * along - at[0] * up;
    assert_near(at[2], 0, 1e-9);
  }
}

/* The forces on heels and toes are all that moves the robot: its momentum, linear and angular,
 * changes by their integral, here by Simpson's rule over two steps. */
static void forces_on_the_ground(void **state) {
  (void)state;
  biped b = biped_default();
  b.timestep = 5e-4;
  biped_open(&b);
  double p[3][3] = {{0}}, f[3][3] = {{0}}; /* now, one and two steps ago */
  double worst = 0;
  int quiet = 0; /* steps without an event */
  for (int i = 0; i < 3500 && biped_step(&b); ++i) {
    int32_t count;
    (void)tabi_world_gait_events(b.world, &count);
    memmove(p[1], p[0], sizeof p[0] * 2);
    memmove(f[1], f[0], sizeof f[0] * 2);
    momentum(&b, p[0]);
    push_of_ground(&b, f[0]);
    quiet = count == 0 ? quiet + 1 : 0;
    for (int k = 0; k < 3 && quiet > 2; ++k) {
      double mean = (p[0][k] - p[2][k]) / (2 * b.timestep);
      worst = fmax(worst, fabs(mean - (f[0][k] + 4 * f[1][k] + f[2][k]) / 6));
    }
    tabi_gait_state s = tabi_world_gait_state(b.world);
    if (s.mode[0] != '1') assert_true(s.normal >= 0);
    assert_near(s.heel_force + s.toe_force, f[0][1] + 11.5 * 9.80 - s.normal, 1e-9);
  }
  print_message("forces against momentum: %.1e N\n", worst);
  assert_true(worst < 2e-3);
  biped_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(five_steps),      cmocka_unit_test(six_steps),
      cmocka_unit_test(any_step_length), cmocka_unit_test(events_by_step),
      cmocka_unit_test(slippery),        cmocka_unit_test(forces_on_the_ground),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
