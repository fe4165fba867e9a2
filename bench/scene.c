/* scene.c - a standing robot, a robot on many points, a stack and a pile of boxes; the same on
 * every machine.
 *
 * The bush joints in the feet of the shipped humanoid are locked: rubber is another subject. */
#include "scene.h"

#include "base/error.h"
#include "base/random.h"
#include "model/builder.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Servos of a robot whose file has no motors: as stiff as the motor is strong. */
static const double stiffness_per_effort = 20; /* 1/rad */
static const double damping_time = 0.02;       /* s */
static const double usual_effort = 100;        /* N m, where the file does not tell */

static const double point_radius = 0.002; /* m, of a point under a sole */
static const double point_out = 0.001;    /* m, by which it stands out of the sole */

static const double longest_edge = 0.12; /* m, of a box in the pile */
static const double density = 500;       /* kg/m^3 */

static const double mesh_cell = 0.1; /* m, of the ground that is a mesh */

static const char *const feet[2] = {"l_foot", "r_foot"}; /* of the shipped humanoid */

void tbi_bench_scene_free(tbi_bench_scene *scene) {
  if (!scene->owner) tabi_model_destroy(scene->model);
  tabi_scene_destroy(scene->owner);
  free(scene->q);
  free(scene->servo);
  free(scene->control);
  *scene = (tbi_bench_scene){0};
}

static bool drivable(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS ||
         type == TABI_JOINT_PRISMATIC;
}

static void add_servos(tbi_bench_scene *scene) {
  for (int32_t j = 0; j < tabi_model_njoint(scene->model); ++j) {
    tabi_joint_def joint = tabi_model_joint(scene->model, j);
    if (!drivable(joint.type)) continue;
    double effort = isfinite(joint.effort) ? joint.effort : usual_effort;
    double kp = stiffness_per_effort * effort;
    scene->servo[j] = (tabi_servo){.kp = kp,
                                   .kd = damping_time * kp,
                                   .target = scene->q[tabi_model_joint_q(scene->model, j).first],
                                   .implicit = true};
  }
}

/* The input at which a motor does not pull: for a position servo, the place where it stands. */
static void set_controls(tbi_bench_scene *scene) {
  for (int32_t a = 0; a < tabi_model_nactuator(scene->model); ++a) {
    tabi_actuator_def def = tabi_model_actuator(scene->model, a);
    if (def.tendon != TABI_NONE) continue;
    tabi_range q = tabi_model_joint_q(scene->model, def.joint);
    double length = q.count == 1 ? def.gear * scene->q[q.first] : 0;
    if (def.gain != 0) scene->control[a] = -(def.bias[0] + def.bias[1] * length) / def.gain;
  }
}

/* Arrays for a scene that has its model. */
static tabi_status make_arrays(tbi_bench_scene *scene, tabi_error *err) {
  const tabi_model *model = scene->model;
  scene->q = malloc(((size_t)tabi_model_nq(model) + 1) * sizeof(double));
  scene->servo = calloc((size_t)tabi_model_njoint(model) + 1, sizeof *scene->servo);
  scene->control = calloc((size_t)tabi_model_nactuator(model) + 1, sizeof(double));
  if (!scene->q || !scene->servo || !scene->control) {
    tbi_bench_scene_free(scene);
    return tbi_error_memory(err);
  }
  tabi_model_initial_q(model, scene->q);
  if (tabi_model_nposture(model) > 0) (void)tabi_model_posture(model, 0, scene->q, NULL);
  set_controls(scene);
  return TABI_OK;
}

tabi_status tbi_bench_scene_init(tbi_bench_scene *scene, tabi_model *model, tabi_error *err) {
  *scene = (tbi_bench_scene){.model = model};
  return model ? make_arrays(scene, err) : err->status;
}

/* What the scene starts with, and the servos that its controllers set there. */
static tabi_status take_start(tbi_bench_scene *scene, tabi_error *err) {
  tabi_world *world = tabi_world_create(scene->model, NULL, err);
  tabi_status status = world ? tabi_scene_reset(scene->owner, world, err) : err->status;
  if (status == TABI_OK) {
    tabi_scene_control(scene->owner, world);
    memcpy(scene->q, tabi_world_q(world), (size_t)tabi_model_nq(scene->model) * sizeof *scene->q);
    for (int32_t j = 0; j < tabi_model_njoint(scene->model); ++j)
      if (tabi_model_joint_v(scene->model, j).count == 1)
        scene->servo[j] = tabi_world_get_servo(world, j);
  }
  tabi_world_destroy(world);
  return status;
}

tabi_status tbi_bench_scene_load(tbi_bench_scene *scene, const char *path, bool self_collision,
                                 tabi_error *err) {
  const char *change =
      self_collision ? "robots.robot.self_collision=true" : "robots.robot.self_collision=false";
  tabi_scene_def def = tabi_scene_def_default();
  def.set = &change;
  def.nset = 1;
  *scene = (tbi_bench_scene){.owner = tabi_scene_load(path, &def, err)};
  if (!scene->owner) return err->status;
  // never written to: the bench's own models are the only ones that it destroys
  scene->model = (tabi_model *)tabi_scene_model(scene->owner);
  tabi_status status = make_arrays(scene, err);
  if (status == TABI_OK) status = take_start(scene, err);
  if (status != TABI_OK) tbi_bench_scene_free(scene);
  return status;
}

tabi_status tbi_bench_scene_start(const tbi_bench_scene *scene, tabi_world *world,
                                  tabi_error *err) {
  double *rest = calloc((size_t)tabi_model_nv(scene->model) + 1, sizeof(double));
  if (!rest) return tbi_error_memory(err);
  tabi_status status = tabi_world_set_state(world, scene->q, rest, err);
  free(rest);
  for (int32_t j = 0; j < tabi_model_njoint(scene->model); ++j)
    if (scene->servo[j].kp > 0) tabi_world_set_servo(world, j, &scene->servo[j]);
  for (int32_t a = 0; a < tabi_model_nactuator(scene->model); ++a)
    tabi_world_set_control(world, a, scene->control[a]);
  return status;
}

double tbi_bench_scene_fastest(const tabi_world *world) {
  const double *v = tabi_world_v(world);
  double speed = 0;
  for (int32_t k = 0; k < tabi_model_nv(tabi_world_model(world)); ++k)
    speed = fmax(speed, fabs(v[k]));
  return speed;
}

static tabi_model *finish(tabi_builder *builder, tabi_error *err) {
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

/* The height of the lowest point of a shape whose frame has the third row z of its rotation. */
static double lowest_of(const tabi_model *model, const tabi_shape_def *s, double height,
                        const double z[3]) {
  double flat = hypot(z[0], z[1]);
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return height - s->size[0];
  case TABI_SHAPE_CAPSULE:
    return height - s->size[0] - s->size[1] / 2 * fabs(z[2]);
  case TABI_SHAPE_CYLINDER:
    return height - s->size[0] * flat - s->size[1] / 2 * fabs(z[2]);
  case TABI_SHAPE_BOX:
    return height -
           (s->size[0] * fabs(z[0]) + s->size[1] * fabs(z[1]) + s->size[2] * fabs(z[2])) / 2;
  case TABI_SHAPE_ELLIPSOID:
    return height - hypot(hypot(s->size[0] * z[0], s->size[1] * z[1]), s->size[2] * z[2]);
  case TABI_SHAPE_MESH:
    break;
  default:
    return HUGE_VAL;
  }
  tabi_mesh_def mesh = tabi_model_mesh(model, s->mesh);
  double lowest = HUGE_VAL;
  for (int32_t i = 0; i < mesh.nvertex; ++i) {
    const double *x = mesh.vertices + 3 * (size_t)i;
    lowest = fmin(lowest, height + z[0] * x[0] + z[1] * x[1] + z[2] * x[2]);
  }
  return lowest;
}

/* R(quat)^T z: what the world's z is in the axes of a frame, which is the third row of R. */
static void up_in(const double quat[4], double up[3]) {
  double w = quat[0], x = quat[1], y = quat[2], z = quat[3];
  up[0] = 2 * (x * z - w * y);
  up[1] = 2 * (y * z + w * x);
  up[2] = 1 - 2 * (x * x + y * y);
}

/* up of the link, turned on into the axes of a shape on it */
static void up_in_shape(const double link_up[3], const double quat[4], double up[3]) {
  double w = quat[0], t[3];
  const double u[3] = {-quat[1], -quat[2], -quat[3]};
  for (int i = 0; i < 3; ++i)
    t[i] = 2 * (u[(i + 1) % 3] * link_up[(i + 2) % 3] - u[(i + 2) % 3] * link_up[(i + 1) % 3]);
  for (int i = 0; i < 3; ++i)
    up[i] =
        link_up[i] + w * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3];
}

static double lowest_point(const tabi_model *model, const tabi_dynamics *dynamics) {
  double lowest = HUGE_VAL;
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    if (!shape.collides || shape.link == TABI_WORLD) continue;
    double pos[3], quat[4], link_up[3], up[3];
    tabi_dynamics_link_pose(dynamics, shape.link, pos, quat);
    up_in(quat, link_up);
    up_in_shape(link_up, shape.quat, up);
    double height = pos[2];
    for (int k = 0; k < 3; ++k)
      height += link_up[k] * shape.pos[k];
    lowest = fmin(lowest, lowest_of(model, &shape, height, up));
  }
  return isfinite(lowest) ? lowest : 0;
}

static void add_plane(tabi_builder *builder, const double pos[3], const double quat[4]) {
  tabi_shape_def plane = tabi_shape_def_default();
  plane.type = TABI_SHAPE_PLANE;
  memcpy(plane.pos, pos, sizeof plane.pos);
  memcpy(plane.quat, quat, sizeof plane.quat);
  // everything may touch it, whatever its group
  plane.mask = UINT32_MAX;
  (void)tabi_builder_add_shape(builder, &plane);
}

/* A level ground at a height. */
typedef void ground(tabi_builder *builder, double height);

static void add_floor(tabi_builder *builder, double height) {
  const double pos[3] = {0, 0, height}, quat[4] = {1, 0, 0, 0};
  add_plane(builder, pos, quat);
}

/* Two triangles for each cell of a square. */
static void add_mesh_floor(tabi_builder *builder, double height) {
  enum { SIDE = 40, ROW = SIDE + 1 };
  double vertices[ROW * ROW][3];
  int32_t faces[SIDE * SIDE][2][3];
  for (int i = 0; i < ROW * ROW; ++i) {
    const int x = i % ROW - SIDE / 2, y = i / ROW - SIDE / 2;
    memcpy(vertices[i], (double[3]){mesh_cell * x, mesh_cell * y, 0}, sizeof vertices[i]);
  }
  for (int i = 0; i < SIDE * SIDE; ++i) {
    int32_t at = i / SIDE * ROW + i % SIDE;
    memcpy(faces[i][0], (int32_t[3]){at, at + 1, at + ROW + 1}, sizeof faces[i][0]);
    memcpy(faces[i][1], (int32_t[3]){at, at + ROW + 1, at + ROW}, sizeof faces[i][1]);
  }
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.nvertex = ROW * ROW;
  mesh.nface = 2 * SIDE * SIDE;
  mesh.vertices = vertices[0];
  mesh.faces = faces[0][0];
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_TRIANGLES;
  shape.mesh = tabi_builder_add_mesh(builder, &mesh);
  shape.pos[2] = height;
  shape.mask = UINT32_MAX;
  (void)tabi_builder_add_shape(builder, &shape);
}

static void lock_bushes(tabi_builder *builder) {
  tabi_joint_def *joint = builder->joints.items;
  for (int32_t j = 0; j < builder->joints.count; ++j)
    if (joint[j].name && strstr(joint[j].name, "_bush_")) {
      tabi_joint_def fixed = tabi_joint_def_default();
      fixed.name = joint[j].name;
      fixed.parent = joint[j].parent;
      fixed.child = joint[j].child;
      memcpy(fixed.pos, joint[j].pos, sizeof fixed.pos);
      memcpy(fixed.quat, joint[j].quat, sizeof fixed.quat);
      joint[j] = fixed;
    }
}

/* A robot from a file in a builder, or NULL. */
static tabi_builder *load_robot(const char *path, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  if (tabi_builder_load(builder, path, NULL, err) != TABI_OK) {
    tabi_builder_destroy(builder);
    return NULL;
  }
  lock_bushes(builder);
  return builder;
}

/* The height of the lowest point at the start, once the robot is built. */
static tabi_status find_lowest(const tabi_builder *builder, double *lowest, tabi_error *err) {
  tbi_bench_scene alone;
  tabi_status status = tbi_bench_scene_init(&alone, tabi_builder_build(builder, err), err);
  if (status != TABI_OK) return status;
  tabi_dynamics *dynamics = tabi_dynamics_create(alone.model, err);
  double *rest = calloc((size_t)tabi_model_nv(alone.model) + 1, sizeof(double));
  if (dynamics && rest) {
    tabi_dynamics_set_state(dynamics, alone.q, rest);
    *lowest = lowest_point(alone.model, dynamics);
  }
  status = dynamics && rest ? TABI_OK : tbi_error_memory(err);
  free(rest);
  tabi_dynamics_destroy(dynamics);
  tbi_bench_scene_free(&alone);
  return status;
}

/* Takes the builder over. */
static tabi_status stand_on(ground *add_ground, tbi_bench_scene *scene, tabi_builder *builder,
                            tabi_error *err) {
  double lowest = 0;
  tabi_status status = find_lowest(builder, &lowest, err);
  if (status != TABI_OK) {
    tabi_builder_destroy(builder);
    return status;
  }
  add_ground(builder, lowest);
  status = tbi_bench_scene_init(scene, finish(builder, err), err);
  if (status == TABI_OK) add_servos(scene);
  return status;
}

static bool is_mjcf(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && strcmp(dot, ".xml") == 0;
}

tabi_status tbi_bench_scene_robot(tbi_bench_scene *scene, const char *path, tabi_error *err) {
  tabi_builder *builder = load_robot(path, err);
  if (!builder) return err->status;
  if (is_mjcf(path)) {
    tabi_status status = tbi_bench_scene_init(scene, finish(builder, err), err);
    scene->file = path;
    return status;
  }
  return stand_on(add_floor, scene, builder, err);
}

tabi_status tbi_bench_scene_mesh_ground(tbi_bench_scene *scene, const char *path, tabi_error *err) {
  tabi_builder *builder = load_robot(path, err);
  return builder ? stand_on(add_mesh_floor, scene, builder, err) : err->status;
}

/* The hull of a box's corners. */
static void make_hull(tabi_builder *builder, tabi_shape_def *box) {
  double corners[8][3];
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k)
      corners[i][k] = (i >> k & 1 ? 0.5 : -0.5) * box->size[k];
  tabi_mesh_def mesh = tabi_mesh_def_default();
  mesh.nvertex = 8;
  mesh.vertices = corners[0];
  box->type = TABI_SHAPE_MESH;
  box->mesh = tabi_builder_add_mesh(builder, &mesh);
}

tabi_status tbi_bench_scene_hull_feet(tbi_bench_scene *scene, const char *path, tabi_error *err) {
  tabi_builder *builder = load_robot(path, err);
  if (!builder) return err->status;
  tabi_shape_def *shape = builder->shapes.items;
  for (int side = 0; side < 2; ++side) {
    int32_t foot = tabi_builder_find_link(builder, feet[side]);
    for (int32_t i = 0; i < builder->shapes.count; ++i)
      if (shape[i].link == foot && shape[i].collides && shape[i].type == TABI_SHAPE_BOX)
        make_hull(builder, &shape[i]);
  }
  return stand_on(add_floor, scene, builder, err);
}

/* The collision box of a foot: the last one the link has. */
static bool sole_of(const tabi_builder *builder, int32_t link, tabi_shape_def *sole) {
  const tabi_shape_def *shape = builder->shapes.items;
  bool found = false;
  for (int32_t i = 0; i < builder->shapes.count; ++i)
    if (shape[i].link == link && shape[i].collides && shape[i].type == TABI_SHAPE_BOX) {
      *sole = shape[i];
      found = true;
    }
  return found;
}

/* Nothing but contacts in the problem: the papers' matrix holds no others. */
static void free_joints(tabi_builder *builder) {
  tabi_joint_def *joint = builder->joints.items;
  for (int32_t j = 0; j < builder->joints.count; ++j) {
    if (!drivable(joint[j].type)) continue;
    joint[j].friction = 0;
    joint[j].lower = -HUGE_VAL;
    joint[j].upper = HUGE_VAL;
  }
}

/* `points` spheres in rows over the sole, the corners included. */
static void add_points(tabi_builder *builder, const tabi_shape_def *sole, int32_t points) {
  int32_t columns = (int32_t)ceil(sqrt(points * sole->size[0] / sole->size[1]));
  if (columns > points / 2) columns = points / 2;
  if (columns < 1) columns = 1;
  int32_t rows = (points + columns - 1) / columns;
  for (int32_t i = 0; i < points; ++i) {
    // the last row may be short: spread it over the width too
    int32_t row = i / columns;
    int32_t length = row < rows - 1 ? columns : points - row * columns;
    tabi_shape_def point = tabi_shape_def_default();
    point.link = sole->link;
    point.size[0] = point_radius;
    point.group = 2;
    point.mask = 0;
    double x = length > 1 ? (double)(i % columns) / (length - 1) - 0.5 : 0;
    double y = rows > 1 ? (double)row / (rows - 1) - 0.5 : 0;
    point.pos[0] = sole->pos[0] + x * (sole->size[0] - 2 * point_radius);
    point.pos[1] = sole->pos[1] + y * (sole->size[1] - 2 * point_radius);
    point.pos[2] = sole->pos[2] - sole->size[2] / 2 - point_out + point_radius;
    (void)tabi_builder_add_shape(builder, &point);
  }
}

tabi_status tbi_bench_scene_points(tbi_bench_scene *scene, const char *path, int32_t points,
                                   tabi_error *err) {
  tabi_builder *builder = load_robot(path, err);
  if (!builder) return err->status;
  free_joints(builder);
  for (int side = 0; side < 2; ++side) {
    tabi_shape_def sole;
    if (!sole_of(builder, tabi_builder_find_link(builder, feet[side]), &sole)) {
      tabi_builder_destroy(builder);
      return tbi_error_set(err, TABI_ERR_MODEL, (tabi_place){path, 0}, "link '%s' has no box",
                           feet[side]);
    }
    add_points(builder, &sole, points / 2);
  }
  return stand_on(add_floor, scene, builder, err);
}

static void random_quat(uint64_t *seed, double quat[4]) {
  double norm = 0;
  // uniform: a point in the ball of four dimensions, on its surface
  while (norm < 0.1 || norm > 1) {
    norm = 0;
    for (int k = 0; k < 4; ++k) {
      quat[k] = 2 * tbi_random_unit(seed) - 1;
      norm += quat[k] * quat[k];
    }
  }
  for (int k = 0; k < 4; ++k)
    quat[k] /= sqrt(norm);
}

/* A box that floats at pos, turned by quat. */
static void add_box(tabi_builder *builder, const double size[3], const double pos[3],
                    const double quat[4]) {
  tabi_link_def link = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  tabi_shape_def box = tabi_shape_def_default();
  memcpy(box.size, size, sizeof box.size);
  link.mass = density * size[0] * size[1] * size[2];
  for (int k = 0; k < 3; ++k) {
    double a = size[(k + 1) % 3], b = size[(k + 2) % 3];
    link.inertia[k] = link.mass / 12 * (a * a + b * b);
  }
  char name[32];
  (void)snprintf(name, sizeof name, "box%d", (int)tabi_builder_nlink(builder));
  link.name = joint.name = name;
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = box.link = tabi_builder_add_link(builder, &link);
  box.type = TABI_SHAPE_BOX;
  memcpy(joint.initial_q, pos, 3 * sizeof(double));
  memcpy(joint.initial_q + 3, quat, 4 * sizeof(double));
  (void)tabi_builder_add_joint(builder, &joint);
  (void)tabi_builder_add_shape(builder, &box);
}

static void add_random_box(tabi_builder *builder, const double pos[3], uint64_t *seed) {
  double size[3] = {0}, quat[4] = {0};
  for (int k = 0; k < 3; ++k)
    size[k] = longest_edge * (0.5 + 0.5 * tbi_random_unit(seed));
  random_quat(seed, quat);
  add_box(builder, size, pos, quat);
}

tabi_status tbi_bench_scene_stack(tbi_bench_scene *scene, int32_t boxes, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  const double size[3] = {longest_edge, longest_edge, longest_edge}, quat[4] = {1, 0, 0, 0};
  add_floor(builder, 0);
  for (int32_t i = 0; i < boxes; ++i) {
    const double pos[3] = {0, 0, (i + 0.5) * longest_edge};
    add_box(builder, size, pos, quat);
  }
  return tbi_bench_scene_init(scene, finish(builder, err), err);
}

/* One more link behind the last, TABI_WORLD for the first; with a ball around its joint. */
static int32_t add_segment(tabi_builder *builder, int32_t last, bool ball) {
  const double radius = 0.05;
  tabi_link_def link = tabi_link_def_default();
  tabi_joint_def joint = tabi_joint_def_default();
  tabi_shape_def shape = tabi_shape_def_default();
  char name[32];
  int32_t index = tabi_builder_nlink(builder);
  (void)snprintf(name, sizeof name, "link%d", (int)index);
  link.name = joint.name = name;
  link.mass = 1;
  for (int k = 0; k < 3; ++k)
    link.inertia[k] = 1e-3;
  joint.parent = last;
  joint.child = shape.link = tabi_builder_add_link(builder, &link);
  if (last == TABI_WORLD) {
    joint.type = TABI_JOINT_FREE;
    joint.initial_q[2] = radius;
    joint.initial_q[3] = 1;
  } else {
    joint.type = TABI_JOINT_REVOLUTE;
    joint.pos[0] = 0.12;
    memcpy(joint.axis, (double[3]){0, index % 2, 1 - index % 2}, sizeof joint.axis);
    joint.damping = 0.1;
  }
  (void)tabi_builder_add_joint(builder, &joint);
  shape.type = TABI_SHAPE_SPHERE;
  shape.size[0] = radius;
  if (ball) (void)tabi_builder_add_shape(builder, &shape);
  return joint.child;
}

tabi_status tbi_bench_scene_snake(tbi_bench_scene *scene, int32_t links, tabi_error *err) {
  enum { BALLS = 100 };
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  add_floor(builder, 0);
  int32_t last = TABI_WORLD;
  for (int32_t i = 0; i < links; ++i)
    last = add_segment(builder, last, i * BALLS / links != (i + 1) * BALLS / links);
  return tbi_bench_scene_init(scene, finish(builder, err), err);
}

/* Four walls `width` apart that face each other, and a floor. */
static void add_pit(tabi_builder *builder, double width) {
  const double root = sqrt(0.5);
  const struct {
    double pos[3], quat[4];
  } planes[] = {
      {{0, 0, 0},          {1, 0, 0, 0}       },
      {{-width / 2, 0, 0}, {root, 0, root, 0} },
      {{width / 2, 0, 0},  {root, 0, -root, 0}},
      {{0, -width / 2, 0}, {root, -root, 0, 0}},
      {{0, width / 2, 0},  {root, root, 0, 0} }
  };
  for (size_t i = 0; i < sizeof planes / sizeof planes[0]; ++i)
    add_plane(builder, planes[i].pos, planes[i].quat);
}

tabi_status tbi_bench_scene_pile(tbi_bench_scene *scene, int32_t boxes, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return tbi_error_memory(err);
  uint64_t seed = 6;
  // boxes that may turn freely, in layers as wide as the heap is high
  double pitch = sqrt(3) * longest_edge;
  int32_t side = (int32_t)ceil(cbrt(boxes));
  add_pit(builder, side * pitch);
  for (int32_t i = 0; i < boxes; ++i) {
    const int32_t cell[3] = {i % side, i / side % side, i / (side * side)};
    double pos[3];
    for (int k = 0; k < 3; ++k)
      pos[k] = (cell[k] + 0.5) * pitch - (k < 2 ? side * pitch / 2 : 0);
    add_random_box(builder, pos, &seed);
  }
  return tbi_bench_scene_init(scene, finish(builder, err), err);
}
