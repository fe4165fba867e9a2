/* test_repeat.c - same input, same bits: of two workspaces, of repeated calls, of two threads. */
#include "support/near.h"
#include "support/random_model.h"

#include "dynamics/dynamics.h"
#include "tabi/tabi.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20

/* Everything that a state gives, one after another. */
typedef struct record {
  double *numbers;
  size_t count, room;
} record;

static double *more(record *r, size_t count) {
  assert_true(r->count + count <= r->room);
  r->count += count;
  return r->numbers + r->count - count;
}

/* per link two frames and twelve rows of nv; M, and room for the rest */
static record record_for(const tabi_model *model) {
  size_t nv = (size_t)tabi_model_nv(model), nlink = (size_t)tabi_model_nlink(model);
  record r = {.room = nlink * (13 + 12 * nv) + nv * nv + 40 * nv + 100};
  r.numbers = calloc(r.room, sizeof *r.numbers);
  assert_non_null(r.numbers);
  return r;
}

static void write_links(record *r, const tabi_model *model, tabi_dynamics *d) {
  size_t nv = (size_t)tabi_model_nv(model);
  for (int32_t link = 0; link < tabi_model_nlink(model); ++link) {
    double *pos = more(r, 3), *quat = more(r, 4), *lin = more(r, 3), *ang = more(r, 3);
    tabi_dynamics_link_pose(d, link, pos, quat);
    tabi_dynamics_link_velocity(d, link, lin, ang);
    tabi_dynamics_point_jacobian(d, link, pos, more(r, 3 * nv));
    tabi_dynamics_point_jacobian_rate(d, link, pos, more(r, 3 * nv));
    tabi_dynamics_angular_jacobian(d, link, more(r, 3 * nv));
    tabi_dynamics_angular_jacobian_rate(d, link, more(r, 3 * nv));
  }
}

static void write_all(record *r, const tabi_model *model, tabi_dynamics *d, const double *tau) {
  size_t nv = (size_t)tabi_model_nv(model);
  r->count = 0;
  tabi_dynamics_inverse(d, tau, more(r, nv));
  tabi_dynamics_forward(d, tau, more(r, nv));
  tbi_forward_ltdl(d, tau, more(r, nv));
  tbi_forward_ada(d, tau, more(r, nv));
  tbi_forward_aba(d, tau, more(r, nv));
  tabi_dynamics_mass_matrix(d, more(r, nv * nv));
  write_links(r, model, d);
  tabi_dynamics_com(d, more(r, 3));
  tabi_dynamics_com_jacobian(d, more(r, 3 * nv));
  tabi_dynamics_com_jacobian_rate(d, more(r, 3 * nv));
  *more(r, 1) = tabi_dynamics_kinetic(d);
  *more(r, 1) = tabi_dynamics_potential(d);
  double *lin = more(r, 3), *ang = more(r, 3);
  tabi_dynamics_momentum(d, lin, ang);
  lin = more(r, 3);
  ang = more(r, 3);
  tabi_dynamics_momentum_bias(d, lin, ang);
  tabi_dynamics_momentum_matrix(d, more(r, 6 * nv));
}

static bool same_bits(const record *a, const record *b) {
  return a->count == b->count && memcmp(a->numbers, b->numbers, a->count * sizeof(double)) == 0;
}

typedef struct setting {
  random_plan plan;
  tabi_model *model;
  double *q, *v, *tau;
} setting;

static void open_setting(setting *s, uint64_t seed) {
  random_plan_make(&s->plan, seed, RANDOM_ANY);
  s->model = random_plan_build(&s->plan, NULL);
  size_t nq = (size_t)tabi_model_nq(s->model), nv = (size_t)tabi_model_nv(s->model);
  s->q = calloc(nq + 2 * nv + 1, sizeof *s->q);
  assert_non_null(s->q);
  s->v = s->q + nq;
  s->tau = s->v + nv;
  random_plan_state(&s->plan, s->model, s->q, s->v, s->tau);
}

static void close_setting(setting *s) {
  tabi_model_destroy(s->model);
  free(s->q);
}

static void test_same_bits_again(void **state) {
  (void)state;
  static setting s;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    open_setting(&s, seed);
    record first = record_for(s.model), second = record_for(s.model);
    tabi_dynamics *a = tabi_dynamics_create(s.model, NULL);
    tabi_dynamics *b = tabi_dynamics_create(s.model, NULL);
    tabi_dynamics_set_state(a, s.q, s.v);
    write_all(&first, s.model, a, s.tau);
    write_all(&second, s.model, a, s.tau);
    assert_true(same_bits(&first, &second));
    /* another workspace, with another state before */
    tabi_dynamics_set_state(b, s.q, s.tau);
    write_all(&second, s.model, b, s.v);
    tabi_dynamics_set_state(b, s.q, s.v);
    write_all(&second, s.model, b, s.tau);
    assert_true(same_bits(&first, &second));
    tabi_dynamics_destroy(a);
    tabi_dynamics_destroy(b);
    free(first.numbers);
    free(second.numbers);
    close_setting(&s);
  }
}

/* a model built again from the same defs */
static void test_same_bits_of_a_second_model(void **state) {
  (void)state;
  static setting s, t;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    open_setting(&s, seed);
    open_setting(&t, seed);
    record first = record_for(s.model), second = record_for(t.model);
    tabi_dynamics *a = tabi_dynamics_create(s.model, NULL);
    tabi_dynamics *b = tabi_dynamics_create(t.model, NULL);
    tabi_dynamics_set_state(a, s.q, s.v);
    tabi_dynamics_set_state(b, t.q, t.v);
    write_all(&first, s.model, a, s.tau);
    write_all(&second, t.model, b, t.tau);
    assert_true(same_bits(&first, &second));
    tabi_dynamics_destroy(a);
    tabi_dynamics_destroy(b);
    free(first.numbers);
    free(second.numbers);
    close_setting(&s);
    close_setting(&t);
  }
}

typedef struct worker {
  const setting *setting;
  record record;
  bool ok;
} worker;

/* what it writes is judged by the test, when both have ended */
static void *work(void *user) {
  worker *w = user;
  const setting *s = w->setting;
  tabi_dynamics *d = tabi_dynamics_create(s->model, NULL);
  w->ok = d != NULL;
  for (int i = 0; w->ok && i < ROUNDS; ++i) {
    tabi_dynamics_set_state(d, s->q, s->v);
    write_all(&w->record, s->model, d, s->tau);
  }
  tabi_dynamics_destroy(d);
  return NULL;
}

static void test_two_threads_share_a_model(void **state) {
  (void)state;
  static setting s;
  open_setting(&s, 42);
  worker workers[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) {
    workers[i] = (worker){.setting = &s, .record = record_for(s.model)};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(workers[i].ok);
  }
  assert_true(same_bits(&workers[0].record, &workers[1].record));
  for (int i = 0; i < 2; ++i)
    free(workers[i].record.numbers);
  close_setting(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits_again),
      cmocka_unit_test(test_same_bits_of_a_second_model),
      cmocka_unit_test(test_two_threads_share_a_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
