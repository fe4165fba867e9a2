#include "stand.h"

#include "support/near.h"
#include "support/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char robot[] =
    "robots:\n"
    "  - name: robot\n"
    "    model: ../models/humanoid36.urdf\n"
    "    self_collision: false\n"
    "    base: free\n"
    "    xyz: [0, 0, %.17g]\n"
    "    posture: {l_hip_pitch: -0.4538, l_knee: 0.8727, l_ankle_pitch: -0.4189,"
    " r_hip_pitch: -0.4538, r_knee: 0.8727, r_ankle_pitch: -0.4189}\n"
    "    lock: [l_bush_z, l_bush_pitch, l_bush_roll, r_bush_z, r_bush_pitch, r_bush_roll]\n"
    "    materials: {l_foot: sole, r_foot: sole}\n"
    "    controller: {type: pd, kp: 2000, kd: 50, implicit: true}\n";

static stand stand_of(tabi_scene *scene) {
  stand t = {.s = scene_world_open(scene)};
  t.model = tabi_scene_model(t.s.scene);
  t.world_def = tabi_scene_world_def(t.s.scene);
  t.nq = tabi_model_nq(t.model);
  t.nv = tabi_model_nv(t.model);
  t.kp = calloc((size_t)t.nv, sizeof *t.kp);
  t.kd = calloc((size_t)t.nv, sizeof *t.kd);
  t.target = calloc((size_t)t.nv, sizeof *t.target);
  tabi_scene_control(t.s.scene, t.s.world);
  for (int32_t j = 0; j < tabi_model_njoint(t.model); ++j) {
    tabi_range dof = tabi_model_joint_v(t.model, j);
    if (dof.count != 1) continue;
    tabi_servo servo = tabi_world_get_servo(t.s.world, j);
    t.kp[dof.first] = servo.kp;
    t.kd[dof.first] = servo.kd;
    t.target[dof.first] = servo.target;
  }
  return t;
}

stand stand_open(void) { return stand_of(load_shipped_scene("stand", NULL)); }

stand stand_open_on(const char *ground, double height) {
  char text[8192];
  int n = snprintf(text, sizeof text,
                   "name: standing\ntimestep: 1e-3\nduration: 10\n"
                   "materials:\n  ground: {friction: 0.7}\n  sole: {friction: 0.6}\n"
                   "bodies:\n%s",
                   ground);
  (void)snprintf(text + n, sizeof text - (size_t)n, robot, height);
  return stand_of(load_scene_text(text, TABI_SOURCE_DIR "/scenes/standing.yaml", NULL));
}

void stand_close(stand *t) {
  scene_world_close(&t->s);
  free(t->kp);
  free(t->kd);
  free(t->target);
}

tabi_batch *stand_batch(const stand *t, tabi_batch_def def) {
  tabi_error err;
  def.kp = t->kp;
  def.kd = t->kd;
  tabi_batch *b = tabi_batch_create(t->model, &t->world_def, &def, &err);
  if (!b) fail_msg("%s", err.message);
  double *target = tabi_batch_array(b, TABI_BATCH_TARGET, NULL);
  for (int32_t i = 0; i < def.worlds; ++i) {
    assert_int_equal(
        tabi_batch_reset(b, &i, 1, tabi_world_q(t->s.world), tabi_world_v(t->s.world), &err),
        TABI_OK);
    memcpy(target + (ptrdiff_t)i * t->nv, t->target, sizeof *target * (size_t)t->nv);
  }
  return b;
}

void stand_scatter(tabi_batch *b, double position) {
  for (int32_t i = 0; i < tabi_batch_worlds(b); ++i)
    tabi_batch_scatter(b, i, (uint64_t)i + 1, position, 10 * position);
}

/* a world's targets depend on its state alone, so that neighbours and order do not matter */
static void set_targets(const stand *t, tabi_batch *b, double sway) {
  double *target = tabi_batch_array(b, TABI_BATCH_TARGET, NULL);
  const double *q = tabi_batch_array(b, TABI_BATCH_Q, NULL);
  for (int32_t i = 0; i < tabi_batch_worlds(b); ++i) {
    double own = q[(ptrdiff_t)i * t->nq];
    for (int32_t k = 0; k < t->nv; ++k) {
      double phase = fmod(1e3 * own * (k + 1), 1);
      target[(ptrdiff_t)i * t->nv + k] = t->target[k] + sway * phase;
    }
  }
}

void stand_run(const stand *t, tabi_batch *b, int32_t steps, int32_t k, double sway) {
  for (int32_t i = 0; i < steps; i += k) {
    if (sway > 0 && i % 20 == 0) set_targets(t, b, sway);
    tabi_batch_step(b, k, NULL);
  }
}

uint64_t stand_hash(tabi_batch *b, int32_t world) {
  uint64_t hash = 14695981039346656037U;
  for (int f = TABI_BATCH_Q; f <= TABI_BATCH_V; ++f) {
    int32_t n;
    const double *row = tabi_batch_array(b, (tabi_batch_field)f, &n);
    const unsigned char *bytes = (const unsigned char *)(row + (ptrdiff_t)world * n);
    for (size_t i = 0; i < sizeof(double) * (size_t)n; ++i)
      hash = (hash ^ bytes[i]) * 1099511628211U;
  }
  return hash;
}
