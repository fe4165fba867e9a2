/* test_mujoco.c - the same pairs in tabi and in MuJoCo: who touches, and how deep.
 *
 * Where they differ by design:
 * - axes of capsules that meet another's or run through a box have several ways out, so only pairs
 *   with 1 mm between axis and partner are compared;
 * - box and box: MuJoCo takes an edge as soon as it is better by a little, tabi prefers faces; so
 *   the normals may differ, and the depth is compared where both chose the same one.  MuJoCo 2.2
 *   reports half the overlap on a face: 0.5 mm for a box that is 1 mm deep in a table. */
#include "collision/solids.h"
#include "support/near.h"

#include <mujoco/mujoco.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const scene_xml =
    "<mujoco><option gravity='0 0 0'/><worldbody>"
    "<body><freejoint/><geom name='a' type='%s' size='1 1 1' mass='1'/></body>"
    "<body><freejoint/><geom name='b' type='%s' size='1 1 1' mass='1'/></body>"
    "</worldbody></mujoco>";

typedef struct twin {
  mjModel *model;
  mjData *data;
} twin;

static const char *word_of(tabi_shape_type type) {
  return type == TABI_SHAPE_SPHERE ? "sphere" : type == TABI_SHAPE_CAPSULE ? "capsule" : "box";
}

static twin twin_make(tabi_shape_type a, tabi_shape_type b) {
  char text[1024];
  char error[256];
  int length = snprintf(text, sizeof text, scene_xml, word_of(a), word_of(b));
  mjVFS *vfs = calloc(1, sizeof *vfs);
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "pair.xml", length + 1);
  memcpy(vfs->filedata[0], text, (size_t)length + 1);
  twin t = {mj_loadXML("pair.xml", vfs, error, sizeof error), NULL};
  if (!t.model) fail_msg("%s", error);
  t.data = mj_makeData(t.model);
  mj_deleteVFS(vfs);
  free(vfs);
  return t;
}

static void twin_free(twin *t) {
  mj_deleteData(t->data);
  mj_deleteModel(t->model);
}

/* MuJoCo's sizes of round things: radius, half length */
static void twin_set(twin *t, int geom, const tbi_solid *solid) {
  mjtNum *size = t->model->geom_size + 3 * (ptrdiff_t)geom;
  size[0] = solid->half[0];
  size[1] = solid->type == TABI_SHAPE_BOX ? solid->half[1] : solid->half[2];
  size[2] = solid->half[2];
  t->model->geom_rbound[geom] = 10;
  m3 rot = m3_from_columns(solid->axis[0], solid->axis[1], solid->axis[2]);
  v3_store(solid->pos, t->data->qpos + 7 * (ptrdiff_t)geom);
  q_store(q_from_matrix(&rot), t->data->qpos + 7 * (ptrdiff_t)geom + 3);
}

/* the deepest contact, or NULL */
static const mjContact *twin_collide(twin *t) {
  mj_fwdPosition(t->model, t->data);
  const mjContact *deepest = NULL;
  for (int i = 0; i < t->data->ncon; ++i) {
    const mjContact *contact = &t->data->contact[i];
    if (!deepest || contact->dist < deepest->dist) deepest = contact;
  }
  return deepest;
}

/* a capsule's axis that runs through a box has several ways out */
static bool is_simple(const tbi_solid *a, const tbi_solid *b) {
  if (a->type == TABI_SHAPE_BOX) return true;
  double half = a->type == TABI_SHAPE_CAPSULE ? a->half[2] : 0;
  v3 p = v3_axpy(a->pos, -half, a->axis[2]);
  v3 q = v3_axpy(a->pos, half, a->axis[2]);
  bool box = b->type == TABI_SHAPE_BOX;
  return segment_distance(p, q, b, box ? box_distance : core_distance) > 1e-3;
}

typedef struct tally {
  int both, same, halved, wrong, only_tabi, only_mujoco;
} tally;

static void compare(const tbi_solid *a, const tbi_solid *b, const mjContact *theirs, tally *seen) {
  tbi_pair_point points[TBI_PAIR_ROOM];
  int32_t count = tbi_pair_collide(a, b, 0, points);
  if ((count > 0) != (theirs != NULL)) {
    seen->only_tabi += count > 0;
    seen->only_mujoco += theirs != NULL;
    /* MuJoCo misses or adds only what is barely there */
    double gap = count > 0 ? min_gap(points, count) : theirs->dist;
    assert_near(gap, 0, 1e-6);
    return;
  }
  if (count == 0 || !theirs) return;
  ++seen->both;
  const tbi_pair_point *deepest = points;
  for (int32_t i = 1; i < count; ++i) {
    if (points[i].gap < deepest->gap) deepest = &points[i];
  }
  v3 normal = v3_load(theirs->frame);
  bool same = v3_norm(v3_sub(deepest->normal, normal)) < 1e-4;
  if (a->type != TABI_SHAPE_BOX) assert_true(same);
  if (!same) return;
  ++seen->same;
  /* where the depths differ, the overlap along the normal says who is right */
  double along = solid_gap_along(a, b, deepest->normal);
  bool boxes = a->type == TABI_SHAPE_BOX && fabs(deepest->gap - along) < 1e-9;
  if (boxes && fabs(2 * theirs->dist - along) < 1e-6) {
    ++seen->halved;
  } else if (boxes && fabs(theirs->dist - along) > 1e-6) {
    ++seen->wrong;
  } else {
    assert_near(deepest->gap, theirs->dist, 1e-6);
  }
}

static void check_types(tabi_shape_type type_a, tabi_shape_type type_b) {
  rng r = rng_make(61);
  twin t = twin_make(type_a, type_b);
  tally seen = {0};
  for (int trial = 0; trial < 3000; ++trial) {
    tbi_solid a = random_solid(&r, type_a, 0.3);
    tbi_solid b = random_solid(&r, type_b, 0.3);
    if (!is_simple(&a, &b)) continue;
    twin_set(&t, 0, &a);
    twin_set(&t, 1, &b);
    compare(&a, &b, twin_collide(&t), &seen);
  }
  print_message("%s and %s: %d touch, %d with the same normal (in MuJoCo %d half as deep, %d "
                "otherwise); %d touch in tabi only, %d in MuJoCo only\n",
                word_of(type_a), word_of(type_b), seen.both, seen.same, seen.halved, seen.wrong,
                seen.only_tabi, seen.only_mujoco);
  assert_true(seen.same > seen.both / 2);
  assert_true(seen.wrong <= seen.same / 100);
  twin_free(&t);
}

static void test_balls(void **state) {
  (void)state;
  check_types(TABI_SHAPE_SPHERE, TABI_SHAPE_SPHERE);
  check_types(TABI_SHAPE_SPHERE, TABI_SHAPE_CAPSULE);
  check_types(TABI_SHAPE_SPHERE, TABI_SHAPE_BOX);
}

static void test_capsules(void **state) {
  (void)state;
  check_types(TABI_SHAPE_CAPSULE, TABI_SHAPE_CAPSULE);
  check_types(TABI_SHAPE_CAPSULE, TABI_SHAPE_BOX);
}

static void test_boxes(void **state) {
  (void)state;
  check_types(TABI_SHAPE_BOX, TABI_SHAPE_BOX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balls),
      cmocka_unit_test(test_capsules),
      cmocka_unit_test(test_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
