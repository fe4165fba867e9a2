/* ode.c - the program tabi-bench-ode: the Open Dynamics Engine.
 *
 * Settings: "quick" is dWorldQuickStep as it comes (20 sweeps), "fine" the same with 200, "step"
 * the direct solver dWorldStep.  ERP and CFM are those of a new world (0.2, 1e-10), friction is a
 * pyramid from the normal force.  Servos are joint stops at the target whose ERP and CFM make them
 * implicit springs and dampers. */
#include "serve.h"

#include <math.h>
#include <ode/ode.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 8 }; /* of one pair of shapes at most */

typedef struct world {
  const tbi_neutral_scene *neutral;
  dWorldID world;
  dSpaceID space;
  dJointGroupID touching;
  dBodyID *body;
  dJointID *joint; /* by body; NULL: free */
  double (*push)[3];
  const char *settings;
  int32_t contacts;
} world;

static void close_world(void *self) {
  world *w = self;
  if (w->touching) dJointGroupDestroy(w->touching);
  if (w->space) dSpaceDestroy(w->space);
  if (w->world) dWorldDestroy(w->world);
  free(w->body);
  free(w->joint);
  free(w->push);
  free(w);
}

/* Bodies of ODE have their origin in the com. */
static void make_body(world *w, int32_t i) {
  const tbi_neutral_body *b = &w->neutral->body[i];
  dBodyID body = w->body[i] = dBodyCreate(w->world);
  double com[3];
  dMass mass;
  tbi_neutral_rotate(b->start_quat, b->com, com);
  dMassSetParameters(&mass, b->mass, 0, 0, 0, b->inertia[0], b->inertia[1], b->inertia[2],
                     b->inertia[3], b->inertia[4], b->inertia[5]);
  dBodySetMass(body, &mass);
  dBodySetPosition(body, b->start_pos[0] + com[0], b->start_pos[1] + com[1],
                   b->start_pos[2] + com[2]);
  dBodySetQuaternion(body, b->start_quat);
  dBodySetAngularVel(body, b->start_angular[0], b->start_angular[1], b->start_angular[2]);
  double speed[3];
  for (int k = 0; k < 3; ++k) {
    int m = (k + 1) % 3, n = (k + 2) % 3;
    speed[k] = b->start_linear[k] + b->start_angular[m] * com[n] - b->start_angular[n] * com[m];
  }
  dBodySetLinearVel(body, speed[0], speed[1], speed[2]);
}

/* A stop that is a spring and damper: ERP = h kp / (h kp + kd), CFM = 1 / (h kp + kd). */
static void aim(dJointID joint, const tbi_neutral_body *b, double timestep, double target) {
  double stiff = timestep * b->kp, soft = stiff + b->kd + b->damping;
  dJointSetHingeParam(joint, dParamLoStop, target);
  dJointSetHingeParam(joint, dParamHiStop, target);
  dJointSetHingeParam(joint, dParamLoStop, target);
  dJointSetHingeParam(joint, dParamStopERP, stiff / soft);
  dJointSetHingeParam(joint, dParamStopCFM, 1 / soft);
}

/* Angles of ODE start at 0 in the pose in which a joint is attached. */
static void make_joint(world *w, int32_t i) {
  const tbi_neutral_body *b = &w->neutral->body[i];
  const double z[3] = {0, 0, 1};
  double axis[3];
  tbi_neutral_rotate(b->start_quat, z, axis);
  dJointID joint = w->joint[i] = dJointCreateHinge(w->world, NULL);
  dJointAttach(joint, w->body[i], b->parent < 0 ? NULL : w->body[b->parent]);
  dJointSetHingeAnchor(joint, b->start_pos[0], b->start_pos[1], b->start_pos[2]);
  dJointSetHingeAxis(joint, axis[0], axis[1], axis[2]);
  if (b->kp > 0 || b->damping > 0) aim(joint, b, w->neutral->timestep, b->target - b->q);
}

static void make_connection(world *w, const tbi_neutral_connection *connection) {
  const tbi_neutral_body *b = &w->neutral->body[connection->body[0]];
  double at[3];
  tbi_neutral_rotate(b->start_quat, connection->pos[0], at);
  dJointID joint = dJointCreateBall(w->world, NULL);
  dJointAttach(joint, w->body[connection->body[0]],
               connection->body[1] < 0 ? NULL : w->body[connection->body[1]]);
  dJointSetBallAnchor(joint, b->start_pos[0] + at[0], b->start_pos[1] + at[1],
                      b->start_pos[2] + at[2]);
}

static dGeomID make_geom(dSpaceID space, const tbi_neutral_shape *s) {
  const double *size = s->size;
  const double z[3] = {0, 0, 1};
  double normal[3];
  switch (s->kind) {
  case TBI_NEUTRAL_SPHERE:
    return dCreateSphere(space, size[0]);
  case TBI_NEUTRAL_CAPSULE:
    return dCreateCapsule(space, size[0], size[1]);
  case TBI_NEUTRAL_BOX:
    return dCreateBox(space, size[0], size[1], size[2]);
  case TBI_NEUTRAL_CYLINDER:
    return dCreateCylinder(space, size[0], size[1]);
  default:
    tbi_neutral_rotate(s->quat, z, normal);
    return dCreatePlane(space, normal[0], normal[1], normal[2],
                        normal[0] * s->pos[0] + normal[1] * s->pos[1] + normal[2] * s->pos[2]);
  }
}

static void make_shape(world *w, int32_t i) {
  const tbi_neutral_shape *s = &w->neutral->shape[i];
  dGeomID geom = make_geom(w->space, s);
  dGeomSetData(geom, &w->neutral->shape[i]);
  dGeomSetCategoryBits(geom, s->group);
  dGeomSetCollideBits(geom, s->mask);
  if (s->kind == TBI_NEUTRAL_PLANE) return;
  if (s->body < 0) {
    dGeomSetPosition(geom, s->pos[0], s->pos[1], s->pos[2]);
    dGeomSetQuaternion(geom, s->quat);
    return;
  }
  const double *com = w->neutral->body[s->body].com;
  dGeomSetBody(geom, w->body[s->body]);
  dGeomSetOffsetPosition(geom, s->pos[0] - com[0], s->pos[1] - com[1], s->pos[2] - com[2]);
  dGeomSetOffsetQuaternion(geom, s->quat);
}

static const char *odd(const tbi_neutral_scene *neutral) {
  for (int32_t i = 0; i < neutral->nbody; ++i) {
    const tbi_neutral_body *b = &neutral->body[i];
    if (b->joint == TBI_NEUTRAL_SLIDE) return "sliding joints are not handled";
    if (b->dry > 0 || b->armature > 0) return "ODE's joints have no dry friction and no armature";
    if (isfinite(b->lower) || isfinite(b->upper)) return "joint limits are not handled";
  }
  return NULL;
}

static void *open_world(const tbi_engine_instance *instance, const char **trouble) {
  const tbi_neutral_scene *neutral = instance->neutral;
  size_t n = (size_t)neutral->nbody + 1;
  const char *reason = odd(neutral);
  world *w = reason ? NULL : calloc(1, sizeof *w);
  if (reason) *trouble = reason;
  if (!w) return NULL;
  *w = (world){.neutral = neutral,
               .settings = instance->settings,
               .world = dWorldCreate(),
               .space = dSweepAndPruneSpaceCreate(NULL, dSAP_AXES_XYZ),
               .touching = dJointGroupCreate(0),
               .body = calloc(n, sizeof(dBodyID)),
               .joint = calloc(n, sizeof(dJointID)),
               .push = calloc(n, sizeof *w->push)};
  if (!w->body || !w->joint || !w->push) {
    close_world(w);
    return NULL;
  }
  dWorldSetGravity(w->world, neutral->gravity[0], neutral->gravity[1], neutral->gravity[2]);
  dWorldSetAutoDisableFlag(w->world, 0);
  if (strcmp(instance->settings, "fine") == 0) dWorldSetQuickStepNumIterations(w->world, 200);
  for (int32_t i = 0; i < neutral->nbody; ++i) {
    make_body(w, i);
    if (neutral->body[i].joint != TBI_NEUTRAL_FREE) make_joint(w, i);
  }
  for (int32_t i = 0; i < neutral->nconnection; ++i)
    make_connection(w, &neutral->connection[i]);
  for (int32_t i = 0; i < neutral->nshape; ++i)
    make_shape(w, i);
  return w;
}

static void touch(void *self, dGeomID a, dGeomID b) {
  world *w = self;
  dContact contact[POINTS];
  const tbi_neutral_shape *sa = dGeomGetData(a), *sb = dGeomGetData(b), *first = w->neutral->shape;
  if (!tbi_neutral_may_collide(w->neutral, (int32_t)(sa - first), (int32_t)(sb - first))) return;
  int count = dCollide(a, b, POINTS, &contact[0].geom, (int)sizeof contact[0]);
  for (int i = 0; i < count; ++i) {
    dSurfaceParameters *s = &contact[i].surface;
    memset(s, 0, sizeof *s);
    s->mode = dContactApprox1;
    s->mu = fmax(sa->friction, sb->friction);
    s->bounce = fmax(sa->restitution, sb->restitution);
    if (s->bounce > 0) s->mode |= dContactBounce;
    dJointID joint = dJointCreateContact(w->world, w->touching, &contact[i]);
    dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
  }
  w->contacts += count;
}

static void step(void *self, const double *target) {
  world *w = self;
  double h = w->neutral->timestep;
  for (int32_t i = 0; i < w->neutral->nbody; ++i) {
    const tbi_neutral_body *b = &w->neutral->body[i];
    if (target && w->joint[i] && b->kp > 0) aim(w->joint[i], b, h, target[i] - b->q);
    const double *push = w->push[i];
    if (push[0] != 0 || push[1] != 0 || push[2] != 0)
      dBodyAddForce(w->body[i], push[0], push[1], push[2]);
  }
  w->contacts = 0;
  dSpaceCollide(w->space, w, touch);
  if (strcmp(w->settings, "step") == 0)
    (void)dWorldStep(w->world, h);
  else
    (void)dWorldQuickStep(w->world, h);
  dJointGroupEmpty(w->touching);
}

static int32_t contacts(void *self) { return ((world *)self)->contacts; }

static void push(void *self, int32_t body, const double force[3]) {
  memcpy(((world *)self)->push[body], force, 3 * sizeof(double));
}

static void state(void *self, tbi_neutral_state *to) {
  world *w = self;
  for (int32_t i = 0; i < w->neutral->nbody; ++i) {
    memcpy(to[i].com, dBodyGetPosition(w->body[i]), sizeof to[i].com);
    memcpy(to[i].quat, dBodyGetQuaternion(w->body[i]), sizeof to[i].quat);
    memcpy(to[i].linear, dBodyGetLinearVel(w->body[i]), sizeof to[i].linear);
    memcpy(to[i].angular, dBodyGetAngularVel(w->body[i]), sizeof to[i].angular);
  }
}

int main(int argc, char **argv) {
  static const tbi_engine engine = {.name = "ode " TBI_PEER_VERSION,
                                    .open = open_world,
                                    .close = close_world,
                                    .step = step,
                                    .contacts = contacts,
                                    .push = push,
                                    .state = state};
  (void)dInitODE2(0);
  int code = tbi_peer_serve(argc, argv, &engine);
  dCloseODE();
  return code;
}
