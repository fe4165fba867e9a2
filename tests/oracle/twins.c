/* twins.c - loading a file twice, finding what belongs together, and the list of files. */
#include "oracle/twins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* the name, or kind and number where there is none */
static const char *name_or_number(const mjModel *mj, int type, int id, const char *kind,
                                  char buffer[32]) {
  const char *name = mj_id2name(mj, type, id);
  if (name) return name;
  (void)snprintf(buffer, 32, "%s%d", kind, id);
  return buffer;
}

static void find_all(twins *t) {
  char buffer[32];
  t->joints = calloc((size_t)t->mj->njnt + 1, sizeof *t->joints);
  t->links = calloc((size_t)t->mj->nbody, sizeof *t->links);
  assert_non_null(t->joints);
  assert_non_null(t->links);
  for (int j = 0; j < t->mj->njnt; ++j) {
    const char *name = name_or_number(t->mj, mjOBJ_JOINT, j, "joint", buffer);
    t->joints[j] = tabi_model_find_joint(t->tabi, name);
    if (t->joints[j] == TABI_NONE) fail_msg("tabi has no joint '%s'", name);
  }
  t->links[0] = TABI_WORLD;
  for (int b = 1; b < t->mj->nbody; ++b) {
    const char *name = name_or_number(t->mj, mjOBJ_BODY, b, "body", buffer);
    t->links[b] = tabi_model_find_link(t->tabi, name);
    if (t->links[b] == TABI_NONE) fail_msg("tabi has no link '%s'", name);
  }
}

void twins_open(twins *t, const char *file) {
  char message[1000] = "";
  tabi_error err = {0};
  *t = (twins){0};
  if (access(file, R_OK) != 0) {
    print_message("%s is not there\n", file);
    skip();
  }
  t->mj = mj_loadXML(file, NULL, message, sizeof message);
  if (!t->mj) {
    fail_msg("MuJoCo: %s", message);
    return;
  }
  t->data = mj_makeData(t->mj);
  t->tabi = tabi_model_load(file, NULL, &err);
  if (!t->tabi) fail_msg("tabi: %s:%d: %s", err.file, (int)err.line, err.message);
  t->dynamics = tabi_dynamics_create(t->tabi, &err);
  assert_non_null(t->dynamics);
  t->nq = (size_t)tabi_model_nq(t->tabi);
  t->nv = (size_t)tabi_model_nv(t->tabi);
  assert_int_equal(t->nq, t->mj->nq);
  assert_int_equal(t->nv, t->mj->nv);
  find_all(t);
}

void twins_close(twins *t) {
  tabi_dynamics_destroy(t->dynamics);
  tabi_model_destroy(t->tabi);
  mj_deleteData(t->data);
  mj_deleteModel(t->mj);
  free(t->joints);
  free(t->links);
}

size_t twins_nq(const twins *t, int j) {
  static const size_t counts[] = {7, 4, 1, 1};
  return counts[t->mj->jnt_type[j]];
}

size_t twins_nv(const twins *t, int j) {
  static const size_t counts[] = {6, 3, 1, 1};
  return counts[t->mj->jnt_type[j]];
}

void twins_q(const twins *t, const double *qpos, double *q) {
  for (int j = 0; j < t->mj->njnt; ++j) {
    tabi_range range = tabi_model_joint_q(t->tabi, t->joints[j]);
    assert_int_equal(range.count, twins_nq(t, j));
    memcpy(q + range.first, qpos + t->mj->jnt_qposadr[j], twins_nq(t, j) * sizeof *q);
  }
}

void twins_v(const twins *t, const double *qpos, const double *qvel, double *v) {
  for (int j = 0; j < t->mj->njnt; ++j) {
    const double *from = qvel + t->mj->jnt_dofadr[j];
    tabi_range range = tabi_model_joint_v(t->tabi, t->joints[j]);
    assert_int_equal(range.count, twins_nv(t, j));
    memcpy(v + range.first, from, twins_nv(t, j) * sizeof *v);
    if (t->mj->jnt_type[j] != mjJNT_FREE) continue;
    mju_rotVecQuat(v + range.first + 3, from + 3, qpos + t->mj->jnt_qposadr[j] + 3);
  }
}

static void test_file(void **state) {
  twins_test_parts(*state);
  twins_test_motion(*state);
}

static void test_loops(void **state) {
  test_file(state);
  twins_test_loops(*state);
}

int main(void) {
  char files[5][512];
  const char *names[] = {"arm", "toys", "crab", "fourbar"};
  struct CMUnitTest tests[5];
  for (int i = 0; i < 4; ++i) {
    (void)snprintf(files[i], sizeof files[i], TABI_SOURCE_DIR "/tests/io/mjcf/%s.xml", names[i]);
    tests[i] = (struct CMUnitTest){names[i], test_file, NULL, NULL, files[i]};
  }
  tests[3].test_func = test_loops;
  (void)snprintf(files[4], sizeof files[4], "%s", TABI_EXTRA_DATA "/models/hrp2like.xml");
  tests[4] = (struct CMUnitTest){"hrp2like", test_file, NULL, NULL, files[4]};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
