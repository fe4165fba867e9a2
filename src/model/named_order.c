/* named_order.c - by what things are, not by where a file lists them.
 *
 * Solvers visit contacts and joint rows one after another, and what they leave of the residual
 * depends on that order; so does which of two shapes is side a.  If both followed the file, the
 * same scene written in another order would move differently.  So they are visited in this order:
 *
 *   links    what stands in the world first, then by name, with numbers in names by value: box2
 *            before box10; those without names by mass, inertia, place and initial position
 *   trees    by the link of their first joint
 *   bodies   cluster by cluster, tree by tree, then by the link that their joint moves
 *   shapes   by link; shapes of one link by type, size, place, mesh, material and name
 *   owners   of loop constraints: connections by both links, type, name and place, couplings by
 *            joints and tendons, tendons by name
 *
 * What is equal in all that stays as it was added. */
#include "model/named_order.h"

#include <string.h>

static int compare_integers(int64_t a, int64_t b) { return (a > b) - (a < b); }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* compares the numbers that both texts begin with, and skips them */
static int compare_digits(const char **a, const char **b) {
  const char *begin[2];
  int64_t length[2];
  const char **text[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    while (**text[i] == '0')
      ++*text[i];
    begin[i] = *text[i];
    while (is_digit(**text[i]))
      ++*text[i];
    length[i] = *text[i] - begin[i];
  }
  if (length[0] != length[1]) return compare_integers(length[0], length[1]);
  return strncmp(begin[0], begin[1], (size_t)length[0]);
}

static int compare_names(const char *a, const char *b) {
  if (!a || !b) return compare_integers(a != NULL, b != NULL);
  const char *x = a;
  const char *y = b;
  while (*x != '\0' && *y != '\0') {
    if (is_digit(*x) && is_digit(*y)) {
      int order = compare_digits(&x, &y);
      if (order != 0) return order;
      continue;
    }
    if (*x != *y) break;
    ++x;
    ++y;
  }
  return *x != *y ? compare_integers((unsigned char)*x, (unsigned char)*y) : strcmp(a, b);
}

/* larger ones first */
static int compare_numbers(const double *a, const double *b, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (a[i] != b[i]) return a[i] > b[i] ? -1 : 1;
  return 0;
}

static bool stands(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || model->link_home[link].body == TABI_WORLD;
}

static int compare_joints(const tabi_model *model, int32_t a, int32_t b) {
  if (a == TABI_NONE || b == TABI_NONE) return compare_integers(a != TABI_NONE, b != TABI_NONE);
  const tabi_joint_def *x = &model->joint[a];
  const tabi_joint_def *y = &model->joint[b];
  int order = compare_names(x->name, y->name);
  if (order == 0) order = compare_integers(x->type, y->type);
  if (order == 0) order = compare_numbers(x->pos, y->pos, 3);
  if (order == 0) order = compare_numbers(x->quat, y->quat, 4);
  return order != 0 ? order : compare_numbers(x->initial_q, y->initial_q, 7);
}

/* links without names */
static int compare_contents(const tabi_model *model, int32_t a, int32_t b) {
  const tabi_link_def *x = &model->link[a];
  const tabi_link_def *y = &model->link[b];
  const tbi_link_home *home[2] = {&model->link_home[a], &model->link_home[b]};
  int order = compare_numbers(&x->mass, &y->mass, 1);
  if (order == 0) order = compare_numbers(x->inertia, y->inertia, 6);
  if (order == 0) order = compare_numbers(x->com, y->com, 3);
  if (order == 0) order = compare_joints(model, home[0]->joint, home[1]->joint);
  double place[2][3];
  for (int i = 0; i < 2; ++i)
    v3_store(home[i]->frame.pos, place[i]);
  return order != 0 ? order : compare_numbers(place[0], place[1], 3);
}

static int compare_links(const tabi_model *model, int32_t a, int32_t b) {
  if (stands(model, a) != stands(model, b)) return stands(model, a) ? -1 : 1;
  if (a == TABI_WORLD || b == TABI_WORLD) return compare_integers(a != TABI_WORLD, b != TABI_WORLD);
  int order = compare_names(model->link[a].name, model->link[b].name);
  return order != 0 ? order : compare_contents(model, a, b);
}

static int compare_moved_links(const tabi_model *model, const tbi_body *x, const tbi_body *y) {
  return compare_links(model, model->joint[x->joint].child, model->joint[y->joint].child);
}

static int compare_trees(const tabi_model *model, int32_t a, int32_t b) {
  return compare_moved_links(model, &model->body[model->tree_body[a]],
                             &model->body[model->tree_body[b]]);
}

static int compare_bodies(const tabi_model *model, int32_t a, int32_t b) {
  const tbi_body *x = &model->body[a];
  const tbi_body *y = &model->body[b];
  if (x->tree == y->tree) return compare_moved_links(model, x, y);
  int order = compare_integers(model->tree_cluster[x->tree], model->tree_cluster[y->tree]);
  if (order == 0) order = compare_trees(model, x->tree, y->tree);
  return order != 0 ? order : compare_integers(x->tree, y->tree);
}

static int compare_meshes(const tabi_model *model, int32_t a, int32_t b) {
  if (a == TABI_NONE || b == TABI_NONE) return compare_integers(a != TABI_NONE, b != TABI_NONE);
  const tabi_mesh_def *x = &model->mesh[a];
  const tabi_mesh_def *y = &model->mesh[b];
  if (x->nvertex != y->nvertex) return compare_integers(x->nvertex, y->nvertex);
  return compare_numbers(x->vertices, y->vertices, 3 * (int64_t)x->nvertex);
}

static const char *material_name(const tabi_model *model, int32_t material) {
  return material == TABI_NONE ? NULL : model->material[material].name;
}

static int compare_shapes(const tabi_model *model, int32_t a, int32_t b) {
  const tabi_shape_def *x = &model->shape[a];
  const tabi_shape_def *y = &model->shape[b];
  int order = compare_links(model, x->link, y->link);
  if (order == 0) order = compare_integers(x->link, y->link); /* equal ones */
  if (order == 0) order = compare_integers(x->type, y->type);
  if (order == 0) order = compare_numbers(x->size, y->size, 3);
  if (order == 0) order = compare_numbers(x->pos, y->pos, 3);
  if (order == 0) order = compare_numbers(x->quat, y->quat, 4);
  if (order == 0) order = compare_meshes(model, x->mesh, y->mesh);
  if (order == 0)
    order = compare_names(material_name(model, x->material), material_name(model, y->material));
  return order != 0 ? order : compare_names(x->name, y->name);
}

static int compare_connections(const tabi_model *model, const tabi_connection_def *x,
                               const tabi_connection_def *y) {
  int order = compare_links(model, x->a, y->a);
  if (order == 0) order = compare_links(model, x->b, y->b);
  if (order == 0) order = compare_integers(x->type, y->type);
  if (order == 0) order = compare_names(x->name, y->name);
  if (order == 0) order = compare_numbers(x->pos_a, y->pos_a, 3);
  return order != 0 ? order : compare_numbers(x->pos_b, y->pos_b, 3);
}

static int compare_tendons(const tabi_model *model, int32_t a, int32_t b) {
  if (a == TABI_NONE || b == TABI_NONE) return compare_integers(a != TABI_NONE, b != TABI_NONE);
  return compare_names(model->tendon[a].name, model->tendon[b].name);
}

static int compare_couplings(const tabi_model *model, const tabi_coupling_def *x,
                             const tabi_coupling_def *y) {
  int order = compare_joints(model, x->joint, y->joint);
  if (order == 0) order = compare_joints(model, x->leader, y->leader);
  if (order == 0) order = compare_tendons(model, x->tendon, y->tendon);
  return order != 0 ? order : compare_tendons(model, x->tendon_leader, y->tendon_leader);
}

/* connections, then couplings, then tendons */
static int compare_owners(const tabi_model *model, int32_t a, int32_t b) {
  int32_t coupling = model->nconnection;
  int32_t tendon = coupling + model->ncoupling;
  bool connections = a < coupling && b < coupling;
  bool tendons = a >= tendon && b >= tendon;
  bool couplings = a >= coupling && b >= coupling && a < tendon && b < tendon;
  if (connections) return compare_connections(model, &model->connection[a], &model->connection[b]);
  if (tendons) return compare_tendons(model, a - tendon, b - tendon);
  if (!couplings) return compare_integers(a, b);
  return compare_couplings(model, &model->coupling[a - coupling], &model->coupling[b - coupling]);
}

typedef int compare(const tabi_model *model, int32_t a, int32_t b);

/* by heap: in place, and never slow; indices decide where nothing else does */
static void sort(const tabi_model *model, int32_t *order, int32_t count, compare *by) {
  for (int32_t i = 0; i < count; ++i)
    order[i] = i;
  for (int32_t start = count / 2, end = count; end > 1;) {
    if (start > 0) {
      --start;
    } else {
      --end;
      int32_t top = order[0];
      order[0] = order[end];
      order[end] = top;
    }
    int32_t hole = start;
    int32_t moved = order[hole];
    for (int32_t child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
      if (child + 1 < end) {
        int next = by(model, order[child + 1], order[child]);
        if (next > 0 || (next == 0 && order[child + 1] > order[child])) ++child;
      }
      int larger = by(model, order[child], moved);
      if (larger < 0 || (larger == 0 && order[child] < moved)) break;
      order[hole] = order[child];
      hole = child;
    }
    order[hole] = moved;
  }
}

void tbi_fill_named_order(tabi_model *model) {
  sort(model, model->tree_named, model->ntree, compare_trees);
  sort(model, model->shape_named, model->nshape, compare_shapes);
  for (int32_t i = 0; i < model->nshape; ++i)
    model->shape_rank[model->shape_named[i]] = i;
  sort(model, model->owner_named, model->nowner, compare_owners);
}

void tbi_fill_named_bodies(tabi_model *model) {
  sort(model, model->body_named, model->nbody, compare_bodies);
}
