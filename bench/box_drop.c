/* box_drop.c - see box_drop.h. */
#include "box_drop.h"

#include "base/error.h"

#include <math.h>

static const double edge = 0.2;      /* m */
static const double height = 0.3;    /* m */
static const double too_much = 1.02; /* energy against that at the start */

const tbi_drop_method tbi_drop_methods[TBI_DROP_METHODS] = {
    {"euler",      TABI_CONTACT_PENALTY,       TABI_EULER        },
    {"rk4",        TABI_CONTACT_PENALTY,       TABI_RK4          },
    {"implicit-a", TABI_CONTACT_PENALTY_PAPER, TABI_SEMI_IMPLICIT},
    {"implicit-b", TABI_CONTACT_PENALTY,       TABI_SEMI_IMPLICIT}
};

const double tbi_drop_grid[TBI_DROP_STEPS] = {0.05e-3, 0.1e-3, 0.2e-3, 0.25e-3, 0.3e-3, 0.4e-3,
                                              0.5e-3,  0.7e-3, 1e-3,   1.4e-3,  2e-3,   2.5e-3,
                                              3e-3,    3.5e-3, 4e-3,   5e-3,    7e-3,   10e-3};
const double tbi_drop_duration = 1.5;

static void add_cube(tabi_builder *builder, int32_t material) {
  tabi_link_def link = tabi_link_def_default();
  link.name = "box";
  link.mass = 1;
  for (int i = 0; i < 3; ++i)
    link.inertia[i] = link.mass * edge * edge / 6;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.name = "box";
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.initial_q[2] = height;
  const double tilt[2] = {0.1, 0.07}; /* a rotation vector's x and y, rad */
  double angle = sqrt(tilt[0] * tilt[0] + tilt[1] * tilt[1]);
  joint.initial_q[3] = cos(0.5 * angle);
  for (int i = 0; i < 2; ++i)
    joint.initial_q[4 + i] = sin(0.5 * angle) / angle * tilt[i];
  (void)tabi_builder_add_joint(builder, &joint);
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_BOX;
  shape.link = joint.child;
  shape.material = material;
  for (int i = 0; i < 3; ++i)
    shape.size[i] = edge;
  (void)tabi_builder_add_shape(builder, &shape);
}

/* the pair's stiffness and damping, not those of one side */
static int32_t add_spring(tabi_builder *builder) {
  tabi_material_def def = tabi_material_def_default();
  def.name = "spring";
  def.friction = 0.5;
  int32_t material = tabi_builder_add_material(builder, &def);
  def.stiffness = 1e6;
  def.damping = 500;
  (void)tabi_builder_add_pair(builder, material, material, &def);
  return material;
}

tabi_model *tbi_drop_model(tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  const double gravity[3] = {0, 0, -9.8};
  tabi_builder_set_gravity(builder, gravity);
  int32_t material = add_spring(builder);
  tabi_shape_def floor = tabi_shape_def_default();
  floor.type = TABI_SHAPE_PLANE;
  floor.link = TABI_WORLD;
  floor.material = material;
  (void)tabi_builder_add_shape(builder, &floor);
  add_cube(builder, material);
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

tabi_world *tbi_drop_open(const tabi_model *model, const tbi_drop_method *method, double timestep) {
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = method->contact;
  def.integrator = method->integrator;
  def.timestep = timestep;
  def.penalty.tangential_stiffness = 0;
  return tabi_world_create(model, &def, NULL);
}

static double energy_of(tabi_world *world) {
  tabi_energy e = tabi_world_energy(world);
  return e.kinetic + e.potential;
}

static double deepest(const tabi_world *world) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  double depth = 0;
  for (int32_t i = 0; i < count; ++i)
    depth = fmax(depth, -contact[i].gap);
  return depth;
}

static bool is_at_rest(const tabi_world *world) {
  const double *q = tabi_world_q(world);
  const double *v = tabi_world_v(world);
  double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return fabs(q[2] - edge / 2) < 2e-3 && speed < 0.02;
}

tbi_drop_outcome tbi_drop_run(const tabi_model *model, const tbi_drop_method *method,
                              double timestep, double *depth) {
  tabi_world *world = tbi_drop_open(model, method, timestep);
  *depth = 0;
  if (!world) return TBI_DROP_FAILED;
  double start = energy_of(world), max_energy = 0;
  bool diverged = false;
  while (!diverged && tabi_world_time(world) < tbi_drop_duration - 0.5 * timestep) {
    diverged = tabi_world_step_or_grow(world, NULL) != TABI_OK;
    *depth = fmax(*depth, deepest(world));
    max_energy = fmax(max_energy, energy_of(world) / start);
    diverged = diverged || max_energy > 10;
  }
  bool good = is_at_rest(world) && max_energy <= too_much;
  tabi_world_destroy(world);
  return diverged ? TBI_DROP_DIVERGED : good ? TBI_DROP_GOOD : TBI_DROP_UNNATURAL;
}
