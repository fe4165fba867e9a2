/* weigh.c - see weigh.h.
 *
 * A part is a link that a joint moves with all links that are fixed to it. */
#include "io/weigh.h"

#include "base/error.h"
#include "io/report.h"
#include "io/shape_solid.h"
#include "model/builder.h"
#include "model/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WATER 1000 /* kg/m^3 */
/* what stands for a link whose meshes are missing: of the size of a fist */
#define BALL_MASS   0.1
#define BALL_RADIUS 0.05
/* and for one that has no shape either, a frame on a joint: of the size of a pea, so that the joint
 * can be solved and nothing else feels it */
#define FRAME_MASS   1e-3
#define FRAME_RADIUS 0.01
/* a radius of gyration of 1 um is none: m^2 */
#define NO_AREA 1e-12

/* One link of the file; numbers of links are those in the file. */
typedef struct item {
  int32_t joint;  /* above it */
  int32_t parent; /* -1: world, or a link of another file */
  int32_t part;   /* the link at the top of its part; -1: fixed in the world */
  int32_t next;   /* the next link of its part; -1: none */
  int32_t shape;  /* its first shape in the builder; -1: none */
  int32_t depth;
  double mass; /* of part and subtree, where it is the top of a part */
} item;

typedef struct tree {
  const tbi_weigh *w;
  tbi_first_error *error;
  item *items;
  int32_t *order;  /* parents first */
  int32_t *shapes; /* for each shape of the builder the next one of its link; -1: none */
  int32_t n;
} tree;

static tabi_link_def *link_of(const tree *t, int32_t i) {
  return (tabi_link_def *)t->w->builder->links.items + t->w->first_link + i;
}

static const tabi_joint_def *joint_of(const tree *t, int32_t i) {
  int32_t joint = t->items[i].joint;
  return joint == TABI_NONE ? NULL : tbi_builder_joint(t->w->builder, joint);
}

static bool is_moved(const tree *t, int32_t i) {
  const tabi_joint_def *joint = joint_of(t, i);
  return joint && joint->type != TABI_JOINT_FIXED;
}

static int by_depth(const void *a, const void *b) {
  const int32_t *x = a;
  const int32_t *y = b;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Depths by going up until a link whose depth is known; false: links hang from each other in a
 * loop, which the builder describes. */
static bool find_depths(tree *t, int32_t *path) {
  for (int32_t i = 0; i < t->n; ++i) {
    int32_t length = 0;
    int32_t at = i;
    while (at >= 0 && t->items[at].depth < 0) {
      if (length == t->n) return false;
      path[length++] = at;
      at = t->items[at].parent;
    }
    int32_t depth = at >= 0 ? t->items[at].depth : -1;
    while (length > 0)
      t->items[path[--length]].depth = ++depth;
  }
  return true;
}

static bool sort_links(tree *t) {
  int32_t(*keys)[2] = malloc((size_t)t->n * sizeof *keys);
  if (!keys) return tbi_fail_memory(t->error);
  bool is_tree = find_depths(t, t->order);
  for (int32_t i = 0; i < t->n && is_tree; ++i) {
    keys[i][0] = t->items[i].depth;
    keys[i][1] = i;
  }
  if (is_tree) qsort(keys, (size_t)t->n, sizeof *keys, by_depth);
  for (int32_t i = 0; i < t->n && is_tree; ++i)
    t->order[i] = keys[i][1];
  free(keys);
  return is_tree;
}

static void find_parts(tree *t) {
  for (int32_t k = 0; k < t->n; ++k) {
    int32_t i = t->order[k];
    int32_t parent = t->items[i].parent;
    int32_t part = is_moved(t, i) ? i : parent >= 0 ? t->items[parent].part : -1;
    t->items[i].part = part;
    if (part < 0 || part == i) continue;
    t->items[i].next = t->items[part].next;
    t->items[part].next = i;
  }
}

/* Lists the shapes of every link, in their order. */
static void list_shapes(tree *t) {
  const tabi_builder *b = t->w->builder;
  const tabi_shape_def *shapes = b->shapes.items;
  for (int32_t k = b->shapes.count - 1; k >= 0; --k) {
    int32_t i = shapes[k].link - t->w->first_link;
    if (shapes[k].link < t->w->first_link) continue;
    t->shapes[k] = t->items[i].shape;
    t->items[i].shape = k;
  }
}

/* False: out of memory, or no tree. */
static bool make_tree(tree *t) {
  const tbi_weigh *w = t->w;
  t->n = w->builder->links.count - w->first_link;
  if (t->n <= 0) return false;
  t->items = calloc((size_t)t->n, sizeof *t->items);
  t->order = calloc((size_t)t->n, sizeof *t->order);
  t->shapes = calloc((size_t)w->builder->shapes.count + 1, sizeof *t->shapes);
  if (!t->items || !t->order || !t->shapes) return tbi_fail_memory(t->error);
  for (int32_t i = 0; i < t->n; ++i) {
    item *it = &t->items[i];
    it->joint = tbi_builder_link_joint(w->builder, w->first_link + i);
    const tabi_joint_def *joint = joint_of(t, i);
    bool inside = joint && joint->parent >= w->first_link;
    it->parent = inside ? joint->parent - w->first_link : -1;
    it->part = it->depth = it->next = it->shape = -1;
  }
  if (!sort_links(t)) return false;
  find_parts(t);
  list_shapes(t);
  return true;
}

static void free_tree(tree *t) {
  free(t->items);
  free(t->order);
  free(t->shapes);
}

/* The sum of a link's shapes of water: those that collide, else those that are seen. */
static bool sum_shapes(const tree *t, int32_t link, bool colliding, tabi_link_def *sum) {
  const tabi_builder *b = t->w->builder;
  const tabi_shape_def *shapes = b->shapes.items;
  for (int32_t i = t->items[link].shape; i >= 0; i = t->shapes[i]) {
    const tabi_shape_def *shape = &shapes[i];
    if (shape->collides != colliding) continue;
    tbi_solid solid;
    if (!tbi_take(t->error, tbi_shape_solid(b, shape, &solid, t->error->err))) return false;
    tbi_solid_add(&solid, WATER, shape->pos, shape->quat, sum);
  }
  tbi_solid_finish(sum);
  return true;
}

/* Mass, centre and inertia of a link by its shapes, in water; all zero where it has none. */
static tabi_link_def weigh_shapes(const tree *t, int32_t link) {
  tabi_link_def sum = tabi_link_def_default();
  sum.mass = 0;
  if (sum_shapes(t, link, true, &sum) && !(sum.mass >= TBI_MIN_MASS)) {
    sum = tabi_link_def_default();
    sum.mass = 0;
    (void)sum_shapes(t, link, false, &sum);
  }
  return sum;
}

static void make_ball(double mass, double radius, double inertia[6]) {
  memset(inertia, 0, 6 * sizeof *inertia);
  inertia[0] = inertia[1] = inertia[2] = 0.4 * mass * radius * radius;
}

static bool tell(const tree *t, int32_t i, const char *fault, const char *what) {
  char owner[160];
  const tabi_link_def *link = link_of(t, i);
  tbi_message_format(owner, sizeof owner, "link '%.100s'", tbi_shown(link->name));
  return tbi_repaired(t->error, t->w->def, link->place, (tbi_repair){owner, what, 0}, "%s", fault);
}

/* For a link whose shapes are missing. */
static bool give_ball(const tree *t, int32_t i) {
  char what[128];
  tabi_link_def *link = link_of(t, i);
  link->mass = BALL_MASS;
  make_ball(BALL_MASS, BALL_RADIUS, link->inertia);
  tbi_message_format(what, sizeof what,
                     "taken as a ball of %g kg and %g m, because its shapes "
                     "have no volume or are missing",
                     BALL_MASS, BALL_RADIUS);
  return tell(t, i, "no mass, but a joint moves it", what);
}

/* For a link that is a frame on a joint and nothing else. */
static bool give_pea(const tree *t, int32_t i) {
  char fault[200];
  char what[128];
  tabi_link_def *link = link_of(t, i);
  link->mass = FRAME_MASS;
  make_ball(FRAME_MASS, FRAME_RADIUS, link->inertia);
  tbi_message_format(fault, sizeof fault,
                     "no mass, but joint '%.100s' moves it and nothing heavier hangs from it",
                     tbi_shown(joint_of(t, i)->name));
  tbi_message_format(what, sizeof what,
                     "taken as a ball of %g kg and %g m; fix the joint if nothing drives it",
                     FRAME_MASS, FRAME_RADIUS);
  return tell(t, i, fault, what);
}

/* Whether the link has a mass afterwards. */
static bool give_mass(const tree *t, int32_t i) {
  char what[128];
  tabi_link_def *link = link_of(t, i);
  tabi_link_def sum = weigh_shapes(t, i);
  if (!tbi_ok(t->error)) return false;
  if (sum.mass >= TBI_MIN_MASS && sum.mass <= TBI_MAX_MASS) {
    tbi_message_format(what, sizeof what, "%.3g kg taken from its shapes, at 1000 kg/m^3",
                       sum.mass);
    memcpy(link->com, sum.com, sizeof link->com);
    memcpy(link->inertia, sum.inertia, sizeof link->inertia);
    link->mass = sum.mass;
    return tell(t, i, "no mass, but a joint moves it", what);
  }
  return t->w->has_shapes[i] ? give_ball(t, i) : give_pea(t, i);
}

/* Whether a link is to have mass if its part has none: one with shapes, and in a part without any
 * the link at its joint. */
static bool takes_mass(const tree *t, int32_t i) {
  int32_t part = t->items[i].part;
  if (part < 0 || t->w->has_shapes[i]) return part >= 0;
  bool shaped = false;
  for (int32_t k = part; k >= 0; k = t->items[k].next)
    shaped = shaped || t->w->has_shapes[k];
  return i == part && !shaped;
}

/* Fills the links of one part; the mass that it has then. */
static double fill_part(const tree *t, int32_t part) {
  double mass = 0;
  for (int32_t i = part; i >= 0 && tbi_ok(t->error); i = t->items[i].next) {
    if (takes_mass(t, i) && give_mass(t, i)) mass += link_of(t, i)->mass;
  }
  return mass;
}

static bool has_rotor(const tabi_joint_def *joint) {
  return joint->rotor_inertia * joint->gear != 0;
}

/* From the leaves to the root, every part that has nothing heavy on it or behind it. */
static void fill_parts(tree *t, bool all) {
  for (int32_t i = 0; i < t->n; ++i) {
    int32_t part = t->items[i].part;
    if (part >= 0) t->items[part].mass += link_of(t, i)->mass;
  }
  for (int32_t k = t->n - 1; k >= 0 && tbi_ok(t->error); --k) {
    int32_t i = t->order[k];
    if (t->items[i].part != i) continue;
    const tabi_joint_def *joint = joint_of(t, i);
    item *it = &t->items[i];
    if (all || (it->mass < TBI_MIN_MASS && !has_rotor(joint))) it->mass += fill_part(t, i);
    int32_t above = it->parent >= 0 ? t->items[it->parent].part : -1;
    // what floats against its parent does not weigh on it
    if (above >= 0 && joint->type != TABI_JOINT_FREE) t->items[above].mass += it->mass;
  }
}

bool tbi_weigh_massless(const tbi_weigh *w, tbi_first_error *error) {
  tree t = {.w = w, .error = error};
  if (make_tree(&t)) {
    bool all = true;
    for (int32_t i = 0; i < t.n; ++i)
      all = all && link_of(&t, i)->mass == 0;
    fill_parts(&t, all);
  }
  free_tree(&t);
  return tbi_ok(error);
}

static bool is_point(const tree *t, int32_t i) {
  const tabi_link_def *link = link_of(t, i);
  const double *j = link->inertia;
  return t->items[i].part >= 0 && link->mass > 0 && j[0] + j[1] + j[2] <= NO_AREA * link->mass;
}

/* The inertia of the link's shapes with the mass that it has, else of a ball of water. */
static void give_inertia(const tree *t, int32_t i) {
  char what[128];
  tabi_link_def *link = link_of(t, i);
  tabi_link_def sum = weigh_shapes(t, i);
  if (!tbi_ok(t->error)) return;
  bool shaped = sum.mass >= TBI_MIN_MASS && sum.mass <= TBI_MAX_MASS;
  if (shaped) {
    for (int k = 0; k < 6; ++k)
      link->inertia[k] = sum.inertia[k] * link->mass / sum.mass;
  } else {
    make_ball(link->mass, cbrt(link->mass / (4.0 / 3 * M_PI * WATER)), link->inertia);
  }
  tbi_message_format(what, sizeof what, "moments %.3g, %.3g, %.3g kg m^2 taken from %s",
                     link->inertia[0], link->inertia[1], link->inertia[2],
                     shaped ? "its shapes" : "a ball of its mass, at 1000 kg/m^3");
  (void)tell(t, i, "mass without inertia", what);
}

/* Whether a hinge turns a point on its axis; rounding leaves less than a square of 1 um of it. */
static bool turns_nothing(const tabi_model *model, tabi_dynamics *d, double *mass_matrix) {
  bool any = false;
  tabi_dynamics_mass_matrix(d, mass_matrix);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def joint = tabi_model_joint(model, i);
    tabi_range v = tabi_model_joint_v(model, i);
    if (v.count != 1 || joint.type == TABI_JOINT_PRISMATIC) continue;
    double resists = mass_matrix[(ptrdiff_t)v.first * (tabi_model_nv(model) + 1)];
    any = any || resists <= NO_AREA * tabi_model_link(model, joint.child).mass;
  }
  return any;
}

static bool is_undefined(const tree *t, const tabi_model *model) {
  tabi_error error = {0};
  size_t nv = (size_t)tabi_model_nv(model);
  tabi_dynamics *d = tabi_dynamics_create(model, &error);
  double *mass_matrix = calloc(nv * nv + 1, sizeof *mass_matrix);
  if (error.status == TABI_ERR_MEMORY || !mass_matrix) tbi_fail_memory(t->error);
  bool undefined =
      d && mass_matrix ? turns_nothing(model, d, mass_matrix) : error.status == TABI_ERR_MODEL;
  free(mass_matrix);
  tabi_dynamics_destroy(d);
  return undefined;
}

/* Whether accelerations are not defined where the robot starts.  Any other fault is left to those
 * who build and run it. */
static bool is_singular(const tree *t) {
  tabi_error error = {0};
  tabi_model *model = tabi_builder_build(t->w->builder, &error);
  bool singular = model && is_undefined(t, model);
  if (error.status == TABI_ERR_MEMORY) tbi_fail_memory(t->error);
  tabi_model_destroy(model);
  return singular;
}

/* Whether the part of a link has no mass of its own, and the link is to have one. */
static bool is_empty(const tree *t, int32_t i, const double *part_mass) {
  int32_t part = t->items[i].part;
  return part >= 0 && part_mass[part] < TBI_MIN_MASS && takes_mass(t, i);
}

static void fill_singular(const tree *t, double *part_mass) {
  int32_t doubtful = 0;
  for (int32_t i = 0; i < t->n; ++i) {
    int32_t part = t->items[i].part;
    if (part >= 0) part_mass[part] += link_of(t, i)->mass;
  }
  for (int32_t i = 0; i < t->n; ++i)
    doubtful += is_point(t, i) || is_empty(t, i, part_mass);
  if (doubtful == 0 || !is_singular(t)) return;
  for (int32_t i = 0; i < t->n && tbi_ok(t->error); ++i) {
    if (is_point(t, i)) {
      give_inertia(t, i);
    } else if (is_empty(t, i, part_mass)) {
      (void)give_mass(t, i);
    }
  }
}

bool tbi_weigh_singular(const tbi_weigh *w, tbi_first_error *error) {
  tree t = {.w = w, .error = error};
  if (make_tree(&t)) {
    double *part_mass = calloc((size_t)t.n, sizeof *part_mass);
    if (part_mass) {
      fill_singular(&t, part_mass);
    } else {
      tbi_fail_memory(error);
    }
    free(part_mass);
  }
  free_tree(&t);
  return tbi_ok(error);
}
