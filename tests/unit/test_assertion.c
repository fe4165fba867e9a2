/* test_assertion.c - the handler of failed assertions, and the calls that must fail one: indices
 * out of range and NULL where an object or an array is needed. */
#include "base/assertion.h"
#include "support/must_fail.h"

#include "tabi/tabi.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;
static char told[128];

static void leave(void *user, const char *condition, const char *file, int32_t line) {
  assert_non_null(file);
  assert_true(line > 0);
  (void)strncpy(told, condition, sizeof told - 1);
  ++*(int *)user;
  longjmp(back, 1);
}

static int failures;
static const tabi_assert_handler leaving = {leave, &failures};

static void test_handler_is_told(void **state) {
  (void)state;
  assert_null(tabi_set_assert_handler(&leaving));
  failures = 0;
  if (setjmp(back) == 0) {
    tabi_assert_fail("2 + 2 == 5", "sums.c", 7);
  }
  assert_int_equal(failures, 1);
  assert_string_equal(told, "2 + 2 == 5");
  assert_ptr_equal(tabi_set_assert_handler(NULL), &leaving);
  assert_null(tabi_set_assert_handler(NULL));
}

static void look_away(void *user, const char *condition, const char *file, int32_t line) {
  (void)user, (void)condition, (void)file, (void)line;
}

/* what a child process ends by that fails an assertion */
static int ending(const tabi_assert_handler *handler) {
  pid_t child = fork();
  if (child == 0) {
    (void)close(STDERR_FILENO);
    (void)signal(SIGABRT, SIG_DFL);
    (void)tabi_set_assert_handler(handler);
    tabi_assert_fail("false", "none.c", 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_the_program_is_aborted(void **state) {
  (void)state;
  const tabi_assert_handler idle = {look_away, NULL};
  assert_int_equal(ending(NULL), SIGABRT);
  assert_int_equal(ending(&idle), SIGABRT);
}

#ifndef TABI_NO_ASSERT

static tabi_builder *builder;
static tabi_model *model;
static tabi_dynamics *dynamics;
static tabi_friction_problem *problem;
static double room[64];
static int32_t pair[2];
static tabi_friction_result result;

static int make_all(void **state) {
  (void)state;
  builder = tabi_builder_create();
  tabi_link_def link = tabi_link_def_default();
  link.mass = 1;
  link.inertia[0] = link.inertia[1] = link.inertia[2] = 0.1;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_REVOLUTE;
  joint.child = tabi_builder_add_link(builder, &link);
  (void)tabi_builder_add_joint(builder, &joint);
  (void)tabi_builder_add_posture(builder, "bent");
  model = tabi_builder_build(builder, NULL);
  dynamics = tabi_dynamics_create(model, NULL);
  const int32_t row[2] = {0, 1};
  const int32_t column = 0;
  const double block[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double q[3] = {-1, 0, 0};
  const double mu = 0.5;
  tabi_friction_problem_def def = tabi_friction_problem_def_default();
  def.ncontact = 1;
  def.row = row;
  def.column = &column;
  def.block = block;
  def.q = q;
  def.friction = &mu;
  problem = tabi_friction_problem_create(&def, NULL);
  must_fail_begin();
  return model && dynamics && problem ? 0 : -1;
}

static int free_all(void **state) {
  (void)state;
  must_fail_end();
  tabi_friction_problem_destroy(problem);
  tabi_dynamics_destroy(dynamics);
  tabi_model_destroy(model);
  tabi_builder_destroy(builder);
  return 0;
}

static void test_builder(void **state) {
  (void)state;
  tabi_material_def wood = tabi_material_def_default();
  MUST_FAIL(tabi_builder_add_link(builder, NULL));
  MUST_FAIL(tabi_builder_add_joint(builder, NULL));
  MUST_FAIL(tabi_builder_add_shape(builder, NULL));
  MUST_FAIL(tabi_builder_add_mesh(builder, NULL));
  MUST_FAIL(tabi_builder_add_material(builder, NULL));
  MUST_FAIL(tabi_builder_add_pair(builder, 0, 0, NULL));
  MUST_FAIL(tabi_builder_add_actuator(builder, NULL));
  MUST_FAIL(tabi_builder_add_coupling(builder, NULL));
  MUST_FAIL(tabi_builder_add_connection(builder, NULL));
  MUST_FAIL(tabi_builder_add_sensor(builder, NULL));
  MUST_FAIL(tabi_builder_add_material(NULL, &wood));
  MUST_FAIL(tabi_builder_add_exclusion(NULL, 0, 0));
  MUST_FAIL(tabi_builder_add_posture(NULL, "bent"));
  MUST_FAIL(tabi_builder_set_posture(NULL, 0, 0, room, NULL));
  MUST_FAIL(tabi_builder_set_posture(builder, 0, 0, NULL, NULL));
  MUST_FAIL(tabi_builder_set_gravity(builder, NULL));
  MUST_FAIL(tabi_builder_set_timestep(NULL, 1));
  MUST_FAIL(tabi_builder_nlink(NULL));
  MUST_FAIL(tabi_builder_njoint(NULL));
  MUST_FAIL(tabi_builder_find_link(builder, NULL));
  MUST_FAIL(tabi_builder_find_joint(builder, NULL));
  MUST_FAIL(tabi_builder_error(NULL));
  MUST_FAIL(tabi_builder_fail(builder, NULL));
  MUST_FAIL(tabi_builder_build(NULL, NULL));
  MUST_FAIL(tabi_material_combine(&wood, NULL));
  MUST_FAIL(tabi_sensor_type_find(NULL));
  MUST_FAIL(tabi_error_text(NULL, "error", NULL, 0));
}

static void test_model(void **state) {
  (void)state;
  MUST_FAIL(tabi_model_nv(NULL));
  MUST_FAIL(tabi_model_nexclusion(NULL));
  MUST_FAIL(tabi_model_link(model, 1));
  MUST_FAIL(tabi_model_link(model, -1));
  MUST_FAIL(tabi_model_joint(model, 1));
  MUST_FAIL(tabi_model_shape(model, 0));
  MUST_FAIL(tabi_model_mesh(model, 0));
  MUST_FAIL(tabi_model_material(model, 0));
  MUST_FAIL(tabi_model_surface(NULL, TABI_NONE, TABI_NONE));
  MUST_FAIL(tabi_model_surface(model, TABI_NONE, 0));
  MUST_FAIL(tabi_model_actuator(model, 0));
  MUST_FAIL(tabi_model_coupling(model, 0));
  MUST_FAIL(tabi_model_connection(model, 0));
  MUST_FAIL(tabi_model_sensor(model, 0));
  MUST_FAIL(tabi_model_exclusion(model, 0, pair));
  MUST_FAIL(tabi_model_posture(model, 1, NULL, NULL));
  MUST_FAIL(tabi_model_find_link(model, NULL));
  MUST_FAIL(tabi_model_find_joint(model, NULL));
  MUST_FAIL(tabi_model_find_sensor(model, NULL));
  MUST_FAIL(tabi_model_find_shape(model, NULL));
  MUST_FAIL(tabi_model_find_actuator(NULL, "motor"));
  MUST_FAIL(tabi_model_joint_q(model, 1));
  MUST_FAIL(tabi_model_joint_v(model, -1));
  MUST_FAIL(tabi_model_link_joint(model, 1));
  MUST_FAIL(tabi_model_link_body(model, -1));
  MUST_FAIL(tabi_model_gravity(model, NULL));
  MUST_FAIL(tabi_model_timestep(NULL));
  MUST_FAIL(tabi_model_mass(NULL));
  MUST_FAIL(tabi_model_integrate(model, room, NULL, 1, room));
}

static void test_dynamics(void **state) {
  (void)state;
  const double at[3] = {0, 0, 0};
  MUST_FAIL(tabi_dynamics_create(NULL, NULL));
  MUST_FAIL(tabi_dynamics_set_state(dynamics, room, NULL));
  MUST_FAIL(tabi_dynamics_link_pose(dynamics, 1, room, room));
  MUST_FAIL(tabi_dynamics_link_pose(dynamics, 0, room, NULL));
  MUST_FAIL(tabi_dynamics_link_velocity(dynamics, -1, room, room));
  MUST_FAIL(tabi_dynamics_point_jacobian(dynamics, 1, at, room));
  MUST_FAIL(tabi_dynamics_point_jacobian(dynamics, 0, NULL, room));
  MUST_FAIL(tabi_dynamics_point_jacobian_rate(dynamics, 0, at, NULL));
  MUST_FAIL(tabi_dynamics_angular_jacobian(NULL, 0, room));
  MUST_FAIL(tabi_dynamics_angular_jacobian_rate(dynamics, 2, room));
  MUST_FAIL(tabi_dynamics_inverse(dynamics, NULL, NULL));
  MUST_FAIL(tabi_dynamics_forward(dynamics, NULL, NULL));
  MUST_FAIL(tabi_dynamics_mass_matrix(dynamics, NULL));
  MUST_FAIL(tabi_dynamics_com(dynamics, NULL));
  MUST_FAIL(tabi_dynamics_com_jacobian(dynamics, NULL));
  MUST_FAIL(tabi_dynamics_com_jacobian_rate(dynamics, NULL));
  MUST_FAIL(tabi_dynamics_kinetic(NULL));
  MUST_FAIL(tabi_dynamics_potential(NULL));
  MUST_FAIL(tabi_dynamics_momentum(dynamics, room, NULL));
  MUST_FAIL(tabi_dynamics_momentum_matrix(dynamics, NULL));
  MUST_FAIL(tabi_dynamics_momentum_bias(dynamics, NULL, room));
}

static void test_friction(void **state) {
  (void)state;
  MUST_FAIL(tabi_friction_problem_create(NULL, NULL));
  MUST_FAIL(tabi_friction_problem_ncontact(NULL));
  MUST_FAIL(tabi_friction_problem_solve(problem, NULL, NULL, &result, NULL));
  MUST_FAIL(tabi_friction_problem_solve(problem, NULL, room, NULL, NULL));
  MUST_FAIL(tabi_friction_solver_name(TABI_FRICTION_COUNT));
  MUST_FAIL(tabi_friction_solver_find(NULL));
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_handler_is_told),
      cmocka_unit_test(test_the_program_is_aborted),
#ifndef TABI_NO_ASSERT
      cmocka_unit_test_setup_teardown(test_builder, make_all, free_all),
      cmocka_unit_test_setup_teardown(test_model, make_all, free_all),
      cmocka_unit_test_setup_teardown(test_dynamics, make_all, free_all),
      cmocka_unit_test_setup_teardown(test_friction, make_all, free_all),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
