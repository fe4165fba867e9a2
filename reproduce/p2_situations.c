/* p2_situations.c - see p2_situations.h. */
#include "p2_situations.h"

#include "measure.h"
#include "series.h"
#include "simulation.h"

#include <math.h>
#include <stdio.h>

static const tabi_contact_kind methods[TBI_VARIANTS] = {
    [TBI_OURS] = TABI_CONTACT_PENALTY, [TBI_PUBLISHED] = TABI_CONTACT_PENALTY_PAPER};

static const char *const stack_reason =
    "contacts are assembled one after another, and what comes later is felt in the next step only: "
    "on a stack of ten the corners push each other off at steps of 1 ms (up to 0.2 ms it stands)";

/* a shipped scene with steps of 1 ms for so many seconds */
static tabi_status run_scene(tbi_trial *trial, const char *name, double seconds,
                             tbi_simulation *sim, tabi_error *err) {
  char model[64];
  (void)snprintf(model, sizeof model, "contact.model=%s",
                 tabi_contact_name(methods[trial->variant]));
  const char *const set[] = {model, "timestep=0.001", NULL};
  tabi_status status = tbi_simulation_open(sim, name, set, err);
  for (int64_t i = 0; i < llround(seconds / 1e-3) && status == TABI_OK; ++i)
    status = tbi_simulation_step(sim, err);
  return status;
}

/* at rest the floor carries the weight */
static tabi_status check_figure(tbi_trial *trial, tabi_error *err) {
  tbi_simulation sim;
  tabi_status status = run_scene(trial, "stand_figure40.yaml", 3, &sim, err);
  if (status == TABI_OK) {
    const double *v = tabi_world_v(sim.world);
    const double about[3] = {0};
    double force[3], moment[3];
    double weight = tabi_model_mass(sim.model) * 9.81;
    tbi_simulation_contact_force(&sim, TABI_WORLD, about, force, moment);
    tbi_expect_below(trial, "figure40 stands at 1 ms: floor's force off the weight", "%",
                     100 * fabs(force[2] / weight - 1), 1);
    tbi_expect_below(trial, "figure40 stands at 1 ms: speed after 3 s", "mm/s",
                     1e3 * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 1);
  }
  tbi_simulation_close(&sim);
  return status;
}

/* whether the top of the stack stays */
static tabi_status check_stack(tbi_trial *trial, tabi_error *err) {
  tbi_simulation sim;
  tabi_status status = run_scene(trial, "stack.yaml", 5, &sim, err);
  if (status == TABI_OK) {
    int32_t top = tbi_simulation_joint(&sim, "box9");
    const double *q = tabi_world_q(sim.world) + tabi_model_joint_q(sim.model, top).first;
    double moved = sqrt(q[0] * q[0] + q[1] * q[1] + (q[2] - 1.9) * (q[2] - 1.9));
    tbi_may_differ(trial, stack_reason, NULL);
    tbi_expect_below(trial, "ten boxes stacked, 1 ms: the top moves in 5 s by", "mm", 1e3 * moved,
                     10);
    tbi_may_differ(trial, NULL, NULL);
  }
  tbi_simulation_close(&sim);
  return status;
}

/* Balls in a row, each hinged to the one before, all on the floor. */
static tabi_model *snake_model(int32_t links, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return NULL;
  const double radius = 0.05;
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_PLANE;
  shape.link = TABI_WORLD;
  (void)tabi_builder_add_shape(builder, &shape);
  tabi_link_def link = tabi_link_def_default();
  link.mass = 0.5;
  for (int k = 0; k < 3; ++k)
    link.inertia[k] = 0.4 * link.mass * radius * radius;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.initial_q[2] = radius;
  shape.type = TABI_SHAPE_SPHERE;
  shape.size[0] = radius;
  for (int32_t i = 0; i < links; ++i) {
    joint.child = shape.link = tabi_builder_add_link(builder, &link);
    (void)tabi_builder_add_joint(builder, &joint);
    (void)tabi_builder_add_shape(builder, &shape);
    joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_CONTINUOUS;
    joint.parent = shape.link;
    joint.pos[0] = 2 * radius;
    for (int k = 0; k < 3; ++k)
      joint.axis[k] = k == 1 + i % 2;
  }
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

/* The minimum time per step of such a chain. */
static tabi_status time_snake(const tbi_trial *trial, int32_t links, double *seconds,
                              tabi_error *err) {
  enum { BLOCKS = 15, STEPS = 20 };
  tabi_model *model = snake_model(links, err);
  if (!model) return tbi_no_memory(err);
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = methods[trial->variant];
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open_model(&sim, model, &def, err);
  *seconds = INFINITY;
  for (int b = 0; b < BLOCKS && status == TABI_OK; ++b) {
    double start = tbi_measure_clock();
    for (int i = 0; i < STEPS && status == TABI_OK; ++i)
      status = tbi_simulation_step(&sim, err);
    *seconds = fmin(*seconds, (tbi_measure_clock() - start) / STEPS);
  }
  tbi_simulation_close(&sim);
  return status;
}

static tabi_status check_growth(tbi_trial *trial, tabi_error *err) {
  enum { FEW = 20, MANY = 400 };
  double few = 0, many = 0;
  tabi_status status = time_snake(trial, FEW, &few, err);
  if (status == TABI_OK) status = time_snake(trial, MANY, &many, err);
  if (status != TABI_OK) return status;
  tbi_expect_below(trial, "time of links in contact from 20 to 400: exponent", "",
                   log(many / few) / log((double)MANY / FEW), 1.1);
  return TABI_OK;
}

tabi_status tbi_p2_check_situations(tbi_trial *trial, tabi_error *err) {
  static const tbi_variant order[TBI_VARIANTS] = {TBI_PUBLISHED, TBI_OURS};
  tabi_status status = TABI_OK;
  for (int i = 0; i < TBI_VARIANTS && status == TABI_OK; ++i) {
    trial->variant = order[i];
    tbi_trial_progress(trial, tabi_contact_name(methods[trial->variant]));
    status = check_figure(trial, err);
    if (status == TABI_OK) status = check_stack(trial, err);
    if (status == TABI_OK) status = check_growth(trial, err);
  }
  return status;
}
