/* test_limits.c - models whose numbers are as large, as small and as different as the builder
 * allows.  Nobody has such a robot; a step must yet end, with a finite state or an error, and never
 * abort.  docs/limits.md has the limits. */
#include "property/property.h"

#include <stdlib.h>
#include <string.h>

#define MODELS (TEST_SHORT ? 200 : 2000)
#define STEPS  20

/* a number between two magnitudes, often at an end */
static double magnitude(rng *r, double low, double high) {
  double x = rng_unit(r);
  if (x < 0.2) return low;
  if (x < 0.4) return high;
  return low * pow(high / low, rng_unit(r));
}

static double coordinate(rng *r) {
  double x = rng_unit(r);
  if (x < 0.4) return 0;
  return (rng_unit(r) < 0.5 ? -1 : 1) * magnitude(r, 1e-9, 1e9);
}

static void draw_link(rng *r, tabi_link_def *link) {
  double size = magnitude(r, 1e-9, 1e9);
  link->mass = magnitude(r, 1e-18, 1e18);
  for (int i = 0; i < 3; ++i) {
    link->com[i] = rng_unit(r) < 0.6 ? 0 : coordinate(r);
    link->inertia[i] = link->mass * size * size;
  }
}

static void draw_joint(rng *r, tabi_joint_def *joint) {
  static const tabi_joint_type types[] = {TABI_JOINT_FREE, TABI_JOINT_REVOLUTE,
                                          TABI_JOINT_PRISMATIC, TABI_JOINT_BALL, TABI_JOINT_PLANAR};
  joint->type = types[rng_below(r, 5)];
  for (int i = 0; i < 3; ++i)
    joint->pos[i] = coordinate(r);
  rng_direction(r, joint->quat, 4);
  rng_direction(r, joint->axis, 3);
  if (rng_unit(r) < 0.3) joint->stiffness = magnitude(r, 1e-18, 1e18);
  if (rng_unit(r) < 0.3) joint->damping = magnitude(r, 1e-18, 1e18);
  if (rng_unit(r) < 0.3) joint->friction = magnitude(r, 1e-18, 1e18);
  if (rng_unit(r) < 0.3) joint->rotor_inertia = magnitude(r, 1e-18, 1e18);
  if (rng_unit(r) < 0.2) joint->gear = magnitude(r, 1e-9, 1e9);
  if (rng_unit(r) < 0.2) joint->upper = 0;
}

static void draw_shape(rng *r, int32_t link, tabi_shape_def *shape) {
  static const tabi_shape_type types[] = {TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE,
                                          TABI_SHAPE_CYLINDER, TABI_SHAPE_BOX,
                                          TABI_SHAPE_ELLIPSOID};
  shape->type = types[rng_below(r, 5)];
  shape->link = link;
  for (int i = 0; i < 3; ++i) {
    shape->size[i] = magnitude(r, 1e-12, 1e9);
    shape->pos[i] = rng_unit(r) < 0.7 ? 0 : coordinate(r);
  }
}

static void add_surface(rng *r, tabi_builder *builder) {
  tabi_material_def material = tabi_material_def_default();
  material.friction = magnitude(r, 1e-6, 1e6);
  material.restitution = rng_unit(r);
  material.stiffness = magnitude(r, 1e-18, 1e18);
  material.damping = magnitude(r, 1e-18, 1e18);
  assert_true(tabi_builder_add_material(builder, &material) >= 0);
}

static void add_body(rng *r, tabi_builder *builder) {
  tabi_link_def link = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  tabi_shape_def shape = tabi_shape_def_default();
  draw_link(r, &link);
  int32_t index = tabi_builder_add_link(builder, &link);
  draw_joint(r, &joint);
  joint.child = index;
  joint.parent = index > 0 && rng_unit(r) < 0.6 ? rng_below(r, index) : TABI_WORLD;
  (void)tabi_builder_add_joint(builder, &joint);
  draw_shape(r, index, &shape);
  shape.material = 0;
  (void)tabi_builder_add_shape(builder, &shape);
}

static tabi_model *draw_model(rng *r) {
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  add_surface(r, builder);
  tabi_shape_def ground = tabi_shape_def_default();
  ground.type = TABI_SHAPE_PLANE;
  ground.material = 0;
  (void)tabi_builder_add_shape(builder, &ground);
  int32_t count = 1 + rng_below(r, 6);
  for (int32_t i = 0; i < count; ++i)
    add_body(r, builder);
  if (rng_unit(r) < 0.3) tabi_builder_set_gravity(builder, (double[3]){0, 0, -1e6});
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) print_error("%s\n", err.message);
  assert_non_null(model); /* all numbers are within the limits */
  tabi_builder_destroy(builder);
  return model;
}

static void expect_finite(tabi_world *world, uint64_t seed) {
  const tabi_model *model = tabi_world_model(world);
  bool finite = true;
  for (int32_t i = 0; i < tabi_model_nq(model); ++i)
    finite &= isfinite(tabi_world_q(world)[i]) != 0;
  for (int32_t i = 0; i < tabi_model_nv(model); ++i)
    finite &= isfinite(tabi_world_v(world)[i]) != 0;
  tabi_energy energy = tabi_world_energy(world);
  finite &= isfinite(energy.kinetic) && isfinite(energy.potential) && isfinite(energy.spring);
  if (!finite)
    print_error("a state or energy is not finite; rerun with TABI_SEED=%llu\n",
                (unsigned long long)seed);
  assert_true(finite);
}

/* both refuse the same models; returns whether it could be stepped at all */
static bool run_method(const tabi_model *model, tabi_world_def *def, uint64_t seed) {
  tabi_error err = {0};
  tabi_dynamics *dynamics = tabi_dynamics_create(model, NULL);
  tabi_world *world = tabi_world_create(model, def, &err);
  if (!dynamics != !world) print_error("seed %llu: %s\n", (unsigned long long)seed, err.message);
  assert_true(!dynamics == !world);
  tabi_dynamics_destroy(dynamics);
  if (!world) assert_int_equal(err.status, TABI_ERR_MODEL);
  for (int i = 0; world && i < STEPS; ++i) {
    tabi_status status = tabi_world_step(world, NULL);
    expect_finite(world, seed);
    if (status != TABI_OK) break;
  }
  tabi_world_destroy(world);
  return world != NULL;
}

static bool run_seed(uint64_t seed) {
  rng r = rng_make(seed);
  tabi_model *model = draw_model(&r);
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = (tabi_contact_kind)(seed % TABI_CONTACT_COUNT);
  if (def.contact == TABI_CONTACT_GAIT) def.contact = TABI_CONTACT_CONE;
  def.integrator = (tabi_integrator)rng_below(&r, TABI_INTEGRATOR_COUNT);
  if (tabi_contact_describe(def.contact)->implicit_only) def.integrator = TABI_SEMI_IMPLICIT;
  def.timestep = magnitude(&r, 1e-7, 0.1);
  bool stepped = run_method(model, &def, seed);
  tabi_model_destroy(model);
  return stepped;
}

static void test_steps_end_at_the_limits(void **state) {
  (void)state;
  const char *chosen = getenv("TABI_SEED");
  int stepped = 0;
  for (uint64_t seed = 1; !chosen && seed <= MODELS; ++seed)
    stepped += run_seed(seed);
  if (chosen) (void)run_seed(strtoull(chosen, NULL, 0));
  /* the test means something only if most models are stepped */
  if (!chosen) assert_true(stepped > MODELS / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps_end_at_the_limits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
