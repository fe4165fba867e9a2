/* build.c - from a builder's lists to a model: one block.
 *
 *   links and joints --order--> links, parents first
 *                    --merge--> bodies: what one moving joint carries
 *                    --sort---> bodies tree by tree, level by level
 *                    --fill---> the arrays of the model
 */
#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "model/builder.h"
#include "model/clusters.h"
#include "model/hull_graph.h"
#include "model/limits.h"
#include "model/model.h"
#include "model/named_order.h"
#include "model/tendons.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW_ALIGN 4 /* doubles; rows of the mass matrix start on whole vectors */

/* A moving joint while bodies are being numbered. */
typedef struct moving {
  int32_t joint;      /* that makes it move */
  int32_t parent;     /* index in discovery order, or TABI_WORLD */
  int32_t root_joint; /* of its tree: trees are numbered as their root joints were added */
  int32_t level, found;
  int32_t depth; /* velocities from the root to its last one */
  double subtree_mass;
} moving;

/* What is known on the way from the lists to the model. */
typedef struct plan {
  const tabi_builder *builder;
  int32_t nlink, nbody;
  int32_t *child, *sibling; /* per link: first child, next sibling */
  int32_t *order;           /* links, parents first */
  int32_t *link_moving;     /* per link: its entry in `moving`, or TABI_WORLD */
  int32_t *number;          /* per entry of `moving` in discovery order: its body */
  moving *moving;
  body_inertia *inertia; /* per body: of its links together */
} plan;

int32_t tbi_joint_nq(tabi_joint_type type) {
  TBI_ASSERT((unsigned)type < TABI_JOINT_COUNT);
  static const int32_t nq[TABI_JOINT_COUNT] = {0, 1, 1, 1, 4, 3, 7};
  return nq[type];
}

int32_t tbi_joint_nv(tabi_joint_type type) {
  TBI_ASSERT((unsigned)type < TABI_JOINT_COUNT);
  static const int32_t nv[TABI_JOINT_COUNT] = {0, 1, 1, 1, 3, 3, 6};
  return nv[type];
}

static bool plan_create(plan *p, const tabi_builder *builder) {
  *p = (plan){.builder = builder, .nlink = builder->links.count};
  size_t n = (size_t)p->nlink + 1;
  int32_t *numbers = malloc(5 * n * sizeof *numbers);
  p->moving = malloc(n * sizeof *p->moving);
  p->inertia = tbi_block_alloc(n * sizeof *p->inertia);
  p->child = numbers;
  if (!numbers || !p->moving || !p->inertia) return false;
  p->sibling = numbers + n;
  p->order = numbers + 2 * n;
  p->link_moving = numbers + 3 * n;
  p->number = numbers + 4 * n;
  return true;
}

static void plan_destroy(plan *p) {
  free(p->child);
  free(p->moving);
  free(p->inertia);
}

/* the joint above a link, or NULL for one that stands in the world without a joint */
static const tabi_joint_def *joint_above(const plan *p, int32_t link) {
  int32_t joint = tbi_builder_link_joint(p->builder, link);
  return joint == TABI_NONE ? NULL : tbi_builder_joint(p->builder, joint);
}

static int32_t parent_of(const plan *p, int32_t link) {
  const tabi_joint_def *joint = joint_above(p, link);
  return joint ? joint->parent : TABI_WORLD;
}

static bool is_moving(const tabi_joint_def *joint) {
  return joint && joint->type != TABI_JOINT_FIXED;
}

/* the links of the loop above a link that was not reached, parents first, starting with the one
 * that comes first in the file; their number */
static int32_t collect_loop(plan *p, int32_t link) {
  for (int32_t i = 0; i < p->nlink; ++i)
    link = parent_of(p, link);
  int32_t first = link;
  for (int32_t at = parent_of(p, link); at != link; at = parent_of(p, at)) {
    first = at < first ? at : first;
  }
  int32_t count = 1;
  for (int32_t at = parent_of(p, first); at != first; at = parent_of(p, at))
    ++count;
  int32_t at = first;
  for (int32_t i = 0; i < count; ++i, at = parent_of(p, at))
    p->order[(count - i) % count] = at;
  return count;
}

static tabi_status report_loop(plan *p, int32_t link, tabi_error *err) {
  int32_t count = collect_loop(p, link);
  char loop[256] = "";
  size_t used = 0;
  for (int32_t i = 0; i <= count && used < sizeof loop; ++i) {
    const char *name = tbi_shown(tbi_builder_link(p->builder, p->order[i % count])->name);
    int n = snprintf(loop + used, sizeof loop - used, "%s%s", i > 0 ? " -> " : "", name);
    used += n > 0 ? (size_t)n : 0;
  }
  return tbi_error_set(err, TABI_ERR_MODEL, joint_above(p, p->order[0])->place,
                       "kinematic loop: %s; cut one joint and close it by a connection", loop);
}

/* breadth first from the world; children in the order their joints were added */
static tabi_status order_links(plan *p, tabi_error *err) {
  const tabi_builder *b = p->builder;
  int32_t *last = p->link_moving; /* not needed yet: borrow it for the last child */
  int32_t count = 0;
  for (int32_t i = 0; i < p->nlink; ++i) {
    p->child[i] = p->sibling[i] = last[i] = TABI_NONE;
    if (parent_of(p, i) == TABI_WORLD) p->order[count++] = i;
  }
  for (int32_t j = 0; j < b->joints.count; ++j) {
    const tabi_joint_def *joint = tbi_builder_joint(b, j);
    if (joint->parent == TABI_WORLD) continue;
    if (last[joint->parent] == TABI_NONE) {
      p->child[joint->parent] = joint->child;
    } else {
      p->sibling[last[joint->parent]] = joint->child;
    }
    last[joint->parent] = joint->child;
  }
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t c = p->child[p->order[i]]; c != TABI_NONE; c = p->sibling[c]) {
      p->order[count++] = c;
    }
  }
  if (count == p->nlink) return TABI_OK;

  for (int32_t i = 0; i < p->nlink; ++i)
    last[i] = 0;
  for (int32_t i = 0; i < count; ++i)
    last[p->order[i]] = 1;
  int32_t lost = 0;
  while (last[lost])
    ++lost;
  return report_loop(p, lost, err);
}

static void merge_links(plan *p) {
  for (int32_t i = 0; i < p->nlink; ++i) {
    int32_t link = p->order[i];
    int32_t parent = parent_of(p, link);
    int32_t above = parent == TABI_WORLD ? TABI_WORLD : p->link_moving[parent];
    if (!is_moving(joint_above(p, link))) {
      p->link_moving[link] = above;
      continue;
    }
    int32_t joint = tbi_builder_link_joint(p->builder, link);
    moving *m = &p->moving[p->nbody];
    *m = (moving){.joint = joint, .parent = above, .root_joint = joint, .found = p->nbody};
    if (above != TABI_WORLD) {
      m->root_joint = p->moving[above].root_joint;
      m->level = p->moving[above].level + 1;
    }
    p->link_moving[link] = p->nbody++;
  }
}

/* a moving part without any mass would have no equation of motion */
static tabi_status check_masses(plan *p, tabi_error *err) {
  const tabi_builder *b = p->builder;
  for (int32_t i = p->nlink - 1; i >= 0; --i) {
    int32_t m = p->link_moving[p->order[i]];
    if (m != TABI_WORLD) p->moving[m].subtree_mass += tbi_builder_link(b, p->order[i])->mass;
  }
  for (int32_t m = p->nbody - 1; m >= 0; --m) {
    const moving *part = &p->moving[m];
    const tabi_joint_def *joint = tbi_builder_joint(b, part->joint);
    if (part->subtree_mass < TBI_MIN_MASS && joint->rotor_inertia * joint->gear == 0) {
      const tabi_link_def *link = tbi_builder_link(b, joint->child);
      return tbi_error_set(err, TABI_ERR_MODEL, link->place,
                           "link '%s': no mass, but joint '%s' moves it and nothing heavier "
                           "hangs from it; give it a mass or a fixed joint",
                           tbi_shown(link->name), tbi_shown(joint->name));
    }
    /* what floats against its parent does not weigh on it */
    if (part->parent != TABI_WORLD && joint->type != TABI_JOINT_FREE) {
      p->moving[part->parent].subtree_mass += part->subtree_mass;
    }
  }
  return TABI_OK;
}

static int by_tree_and_level(const void *a, const void *b) {
  const moving *x = a;
  const moving *y = b;
  if (x->root_joint != y->root_joint) return x->root_joint < y->root_joint ? -1 : 1;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return x->found < y->found ? -1 : 1;
}

static void sort_bodies(plan *p) {
  qsort(p->moving, (size_t)p->nbody, sizeof *p->moving, by_tree_and_level);
  for (int32_t i = 0; i < p->nbody; ++i)
    p->number[p->moving[i].found] = i;
}

/* numbers in the row of a velocity with that many above it */
static int64_t row_length(int32_t depth) {
  return ((int64_t)depth + ROW_ALIGN) / ROW_ALIGN * ROW_ALIGN;
}

static void count_tendons(const plan *p, tabi_model *model) {
  int32_t *depth = p->sibling; /* not needed any more */
  for (int32_t i = 0; i < p->nlink; ++i) {
    int32_t m = p->link_moving[i];
    depth[i] = m == TABI_WORLD ? 0 : p->moving[p->number[m]].depth;
  }
  tbi_count_tendons(p->builder, depth, model);
}

static void count_items(const plan *p, tabi_model *model) {
  const tabi_builder *b = p->builder;
  const tabi_mesh_def *mesh = b->meshes.items;
  model->nbody = p->nbody;
  model->nlink = b->links.count;
  model->njoint = b->joints.count;
  model->nshape = b->shapes.count;
  model->nmesh = b->meshes.count;
  model->nmaterial = b->materials.count;
  model->npair = b->pairs.count;
  model->nactuator = b->actuators.count;
  model->ncoupling = b->couplings.count;
  model->nconnection = b->connections.count;
  model->nowner = b->connections.count + b->couplings.count + b->tendons.count;
  model->nsensor = b->sensors.count;
  model->nexclusion2 = 2 * b->exclusions.count;
  model->nposture = b->postures.count;
  model->nlink_slot = b->link_names.capacity;
  model->njoint_slot = b->joint_names.capacity;
  model->nsensor_slot = b->sensor_names.capacity;
  model->ntext = (int64_t)tbi_text_size(&b->text);
  for (int32_t i = 0; i < model->nmesh; ++i) {
    model->nvertex3 += 3 * (int64_t)mesh[i].nvertex;
    model->nface3 += 3 * (int64_t)mesh[i].nface;
  }
  tbi_count_hulls(b, model);
  for (int32_t i = 0; i < p->nbody; ++i) {
    tabi_joint_type type = tbi_builder_joint(b, p->moving[i].joint)->type;
    model->nq += tbi_joint_nq(type);
    model->nv += tbi_joint_nv(type);
    model->ntree += p->moving[i].parent == TABI_WORLD;
    moving *m = &p->moving[i];
    m->depth = m->parent == TABI_WORLD ? 0 : p->moving[p->number[m->parent]].depth;
    for (int32_t k = 0; k < tbi_joint_nv(type); ++k)
      model->nrow += row_length(m->depth++);
  }
  count_tendons(p, model);
  model->ntree1 = model->ntree + 1;
  model->nposture_q = (int64_t)model->nposture * model->nq;
  model->nposture_v = (int64_t)model->nposture * model->nv;
  model->nposture_control = (int64_t)model->nposture * model->nactuator;
}

/* places the arrays one after another from base, or only adds up their sizes when it is NULL */
static size_t place_arrays(tabi_model *model, char *base) {
  size_t used = (sizeof *model + 63) / 64 * 64;
#define PLACE(type, name, count)                         \
  if (base) model->name = (type *)(void *)(base + used); \
  used += ((size_t)model->count * sizeof(type) + 63) / 64 * 64;
  TBI_MODEL_ARRAYS(PLACE)
#undef PLACE
  return used;
}

static tabi_model *allocate_model(const tabi_model *sizes) {
  tabi_model counted = *sizes;
  size_t size = place_arrays(&counted, NULL);
  tabi_model *model = tbi_block_alloc(size);
  if (!model) return NULL;
  *model = *sizes;
  place_arrays(model, (char *)model);
  return model;
}

/* the body's own axes in those of the link its joint carries */
static m3 body_axes(const tabi_joint_def *joint) {
  bool turned = joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS ||
                joint->type == TABI_JOINT_PRISMATIC || joint->type == TABI_JOINT_PLANAR;
  return turned ? q_matrix_to(v3_load(joint->axis)) : m3_identity();
}

/* the frame of a link's joint in the body (or world) above it */
static tbi_frame joint_frame(const tabi_model *model, const tabi_joint_def *joint) {
  if (!joint) return tbi_frame_identity();
  tbi_frame own = tbi_frame_load(joint->pos, joint->quat);
  if (joint->parent == TABI_WORLD) return own;
  return tbi_frame_mul(&model->link_home[joint->parent].frame, &own);
}

static void fill_body(const plan *p, tabi_model *model, int32_t index, tbi_frame frame) {
  const moving *m = &p->moving[index];
  const tabi_joint_def *joint = tbi_builder_joint(p->builder, m->joint);
  m3 axes = body_axes(joint);
  tbi_body *body = &model->body[index];
  body->parent = m->parent == TABI_WORLD ? TABI_WORLD : p->number[m->parent];
  TBI_ASSERT(body->parent < index); /* parents first: every recursion relies on it */
  body->type = joint->type;
  body->joint = m->joint;
  body->place = (tbi_frame){m3_mul(&frame.rot, &axes), frame.pos};
  model->joint_body[m->joint] = index;
}

static void fill_links(const plan *p, tabi_model *model) {
  for (int32_t j = 0; j < model->njoint; ++j)
    model->joint_body[j] = TABI_NONE;
  for (int32_t i = 0; i < p->nlink; ++i) {
    int32_t link = p->order[i];
    model->link_order[i] = link;
    const tabi_joint_def *joint = joint_above(p, link);
    tbi_frame frame = joint_frame(model, joint);
    tbi_link_home *home = &model->link_home[link];
    int32_t m = p->link_moving[link];
    home->body = m == TABI_WORLD ? TABI_WORLD : p->number[m];
    home->joint = tbi_builder_link_joint(p->builder, link);
    if (is_moving(joint)) {
      fill_body(p, model, home->body, frame);
      m3 axes = body_axes(joint);
      home->frame = (tbi_frame){m3_transpose(&axes), v3_zero()};
    } else {
      home->frame = frame;
    }
  }
}

/* a link's inertia about the origin of the frame it is placed in */
static body_inertia placed_inertia(const tabi_link_def *link, const tbi_frame *frame) {
  v3 com = v3_add(frame->pos, m3_mulv(&frame->rot, v3_load(link->com)));
  m4 about_com = m4_from_sym(s3_rotate(&frame->rot, s3_load(link->inertia)));
  return inertia_make(link->mass, v4_from(com), &about_com);
}

static void set_body_inertia(tbi_body *body, const body_inertia *sum) {
  const m4 *m = &sum->moment;
  s3 about_origin = {v4_x(m->x), v4_y(m->y), v4_z(m->z), v4_y(m->x), v4_z(m->x), v4_z(m->y)};
  body->mass = sum->mass;
  body->com = sum->mass > 0 ? v3_scale(1 / sum->mass, v4_to(sum->h)) : v3_zero();
  body->inertia = s3_add(about_origin, s3_point_mass(-sum->mass, body->com));
}

static void fill_masses(const plan *p, tabi_model *model) {
  for (int32_t i = 0; i < model->nlink; ++i) {
    const tbi_link_home *home = &model->link_home[i];
    body_inertia part = placed_inertia(&model->link[i], &home->frame);
    body_inertia *sum = home->body == TABI_WORLD ? &model->standing : &p->inertia[home->body];
    *sum = inertia_add(sum, &part);
    model->mass += part.mass;
  }
  for (int32_t i = 0; i < model->nbody; ++i)
    set_body_inertia(&model->body[i], &p->inertia[i]);
}

/* a joint's numbers where the loops of a step want them */
static void fill_dof(tabi_model *model, int32_t dof, const tbi_body *body,
                     const tabi_joint_def *joint) {
  bool single = body->nv == 1;
  model->dof_q[dof] = single ? body->q : TABI_NONE;
  model->dof_rotor[dof] = joint->gear * joint->gear * joint->rotor_inertia;
  model->dof_damping[dof] = joint->damping;
  model->dof_friction[dof] = single ? joint->friction : 0;
  model->dof_stiffness[dof] = single ? joint->stiffness : 0;
  model->dof_rest[dof] = joint->rest_position;
  model->dof_lower[dof] = single ? joint->lower : (double)-INFINITY;
  model->dof_upper[dof] = single ? joint->upper : (double)INFINITY;
}

/* the velocities of one body form a chain, the first hanging on the last of its parent; returns
 * where the next row starts */
static int64_t fill_dofs(tabi_model *model, int32_t index, int64_t row) {
  const tbi_body *body = &model->body[index];
  const tabi_joint_def *joint = &model->joint[body->joint];
  const tbi_body *above = body->parent == TABI_WORLD ? NULL : &model->body[body->parent];
  int32_t parent = above ? above->v + above->nv - 1 : -1;
  for (int32_t dof = body->v; dof < body->v + body->nv; ++dof) {
    int32_t depth = parent < 0 ? 0 : model->dof_depth[parent] + 1;
    model->dof_body[dof] = index;
    model->dof_parent[dof] = parent;
    model->dof_depth[dof] = depth;
    model->dof_row[dof] = row;
    fill_dof(model, dof, body, joint);
    int32_t *path = model->dof_path + row;
    if (parent >= 0) {
      memcpy(path, model->dof_path + model->dof_row[parent], sizeof *path * (size_t)depth);
    }
    path[depth] = dof;
    row += row_length(depth);
    parent = dof;
  }
  return row;
}

static void fill_bodies(tabi_model *model) {
  int32_t q = 0;
  int32_t v = 0;
  int32_t tree = -1;
  int64_t row = 0;
  for (int32_t i = 0; i < model->nbody; ++i) {
    tbi_body *body = &model->body[i];
    if (body->parent == TABI_WORLD) {
      model->tree_body[++tree] = i;
      model->tree_place[tree] = body->place.pos;
      body->place.pos = v3_zero();
    }
    body->tree = tree;
    body->q = q;
    body->v = v;
    body->nv = tbi_joint_nv(body->type);
    row = fill_dofs(model, i, row);
    memcpy(model->start + q, model->joint[body->joint].initial_q,
           sizeof(double) * (size_t)tbi_joint_nq(body->type));
    q += tbi_joint_nq(body->type);
    v += body->nv;
  }
  TBI_ASSERT(q == model->nq && v == model->nv && tree == model->ntree - 1 && row == model->nrow);
}

static void mark_colliding(tabi_model *model) {
  for (int32_t i = 0; i < model->nshape; ++i) {
    const tabi_shape_def *shape = &model->shape[i];
    if (!shape->collides || shape->link == TABI_WORLD) continue;
    int32_t body = model->link_home[shape->link].body;
    if (body != TABI_WORLD) model->body[body].collides = true;
  }
}

static void fill_meshes(const tabi_builder *builder, tabi_model *model) {
  const tabi_mesh_def *mesh = builder->meshes.items;
  double *vertex = model->vertex;
  int32_t *face = model->face;
  for (int32_t i = 0; i < model->nmesh; ++i) {
    size_t nvertex = 3 * (size_t)mesh[i].nvertex;
    size_t nface = 3 * (size_t)mesh[i].nface;
    memcpy(vertex, mesh[i].vertices, nvertex * sizeof *vertex);
    memcpy(face, mesh[i].faces, nface * sizeof *face);
    model->mesh[i].vertices = vertex;
    model->mesh[i].faces = face;
    vertex += nvertex;
    face += nface;
  }
}

static void copy_items(void *to, const tbi_list *list, size_t size) {
  if (list->count > 0) memcpy(to, list->items, (size_t)list->count * size);
}

static void copy_slots(tbi_name *to, const tbi_names *names) {
  if (names->capacity > 0) memcpy(to, names->slots, (size_t)names->capacity * sizeof *to);
}

static void copy_lists(const tabi_builder *b, tabi_model *model) {
  copy_items(model->link, &b->links, sizeof *model->link);
  copy_items(model->joint, &b->joints, sizeof *model->joint);
  copy_items(model->shape, &b->shapes, sizeof *model->shape);
  copy_items(model->mesh, &b->meshes, sizeof *model->mesh);
  copy_items(model->material, &b->materials, sizeof *model->material);
  copy_items(model->pair, &b->pairs, sizeof *model->pair);
  copy_items(model->actuator, &b->actuators, sizeof *model->actuator);
  copy_items(model->coupling, &b->couplings, sizeof *model->coupling);
  copy_items(model->connection, &b->connections, sizeof *model->connection);
  copy_items(model->sensor, &b->sensors, sizeof *model->sensor);
  copy_items(model->exclusion, &b->exclusions, 2 * sizeof *model->exclusion);
  copy_items((void *)model->posture_name, &b->postures, sizeof *model->posture_name);
  copy_slots(model->link_slot, &b->link_names);
  copy_slots(model->joint_slot, &b->joint_names);
  copy_slots(model->sensor_slot, &b->sensor_names);
  model->link_names = (tbi_names){model->link_slot, b->link_names.count, model->nlink_slot};
  model->joint_names = (tbi_names){model->joint_slot, b->joint_names.count, model->njoint_slot};
  model->sensor_names = (tbi_names){model->sensor_slot, b->sensor_names.count, model->nsensor_slot};
}

/* let every string point into the model's own text */
static void move_strings(const tabi_builder *b, tabi_model *model) {
  const tbi_text_pool *pool = &b->text;
  tbi_text_copy(pool, model->text);
#define MOVE(string) ((string) = tbi_text_moved(pool, (string), model->text))
#define MOVE_ALL(item, count)                  \
  for (int32_t i = 0; i < model->count; ++i) { \
    MOVE(model->item[i].name);                 \
    MOVE(model->item[i].place.file);           \
  }
  MOVE_ALL(link, nlink)
  MOVE_ALL(joint, njoint)
  MOVE_ALL(shape, nshape)
  MOVE_ALL(mesh, nmesh)
  MOVE_ALL(material, nmaterial)
  MOVE_ALL(tendon, ntendon)
  MOVE_ALL(actuator, nactuator)
  MOVE_ALL(coupling, ncoupling)
  MOVE_ALL(connection, nconnection)
  MOVE_ALL(sensor, nsensor)
#undef MOVE_ALL
  for (int32_t i = 0; i < model->npair; ++i) {
    MOVE(model->pair[i].surface.name);
    MOVE(model->pair[i].surface.place.file);
  }
  for (int32_t i = 0; i < model->nposture; ++i)
    MOVE(model->posture_name[i]);
  for (int32_t i = 0; i < model->nlink_slot; ++i)
    MOVE(model->link_slot[i].name);
  for (int32_t i = 0; i < model->njoint_slot; ++i)
    MOVE(model->joint_slot[i].name);
  for (int32_t i = 0; i < model->nsensor_slot; ++i)
    MOVE(model->sensor_slot[i].name);
#undef MOVE
}

static void fill_postures(const tabi_builder *b, tabi_model *model) {
  const tbi_posture_entry *entry = b->posture_entries.items;
  for (int32_t i = 0; i < model->nposture; ++i) {
    memcpy(model->posture_q + (size_t)i * (size_t)model->nq, model->start,
           sizeof(double) * (size_t)model->nq);
  }
  for (int32_t i = 0; i < b->posture_entries.count; ++i, ++entry) {
    if (model->joint_body[entry->joint] == TABI_NONE) continue;
    const tbi_body *body = &model->body[model->joint_body[entry->joint]];
    double *q = model->posture_q + (size_t)entry->posture * (size_t)model->nq;
    double *v = model->posture_v + (size_t)entry->posture * (size_t)model->nv;
    memcpy(q + body->q, entry->q, sizeof(double) * (size_t)tbi_joint_nq(body->type));
    memcpy(v + body->v, entry->v, sizeof(double) * (size_t)body->nv);
  }
}

static void fill_controls(const tabi_builder *b, tabi_model *model) {
  const tbi_posture_control *control = b->controls.items;
  for (int64_t i = 0; i < model->nposture_control; ++i)
    model->posture_control[i] = (double)NAN;
  for (int32_t i = 0; i < b->controls.count; ++i) {
    size_t first = (size_t)control[i].posture * (size_t)model->nactuator;
    model->posture_control[first + (size_t)control[i].actuator] = control[i].u;
  }
}

/* ground made of triangles has no inside that could be pushed out of something */
static tabi_status check_shapes(const plan *p, tabi_error *err) {
  const tabi_shape_def *shape = p->builder->shapes.items;
  for (int32_t i = 0; i < p->builder->shapes.count; ++i) {
    bool ground = shape[i].type == TABI_SHAPE_TRIANGLES || shape[i].type == TABI_SHAPE_HEIGHTFIELD;
    if (!ground || shape[i].link == TABI_WORLD || p->link_moving[shape[i].link] == TABI_WORLD)
      continue;
    return tbi_error_set(err, TABI_ERR_MODEL, shape[i].place,
                         "shape '%s': %s only stand in the world; use a mesh's convex hull "
                         "(TABI_SHAPE_MESH) on what moves",
                         tbi_shown(shape[i].name),
                         shape[i].type == TABI_SHAPE_TRIANGLES ? "triangles" : "height fields");
  }
  return TABI_OK;
}

static tabi_model *fill_model(const plan *p, tabi_error *err) {
  tabi_model sizes = {0};
  count_items(p, &sizes);
  tabi_model *model = allocate_model(&sizes);
  if (!model) {
    tbi_error_memory(err);
    return NULL;
  }
  const tabi_builder *b = p->builder;
  memcpy(model->gravity, b->gravity, sizeof model->gravity);
  model->timestep = b->timestep;
  copy_lists(b, model);
  fill_links(p, model);
  fill_masses(p, model);
  fill_bodies(model);
  tbi_fill_tendons(b, model);
  mark_colliding(model);
  fill_meshes(b, model);
  tbi_fill_hulls(b, model);
  tbi_fill_named_order(model);
  tbi_fill_clusters(model);
  tbi_fill_named_bodies(model);
  fill_postures(b, model);
  fill_controls(b, model);
  move_strings(b, model);
  return model;
}

tabi_model *tabi_builder_build(const tabi_builder *builder, tabi_error *err) {
  TBI_ASSERT(builder);
  if (builder->error.status != TABI_OK) {
    if (err) *err = builder->error;
    return NULL;
  }
  tabi_model *model = NULL;
  plan p;
  if (!plan_create(&p, builder)) {
    tbi_error_memory(err);
  } else if (order_links(&p, err) == TABI_OK) {
    merge_links(&p);
    if (check_masses(&p, err) == TABI_OK && check_shapes(&p, err) == TABI_OK) {
      sort_bodies(&p);
      model = fill_model(&p, err);
    }
  }
  plan_destroy(&p);
  return model;
}
