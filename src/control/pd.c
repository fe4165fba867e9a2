/* pd.c - joint control through the servos and actuators of a world. */
#include "base/assertion.h"
#include "base/error.h"
#include "tabi/tabi_control.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

struct tabi_pd {
  int32_t model_njoint, model_nactuator; /* of the worlds that can be driven */
  int32_t njoint, ncolumn;
  tabi_pd_joint *joint;
  const tabi_trajectory *trajectory, *torque, *rate;
  double *now, *now_rate;   /* of all columns, at the start of the step */
  double *next, *next_rate; /* and at its end */
  double *feed_forward;     /* N m or N, of all columns */
  double *input; /* [2 x njoint] slope and offset of an actuator's input over the target */
};

tabi_pd_def tabi_pd_def_default(void) { return (tabi_pd_def){.def_size = sizeof(tabi_pd_def)}; }

static int32_t count_columns(const tabi_trajectory *trajectory) {
  return trajectory ? tabi_trajectory_ncolumn(trajectory) : 0;
}

static tabi_status check_joint(const tabi_model *model, const tabi_pd_def *def,
                               const tabi_pd_joint *joint, tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  if (joint->joint < 0 || joint->joint >= tabi_model_njoint(model) ||
      tabi_model_joint_v(model, joint->joint).count != 1) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "pd: joint %d is not a joint with one coordinate", joint->joint);
  }
  int32_t columns = count_columns(def->trajectory);
  if (joint->column < TABI_NONE || joint->column >= columns || joint->actuator < TABI_NONE ||
      joint->actuator >= tabi_model_nactuator(model)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "pd: joint %d: no such column or actuator", joint->joint);
  }
  bool fine = isfinite(joint->target) && isfinite(joint->kp) && isfinite(joint->kd);
  if (fine && joint->kp >= 0 && joint->kd >= 0) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "pd: joint %d: gains must be finite and >= 0", joint->joint);
}

static tabi_status check(const tabi_model *model, const tabi_pd_def *def, tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  if (def->def_size != sizeof *def) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "tabi_pd_def was not made by tabi_pd_def_default()");
  }
  if (def->njoint < 0 || (def->njoint > 0 && !def->joint)) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "pd: njoint must be >= 0, and joint have njoint items");
  }
  for (int32_t i = 0; i < def->njoint; ++i) {
    tabi_status status = check_joint(model, def, &def->joint[i], err);
    if (status != TABI_OK) return status;
  }
  int32_t columns = count_columns(def->trajectory);
  bool torque = !def->torque || count_columns(def->torque) == columns;
  bool rate = !def->rate || count_columns(def->rate) == columns;
  if (torque && rate) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                       "pd: %s and trajectory must have the same columns",
                       torque ? "rate" : "torque");
}

/* The force of an actuator with a spring is gain u + bias[0] + bias[1] gear q, which is zero at the
 * target for one input u; the input of one without a spring is the target. */
static void find_input(const tabi_model *model, int32_t actuator, double input[2]) {
  input[0] = 1;
  input[1] = 0;
  if (actuator == TABI_NONE) return;
  tabi_actuator_def def = tabi_model_actuator(model, actuator);
  if (def.bias[1] == 0 || def.gain == 0) return;
  input[0] = -def.bias[1] / def.gain * def.gear;
  input[1] = -def.bias[0] / def.gain;
}

tabi_pd *tabi_pd_create(const tabi_model *model, const tabi_pd_def *def, tabi_error *err) {
  TBI_ASSERT(model && def);
  if (check(model, def, err) != TABI_OK) return NULL;
  size_t columns = (size_t)count_columns(def->trajectory);
  tabi_pd *pd = calloc(1, sizeof *pd);
  tabi_pd_joint *joint = malloc(((size_t)def->njoint + 1) * sizeof *joint);
  double *samples = calloc(5 * columns + 2 * (size_t)def->njoint + 1, sizeof *samples);
  if (!pd || !joint || !samples) {
    free(pd);
    free(joint);
    free(samples);
    (void)tbi_error_memory(err);
    return NULL;
  }
  if (def->njoint > 0) memcpy(joint, def->joint, (size_t)def->njoint * sizeof *joint);
  *pd = (tabi_pd){.model_njoint = tabi_model_njoint(model),
                  .model_nactuator = tabi_model_nactuator(model),
                  .njoint = def->njoint,
                  .ncolumn = (int32_t)columns,
                  .joint = joint,
                  .trajectory = def->trajectory,
                  .torque = def->torque,
                  .rate = def->rate,
                  .now = samples,
                  .now_rate = samples + columns,
                  .next = samples + 2 * columns,
                  .next_rate = samples + 3 * columns,
                  .feed_forward = samples + 4 * columns,
                  .input = samples + 5 * columns};
  for (int32_t i = 0; i < def->njoint; ++i)
    find_input(model, joint[i].actuator, pd->input + 2 * (ptrdiff_t)i);
  return pd;
}

void tabi_pd_destroy(tabi_pd *pd) {
  if (!pd) return;
  free(pd->joint);
  free(pd->now);
  free(pd);
}

/* With targets and rates by column; feed-forward torque is an offset of the target.  Servos are
 * written in place, since a call for each joint would take longer. */
static inline void apply_joint(const tabi_pd *pd, int32_t index, tabi_world *world,
                               const double *target, const double *rate) {
  const tabi_pd_joint *joint = &pd->joint[index];
  bool follows = joint->column != TABI_NONE;
  double aim = follows ? target[joint->column] : joint->target;
  if (joint->actuator != TABI_NONE) {
    const double *input = pd->input + 2 * (ptrdiff_t)index;
    tabi_world_set_control(world, joint->actuator, input[0] * aim + input[1]);
    return;
  }
  if (pd->torque && follows && joint->kp > 0) aim += pd->feed_forward[joint->column] / joint->kp;
  world->state.servo[joint->joint] = (tabi_servo){.kp = joint->kp,
                                                  .kd = joint->kd,
                                                  .target = aim,
                                                  .target_rate = follows ? rate[joint->column] : 0,
                                                  .implicit = joint->implicit};
}

/* Whether joints and actuators have the same indices in the world's model, as far as is known. */
static bool drives(const tabi_pd *pd, const tabi_world *world) {
  return world->model->njoint == pd->model_njoint && world->model->nactuator == pd->model_nactuator;
}

void tabi_pd_apply(tabi_pd *pd, tabi_world *world, double timestep) {
  TBI_ASSERT(pd && world && drives(pd, world) && timestep >= 0);
  double time = tabi_world_time(world);
  if (pd->torque) tabi_trajectory_sample(pd->torque, time, pd->feed_forward, NULL);
  if (pd->trajectory) {
    tabi_trajectory_sample(pd->trajectory, time, pd->now, pd->now_rate);
    tabi_trajectory_sample(pd->trajectory, time + timestep, pd->next, pd->next_rate);
  }
  if (pd->rate) {
    tabi_trajectory_sample(pd->rate, time, pd->now_rate, NULL);
    tabi_trajectory_sample(pd->rate, time + timestep, pd->next_rate, NULL);
  }
  for (int32_t i = 0; i < pd->njoint; ++i) {
    bool ahead = pd->joint[i].implicit;
    apply_joint(pd, i, world, ahead ? pd->next : pd->now, ahead ? pd->next_rate : pd->now_rate);
  }
}

void tabi_pd_apply_targets(const tabi_pd *pd, tabi_world *world, const double *target,
                           const double *rate) {
  TBI_ASSERT(pd && world && drives(pd, world));
  TBI_ASSERT((target && rate) || pd->ncolumn == 0);
  if (pd->torque)
    tabi_trajectory_sample(pd->torque, tabi_world_time(world), pd->feed_forward, NULL);
  for (int32_t i = 0; i < pd->njoint; ++i)
    apply_joint(pd, i, world, target, rate);
}
