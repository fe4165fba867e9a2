/* cmd_dynamics.c - `tabi dynamics`: the rigid-body quantities of a model at a state, by name. */
#include "state.h"

#include <math.h>
#include <stdlib.h>

enum { BASE, STATE, JSON };

/* What is computed, in one block of doubles. */
typedef struct result {
  int32_t nv;
  double *q, *v, *tau, *bias, *qdd, *mass; /* mass: nv x nv */
  double com[3], kinetic, potential;
  double *block;
} result;

static bool result_create(result *r, const tabi_model *model) {
  size_t nq = (size_t)tabi_model_nq(model);
  size_t nv = (size_t)tabi_model_nv(model);
  r->nv = tabi_model_nv(model);
  r->block = calloc(nq + 4 * nv + nv * nv + 1, sizeof *r->block);
  if (!r->block) return false;
  r->q = r->block;
  r->v = r->q + nq;
  r->tau = r->v + nv;
  r->bias = r->tau + nv;
  r->qdd = r->bias + nv;
  r->mass = r->qdd + nv;
  return true;
}

static void compute(result *r, tabi_dynamics *dynamics) {
  tabi_dynamics_set_state(dynamics, r->q, r->v);
  tabi_dynamics_mass_matrix(dynamics, r->mass);
  tabi_dynamics_inverse(dynamics, NULL, r->bias);
  tabi_dynamics_forward(dynamics, r->tau, r->qdd);
  tabi_dynamics_com(dynamics, r->com);
  r->kinetic = tabi_dynamics_kinetic(dynamics);
  r->potential = tabi_dynamics_potential(dynamics);
}

/* Huge velocities overflow, and JSON has no infinities. */
static bool all_finite(const result *r) {
  bool finite = isfinite(r->kinetic) && isfinite(r->potential);
  for (int32_t i = 0; i < r->nv; ++i)
    finite = finite && isfinite(r->bias[i] + r->qdd[i]);
  for (int32_t i = 0; i < r->nv * r->nv; ++i)
    finite = finite && isfinite(r->mass[i]);
  for (int i = 0; i < 3; ++i)
    finite = finite && isfinite(r->com[i]);
  return finite;
}

static json_t *dof_names(const tabi_model *model) {
  json_t *names = json_array();
  int32_t nv = tabi_model_nv(model);
  int bad = 0;
  for (int32_t i = 0; i < nv; ++i)
    bad |= json_array_append_new(names, json_null());
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range range = tabi_model_joint_v(model, j);
    tabi_joint_type type = tabi_model_joint(model, j).type;
    char buffer[TBI_KEY_SIZE];
    const char *key = tbi_joint_key(model, j, buffer);
    for (int32_t k = 0; k < range.count; ++k) {
      json_t *name = json_sprintf("%s%s", key, tbi_dof_suffix(type, k));
      bad |= json_array_set_new(names, (size_t)range.first + (size_t)k, name);
    }
  }
  if (!bad) return names;
  json_decref(names);
  return NULL;
}

static json_t *mass_rows(const result *r) {
  json_t *rows = json_array();
  for (int32_t i = 0; i < r->nv; ++i) {
    if (json_array_append_new(rows, tbi_json_numbers(r->mass + (size_t)i * (size_t)r->nv, r->nv))) {
      json_decref(rows);
      return NULL;
    }
  }
  return rows;
}

/* Lengths, their rates and moment arms. */
static json_t *tendons_of(const result *r, const tabi_model *model, const tabi_dynamics *dynamics) {
  json_t *list = json_array();
  double *arms = malloc(((size_t)r->nv + 1) * sizeof *arms);
  int bad = arms ? 0 : 1;
  for (int32_t i = 0; i < tabi_model_ntendon(model) && !bad; ++i) {
    const char *name = tabi_model_tendon(model, i).name;
    double length = tabi_dynamics_tendon_length(dynamics, i, arms);
    double rate = 0;
    for (int32_t k = 0; k < r->nv; ++k)
      rate += arms[k] * r->v[k];
    json_t *tendon = json_object();
    bad |= json_object_set_new(tendon, "name", name ? json_string(name) : json_null());
    bad |= json_object_set_new(tendon, "length", tbi_json_number(length));
    bad |= json_object_set_new(tendon, "rate", tbi_json_number(rate));
    bad |= json_object_set_new(tendon, "arms", tbi_json_numbers(arms, r->nv));
    bad |= json_array_append_new(list, tendon);
  }
  free(arms);
  if (!bad) return list;
  json_decref(list);
  return NULL;
}

static int print_result(FILE *out, const result *r, const tabi_model *model,
                        const tabi_dynamics *dynamics) {
  json_t *object = json_object();
  int bad = json_object_set_new(object, "mass", tbi_json_number(tabi_model_mass(model)));
  bad |= json_object_set_new(object, "com", tbi_json_numbers(r->com, 3));
  bad |= json_object_set_new(object, "kinetic", tbi_json_number(r->kinetic));
  bad |= json_object_set_new(object, "potential", tbi_json_number(r->potential));
  bad |= json_object_set_new(object, "dofs", dof_names(model));
  bad |= json_object_set_new(object, "M", mass_rows(r));
  bad |= json_object_set_new(object, "bias", tbi_json_numbers(r->bias, r->nv));
  bad |= json_object_set_new(object, "qdd", tbi_json_numbers(r->qdd, r->nv));
  if (tabi_model_ntendon(model) > 0)
    bad |= json_object_set_new(object, "tendons", tendons_of(r, model, dynamics));
  bad |= json_object_set_new(object, "links", tbi_json_links(model, dynamics, false));
  if (bad) {
    json_decref(object);
    object = NULL;
  }
  return tbi_json_print(out, object);
}

static int run_model(const tabi_model *model, const tbi_state *state, FILE *out) {
  tabi_error err;
  result r;
  tabi_dynamics *dynamics = tabi_dynamics_create(model, &err);
  if (!dynamics) return tbi_print_error(&err);
  int code;
  if (!result_create(&r, model)) {
    code = tbi_out_of_memory();
  } else if (!tbi_state_apply(state, model, r.q, r.v, r.tau, &err)) {
    code = tbi_print_error(&err);
  } else {
    compute(&r, dynamics);
    if (all_finite(&r)) {
      code = print_result(out, &r, model, dynamics);
    } else {
      tbi_fail(&err, TABI_ERR_MODEL, (tabi_place){state->path, 1},
               "the result is not finite; numbers of the state are too large");
      code = tbi_print_error(&err);
    }
  }
  free(r.block);
  tabi_dynamics_destroy(dynamics);
  return code;
}

static int run(const tbi_args *args, FILE *out) {
  tabi_load_def def = tbi_args_load_def(args);
  if (!tbi_base_parse("dynamics", args->value[BASE], &def.base)) return TBI_EXIT_USAGE;
  tabi_error err;
  tbi_state state;
  if (!tbi_state_read(&state, args->value[STATE], &err)) return tbi_print_error(&err);

  /* a fixed base is placed while loading; for a free one it is part of q */
  def.place_base = state.has_pos || state.has_quat;
  for (int i = 0; i < 3; ++i)
    def.base_pos[i] = state.pos[i];
  for (int i = 0; i < 4; ++i)
    def.base_quat[i] = state.quat[i];

  tbi_findings warnings = {0};
  int code = TBI_EXIT_INTERNAL;
  tabi_model *model = tbi_model_open(args->word[0], &def, &warnings, &code);
  if (model) {
    code = run_model(model, &state, out);
    /* warnings are printed with a result, not with an error */
    if (code == TBI_EXIT_OK) tbi_print_warnings(&warnings, args);
  }
  tabi_model_destroy(model);
  tbi_findings_free(&warnings);
  tbi_state_free(&state);
  return code;
}

const tbi_command tbi_cmd_dynamics = {
    .name = "dynamics",
    .usage = "dynamics MODEL [--base free|fixed] [--state FILE|-]",
    .summary = "compute mass matrix, bias forces, accelerations, energy and link poses",
    .text =
        "Prints the rigid-body quantities of a robot (URDF, MJCF, SDF) at a state, as JSON, keyed\n"
        "by name.  The state is JSON too; whatever it leaves out is zero:\n"
        "\n"
        "  {\"base\": {\"pos\": [0, 0, 0.8], \"quat\": [1, 0, 0, 0], \"lin\": [0, 0, 0],\n"
        "            \"ang\": [0, 0, 0]},\n"
        "   \"q\": {\"l_knee\": 0.6}, \"v\": {\"l_knee\": -1}, \"tau\": {\"l_knee\": 20}}\n"
        "\n"
        "lin is the velocity of the base link's origin and ang its angular velocity, in world\n"
        "axes; M, bias and qdd use the same coordinates, in the order of dofs.  Joints with\n"
        "several DOF take arrays (ball: q is a quaternion w, x, y, z); a second floating body\n"
        "goes by its name, with 7 numbers in q and 6 in v.  With a fixed base, pos and quat\n"
        "place the root link.\n"
        "\n"
        "  bias  the generalised force that gives zero acceleration\n"
        "  qdd   the acceleration under tau; springs, dampers, limits, dry friction and\n"
        "        actuators are left out\n"
        "\n"
        "examples:\n"
        "  tabi dynamics robot.urdf\n"
        "  tabi dynamics robot.urdf --base fixed --state posture.json\n"
        "  echo '{\"q\": {\"l_knee\": 0.6}}' | tabi dynamics robot.urdf --state -\n",
    .nword = 1,
    .word = "MODEL",
    .options = {[BASE] = {"--base", "free|fixed",
                          "base of the root link; default: free for URDF, the file's for MJCF",
                          false, NULL},
                [STATE] = {"--state", "FILE|-",
                           "file of the state, - for standard input; default: all zero", false,
                           NULL},
                [JSON] = {"--json", NULL, "no effect: the result is always JSON", false, NULL}},
    .loads = true,
    .tells = true,
    .run = run,
};
