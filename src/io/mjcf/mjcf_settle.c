/* mjcf_settle.c - dampers and springs that are given relative to the inertia that they move.
 *
 *   m = 1 / (J M^-1 J')   at the pose of the file, as MuJoCo 4 has it; of a ball joint by the mean
 *                         of J M^-1 J' about its three axes
 *   dampratio of actuators            kv = ratio 2 sqrt(kp m)
 *   springdamper="t ratio" of joints  stiffness m / (t ratio)^2, damping 2 m / t
 *
 * For this the builder's model is made once, before any of them acts. */
#include "io/mjcf/mjcf_reader.h"

#include "model/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct settling {
  tbi_mjcf *reader;
  const tabi_model *model;
  tabi_dynamics *dynamics; /* at the pose of the file */
  double *work;            /* 3 nv */
} settling;

/* J M^-1 J', with J in the first part of the work */
static double mobility(const settling *s) {
  int32_t nv = tabi_model_nv(s->model);
  double *tau = s->work;
  double *moved = tau + nv;
  const double *still = moved + nv;
  tabi_dynamics_forward(s->dynamics, tau, moved);
  double sum = 0;
  for (int32_t k = 0; k < nv; ++k)
    sum += tau[k] * (moved[k] - still[k]);
  return sum;
}

static double *clear(const settling *s) {
  memset(s->work, 0, (size_t)tabi_model_nv(s->model) * sizeof *s->work);
  return s->work;
}

static double joint_mobility(const settling *s, int32_t joint) {
  tabi_range dof = tabi_model_joint_v(s->model, joint);
  double sum = 0;
  for (int32_t k = 0; k < dof.count; ++k) {
    clear(s)[dof.first + k] = 1;
    sum += mobility(s);
  }
  return dof.count > 0 ? sum / dof.count : 0;
}

static double tendon_mobility(const settling *s, int32_t tendon) {
  (void)tabi_dynamics_tendon_length(s->dynamics, tendon, clear(s));
  double sum = mobility(s);
  return sum / (1 + tabi_model_tendon(s->model, tendon).inertia * sum);
}

static void settle_ratios(const settling *s) {
  tbi_mjcf *reader = s->reader;
  for (int32_t i = 0; i < reader->nratio; ++i) {
    tabi_actuator_def *def =
        (tabi_actuator_def *)reader->builder->actuators.items + reader->ratios[i].actuator;
    double give =
        def->tendon != TABI_NONE ? tendon_mobility(s, def->tendon) : joint_mobility(s, def->joint);
    give *= def->gear * def->gear;
    if (!(give > 0)) continue;
    def->bias[2] = -2 * reader->ratios[i].ratio * sqrt(-def->bias[1] / give);
  }
}

static bool has_springdamper(const tbi_mjcf_joint *joint) {
  return joint->springdamper[0] > 0 && joint->index != TABI_NONE;
}

static void settle_springs(const settling *s) {
  tbi_mjcf *reader = s->reader;
  for (int32_t i = 0; i < reader->njoint; ++i) {
    const tbi_mjcf_joint *joint = &reader->joints[i];
    double give = has_springdamper(joint) ? joint_mobility(s, joint->index) : 0;
    if (!(give > 0)) continue;
    tabi_joint_def *def = (tabi_joint_def *)reader->builder->joints.items + joint->index;
    double time = joint->springdamper[0];
    double slow = time * joint->springdamper[1];
    def->stiffness = 1 / (give * slow * slow);
    def->damping = 2 / (give * time);
  }
}

static bool is_needed(const tbi_mjcf *reader) {
  bool needed = reader->nratio > 0;
  for (int32_t i = 0; i < reader->njoint; ++i)
    needed |= has_springdamper(&reader->joints[i]);
  return needed && tbi_ok(&reader->error);
}

static void settle_all(settling *s) {
  int32_t nv = tabi_model_nv(s->model);
  size_t nq = (size_t)tabi_model_nq(s->model);
  double *state = calloc(nq + 4 * (size_t)nv + 1, sizeof *state);
  if (!state) {
    tbi_fail_memory(&s->reader->error);
    return;
  }
  tabi_model_initial_q(s->model, state);
  tabi_dynamics_set_state(s->dynamics, state, state + nq);
  s->work = state + nq + nv;
  tabi_dynamics_forward(s->dynamics, clear(s), s->work + 2 * (size_t)nv);
  settle_ratios(s);
  settle_springs(s);
  free(state);
}

/* A model that cannot be built is told later. */
void tbi_mjcf_settle(tbi_mjcf *reader) {
  if (!is_needed(reader)) return;
  tabi_model *model = tabi_builder_build(reader->builder, NULL);
  settling s = {reader, model, model ? tabi_dynamics_create(model, NULL) : NULL, NULL};
  if (s.dynamics) settle_all(&s);
  tabi_dynamics_destroy(s.dynamics);
  tabi_model_destroy(model);
}
