/* biped.c - see biped.h. */
#include "gait/biped.h"

#include <stdio.h>
#include <string.h>

const double biped_five[BIPED_ANGLES] = {0.094210,  0.525011, -0.168963, 0.636948,
                                         -0.472434, 0.064641, -0.250000};
const double biped_six[BIPED_ANGLES] = {0.150000,  0.575579, -0.200000, 1.000000,
                                        -0.426257, 0.100609, -0.128392};

static tabi_model *load(void) {
  tabi_error err = {0};
  const double gravity[3] = {0, 0, -9.80};
  tabi_builder *builder = tabi_builder_create();
  tabi_status status =
      tabi_builder_load(builder, TABI_SOURCE_DIR "/models/biped9.urdf", NULL, &err);
  if (status != TABI_OK) fail_msg("%s", err.message);
  tabi_builder_set_gravity(builder, gravity);
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  return model;
}

static int32_t link_of(const biped *b, const char *name) {
  int32_t link = tabi_model_find_link(b->model, name);
  assert_true(link >= 0);
  return link;
}

biped biped_default(void) {
  biped b = {.model = load(), .def = tabi_gait_def_default(), .timestep = 1e-3};
  static const char *const foot[2] = {"left_foot", "right_foot"};
  for (int i = 0; i < 2; ++i)
    b.def.foot[i] = (tabi_gait_foot){
        link_of(&b, foot[i]), {-0.5, 0, -0.5},
          {0.5,  0, -0.5}
    };
  b.def.guards = TABI_GAIT_PAPER;
  b.def.pivot_damping = 50;
  b.def.min_stride = 0.1;
  b.def.scuff = 0.03;
  b.def.sink = 0.05;
  int32_t head = link_of(&b, "head");
  b.force[0] = (tabi_gait_force){
      {link_of(&b,     "right_shank"), link_of(&b, "left_shank")},
      {0, 0,               0},
      {4,             40           },
      {2.9,              2.9             }
  };
  b.force[1] = (tabi_gait_force){
      {head, head},
      {0,    0,    0.5},
      {4.9,    48     },
      {0,    0  }
  };
  b.floor[0] = (tabi_gait_floor){link_of(&b, "waist"), 2.7};
  b.floor[1] = (tabi_gait_floor){head, 4.5};
  b.def.nforce = b.def.nfloor = 2;
  memcpy(b.angle, biped_five, sizeof b.angle);
  return b;
}

static void set_angles(biped *b) {
  static const char *const joint[BIPED_ANGLES] = {
      "left_ankle", "left_knee", "left_hip", "right_hip", "right_knee", "right_ankle", "torso"};
  double q[32];
  const double v[32] = {0};
  tabi_model_initial_q(b->model, q);
  for (int i = 0; i < BIPED_ANGLES; ++i) {
    int32_t at = tabi_model_joint_q(b->model, tabi_model_find_joint(b->model, joint[i])).first;
    /* the support leg is counted from the foot up */
    q[at] = i < 3 ? -b->angle[i] : b->angle[i];
  }
  assert_int_equal(tabi_world_set_state(b->world, q, v, NULL), TABI_OK);
}

void biped_open(biped *b) {
  tabi_error err = {0};
  b->def.force = b->force;
  b->def.floor = b->floor;
  b->gait = tabi_gait_create(b->model, &b->def, &err);
  if (!b->gait) fail_msg("%s", err.message);
  tabi_world_def def = tabi_world_def_default(b->model);
  def.contact = TABI_CONTACT_GAIT;
  def.gait.biped = b->gait;
  def.timestep = b->timestep;
  b->world = tabi_world_create(b->model, &def, &err);
  if (!b->world) fail_msg("%s", err.message);
  set_angles(b);
}

void biped_close(biped *b) {
  tabi_world_destroy(b->world);
  tabi_gait_destroy(b->gait);
  tabi_model_destroy(b->model);
}

bool biped_step(biped *b) {
  tabi_status status = tabi_world_step(b->world, NULL);
  if (status != TABI_OK && status != TABI_ERR_ENDED)
    fail_msg("%s", tabi_world_error(b->world)->message);
  return status == TABI_OK;
}

double biped_balance(biped *b) {
  tabi_energy energy = tabi_world_energy(b->world);
  tabi_gait_state state = tabi_world_gait_state(b->world);
  return energy.kinetic + energy.potential - state.work + state.absorbed;
}
