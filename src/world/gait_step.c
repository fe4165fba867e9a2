/* gait_step.c - a world whose contact method is gait: src/gait advances the biped, and the world
 * takes over the state of its joints, the forces at its soles and the certificate. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/world.h"

#include <string.h>

#define MIN_TOLERANCE 1e-13 /* what rounding allows */

/* Joint forces inside a step, for positions and velocities of the robot's joints. */
static void joint_forces(void *user, const double *q, const double *v, double *drive,
                         double *passive) {
  const tabi_world *w = user;
  tbi_world_forces_apart(w, q, v, w->scratch.gait_tau, drive, passive);
}

void tbi_world_place_gait_state(tbi_layout *at, tabi_world *w) {
  if (!tbi_world_has_gait(w)) return;
  tbi_gait_run counted = {0};
  tbi_gait_run *run = at->base ? w->gait : &counted;
  run->gait = w->def.gait.biped;
  tbi_gait_place_state(run, at);
}

size_t tbi_world_gait_state_size(const tabi_world *w) {
  if (!tbi_world_has_gait(w)) return 0;
  tbi_gait_run counted = {.gait = w->def.gait.biped};
  tbi_layout at = {NULL, 0};
  tbi_gait_place_state(&counted, &at);
  return at.used;
}

void tbi_world_place_gait(tbi_layout *at, tabi_world *w) {
  if (!tbi_world_has_gait(w)) return;
  tbi_gait_run counted = {.gait = w->def.gait.biped};
  tbi_gait_place(at->base ? w->gait : &counted, at);
}

void tbi_world_make_gait(tabi_world *w) {
  tbi_gait_run *run = w->gait;
  run->gravity = v3_load(w->def.gravity);
  run->tolerance = fmax(w->def.tolerance, MIN_TOLERANCE);
  run->joint_forces = joint_forces;
  run->user = w;
  tbi_gait_make(run);
  tbi_gait_begin(run, tabi_world_time(w), w->state.q, w->state.v);
}

void tbi_world_refresh_gait(tabi_world *w) {
  w->scratch.gait_tau = NULL;
  tbi_gait_refresh(w->gait, tabi_world_time(w));
}

void tbi_world_undo_gait(tabi_world *w) {
  memcpy(w->gait->memory, w->scratch.gait_before, tbi_world_gait_state_size(w));
  tbi_world_refresh_gait(w);
}

static tabi_status advance(tabi_world *w, const double *tau) {
  TBI_ASSERT(w->def.gait.biped && w->def.gait.biped->model == w->model);
  tbi_gait_run *run = w->gait;
  tabi_gait_outcome outcome = (tabi_gait_outcome)run->memory->outcome;
  double time = tabi_world_time(w);
  if (outcome != TABI_GAIT_ONGOING) {
    return tbi_error_set(&w->error, TABI_ERR_ENDED, (tabi_place){NULL, 0},
                         "step %lld (%g s): the walk is over: %s", (long long)w->state.head->steps,
                         time, tabi_gait_outcome_text(outcome));
  }
  if (w->state.head->external) {
    return tbi_error_set(&w->error, TABI_ERR_ARGUMENT, (tabi_place){NULL, 0},
                         "step %lld: pushes are not known to contact method gait; give it forces, "
                         "or choose another method",
                         (long long)w->state.head->steps);
  }
  memcpy(w->scratch.gait_before, run->memory, tbi_world_gait_state_size(w));
  w->scratch.gait_tau = tau;
  tbi_gait_advance(run, time, (double)(w->state.head->steps + 1) * w->def.timestep);
  w->scratch.gait_tau = NULL;
  /* a jammed biped stays in the state at the start of the step */
  if (run->memory->outcome == TABI_GAIT_JAMMED) {
    tbi_world_undo_gait(w);
    run->memory->outcome = TABI_GAIT_JAMMED;
  }
  tbi_gait_robot_state(run, w->solution.q_new, w->solution.v_new);
  memcpy(w->solution.v_move, w->solution.v_new, sizeof *w->solution.v_new * (size_t)w->model->nv);
  return TABI_OK;
}

/* A point of a sole that pushes, or has to pull. */
static void list_contact(tabi_world *w, int32_t foot, const tbi_gait_point *point, double up,
                         double along, double friction) {
  if (up == 0 || w->solution.ncontact == w->def.max_contacts) return;
  double h = w->def.timestep;
  tabi_contact *out = &w->solution.contact[w->solution.ncontact++];
  *out = (tabi_contact){
      .shape_a = TABI_NONE,
      .shape_b = TABI_NONE,
      .link_a = TABI_WORLD,
      .link_b = w->def.gait.biped->def.foot[foot].link,
      .normal = {0,         0, 1     },
      .impulse = {h * along, 0, h * up},
      .friction = friction,
  };
  tbi_gait_point_motion(w->gait, point, out->point, out->velocity);
  out->gap = out->point[2];
}

static void list_contacts(tabi_world *w) {
  const tbi_gait_run *run = w->gait;
  const tabi_gait_def *def = &w->def.gait.biped->def;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  tbi_sole_forces sole = tbi_gait_sole_forces(run);
  int32_t support = run->memory->phase.support;
  w->solution.ncontact = 0;
  for (int i = 0; i < 2; ++i) {
    int32_t foot = i == 0 ? support : 1 - support;
    double friction = i == 0 ? def->support_friction : def->friction;
    double total = sole.heel[i] + sole.toe[i];
    double slope = total != 0 ? sole.along[i] / total : 0;
    list_contact(w, foot, &tree->heel[i], sole.heel[i], slope * sole.heel[i], friction);
    list_contact(w, foot, &tree->toe[i], sole.toe[i], slope * sole.toe[i], friction);
  }
}

/* A normal force that pulls counts as its own distance from the cone. */
static void certify(tabi_world *w) {
  tabi_certificate *c = &w->solution.certificate;
  double h = w->def.timestep;
  *c = (tabi_certificate){.contacts = w->solution.ncontact, .iterations = 1, .converged = true};
  for (int32_t i = 0; i < w->solution.ncontact; ++i) {
    const tabi_contact *contact = &w->solution.contact[i];
    double up = contact->impulse[2] / h;
    double allowed = isinf(contact->friction) ? HUGE_VAL : contact->friction * up;
    double beyond = up < 0 ? -up : fabs(contact->impulse[0]) / h - allowed;
    c->gap = fmax(c->gap, -contact->gap);
    c->cone = fmax(c->cone, beyond);
  }
}

void tbi_world_keep_gait(tabi_world *w) {
  w->state.head->work = w->gait->memory->ledger[TBI_DRIVE_WORK];
  for (int32_t k = 0; k < w->model->nv; ++k)
    w->solution.commanded[k] = w->solution.applied[k] = tbi_gait_drive(w->gait, k);
  list_contacts(w);
  certify(w);
}

tabi_gait_state tabi_world_gait_state(const tabi_world *world) {
  TBI_ASSERT(world && tbi_world_has_gait(world));
  return tbi_gait_state(world->gait);
}

void tabi_world_gait_torque(const tabi_world *world, double *tau) {
  TBI_ASSERT(world && tau && tbi_world_has_gait(world));
  for (int32_t k = 0; k < world->model->nv; ++k)
    tau[k] = tbi_gait_drive(world->gait, k);
}

const tabi_gait_event *tabi_world_gait_events(const tabi_world *world, int32_t *count) {
  TBI_ASSERT(world && count && tbi_world_has_gait(world));
  *count = world->gait->nevent;
  return world->gait->event;
}

const tbi_formulation tbi_gait = {
    .info = {.name = "gait",
             .summary = "contact modes of a planar biped, events located in time",
             .method = TABI_CONTACT_GAIT,
             .published = TABI_NONE,
             .planar_biped = true},
    .tolerance = 1e-8,
    .iterations = 120,
    .advance = advance,
};
