/* bullet.cpp - the program tabi-bench-bullet: Bullet in double precision.
 *
 * Scenes of bodies without joints run in btDiscreteDynamicsWorld with sequential impulses, trees in
 * btMultiBodyDynamicsWorld.  Settings: "default", 10 sweeps; "fine", 200; "hard", 10 without
 * pushing overlaps out (ERP 0).  Nothing sleeps and nothing is damped.  Bullet's multibody has no
 * implicit servo: torques are those of the springs and dampers at the start of the step.
 *
 * Bodies of Bullet have their origin in the com and principal axes. */
#include "serve.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

namespace {

btVector3 vector_of(const double *x) { return {x[0], x[1], x[2]}; }
btQuaternion quaternion_of(const double *q) { return {q[1], q[2], q[3], q[0]}; }

/* A body of the scene as Bullet has it. */
struct Body {
  btTransform centre; /* principal axes at the com, in the frame of the scene's body */
  btVector3 moments;
  btRigidBody *rigid = nullptr;
  btMultiBody *tree = nullptr;
  int link = -1; /* in the tree; -1: its base */
  btVector3 push{0, 0, 0};
};

struct OneOfTwo : btOverlapFilterCallback {
  bool needBroadphaseCollision(btBroadphaseProxy *a, btBroadphaseProxy *b) const override {
    auto group = [](btBroadphaseProxy *p) { return unsigned(p->m_collisionFilterGroup); };
    auto mask = [](btBroadphaseProxy *p) { return unsigned(p->m_collisionFilterMask); };
    return (group(a) & mask(b)) != 0 || (group(b) & mask(a)) != 0;
  }
};

btScalar larger_friction(const btCollisionObject *a, const btCollisionObject *b) {
  return btMax(a->getFriction(), b->getFriction());
}

btScalar larger_restitution(const btCollisionObject *a, const btCollisionObject *b) {
  return btMax(a->getRestitution(), b->getRestitution());
}

class World {
public:
  World(const tbi_neutral_scene &scene, const char *settings);
  ~World();
  void step(const double *target);
  int32_t contacts() const;
  void state(tbi_neutral_state *to);
  std::vector<Body> bodies;

private:
  void measure_body(int32_t i);
  btCollisionShape *shape_of(int32_t body);
  void dress(btCollisionObject *object, int32_t body);
  void add_ground();
  void add_rigid(int32_t i);
  void add_tree(const std::vector<int32_t> &members);
  void add_connection(const tbi_neutral_connection &connection);
  void set_link(btMultiBody *tree, int32_t i);
  void add_collider(btMultiBody *tree, int32_t i);
  btTransform at_start(int32_t i) const;
  void drive(const double *target);

  const tbi_neutral_scene &neutral;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  OneOfTwo filter;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btCollisionObject>> objects;
  std::vector<std::unique_ptr<btMultiBody>> trees;
  std::vector<std::unique_ptr<btMultiBodyConstraint>> connections;
  std::unique_ptr<btSequentialImpulseConstraintSolver> solver;
  std::unique_ptr<btDiscreteDynamicsWorld> world;
};

bool has_joints(const tbi_neutral_scene &neutral) {
  for (int32_t i = 0; i < neutral.nbody; ++i)
    if (neutral.body[i].joint != TBI_NEUTRAL_FREE) return true;
  return false;
}

void World::measure_body(int32_t i) {
  const double *x = neutral.body[i].inertia;
  btMatrix3x3 inertia(x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2]), axes;
  inertia.diagonalize(axes, 1e-12, 50);
  bodies[i].centre = btTransform(axes, vector_of(neutral.body[i].com));
  bodies[i].moments = btVector3(inertia[0][0], inertia[1][1], inertia[2][2]);
}

btCollisionShape *make_shape(const tbi_neutral_shape &s) {
  switch (s.kind) {
  case TBI_NEUTRAL_SPHERE:
    return new btSphereShape(s.size[0]);
  case TBI_NEUTRAL_CAPSULE:
    return new btCapsuleShapeZ(s.size[0], s.size[1]);
  case TBI_NEUTRAL_BOX:
    return new btBoxShape(vector_of(s.size) / 2);
  case TBI_NEUTRAL_CYLINDER:
    return new btCylinderShapeZ(btVector3(s.size[0], s.size[0], s.size[1] / 2));
  default:
    return nullptr;
  }
}

/* All shapes of a body in one; null: none. */
btCollisionShape *World::shape_of(int32_t body) {
  auto whole = std::make_unique<btCompoundShape>();
  btTransform back = bodies[body].centre.inverse();
  btCollisionShape *only = nullptr;
  for (int32_t i = 0; i < neutral.nshape; ++i) {
    const tbi_neutral_shape &s = neutral.shape[i];
    if (s.body != body) continue;
    shapes.emplace_back(only = make_shape(s));
    whole->addChildShape(back * btTransform(quaternion_of(s.quat), vector_of(s.pos)), only);
  }
  const btTransform &at = whole->getNumChildShapes() == 1 ? whole->getChildTransform(0) : back;
  bool centred = at.getOrigin().length() < 1e-12 && (at.getBasis()[0].x() > 1 - 1e-12) &&
                 at.getBasis()[1].y() > 1 - 1e-12;
  if (whole->getNumChildShapes() == 0) return nullptr;
  // a shape in the middle needs no compound around it, which would cost time
  if (whole->getNumChildShapes() == 1 && centred) return only;
  shapes.push_back(std::move(whole));
  return shapes.back().get();
}

void World::dress(btCollisionObject *object, int32_t body) {
  int group = 0, mask = 0;
  for (int32_t i = 0; i < neutral.nshape; ++i) {
    const tbi_neutral_shape &s = neutral.shape[i];
    if (s.body != body) continue;
    object->setFriction(s.friction);
    object->setRestitution(s.restitution);
    group |= int(s.group);
    mask |= int(s.mask);
  }
  object->setActivationState(DISABLE_DEACTIVATION);
  if (auto *rigid = btRigidBody::upcast(object))
    world->addRigidBody(rigid, group, mask);
  else
    world->addCollisionObject(object, group, mask);
}

void World::add_ground() {
  for (int32_t i = 0; i < neutral.nshape; ++i) {
    const tbi_neutral_shape &s = neutral.shape[i];
    if (s.body >= 0) continue;
    btTransform at(quaternion_of(s.quat), vector_of(s.pos));
    btCollisionShape *shape = make_shape(s);
    if (!shape) {
      btVector3 normal = at.getBasis().getColumn(2);
      shape = new btStaticPlaneShape(normal, normal.dot(at.getOrigin()));
      at.setIdentity();
    }
    shapes.emplace_back(shape);
    auto rigid = std::make_unique<btRigidBody>(0, nullptr, shape);
    rigid->setWorldTransform(at);
    rigid->setFriction(s.friction);
    rigid->setRestitution(s.restitution);
    world->addRigidBody(rigid.get(), int(s.group), int(s.mask));
    objects.push_back(std::move(rigid));
  }
}

btTransform World::at_start(int32_t i) const {
  const tbi_neutral_body &b = neutral.body[i];
  return btTransform(quaternion_of(b.start_quat), vector_of(b.start_pos)) * bodies[i].centre;
}

/* The velocity of the com at the start. */
btVector3 com_velocity(const tbi_neutral_body &b, const btTransform &centre) {
  btVector3 arm = centre.getOrigin() - vector_of(b.start_pos);
  return vector_of(b.start_linear) + vector_of(b.start_angular).cross(arm);
}

void World::add_rigid(int32_t i) {
  const tbi_neutral_body &b = neutral.body[i];
  auto rigid = std::make_unique<btRigidBody>(b.mass, nullptr, shape_of(i), bodies[i].moments);
  btTransform at = at_start(i);
  rigid->setWorldTransform(at);
  rigid->setInterpolationWorldTransform(at);
  rigid->setLinearVelocity(com_velocity(b, at));
  rigid->setAngularVelocity(vector_of(b.start_angular));
  bodies[i].rigid = rigid.get();
  dress(rigid.get(), i);
  objects.push_back(std::move(rigid));
}

void World::set_link(btMultiBody *tree, int32_t i) {
  const tbi_neutral_body &b = neutral.body[i];
  btTransform place(quaternion_of(b.quat), vector_of(b.pos));
  // the joint in the frame of the parent that Bullet has; a fixed base stands in the origin
  if (b.parent >= 0) place = bodies[b.parent].centre.inverse() * place;
  const btTransform &centre = bodies[i].centre;
  btMatrix3x3 back = centre.getBasis().transpose();
  btQuaternion turn;
  (place.getBasis() * centre.getBasis()).inverse().getRotation(turn);
  int parent = b.parent < 0 ? -1 : bodies[b.parent].link, link = bodies[i].link;
  btVector3 axis = back * btVector3(0, 0, 1), arm = back * centre.getOrigin();
  if (b.joint == TBI_NEUTRAL_HINGE)
    tree->setupRevolute(link, b.mass, bodies[i].moments, parent, turn, axis, place.getOrigin(), arm,
                        true);
  else
    tree->setupPrismatic(link, b.mass, bodies[i].moments, parent, turn, axis, place.getOrigin(),
                         arm, true);
}

void World::add_collider(btMultiBody *tree, int32_t i) {
  btCollisionShape *shape = shape_of(i);
  // a connection acts only between links of one island, and islands are made of colliders
  if (!shape && neutral.nconnection > 0) shapes.emplace_back(shape = new btSphereShape(0.01));
  if (!shape) return;
  auto collider = std::make_unique<btMultiBodyLinkCollider>(tree, bodies[i].link);
  collider->setCollisionShape(shape);
  collider->setWorldTransform(at_start(i));
  if (bodies[i].link < 0)
    tree->setBaseCollider(collider.get());
  else
    tree->getLink(bodies[i].link).m_collider = collider.get();
  dress(collider.get(), i);
  objects.push_back(std::move(collider));
}

/* Members: the root first. */
void World::add_tree(const std::vector<int32_t> &members) {
  int32_t root = members.front();
  const tbi_neutral_body &b = neutral.body[root];
  bool floating = b.joint == TBI_NEUTRAL_FREE;
  int links = int(members.size()) - (floating ? 1 : 0);
  auto tree = std::make_unique<btMultiBody>(links, floating ? b.mass : 0,
                                            floating ? bodies[root].moments : btVector3(0, 0, 0),
                                            !floating, false);
  int next = floating ? -1 : 0;
  for (int32_t i : members) {
    bodies[i].tree = tree.get();
    bodies[i].link = next++;
    if (bodies[i].link >= 0) set_link(tree.get(), i);
  }
  tree->finalizeMultiDof();
  tree->setLinearDamping(0);
  tree->setAngularDamping(0);
  tree->setMaxCoordinateVelocity(1e6);
  tree->setHasSelfCollision(false);
  if (floating) {
    btTransform at = at_start(root);
    tree->setBaseWorldTransform(at);
    tree->setBaseVel(com_velocity(b, at));
    tree->setBaseOmega(vector_of(b.start_angular));
  }
  for (int32_t i : members)
    if (bodies[i].link >= 0) {
      tree->setJointPos(bodies[i].link, neutral.body[i].q);
      tree->setJointVel(bodies[i].link, neutral.body[i].v);
    }
  for (int32_t i : members)
    add_collider(tree.get(), i);
  static_cast<btMultiBodyDynamicsWorld *>(world.get())->addMultiBody(tree.get());
  trees.push_back(std::move(tree));
}

/* Between trees only, or a tree and the world. */
void World::add_connection(const tbi_neutral_connection &connection) {
  const Body &a = bodies[connection.body[0]];
  btVector3 at_a = a.centre.inverse() * vector_of(connection.pos[0]),
            at_b = vector_of(connection.pos[1]);
  if (connection.body[1] < 0) {
    connections.push_back(
        std::make_unique<btMultiBodyPoint2Point>(a.tree, a.link, nullptr, at_a, at_b));
  } else {
    const Body &b = bodies[connection.body[1]];
    connections.push_back(std::make_unique<btMultiBodyPoint2Point>(
        a.tree, a.link, b.tree, b.link, at_a, b.centre.inverse() * at_b));
  }
  static_cast<btMultiBodyDynamicsWorld *>(world.get())
      ->addMultiBodyConstraint(connections.back().get());
}

World::World(const tbi_neutral_scene &scene, const char *settings)
    : bodies(scene.nbody), neutral(scene) {
  if (has_joints(neutral)) {
    auto *many = new btMultiBodyConstraintSolver;
    solver.reset(many);
    world =
        std::make_unique<btMultiBodyDynamicsWorld>(&dispatcher, &broadphase, many, &configuration);
  } else {
    solver = std::make_unique<btSequentialImpulseConstraintSolver>();
    world = std::make_unique<btDiscreteDynamicsWorld>(&dispatcher, &broadphase, solver.get(),
                                                      &configuration);
  }
  world->setGravity(vector_of(neutral.gravity));
  world->getPairCache()->setOverlapFilterCallback(&filter);
  btContactSolverInfo &info = world->getSolverInfo();
  if (std::strcmp(settings, "fine") == 0) info.m_numIterations = 200;
  if (std::strcmp(settings, "hard") == 0) info.m_erp = info.m_erp2 = 0;
  add_ground();
  std::vector<std::vector<int32_t>> members;
  std::vector<size_t> home(size_t(neutral.nbody), 0);
  for (int32_t i = 0; i < neutral.nbody; ++i) {
    int32_t parent = neutral.body[i].parent;
    measure_body(i);
    home[size_t(i)] = parent < 0 ? members.size() : home[size_t(parent)];
    if (parent < 0) members.emplace_back();
    members[home[size_t(i)]].push_back(i);
  }
  for (const auto &tree : members)
    if (tree.size() == 1 && neutral.body[tree[0]].joint == TBI_NEUTRAL_FREE)
      add_rigid(tree[0]);
    else
      add_tree(tree);
  for (int32_t i = 0; i < neutral.nconnection; ++i)
    add_connection(neutral.connection[i]);
}

World::~World() {
  for (auto &connection : connections)
    static_cast<btMultiBodyDynamicsWorld *>(world.get())
        ->removeMultiBodyConstraint(connection.get());
  for (auto &tree : trees)
    static_cast<btMultiBodyDynamicsWorld *>(world.get())->removeMultiBody(tree.get());
  for (auto &object : objects)
    world->removeCollisionObject(object.get());
}

void World::drive(const double *target) {
  for (size_t i = 0; i < bodies.size(); ++i) {
    Body &body = bodies[i];
    const tbi_neutral_body &b = neutral.body[i];
    if (body.rigid && !body.push.isZero()) body.rigid->applyCentralForce(body.push);
    if (body.tree && body.link < 0 && !body.push.isZero()) body.tree->addBaseForce(body.push);
    if (!body.tree || body.link < 0) continue;
    if (!body.push.isZero()) body.tree->addLinkForce(body.link, body.push);
    double q = body.tree->getJointPos(body.link), v = body.tree->getJointVel(body.link);
    double torque = b.kp * ((target ? target[i] : b.target) - q) - (b.kd + b.damping) * v;
    if (b.kp > 0 || b.damping > 0) body.tree->addJointTorque(body.link, torque);
  }
}

void World::step(const double *target) {
  drive(target);
  world->stepSimulation(neutral.timestep, 0);
}

int32_t World::contacts() const {
  int32_t count = 0;
  for (int i = 0; i < dispatcher.getNumManifolds(); ++i)
    count += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
  return count;
}

void report(tbi_neutral_state &to, const btTransform &centre, const btTransform &own,
            const btVector3 &linear, const btVector3 &angular) {
  btQuaternion q = (centre * own.inverse()).getRotation();
  const double quat[4] = {q.w(), q.x(), q.y(), q.z()};
  std::memcpy(to.quat, quat, sizeof quat);
  for (int k = 0; k < 3; ++k) {
    to.com[k] = centre.getOrigin()[k];
    to.linear[k] = linear[k];
    to.angular[k] = angular[k];
  }
}

void World::state(tbi_neutral_state *to) {
  btAlignedObjectArray<btQuaternion> turns;
  btAlignedObjectArray<btVector3> places;
  std::vector<btVector3> angular(bodies.size() + 2), linear(bodies.size() + 2);
  btMultiBody *last = nullptr;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const Body &b = bodies[i];
    if (b.rigid) {
      report(to[i], b.rigid->getWorldTransform(), b.centre, b.rigid->getLinearVelocity(),
             b.rigid->getAngularVelocity());
      continue;
    }
    // velocities come in the axes of the links, the base first
    if (b.tree != last) {
      b.tree->forwardKinematics(turns, places);
      b.tree->compTreeLinkVelocities(angular.data(), linear.data());
    }
    last = b.tree;
    btTransform at = b.link < 0 ? b.tree->getBaseWorldTransform()
                                : b.tree->getLink(b.link).m_cachedWorldTransform;
    size_t k = size_t(b.link + 1);
    report(to[i], at, b.centre, at.getBasis() * linear[k], at.getBasis() * angular[k]);
  }
}

const char *odd(const tbi_neutral_scene &neutral) {
  for (int32_t i = 0; i < neutral.nbody; ++i) {
    const tbi_neutral_body &b = neutral.body[i];
    if (b.dry > 0 || b.armature > 0) return "Bullet's joints have no dry friction and no armature";
    if (std::isfinite(b.lower) || std::isfinite(b.upper)) return "joint limits are not handled";
    if (b.kp * neutral.timestep > 1) return "Bullet's multibody has no implicit servos";
  }
  if (neutral.nconnection > 0 && !has_joints(neutral))
    return "connections between bodies without joints";
  return nullptr;
}

void *open_world(const tbi_engine_instance *instance, const char **trouble) {
  const char *reason = odd(*instance->neutral);
  if (reason) *trouble = reason;
  return reason ? nullptr : new World(*instance->neutral, instance->settings);
}

World *world_of(void *self) { return static_cast<World *>(self); }
void close_world(void *self) { delete world_of(self); }
void step(void *self, const double *target) { world_of(self)->step(target); }
int32_t contacts(void *self) { return world_of(self)->contacts(); }
void push(void *self, int32_t body, const double force[3]) {
  world_of(self)->bodies[size_t(body)].push = vector_of(force);
}
void state(void *self, tbi_neutral_state *to) { world_of(self)->state(to); }

} // namespace

int main(int argc, char **argv) {
  static const tbi_engine engine = {
      "bullet " TBI_PEER_VERSION, open_world, close_world, step, contacts, push, state};
  gCalculateCombinedFrictionCallback = larger_friction;
  gCalculateCombinedRestitutionCallback = larger_restitution;
  return tbi_peer_serve(argc, argv, &engine);
}
