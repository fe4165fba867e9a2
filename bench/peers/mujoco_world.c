/* mujoco_world.c - steps MuJoCo on the MJCF text of a scene, in which body LINK is named bLINK and
 * a servo is a position actuator, its damper in the joint. */
#include "mujoco_world.h"

#include "mujoco_load.h"
#include "serve.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>

typedef struct world {
  const tbi_neutral_scene *neutral;
  mjModel *model;
  mjData *data;
  int *body;        /* of MuJoCo, by body of the scene */
  int *actuator;    /* likewise; -1: none */
  double (*own)[4]; /* the frame of the scene's body in that of MuJoCo's: a quaternion */
} world;

static void close_world(void *self) {
  world *w = self;
  mj_deleteData(w->data);
  mj_deleteModel(w->model);
  free(w->body);
  free(w->actuator);
  free(w->own);
  free(w);
}

static bool find_bodies(world *w) {
  for (int32_t i = 0; i < w->neutral->nbody; ++i) {
    char name[32];
    (void)snprintf(name, sizeof name, "b%d", (int)w->neutral->body[i].link);
    w->body[i] = mj_name2id(w->model, mjOBJ_BODY, name);
    w->actuator[i] = -1;
    if (w->body[i] < 0) return false;
    for (int a = 0; a < w->model->nu; ++a) {
      int joint = w->model->actuator_trnid[2 * (size_t)a];
      if (w->model->jnt_bodyid[joint] == w->body[i]) w->actuator[i] = a;
    }
  }
  return true;
}

/* MuJoCo has the model's links, whose axes are turned against those of the scene's bodies. */
static void find_frames(world *w) {
  mj_kinematics(w->model, w->data);
  for (int32_t i = 0; i < w->neutral->nbody; ++i) {
    mjtNum back[4];
    mju_negQuat(back, w->data->xquat + 4 * (size_t)w->body[i]);
    mju_mulQuat(w->own[i], back, w->neutral->body[i].start_quat);
  }
}

/* Not by a keyframe, whose text may hold 1000 numbers only. */
static void set_start(world *w) {
  for (int32_t i = 0; i < w->neutral->nbody; ++i) {
    const tbi_neutral_body *b = &w->neutral->body[i];
    int joint = w->model->body_jntadr[w->body[i]];
    mjtNum *q = w->data->qpos + w->model->jnt_qposadr[joint];
    mjtNum *v = w->data->qvel + w->model->jnt_dofadr[joint];
    if (b->joint != TBI_NEUTRAL_FREE) {
      *q = b->q;
      *v = b->v;
      continue;
    }
    // MuJoCo turns a free body with the angular velocity in its own axes
    mjtNum back[4];
    mju_negQuat(back, b->start_quat);
    memcpy(q, b->start_pos, sizeof b->start_pos);
    memcpy(q + 3, b->start_quat, sizeof b->start_quat);
    memcpy(v, b->start_linear, sizeof b->start_linear);
    mju_rotVecQuat(v + 3, b->start_angular, back);
  }
}

/* What its documentation advises against slip and softness. */
static void refine(mjModel *model) {
  model->opt.cone = mjCONE_ELLIPTIC;
  model->opt.impratio = 100;
  model->opt.noslip_iterations = 50;
  model->opt.noslip_tolerance = 1e-12;
  model->opt.tolerance = 1e-12;
  model->opt.iterations = 200;
  for (int g = 0; g < model->ngeom; ++g) {
    model->geom_solref[(size_t)g * mjNREF] = 2 * model->opt.timestep;
    model->geom_solimp[(size_t)g * mjNIMP] = 0.99;
    model->geom_solimp[(size_t)g * mjNIMP + 1] = 0.999;
  }
}

/* The path of the text comes as what only MuJoCo wants to know. */
static void *open_world(const tbi_engine_instance *instance, const char **trouble) {
  const tbi_neutral_scene *neutral = instance->neutral;
  static char message[1000] = "";
  for (int32_t i = 0; i < neutral->nshape; ++i)
    if (neutral->shape[i].restitution > 0) {
      *trouble = "MuJoCo has no restitution";
      return NULL;
    }
  size_t n = (size_t)neutral->nbody + 1;
  world *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (world){.neutral = neutral,
               .model = tbi_mujoco_load(instance->more, message, sizeof message),
               .body = calloc(n, sizeof *w->body),
               .actuator = calloc(n, sizeof *w->actuator),
               .own = calloc(n, sizeof *w->own)};
  if (w->model) w->data = mj_makeData(w->model);
  if (!w->data || !w->body || !w->actuator || !w->own || !find_bodies(w)) {
    message[strcspn(message, "\n")] = '\0';
    *trouble = *message ? message : "no memory";
    close_world(w);
    return NULL;
  }
  w->model->opt.timestep = neutral->timestep;
  if (strcmp(instance->settings, "rk4") == 0) w->model->opt.integrator = mjINT_RK4;
  if (strcmp(instance->settings, "cg") == 0) w->model->opt.solver = mjSOL_CG;
  if (strcmp(instance->settings, "noslip") == 0) w->model->opt.noslip_iterations = 10;
  if (strcmp(instance->settings, "fine") == 0) refine(w->model);
  mj_resetData(w->model, w->data);
  set_start(w);
  find_frames(w);
  return w;
}

/* The target at the start is in the actuators' bias. */
static void step(void *self, const double *target) {
  world *w = self;
  for (int32_t i = 0; target && i < w->neutral->nbody; ++i)
    if (w->actuator[i] >= 0) w->data->ctrl[w->actuator[i]] = target[i] - w->neutral->body[i].target;
  mj_step(w->model, w->data);
}

static int32_t contacts(void *self) { return ((world *)self)->data->ncon; }

static void push(void *self, int32_t body, const double force[3]) {
  world *w = self;
  memcpy(w->data->xfrc_applied + 6 * (size_t)w->body[body], force, 3 * sizeof(double));
}

/* Poses in MuJoCo's data are those before the step. */
static void state(void *self, tbi_neutral_state *to) {
  world *w = self;
  mj_kinematics(w->model, w->data);
  mj_comPos(w->model, w->data);
  mj_comVel(w->model, w->data);
  for (int32_t i = 0; i < w->neutral->nbody; ++i) {
    size_t b = (size_t)w->body[i];
    mjtNum velocity[6], arm[3], sweep[3];
    // angular first, then that of the frame's origin; its own com may be that of a part only
    mj_objectVelocity(w->model, w->data, mjOBJ_XBODY, w->body[i], velocity, 0);
    mju_mulQuat(to[i].quat, w->data->xquat + 4 * b, w->own[i]);
    mju_rotVecQuat(arm, w->neutral->body[i].com, to[i].quat);
    mju_add3(to[i].com, w->data->xpos + 3 * b, arm);
    mju_cross(sweep, velocity, arm);
    mju_add3(to[i].linear, velocity + 3, sweep);
    memcpy(to[i].angular, velocity, sizeof to[i].angular);
  }
}

int tbi_mujoco_serve(int argc, char **argv) {
  char name[64];
  (void)snprintf(name, sizeof name, "mujoco %s", mj_versionString());
  const tbi_engine engine = {.name = name,
                             .open = open_world,
                             .close = close_world,
                             .step = step,
                             .contacts = contacts,
                             .push = push,
                             .state = state};
  return tbi_peer_serve(argc, argv, &engine);
}
