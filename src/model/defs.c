/* defs.c - the defaults of every def, and the rule that combines two materials. */
#include "base/assertion.h"
#include "tabi/tabi.h"

#include <math.h>

#define NO_ROTATION \
  { 1, 0, 0, 0 }

tabi_link_def tabi_link_def_default(void) {
  return (tabi_link_def){.def_size = sizeof(tabi_link_def)};
}

tabi_joint_def tabi_joint_def_default(void) {
  return (tabi_joint_def){
      .def_size = sizeof(tabi_joint_def),
      .type = TABI_JOINT_FIXED,
      .parent = TABI_WORLD,
      .child = TABI_NONE,
      .quat = NO_ROTATION,
      .axis = {0, 0, 1},
      .lower = -INFINITY,
      .upper = INFINITY,
      .effort = INFINITY,
      .velocity = INFINITY,
      .gear = 1,
      .id = TABI_NONE,
  };
}

tabi_shape_def tabi_shape_def_default(void) {
  return (tabi_shape_def){
      .def_size = sizeof(tabi_shape_def),
      .type = TABI_SHAPE_SPHERE,
      .link = TABI_WORLD,
      .quat = NO_ROTATION,
      .mesh = TABI_NONE,
      .material = TABI_NONE,
      .collides = true,
      .visible = true,
      .group = 1,
      .mask = 1,
      .rgba = {0.66, 0.69, 0.72, 1}, // none that a file would name
  };
}

tabi_mesh_def tabi_mesh_def_default(void) {
  return (tabi_mesh_def){.def_size = sizeof(tabi_mesh_def)};
}

tabi_material_def tabi_material_def_default(void) {
  return (tabi_material_def){
      .def_size = sizeof(tabi_material_def),
      .friction = 0.5,
      .kinetic = -1,
      .restitution = 0,
      .stiffness = 2e6,
      .damping = 1e3,
      .slip_speed = 1e-3,
      .rest_speed = 0.01,
  };
}

tabi_tendon_def tabi_tendon_def_default(void) {
  return (tabi_tendon_def){
      .def_size = sizeof(tabi_tendon_def),
      .lower = -INFINITY,
      .upper = INFINITY,
  };
}

tabi_actuator_def tabi_actuator_def_default(void) {
  return (tabi_actuator_def){
      .def_size = sizeof(tabi_actuator_def),
      .joint = TABI_NONE,
      .tendon = TABI_NONE,
      .gear = 1,
      .gain = 1,
      .control_min = -INFINITY,
      .control_max = INFINITY,
      .force_min = -INFINITY,
      .force_max = INFINITY,
  };
}

tabi_coupling_def tabi_coupling_def_default(void) {
  return (tabi_coupling_def){
      .def_size = sizeof(tabi_coupling_def),
      .joint = TABI_NONE,
      .leader = TABI_NONE,
      .tendon = TABI_NONE,
      .tendon_leader = TABI_NONE,
      .coef = {0, 1, 0, 0, 0},
  };
}

tabi_connection_def tabi_connection_def_default(void) {
  return (tabi_connection_def){
      .def_size = sizeof(tabi_connection_def),
      .type = TABI_CONNECTION_BALL,
      .a = TABI_WORLD,
      .b = TABI_WORLD,
      .quat_a = NO_ROTATION,
      .quat_b = NO_ROTATION,
  };
}

tabi_sensor_def tabi_sensor_def_default(void) {
  tabi_sensor_def def = {
      .def_size = sizeof(tabi_sensor_def),
      .type = TABI_SENSOR_FORCE_TORQUE,
      .link = TABI_NONE,
      .joint = TABI_NONE,
      .quat = NO_ROTATION,
  };
  for (int i = 0; i < TABI_SENSOR_MAX; ++i)
    def.range[i] = INFINITY;
  return def;
}

static double in_series(double a, double b) { return a + b > 0 ? a * b / (a + b) : 0; }

/* negative: as static */
static double kinetic_of(const tabi_material_def *m) {
  return m->kinetic < 0 ? m->friction : m->kinetic;
}

tabi_material_def tabi_material_combine(const tabi_material_def *a, const tabi_material_def *b) {
  TBI_ASSERT(a && b);
  tabi_material_def both = tabi_material_def_default();
  both.friction = sqrt(a->friction * b->friction);
  both.kinetic = sqrt(kinetic_of(a) * kinetic_of(b));
  both.restitution = fmax(a->restitution, b->restitution);
  both.stiffness = in_series(a->stiffness, b->stiffness);
  both.damping = in_series(a->damping, b->damping);
  both.viscous = fmax(a->viscous, b->viscous);
  both.slip_speed = fmax(a->slip_speed, b->slip_speed);
  both.rest_speed = fmax(a->rest_speed, b->rest_speed);
  both.rolling_friction = fmax(a->rolling_friction, b->rolling_friction);
  both.torsional_friction = fmax(a->torsional_friction, b->torsional_friction);
  return both;
}
