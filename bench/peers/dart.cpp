/* dart.cpp - the program tabi-bench-dart: DART with the shapes of ODE, which know all of ours.
 *
 * Settings: "default", its boxed LCP by Dantzig's method; "pgs", by projected Gauss-Seidel.  Servos
 * are springs and dampers of the joints, which DART takes implicitly.  DART takes the smaller
 * friction of two shapes. */
#include "serve.h"

#include <cmath>
#include <cstring>
#include <dart/collision/CollisionFilter.hpp>
#include <dart/collision/CollisionObject.hpp>
#include <dart/collision/ode/OdeCollisionDetector.hpp>
#include <dart/config.hpp>
#include <dart/constraint/BallJointConstraint.hpp>
#include <dart/constraint/BoxedLcpConstraintSolver.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/constraint/PgsBoxedLcpSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/BoxShape.hpp>
#include <dart/dynamics/CapsuleShape.hpp>
#include <dart/dynamics/CylinderShape.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/PlaneShape.hpp>
#include <dart/dynamics/PrismaticJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/dynamics/SphereShape.hpp>
#include <dart/dynamics/WeldJoint.hpp>
#include <dart/simulation/World.hpp>
#include <iostream>
#include <unordered_map>
#include <vector>

namespace {

using dart::dynamics::BodyNode;
using dart::dynamics::FreeJoint;
using dart::dynamics::PrismaticJoint;
using dart::dynamics::RevoluteJoint;
using dart::dynamics::ShapeFrame;
using dart::dynamics::Skeleton;
using dart::dynamics::SkeletonPtr;

Eigen::Vector3d vector_of(const double *x) { return {x[0], x[1], x[2]}; }

Eigen::Isometry3d frame_of(const double *pos, const double *quat) {
  Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
  at.linear() = Eigen::Quaterniond(quat[0], quat[1], quat[2], quat[3]).toRotationMatrix();
  at.translation() = vector_of(pos);
  return at;
}

/* Shapes are told apart by the order in which they were made. */
struct Filter : dart::collision::CollisionFilter {
  const tbi_neutral_scene *neutral = nullptr;
  std::unordered_map<const ShapeFrame *, int32_t> index;
  bool ignoresCollision(const dart::collision::CollisionObject *a,
                        const dart::collision::CollisionObject *b) const override {
    return !tbi_neutral_may_collide(neutral, index.at(a->getShapeFrame()),
                                    index.at(b->getShapeFrame()));
  }
};

class World {
public:
  World(const tbi_neutral_scene &scene, bool sweeps);
  void step(const double *target);
  int32_t contacts() const { return int32_t(world->getLastCollisionResult().getNumContacts()); }
  void state(tbi_neutral_state *to) const;
  std::vector<Eigen::Vector3d> push;

private:
  void add_body(int32_t i);
  void set_joint(dart::dynamics::Joint *joint, const tbi_neutral_body &b);
  void add_shape(int32_t i);

  const tbi_neutral_scene &neutral;
  dart::simulation::WorldPtr world;
  std::vector<SkeletonPtr> skeleton; /* by body */
  std::vector<BodyNode *> body;
  BodyNode *ground = nullptr;
  std::shared_ptr<Filter> filter = std::make_shared<Filter>();
};

void World::set_joint(dart::dynamics::Joint *joint, const tbi_neutral_body &b) {
  if (auto *free = dynamic_cast<FreeJoint *>(joint)) {
    free->setTransform(frame_of(b.start_pos, b.start_quat), dart::dynamics::Frame::World());
    free->setLinearVelocity(vector_of(b.start_linear));
    free->setAngularVelocity(vector_of(b.start_angular));
    return;
  }
  joint->setPosition(0, b.q);
  joint->setVelocity(0, b.v);
  joint->setDampingCoefficient(0, b.damping + b.kd);
  joint->setSpringStiffness(0, b.kp);
  joint->setRestPosition(0, b.target);
  joint->setCoulombFriction(0, b.dry);
  joint->setPositionLowerLimit(0, b.lower);
  joint->setPositionUpperLimit(0, b.upper);
  joint->setLimitEnforcement(std::isfinite(b.lower) || std::isfinite(b.upper));
}

void World::add_body(int32_t i) {
  const tbi_neutral_body &b = neutral.body[i];
  SkeletonPtr owner =
      b.parent < 0 ? Skeleton::create("tree" + std::to_string(i)) : skeleton[size_t(b.parent)];
  BodyNode *parent = b.parent < 0 ? nullptr : body[size_t(b.parent)];
  dart::dynamics::Joint *joint = nullptr;
  if (b.joint == TBI_NEUTRAL_FREE) {
    std::tie(joint, body[size_t(i)]) = owner->createJointAndBodyNodePair<FreeJoint>(parent);
  } else if (b.joint == TBI_NEUTRAL_HINGE) {
    RevoluteJoint::Properties properties;
    properties.mAxis = Eigen::Vector3d::UnitZ();
    std::tie(joint, body[size_t(i)]) =
        owner->createJointAndBodyNodePair<RevoluteJoint>(parent, properties);
  } else {
    PrismaticJoint::Properties properties;
    properties.mAxis = Eigen::Vector3d::UnitZ();
    std::tie(joint, body[size_t(i)]) =
        owner->createJointAndBodyNodePair<PrismaticJoint>(parent, properties);
  }
  joint->setTransformFromParentBodyNode(frame_of(b.pos, b.quat));
  const double *x = b.inertia;
  Eigen::Matrix3d moment;
  moment << x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2];
  body[size_t(i)]->setInertia(dart::dynamics::Inertia(b.mass, vector_of(b.com), moment));
  skeleton[size_t(i)] = owner;
  set_joint(joint, b);
}

dart::dynamics::ShapePtr make_shape(const tbi_neutral_shape &s) {
  using namespace dart::dynamics;
  switch (s.kind) {
  case TBI_NEUTRAL_SPHERE:
    return std::make_shared<SphereShape>(s.size[0]);
  case TBI_NEUTRAL_CAPSULE:
    return std::make_shared<CapsuleShape>(s.size[0], s.size[1]);
  case TBI_NEUTRAL_BOX:
    return std::make_shared<BoxShape>(vector_of(s.size));
  case TBI_NEUTRAL_CYLINDER:
    return std::make_shared<CylinderShape>(s.size[0], s.size[1]);
  default:
    return std::make_shared<PlaneShape>(Eigen::Vector3d::UnitZ(), 0.0);
  }
}

void World::add_shape(int32_t i) {
  const tbi_neutral_shape &s = neutral.shape[i];
  BodyNode *on = s.body < 0 ? ground : body[size_t(s.body)];
  auto *node =
      on->createShapeNodeWith<dart::dynamics::CollisionAspect, dart::dynamics::DynamicsAspect>(
          make_shape(s));
  node->setRelativeTransform(frame_of(s.pos, s.quat));
  node->getDynamicsAspect()->setFrictionCoeff(s.friction);
  node->getDynamicsAspect()->setRestitutionCoeff(s.restitution);
  filter->index[node] = i;
}

World::World(const tbi_neutral_scene &scene, bool sweeps)
    : push(size_t(scene.nbody), Eigen::Vector3d::Zero()), neutral(scene),
      world(dart::simulation::World::create()), skeleton(size_t(scene.nbody)),
      body(size_t(scene.nbody)) {
  world->setTimeStep(neutral.timestep);
  world->setGravity(vector_of(neutral.gravity));
  SkeletonPtr floor = Skeleton::create("ground");
  ground = floor->createJointAndBodyNodePair<dart::dynamics::WeldJoint>().second;
  for (int32_t i = 0; i < neutral.nbody; ++i)
    add_body(i);
  for (int32_t i = 0; i < neutral.nshape; ++i)
    add_shape(i);
  filter->neutral = &neutral;
  if (sweeps)
    world->setConstraintSolver(std::make_unique<dart::constraint::BoxedLcpConstraintSolver>(
        neutral.timestep, std::make_shared<dart::constraint::PgsBoxedLcpSolver>()));
  auto *solver = world->getConstraintSolver();
  solver->setCollisionDetector(dart::collision::OdeCollisionDetector::create());
  solver->getCollisionOption().collisionFilter = filter;
  solver->getCollisionOption().maxNumContacts = 100000;
  for (int32_t i = 0; i < neutral.nconnection; ++i) {
    const tbi_neutral_connection &connection = neutral.connection[i];
    BodyNode *a = body[size_t(connection.body[0])];
    Eigen::Vector3d at = a->getWorldTransform() * vector_of(connection.pos[0]);
    using Ball = dart::constraint::BallJointConstraint;
    solver->addConstraint(connection.body[1] < 0
                              ? std::make_shared<Ball>(a, at)
                              : std::make_shared<Ball>(a, body[size_t(connection.body[1])], at));
  }
  floor->setMobile(false);
  world->addSkeleton(floor);
  for (int32_t i = 0; i < neutral.nbody; ++i)
    if (neutral.body[i].parent < 0) world->addSkeleton(skeleton[size_t(i)]);
}

void World::step(const double *target) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (target && neutral.body[i].kp > 0) body[i]->getParentJoint()->setRestPosition(0, target[i]);
    if (!push[i].isZero(0))
      body[i]->addExtForce(push[i], vector_of(neutral.body[i].com), false, true);
  }
  world->step();
}

void World::state(tbi_neutral_state *to) const {
  for (size_t i = 0; i < body.size(); ++i) {
    Eigen::Quaterniond q(body[i]->getWorldTransform().linear());
    Eigen::Vector3d com = body[i]->getCOM(), linear = body[i]->getCOMLinearVelocity(),
                    angular = body[i]->getAngularVelocity();
    const double quat[4] = {q.w(), q.x(), q.y(), q.z()};
    std::memcpy(to[i].quat, quat, sizeof quat);
    std::memcpy(to[i].com, com.data(), sizeof to[i].com);
    std::memcpy(to[i].linear, linear.data(), sizeof to[i].linear);
    std::memcpy(to[i].angular, angular.data(), sizeof to[i].angular);
  }
}

const char *odd(const tbi_neutral_scene &neutral) {
  for (int32_t i = 0; i < neutral.nbody; ++i) {
    const tbi_neutral_body &b = neutral.body[i];
    if (b.armature > 0) return "armature of joints is not handled";
  }
  for (int32_t i = 0; i < neutral.nshape; ++i)
    if (neutral.shape[i].friction > neutral.shape[0].friction)
      return "DART takes the smaller friction of two shapes";
  return nullptr;
}

void *open_world(const tbi_engine_instance *instance, const char **trouble) {
  const char *reason = odd(*instance->neutral);
  if (reason) *trouble = reason;
  return reason ? nullptr
                : new World(*instance->neutral, std::strcmp(instance->settings, "pgs") == 0);
}

World *world_of(void *self) { return static_cast<World *>(self); }
void close_world(void *self) { delete world_of(self); }
void step(void *self, const double *target) { world_of(self)->step(target); }
int32_t contacts(void *self) { return world_of(self)->contacts(); }
void push(void *self, int32_t body, const double force[3]) {
  world_of(self)->push[size_t(body)] = vector_of(force);
}
void state(void *self, tbi_neutral_state *to) { world_of(self)->state(to); }

} // namespace

int main(int argc, char **argv) {
  static const tbi_engine engine = {
      "dart " DART_VERSION, open_world, close_world, step, contacts, push, state};
  // its messages would come between the answers
  std::cout.rdbuf(nullptr);
  return tbi_peer_serve(argc, argv, &engine);
}
