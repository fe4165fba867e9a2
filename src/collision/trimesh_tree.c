/* trimesh_tree.c - boxes within boxes around the faces of a trimesh.
 *
 * The faces of a node are split in the middle of their order along the longest side of their box,
 * so that the tree has the depth of a balanced one whatever the triangles look like. */
#include "collision/trimesh.h"

#include "base/assertion.h"

typedef struct range {
  int32_t begin, end, parent; /* parent: whose second child this is, or TABI_NONE */
} range;

static double centre_of(const tbi_trimesh *t, int32_t face, int axis) {
  double sum = 0;
  for (int k = 0; k < 3; ++k)
    sum += t->mesh->vertices[3 * (size_t)t->face[face].vertex[k] + (size_t)axis];
  return sum;
}

static void bound_faces(const tbi_trimesh *t, int32_t begin, int32_t end, tbi_trimesh_node *node) {
  for (int i = 0; i < 3; ++i) {
    node->low[i] = INFINITY;
    node->high[i] = -INFINITY;
  }
  for (int32_t f = begin; f < end; ++f) {
    const int32_t *vertex = t->face[t->order[f]].vertex;
    for (int k = 0; k < 3; ++k) {
      const double *p = t->mesh->vertices + 3 * (size_t)vertex[k];
      for (int i = 0; i < 3; ++i) {
        node->low[i] = tbi_min(node->low[i], p[i]);
        node->high[i] = tbi_max(node->high[i], p[i]);
      }
    }
  }
}

static bool comes_before(const tbi_trimesh *t, int32_t a, int32_t b, int axis) {
  double at_a = centre_of(t, a, axis);
  double at_b = centre_of(t, b, axis);
  return at_a < at_b || (at_a == at_b && a < b);
}

/* Puts the face that belongs at `middle` there, those before it before, and the others after. */
static void split(const tbi_trimesh *t, int32_t begin, int32_t end, int32_t middle, int axis) {
  int32_t *order = t->order;
  while (end - begin > 1) {
    int32_t pivot = order[begin + (end - begin) / 2];
    int32_t i = begin;
    int32_t j = end - 1;
    while (i <= j) {
      while (comes_before(t, order[i], pivot, axis))
        ++i;
      while (comes_before(t, pivot, order[j], axis))
        --j;
      if (i > j) break;
      int32_t moved = order[i];
      order[i++] = order[j];
      order[j--] = moved;
    }
    if (middle <= j) {
      end = j + 1;
    } else if (middle >= i) {
      begin = i;
    } else {
      return;
    }
  }
}

static int longest_side(const tbi_trimesh_node *node) {
  int axis = 0;
  for (int i = 1; i < 3; ++i) {
    if (node->high[i] - node->low[i] > node->high[axis] - node->low[axis]) axis = i;
  }
  return axis;
}

void tbi_trimesh_make_tree(tbi_trimesh *t) {
  range stack[TBI_TRIMESH_DEPTH];
  int32_t depth = 0;
  for (int32_t i = 0; i < t->nface; ++i)
    t->order[i] = i;
  t->nnode = 0;
  if (t->nface > 0) stack[depth++] = (range){0, t->nface, TABI_NONE};
  while (depth > 0) {
    TBI_ASSERT(depth < TBI_TRIMESH_DEPTH);
    range r = stack[--depth];
    int32_t index = t->nnode++;
    tbi_trimesh_node *node = &t->node[index];
    if (r.parent != TABI_NONE) t->node[r.parent].link = index;
    bound_faces(t, r.begin, r.end, node);
    if (r.end - r.begin <= TBI_TRIMESH_LEAF) {
      node->count = r.end - r.begin;
      node->link = r.begin;
      continue;
    }
    int32_t middle = r.begin + (r.end - r.begin) / 2;
    split(t, r.begin, r.end, middle, longest_side(node));
    node->count = 0;
    stack[depth++] = (range){middle, r.end, index};
    stack[depth++] = (range){r.begin, middle, TABI_NONE};
  }
}

static bool meets(const double low[3], const double high[3], const tbi_trimesh_walk *w) {
  return (low[0] <= w->high[0]) & (w->low[0] <= high[0]) & (low[1] <= w->high[1]) &
         (w->low[1] <= high[1]) & (low[2] <= w->high[2]) & (w->low[2] <= high[2]);
}

tbi_trimesh_walk tbi_trimesh_begin(const tbi_trimesh *t, const double low[3],
                                   const double high[3]) {
  tbi_trimesh_walk walk = {.t = t};
  for (int i = 0; i < 3; ++i) {
    walk.low[i] = low[i];
    walk.high[i] = high[i];
  }
  if (t->nnode > 0) walk.stack[walk.depth++] = 0;
  return walk;
}

static bool face_meets(const tbi_trimesh_walk *walk, int32_t face) {
  const tbi_trimesh *t = walk->t;
  double low[3], high[3];
  for (int i = 0; i < 3; ++i) {
    const int32_t *v = t->face[face].vertex;
    double a = t->mesh->vertices[3 * (size_t)v[0] + (size_t)i];
    double b = t->mesh->vertices[3 * (size_t)v[1] + (size_t)i];
    double c = t->mesh->vertices[3 * (size_t)v[2] + (size_t)i];
    low[i] = tbi_min(a, tbi_min(b, c));
    high[i] = tbi_max(a, tbi_max(b, c));
  }
  return meets(low, high, walk);
}

int32_t tbi_trimesh_next(tbi_trimesh_walk *walk) {
  const tbi_trimesh *t = walk->t;
  for (;;) {
    while (walk->next < walk->end) {
      int32_t face = t->order[walk->next++];
      if (face_meets(walk, face)) return face;
    }
    if (walk->depth == 0) return TABI_NONE;
    int32_t index = walk->stack[--walk->depth];
    const tbi_trimesh_node *node = &t->node[index];
    ++walk->visited;
    if (!meets(node->low, node->high, walk)) continue;
    if (node->count > 0) {
      walk->next = node->link;
      walk->end = node->link + node->count;
    } else {
      TBI_ASSERT(walk->depth + 2 <= TBI_TRIMESH_DEPTH);
      walk->stack[walk->depth++] = node->link;
      walk->stack[walk->depth++] = index + 1;
    }
  }
}
