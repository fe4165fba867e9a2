/* mjcf.c - masses, joints and states of a tabi model in MuJoCo's words.
 *
 * A link becomes a body whose frame is the joint frame; links behind fixed joints become bodies
 * without a joint, which `fusestatic` merges as tabi does.  The depth-first order of the bodies is
 * MuJoCo's order of coordinates, so the keyframes are written in that order.  MuJoCo turns a free
 * body with the angular velocity in body axes, tabi with that in world axes. */
#include "mjcf.h"

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
  for (int32_t i = 0; i <= n; i++)
    f->child[i] = f->next[i] = f->parent[i] = TABI_NONE;
  // backwards, because each link is put before its elder siblings
  for (int32_t link = n - 1; link >= 0; link--) {
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
  for (int32_t i = 0; i < n; i++)
    (void)fprintf(file, i ? " %.17g" : "%.17g", x[i]);
  (void)fputc('\'', file);
}

static const char *write_joint(FILE *file, const tabi_joint_def *joint) {
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
  (void)fprintf(file, "<joint type='%s' armature='%.17g'", types[joint->type], armature);
  write_numbers(file, "axis", joint->axis, 3);
  (void)fputs("/>\n", file);
  return NULL;
}

static const char *open_body(FILE *file, const tabi_model *model, int32_t link) {
  (void)fputs("<body", file);
  int32_t j = tabi_model_link_joint(model, link);
  tabi_joint_def joint = tabi_joint_def_default();
  if (j != TABI_NONE) {
    joint = tabi_model_joint(model, j);
    write_numbers(file, "pos", joint.pos, 3);
    write_numbers(file, "quat", joint.quat, 4);
  }
  (void)fputs(">\n", file);
  const char *trouble = j == TABI_NONE ? NULL : write_joint(file, &joint);

  tabi_link_def def = tabi_model_link(model, link);
  if (def.mass > 0) {
    (void)fprintf(file, "<inertial mass='%.17g'", def.mass);
    write_numbers(file, "pos", def.com, 3);
    write_numbers(file, "fullinertia", def.inertia, 6);
    (void)fputs("/>\n", file);
  }
  return trouble;
}

/* Opens and closes bodies on a walk through the family, and notes the order. */
static const char *write_bodies(FILE *file, const tabi_model *model, family *f) {
  int32_t link = f->child[f->nlink], visited = 0;
  while (link != TABI_NONE && link != f->nlink) {
    const char *trouble = open_body(file, model, link);
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
  for (int i = 0; i < 3; i++)
    t[i] = 2 * (u[(i + 1) % 3] * x[(i + 2) % 3] - u[(i + 2) % 3] * x[(i + 1) % 3]);
  for (int i = 0; i < 3; i++)
    y[i] = x[i] + w * t[i] + u[(i + 1) % 3] * t[(i + 2) % 3] - u[(i + 2) % 3] * t[(i + 1) % 3];
}

/* One joint's part of qpos (7 at most) or qvel (6 at most); returns its length. */
static int32_t joint_numbers(const tbi_bench_tree *tree, int32_t state, int32_t joint,
                             bool velocity, double x[7]) {
  tabi_joint_def def = tabi_model_joint(tree->model, joint);
  if (def.type == TABI_JOINT_FREE) {
    double lin[3], ang[3], quat[4];
    tabi_dynamics_link_pose(tree->dynamics, def.child, x, quat);
    for (int k = 0; k < 4; k++)
      x[3 + k] = quat[k];
    if (!velocity) return 7;
    tabi_dynamics_link_velocity(tree->dynamics, def.child, lin, ang);
    for (int k = 0; k < 3; k++)
      x[k] = lin[k];
    to_body_axes(quat, ang, x + 3);
    return 6;
  }
  tabi_range range =
      velocity ? tabi_model_joint_v(tree->model, joint) : tabi_model_joint_q(tree->model, joint);
  const double *from = velocity ? tbi_bench_tree_v(tree, state) : tbi_bench_tree_q(tree, state);
  for (int32_t k = 0; k < range.count; k++)
    x[k] = from[range.first + k];
  return range.count;
}

static void write_coordinates(FILE *file, const tbi_bench_tree *tree, const family *f,
                              int32_t state, bool velocity) {
  const char *space = "";
  (void)fprintf(file, " %s='", velocity ? "qvel" : "qpos");
  for (int32_t i = 0; i < f->nlink; i++) {
    int32_t joint = tabi_model_link_joint(tree->model, f->order[i]);
    if (joint == TABI_NONE) continue;
    double x[7];
    int32_t n = joint_numbers(tree, state, joint, velocity, x);
    for (int32_t k = 0; k < n; k++) {
      (void)fprintf(file, "%s%.17g", space, x[k]);
      space = " ";
    }
  }
  (void)fputc('\'', file);
}

const char *tbi_mjcf_write(const tbi_bench_tree *tree, FILE *file) {
  family f;
  double gravity[3];
  if (!family_init(&f, tree->model)) return "too many links for the memory";
  tabi_model_gravity(tree->model, gravity);
  // the compiler inverts the mass matrix on its stack; nothing here touches
  (void)fprintf(file,
                "<mujoco>\n<compiler inertiafromgeom='false' angle='radian' fusestatic='true'/>\n"
                "<size nstack='%d' njmax='1' nconmax='1'/>\n<option",
                100000 + 4 * (int)(tree->nv * tree->nv));
  write_numbers(file, "gravity", gravity, 3);
  (void)fputs("/>\n<worldbody>\n", file);
  const char *trouble = write_bodies(file, tree->model, &f);
  (void)fputs("</worldbody>\n<keyframe>\n", file);
  for (int32_t state = 0; state < TBI_BENCH_TREE_STATES && !trouble; state++) {
    tabi_dynamics_set_state(tree->dynamics, tbi_bench_tree_q(tree, state),
                            tbi_bench_tree_v(tree, state));
    (void)fputs("<key", file);
    write_coordinates(file, tree, &f, state, false);
    write_coordinates(file, tree, &f, state, true);
    (void)fputs("/>\n", file);
  }
  (void)fputs("</keyframe>\n</mujoco>\n", file);
  free(f.parent);
  return trouble;
}
