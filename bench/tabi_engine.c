/* tabi_engine.c - a world of tabi, stepped as the peers are. */
#include "tabi_engine.h"

#include "engine_run.h"
#include "model/model.h"
#include "neutral_export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
  const tbi_engine_scene *scene;
  tabi_world *world;
  tabi_servo *servo;   /* by joint */
  double (*push)[3];   /* by body */
  bool pushed, failed; /* pushed: some push is not zero */
} world;

static const struct {
  const char *name;
  tabi_contact_kind contact;
  tabi_integrator integrator;
  double tolerance;
  double correction;
} settings[] = {
    {"default",  TABI_CONTACT_CONE,  TABI_SEMI_IMPLICIT, -1,    0.2},
    {"rk4",      TABI_CONTACT_CONE,  TABI_RK4,           -1,    0.2},
    {"midpoint", TABI_CONTACT_CONE,  TABI_MIDPOINT,      -1,    0.2},
    {"exact",    TABI_CONTACT_EXACT, TABI_SEMI_IMPLICIT, -1,    0.2},
    {"exact14",  TABI_CONTACT_EXACT, TABI_SEMI_IMPLICIT, 1e-14, 0  }
};

tabi_world *tbi_tabi_engine_world(void *self) { return ((world *)self)->world; }

static void close_world(void *self) {
  world *w = self;
  tabi_world_destroy(w->world);
  free(w->servo);
  free(w->push);
  free(w);
}

static tabi_world *make_world(const tbi_engine_instance *instance) {
  const tbi_engine_scene *scene = instance->more;
  tabi_world_def def = tabi_world_def_default(scene->base.model);
  def.timestep = scene->timestep;
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; ++i)
    if (strcmp(settings[i].name, instance->settings) == 0) {
      def.contact = settings[i].contact;
      def.integrator = settings[i].integrator;
      def.tolerance = settings[i].tolerance;
      def.correction = settings[i].correction;
    }
  return tabi_world_create(scene->base.model, &def, NULL);
}

static void *open_world(const tbi_engine_instance *instance, const char **trouble) {
  const tbi_engine_scene *scene = instance->more;
  const tabi_model *model = scene->base.model;
  world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (world){.scene = scene,
               .world = make_world(instance),
               .servo = calloc((size_t)model->njoint + 1, sizeof *w->servo),
               .push = calloc((size_t)model->nbody + 1, sizeof *w->push)};
  tabi_error err = {.message = "no memory"};
  bool ok = w->world && w->servo && w->push;
  ok = ok && tbi_bench_scene_start(&scene->base, w->world, &err) == TABI_OK;
  ok = ok && tabi_world_set_state(w->world, scene->base.q, scene->v, &err) == TABI_OK;
  if (!ok) {
    *trouble = "the world cannot be made";
    close_world(w);
    return NULL;
  }
  memcpy(w->servo, scene->base.servo, (size_t)model->njoint * sizeof *w->servo);
  return w;
}

static void aim(world *w, const double *target) {
  const tabi_model *model = w->scene->base.model;
  for (int32_t i = 0; i < model->nbody; ++i) {
    int32_t joint = model->body[i].joint;
    if (w->servo[joint].kp <= 0) continue;
    w->servo[joint].target = target[i];
    tabi_world_set_servo(w->world, joint, &w->servo[joint]);
  }
}

static void apply_pushes(world *w) {
  const tabi_model *model = w->scene->base.model;
  const tabi_dynamics *dynamics = tabi_world_dynamics(w->world);
  for (int32_t i = 0; i < model->nbody; ++i) {
    const double *push = w->push[i], none[3] = {0};
    int32_t link = model->joint[model->body[i].joint].child;
    double pos[3], quat[4];
    if (push[0] == 0 && push[1] == 0 && push[2] == 0) continue;
    tabi_dynamics_link_pose(dynamics, link, pos, quat);
    tbi_frame at = tbi_frame_load(pos, quat), home = model->link_home[link].frame;
    // from the axes of the body to those of its link, and on to the world
    v3 com = m3_tmulv(&home.rot, v3_sub(model->body[i].com, home.pos));
    v3_store(v3_add(at.pos, m3_mulv(&at.rot, com)), pos);
    tabi_world_apply(w->world, link, push, none, pos);
  }
}

static void step(void *self, const double *target) {
  world *w = self;
  if (target) aim(w, target);
  if (w->pushed) apply_pushes(w);
  w->failed = tabi_world_step_or_grow(w->world, NULL) != TABI_OK || w->failed;
}

static int32_t contacts(void *self) {
  int32_t count = 0;
  (void)tabi_world_contacts(tbi_tabi_engine_world(self), &count);
  return count;
}

static void push(void *self, int32_t body, const double force[3]) {
  world *w = self;
  memcpy(w->push[body], force, sizeof w->push[body]);
  w->pushed = true;
}

/* A world that failed has no state to show. */
static void state(void *self, tbi_neutral_state *to) {
  world *w = self;
  tbi_neutral_states(w->scene->base.model, tabi_world_dynamics(w->world), to);
  if (w->failed) to[0].com[0] = (double)NAN;
}

const tbi_engine tbi_tabi_engine = {.name = "tabi",
                                    .open = open_world,
                                    .close = close_world,
                                    .step = step,
                                    .contacts = contacts,
                                    .push = push,
                                    .state = state};
