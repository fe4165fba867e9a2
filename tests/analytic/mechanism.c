/* mechanism.c - see mechanism.h. */
#include "mechanism.h"

tabi_connection_def mechanism_join(tabi_connection_type type, int32_t a, v3 at_a, int32_t b,
                                   v3 at_b) {
  tabi_connection_def def = tabi_connection_def_default();
  def.type = type;
  def.a = a;
  def.b = b;
  v3_store(at_a, def.pos_a);
  v3_store(at_b, def.pos_b);
  return def;
}

int32_t mechanism_connect(scene *s, tabi_connection_type type, int32_t a, v3 at_a, int32_t b,
                          v3 at_b) {
  tabi_connection_def def = mechanism_join(type, a, at_a, b, at_b);
  return tabi_builder_add_connection(s->builder, &def);
}

int32_t mechanism_pin(scene *s, int32_t a, v3 at_a, int32_t b, v3 at_b) {
  tabi_connection_def def = mechanism_join(TABI_CONNECTION_AXES, a, at_a, b, at_b);
  def.axes = TABI_MOVE_X | TABI_MOVE_Y;
  return tabi_builder_add_connection(s->builder, &def);
}

int32_t mechanism_bar(scene *s, int32_t parent, v3 at, double mass, v3 com, double moment) {
  tabi_joint_def joint = scene_hinge(TABI_JOINT_CONTINUOUS, parent, at, v3_make(0, 0, 1));
  return scene_link(s, mass, com, v3_make(moment, moment, moment), joint);
}

void mechanism_gravity(scene *s, v3 gravity) {
  double g[3];
  v3_store(gravity, g);
  tabi_builder_set_gravity(s->builder, g);
}

void mechanism_open(scene *s, tabi_integrator integrator, double timestep) {
  tabi_world_def def = scene_def(s);
  def.integrator = integrator;
  def.timestep = timestep;
  scene_open(s, &def);
}

void mechanism_set(scene *s, int32_t link, double q, double v) { scene_set(s, link, &q, &v); }

mechanism_watch mechanism_begin(scene *s) { return (mechanism_watch){.start = scene_energy(s)}; }

void mechanism_run(scene *s, mechanism_watch *watch, int64_t steps) {
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(s, 1);
    for (int32_t i = 0; i < tabi_model_nconnection(s->model); ++i) {
      if (tabi_model_connection(s->model, i).type == TABI_CONNECTION_SPRING) continue;
      tabi_connection_state state = tabi_world_connection(s->world, i);
      watch->gap = fmax(watch->gap, state.gap);
      watch->turn = fmax(watch->turn, state.turn);
    }
    watch->energy = fmax(watch->energy, fabs(scene_energy(s) - watch->start));
    watch->kinetic = fmax(watch->kinetic, tabi_world_energy(s->world).kinetic);
  }
}
