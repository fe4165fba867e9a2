/* swing.c - a controller of one's own: the robot stands and swings its arms.
 *
 *   cc -O2 -fPIC -shared -Iinclude examples/plugin/swing.c -o examples/plugin/swing.so -lm
 *   tabi run examples/plugin/swing.yaml */
#include "tabi/tabi_plugin.h"

#include <math.h>
#include <stdlib.h>

typedef struct swing {
  double kp, kd, amplitude, period;
  int32_t first, count; /* joints of the robot */
  int32_t arm[2];       /* left and right shoulder */
  double hold[];        /* [count] where each of them stands */
} swing;

static void *create(const tabi_controller_setup *setup, tabi_error *err) {
  (void)err; /* what is wrong with the options is told without our doing */
  swing *s = calloc(1, sizeof *s + (size_t)setup->njoint * sizeof(double));
  if (!s) return NULL;
  s->kp = tabi_options_number(setup->options, "kp", 2000);          /* N m/rad */
  s->kd = tabi_options_number(setup->options, "kd", 50);            /* N m s/rad */
  s->amplitude = tabi_options_number(setup->options, "swing", 0.4); /* rad */
  s->period = tabi_options_number(setup->options, "period", 1);     /* s */
  s->arm[0] = tabi_setup_joint(setup, "l_shoulder_pitch");
  s->arm[1] = tabi_setup_joint(setup, "r_shoulder_pitch");
  s->first = setup->first_joint;
  s->count = setup->njoint;
  for (int32_t i = 0; i < s->count; ++i) {
    tabi_range range = tabi_model_joint_q(setup->model, s->first + i);
    s->hold[i] = NAN;
    if (range.count == 1) s->hold[i] = setup->q[range.first];
  }
  return s;
}

static void update(void *controller, tabi_world *world, double timestep) {
  swing *s = controller;
  double turns = 2 * acos(-1) / s->period;
  double phase = turns * (tabi_world_time(world) + timestep);
  for (int32_t i = 0; i < s->count; ++i) {
    if (isnan(s->hold[i])) continue; /* the free base */
    int32_t joint = s->first + i;
    tabi_servo servo = {.kp = s->kp, .kd = s->kd, .target = s->hold[i], .implicit = true};
    double side = joint == s->arm[0] ? 1 : joint == s->arm[1] ? -1 : 0;
    servo.target += side * s->amplitude * sin(phase);
    servo.target_rate = side * s->amplitude * turns * cos(phase);
    tabi_world_set_servo(world, joint, &servo);
  }
}

const tabi_controller_type tabi_plugin = {
    .version = TABI_PLUGIN_VERSION,
    .name = "swing",
    .create = create,
    .update = update,
    .destroy = free,
};
