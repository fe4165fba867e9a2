/* mjcf.c - masses, joints, shapes and states of a tabi model in MuJoCo's words.
 *
 * A link becomes a body whose frame is the joint frame; links behind fixed joints become bodies
 * without a joint, which `fusestatic` merges as tabi does.  The depth-first order of the bodies is
 * MuJoCo's order of coordinates, so the keyframes are written in that order.  MuJoCo turns a free
 * body with the angular velocity in body axes, tabi with that in world axes.
 *
 * A mesh stands for its hull in both; MuJoCo moves it to its centre of mass, and the shape with it.
 *
 * A servo becomes a position actuator and a damper in the joint: MuJoCo's Euler integrator takes
 * dampers implicitly, but only those. */
#include "mjcf.h"

#include <math.h>
#include <stdlib.h>

/* The links as first child and next sibling; the world is the last entry. */
typedef struct family {
  int32_t nlink;
  int32_t *parent, *child, *next;
  int32_t *order; /* links depth first */
} family;

static bool family_init(family *f, const tabi_model *model) {
  int32_t n = tabi_model_nlink(model);
  *f = (family){.nlink = n, .parent = malloc(4 * ((size_t)n + 1) * sizeof(int32_t))};
  if (!f->parent) return false;
  f->child = f->parent + n + 1;
  f->next = f->child + n + 1;
  f->order = f->next + n + 1;
  for (int32_t i = 0; i <= n; ++i)
    f->child[i] = f->next[i] = f->parent[i] = TABI_NONE;
  // backwards, because each link is put before its elder siblings
  for (int32_t link = n - 1; link >= 0; --link) {
    int32_t joint = tabi_model_link_joint(model, link);
    int32_t parent = joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
    f->parent[link] = parent == TABI_WORLD ? n : parent;
    f->next[link] = f->child[f->parent[link]];
    f->child[f->parent[link]] = link;
  }
  return true;
}

static void write_numbers(FILE *file, const char *name, const double *x, int32_t n) {
  (void)fprintf(file, " %s='", name);
  for (int32_t i = 0; i < n; ++i)
    (void)fprintf(file, i ? " %.17g" : "%.17g", x[i]);
  (void)fputc('\'', file);
}

/* Limits, spring, damper and dry friction. */
static void write_passive(FILE *file, const tabi_joint_def *joint, const tabi_servo *servo) {
  if (isfinite(joint->lower) && isfinite(joint->upper) && joint->type != TABI_JOINT_BALL)
    (void)fprintf(file, " limited='true' range='%.17g %.17g'", joint->lower, joint->upper);
  (void)fprintf(file, " stiffness='%.17g' springref='%.17g' damping='%.17g' frictionloss='%.17g'",
                joint->stiffness, joint->rest_position, joint->damping + (servo ? servo->kd : 0),
                joint->friction);
}

static const char *write_joint(FILE *file, const tbi_mjcf_def *def, int32_t j) {
  tabi_joint_def written = tabi_model_joint(def->model, j);
  const tabi_joint_def *joint = &written;
  static const char *const types[TABI_JOINT_COUNT] = {[TABI_JOINT_REVOLUTE] = "hinge",
                                                      [TABI_JOINT_CONTINUOUS] = "hinge",
                                                      [TABI_JOINT_PRISMATIC] = "slide",
                                                      [TABI_JOINT_BALL] = "ball",
                                                      [TABI_JOINT_FREE] = "free"};
  if (joint->type == TABI_JOINT_FIXED) return NULL;
  if (!types[joint->type]) return "a planar joint";
  if (joint->type == TABI_JOINT_FREE && joint->parent != TABI_WORLD)
    return "a free joint under another link";
  double armature = joint->gear * joint->gear * joint->rotor_inertia;
  (void)fprintf(file, "<joint name='j%d' type='%s' armature='%.17g'", (int)j, types[joint->type],
                armature);
  write_numbers(file, "axis", joint->axis, 3);
  if (def->touching && joint->type != TABI_JOINT_FREE)
    write_passive(file, joint, def->servo ? &def->servo[j] : NULL);
  (void)fputs("/>\n", file);
  return NULL;
}

static const char *write_shape(FILE *file, const tbi_mjcf_def *def, const tabi_shape_def *shape) {
  static const struct {
    const char *type;
    int32_t nsize;
    double scale[3]; /* MuJoCo counts lengths from the middle */
  } kinds[TABI_SHAPE_COUNT] = {
      [TABI_SHAPE_PLANE] = {"plane",     3, {0, 0, 0}      },
      [TABI_SHAPE_SPHERE] = {"sphere",    1, {1, 0, 0}      },
      [TABI_SHAPE_CAPSULE] = {"capsule",   2, {1, 0.5, 0}    },
      [TABI_SHAPE_CYLINDER] = {"cylinder",  2, {1, 0.5, 0}    },
      [TABI_SHAPE_BOX] = {"box",       3, {0.5, 0.5, 0.5}},
      [TABI_SHAPE_ELLIPSOID] = {"ellipsoid", 3, {1, 1, 1}      },
      [TABI_SHAPE_MESH] = {"mesh",      0, {0, 0, 0}      }
  };
  if (!shape->collides) return NULL;
  if (!kinds[shape->type].type) return "a ground of triangles";
  tabi_material_def material = tabi_material_def_default();
  if (shape->material != TABI_NONE) material = tabi_model_material(def->model, shape->material);
  double size[3];
  for (int k = 0; k < 3; ++k)
    size[k] = shape->size[k] * kinds[shape->type].scale[k];
  if (shape->type == TABI_SHAPE_PLANE) size[2] = 1; // only drawn
  (void)fprintf(file, "<geom type='%s' contype='%d' conaffinity='%d' friction='%.17g 0.005 0.0001'",
                kinds[shape->type].type, (int)shape->group, (int)shape->mask, material.friction);
  if (shape->type == TABI_SHAPE_MESH) (void)fprintf(file, " mesh='m%d'", (int)shape->mesh);
  if (kinds[shape->type].nsize > 0) write_numbers(file, "size", size, kinds[shape->type].nsize);
  write_numbers(file, "pos", shape->pos, 3);
  write_numbers(file, "quat", shape->quat, 4);
  (void)fputs("/>\n", file);
  return NULL;
}

/* The meshes of shapes that collide, by their vertices. */
static void write_meshes(FILE *file, const tbi_mjcf_def *def) {
  (void)fputs("<asset>\n", file);
  for (int32_t m = 0; m < tabi_model_nmesh(def->model); ++m) {
    bool used = false;
    for (int32_t i = 0; i < tabi_model_nshape(def->model) && !used; ++i) {
      tabi_shape_def shape = tabi_model_shape(def->model, i);
      used = shape.collides && shape.type == TABI_SHAPE_MESH && shape.mesh == m;
    }
    if (!used) continue;
    tabi_mesh_def mesh = tabi_model_mesh(def->model, m);
    (void)fprintf(file, "<mesh name='m%d'", (int)m);
    write_numbers(file, "vertex", mesh.vertices, 3 * mesh.nvertex);
    (void)fputs("/>\n", file);
  }
  (void)fputs("</asset>\n", file);
}

static const char *write_shapes(FILE *file, const tbi_mjcf_def *def, int32_t link) {
  const char *trouble = NULL;
  for (int32_t i = 0; i < tabi_model_nshape(def->model) && def->touching && !trouble; ++i) {
    tabi_shape_def shape = tabi_model_shape(def->model, i);
    if (shape.link == link) trouble = write_shape(file, def, &shape);
  }
  return trouble;
}

static const char *open_body(FILE *file, const tbi_mjcf_def *def, int32_t link) {
  const tabi_model *model = def->model;
  (void)fprintf(file, "<body name='b%d'", (int)link);
  int32_t j = tabi_model_link_joint(model, link);
  if (j != TABI_NONE) {
    tabi_joint_def joint = tabi_model_joint(model, j);
    write_numbers(file, "pos", joint.pos, 3);
    write_numbers(file, "quat", joint.quat, 4);
  }
  (void)fputs(">\n", file);
  const char *trouble = j == TABI_NONE ? NULL : write_joint(file, def, j);

  tabi_link_def body = tabi_model_link(model, link);
  if (body.mass > 0) {
    (void)fprintf(file, "<inertial mass='%.17g'", body.mass);
    write_numbers(file, "pos", body.com, 3);
    write_numbers(file, "fullinertia", body.inertia, 6);
    (void)fputs("/>\n", file);
  }
  return trouble ? trouble : write_shapes(file, def, link);
}

/* Opens and closes bodies on a walk through the family, and notes the order. */
static const char *write_bodies(FILE *file, const tbi_mjcf_def *def, family *f) {
  int32_t link = f->child[f->nlink], visited = 0;
  while (link != TABI_NONE && link != f->nlink) {
    const char *trouble = open_body(file, def, link);
    if (trouble) return trouble;
    f->order[visited++] = link;
    if (f->child[link] != TABI_NONE) {
      link = f->child[link];
      continue;
    }
    // up until there is a sibling
    while (link != f->nlink && f->next[link] == TABI_NONE) {
      (void)fputs("</body>\n", file);
      link = f->parent[link];
    }
    if (link == f->nlink) break;
    (void)fputs("</body>\n", file);
    link = f->next[link];
  }
  return NULL;
}

/* y = R(quat)^T x */
static void to_body_axes(const double quat[4], const double x[3], double y[3]) {
  double w = quat[0], t[3];
  const double u[3] = {-quat[1], -quat[2], -quat[3]};
  for (int i = 0; i < 3; ++i)
    t[i] = 2 * (u[(i + 1) % 3] * x[(i + 2) % 3] - u[(i + 2) % 3] * x[(i + 1) % 3]);
  for (int i = 0; i < 3; ++i)
    y[i] = x[i] + w * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3];
}

/* One joint's part of qpos (7 at most) or qvel (6 at most); returns its length. */
static int32_t joint_numbers(const tbi_mjcf_def *def, int32_t state, int32_t j, bool velocity,
                             double x[7]) {
  tabi_joint_def joint = tabi_model_joint(def->model, j);
  if (joint.type == TABI_JOINT_FREE) {
    double lin[3], ang[3], quat[4];
    tabi_dynamics_link_pose(def->dynamics, joint.child, x, quat);
    for (int k = 0; k < 4; ++k)
      x[3 + k] = quat[k];
    if (!velocity) return 7;
    tabi_dynamics_link_velocity(def->dynamics, joint.child, lin, ang);
    for (int k = 0; k < 3; ++k)
      x[k] = lin[k];
    to_body_axes(quat, ang, x + 3);
    return 6;
  }
  tabi_range range =
      velocity ? tabi_model_joint_v(def->model, j) : tabi_model_joint_q(def->model, j);
  const double *from = velocity ? def->v + (size_t)state * (size_t)tabi_model_nv(def->model)
                                : def->q + (size_t)state * (size_t)tabi_model_nq(def->model);
  for (int32_t k = 0; k < range.count; ++k)
    x[k] = from[range.first + k];
  return range.count;
}

static void write_coordinates(FILE *file, const tbi_mjcf_def *def, const family *f, int32_t state,
                              bool velocity) {
  const char *space = "";
  (void)fprintf(file, " %s='", velocity ? "qvel" : "qpos");
  for (int32_t i = 0; i < f->nlink; ++i) {
    int32_t joint = tabi_model_link_joint(def->model, f->order[i]);
    if (joint == TABI_NONE) continue;
    double x[7];
    int32_t n = joint_numbers(def, state, joint, velocity, x);
    for (int32_t k = 0; k < n; ++k) {
      (void)fprintf(file, "%s%.17g", space, x[k]);
      space = " ";
    }
  }
  (void)fputc('\'', file);
}

static void write_states(FILE *file, const tbi_mjcf_def *def, const family *f) {
  (void)fputs("<keyframe>\n", file);
  for (int32_t state = 0; state < def->nstate; ++state) {
    tabi_dynamics_set_state(def->dynamics,
                            def->q + (size_t)state * (size_t)tabi_model_nq(def->model),
                            def->v + (size_t)state * (size_t)tabi_model_nv(def->model));
    (void)fputs("<key", file);
    write_coordinates(file, def, f, state, false);
    write_coordinates(file, def, f, state, true);
    (void)fputs("/>\n", file);
  }
  (void)fputs("</keyframe>\n", file);
}

/* With the target in the bias, no input is needed. */
static void write_servos(FILE *file, const tbi_mjcf_def *def) {
  (void)fputs("<actuator>\n", file);
  for (int32_t j = 0; j < tabi_model_njoint(def->model) && def->servo; ++j) {
    const tabi_servo *servo = &def->servo[j];
    if (servo->kp > 0)
      (void)fprintf(file,
                    "<general joint='j%d' biastype='affine' gainprm='%.17g' biasprm='%.17g %.17g "
                    "0'/>\n",
                    (int)j, servo->kp, servo->kp * servo->target, -servo->kp);
  }
  (void)fputs("</actuator>\n", file);
}

static void write_exclusions(FILE *file, const tbi_mjcf_def *def) {
  (void)fputs("<contact>\n", file);
  for (int32_t i = 0; i < tabi_model_nexclusion(def->model); ++i) {
    int32_t link[2];
    tabi_model_exclusion(def->model, i, link);
    (void)fprintf(file, "<exclude body1='b%d' body2='b%d'/>\n", (int)link[0], (int)link[1]);
  }
  (void)fputs("</contact>\n", file);
}

/* Points that coincide at the model's zero, which is where MuJoCo looks for the second one. */
static const char *write_connections(FILE *file, const tbi_mjcf_def *def) {
  (void)fputs("<equality>\n", file);
  for (int32_t i = 0; i < tabi_model_nconnection(def->model); ++i) {
    tabi_connection_def c = tabi_model_connection(def->model, i);
    if (c.type != TABI_CONNECTION_BALL) return "connections that are not balls";
    (void)fprintf(file, "<connect body1='b%d'", (int)c.a);
    if (c.b != TABI_WORLD) (void)fprintf(file, " body2='b%d'", (int)c.b);
    write_numbers(file, "anchor", c.pos_a, 3);
    (void)fputs("/>\n", file);
  }
  (void)fputs("</equality>\n", file);
  return NULL;
}

/* More than boxes and balls in a heap ever have. */
static long long guess_contacts(const tabi_model *model) {
  long long contacts = 64;
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    if (shape.collides) contacts += shape.type == TABI_SHAPE_SPHERE ? 5 : 12;
  }
  return contacts;
}

/* Rows of limits and dry friction. */
static long long joint_rows(const tabi_model *model) {
  long long rows = 0;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_joint_def joint = tabi_model_joint(model, j);
    bool limited = isfinite(joint.lower) || isfinite(joint.upper);
    rows += (joint.friction > 0) + limited;
  }
  return rows;
}

/* MuJoCo's compiler inverts the mass matrix on its stack; its solver keeps rows there. */
static void write_sizes(FILE *file, const tbi_mjcf_def *def) {
  long long nv = tabi_model_nv(def->model), stack = 100000 + 4 * nv * nv;
  long long contacts = 1, rows = 1;
  if (def->touching) {
    contacts = def->contacts > 0 ? def->contacts : guess_contacts(def->model);
    rows = 4 * contacts + 6 * joint_rows(def->model) + 3LL * tabi_model_nconnection(def->model);
    stack += 8 * rows * (nv + 8);
    // beyond that its matrices are sparse, and their size must not overflow an int
    if (stack > 100000000) stack = 100000000;
  }
  (void)fprintf(file, "<size nstack='%lld' njmax='%lld' nconmax='%lld'/>\n", stack, rows, contacts);
}

const char *tbi_mjcf_write(const tbi_mjcf_def *def, FILE *file) {
  family f;
  double gravity[3];
  if (!family_init(&f, def->model)) return "too many links for the memory";
  tabi_model_gravity(def->model, gravity);
  (void)fputs("<mujoco>\n<compiler inertiafromgeom='false' angle='radian' fusestatic='true'/>\n",
              file);
  write_sizes(file, def);
  (void)fputs("<option", file);
  write_numbers(file, "gravity", gravity, 3);
  (void)fputs("/>\n", file);
  if (def->touching) write_meshes(file, def);
  (void)fputs("<worldbody>\n", file);
  const char *trouble = write_shapes(file, def, TABI_WORLD);
  if (!trouble) trouble = write_bodies(file, def, &f);
  (void)fputs("</worldbody>\n", file);
  if (!trouble && def->touching) {
    write_exclusions(file, def);
    write_servos(file, def);
    trouble = write_connections(file, def);
  }
  if (!trouble) write_states(file, def, &f);
  (void)fputs("</mujoco>\n", file);
  free(f.parent);
  return trouble;
}
