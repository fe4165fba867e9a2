/* cmd_info.c - `tabi info`: a model as a tree and in numbers. */
#include "common/extent.h"
#include "common/sensors.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { BASE, JSON };

/* The forest of links as lists; links that stand for a second joint of a body have no name. */
typedef struct forest {
  int32_t *parent, *first, *next; /* per link; TABI_NONE: none */
  int32_t *path;                  /* scratch: the links above one */
  int32_t root;                   /* the first root; the others by next */
} forest;

#define PATH_SIZE 4096

typedef struct summary {
  const char *path;
  char sidecar[PATH_SIZE]; /* what was read beside it, or "" */
  const tabi_model *model;
  double com[3];
  tbi_extent extent;
  const tbi_findings *warnings;
  const tbi_args *args;
} summary;

static bool forest_create(forest *f, const tabi_model *model) {
  int32_t nlink = tabi_model_nlink(model);
  f->root = TABI_NONE;
  f->parent = malloc(4 * (size_t)(nlink + 1) * sizeof *f->parent);
  if (!f->parent) return false;
  f->first = f->parent + nlink;
  f->next = f->first + nlink;
  f->path = f->next + nlink;
  for (int32_t i = 0; i < nlink; ++i)
    f->first[i] = TABI_NONE;
  /* from the last to the first, so that each list comes out in the order of the file */
  for (int32_t i = nlink - 1; i >= 0; --i) {
    f->parent[i] = tbi_parent_link(model, i);
    int32_t *head = f->parent[i] == TABI_WORLD ? &f->root : &f->first[f->parent[i]];
    f->next[i] = *head;
    *head = i;
  }
  return true;
}

/* The next link in the order of the drawing: child, else sibling, else an ancestor's sibling. */
static int32_t forest_step(const forest *f, int32_t link) {
  if (f->first[link] != TABI_NONE) return f->first[link];
  while (link != TABI_WORLD && f->next[link] == TABI_NONE)
    link = f->parent[link];
  return link == TABI_WORLD ? TABI_NONE : f->next[link];
}

/* A link between two joints of one body is not drawn: its child is drawn in its place. */
static bool is_drawn(const tabi_model *model, const forest *f, int32_t link) {
  int32_t child = f->first[link];
  bool one_child = child != TABI_NONE && f->next[child] == TABI_NONE;
  return tabi_model_link(model, link).name || !one_child;
}

/* Whether another branch follows on the level where a drawn link stands. */
static bool has_more(const tabi_model *model, const forest *f, int32_t link) {
  while (f->parent[link] != TABI_WORLD && !is_drawn(model, f, f->parent[link])) {
    link = f->parent[link];
  }
  return f->next[link] != TABI_NONE;
}

static void print_branches(FILE *out, const tabi_model *model, const forest *f, int32_t link) {
  int32_t depth = 0;
  for (int32_t i = link; i != TABI_WORLD; i = f->parent[i]) {
    if (is_drawn(model, f, i)) f->path[depth++] = i;
  }
  /* the root has no branch of its own */
  for (int32_t i = depth - 2; i > 0; --i) {
    (void)fputs(has_more(model, f, f->path[i]) ? "│  " : "   ", out);
  }
  if (depth > 1) (void)fputs(has_more(model, f, link) ? "├─ " : "└─ ", out);
}

static void print_range(FILE *out, const tabi_joint_def *joint) {
  double unit = joint->type == TABI_JOINT_REVOLUTE ? 180 / 3.141592653589793 : 1;
  const char *name = joint->type == TABI_JOINT_REVOLUTE ? "°" : " m";
  if (joint->type != TABI_JOINT_REVOLUTE && joint->type != TABI_JOINT_PRISMATIC) return;
  if (isinf(joint->lower) && isinf(joint->upper)) return;
  (void)fprintf(out, " %.4g to %.4g%s", joint->lower * unit, joint->upper * unit, name);
}

static void print_joint(FILE *out, const tabi_model *model, int32_t j) {
  tabi_joint_def joint = tabi_model_joint(model, j);
  if (joint.type == TABI_JOINT_FREE && joint.parent == TABI_WORLD) {
    (void)fputs("free base", out);
    return;
  }
  if (joint.name) (void)fprintf(out, "%s: ", joint.name);
  (void)fputs(tbi_joint_type_name(joint.type), out);
  print_range(out, &joint);
}

/* "name (joint: type limits, mass)"; a body with several joints lists them all. */
static void print_link(FILE *out, const tabi_model *model, const forest *f, int32_t link) {
  tabi_link_def def = tabi_model_link(model, link);
  double mass = def.mass;
  int32_t top = link;
  while (f->parent[top] != TABI_WORLD && !is_drawn(model, f, f->parent[top]))
    top = f->parent[top];
  (void)fprintf(out, "%s (", def.name ? def.name : "(unnamed)");
  for (int32_t i = top;; i = f->first[i]) {
    int32_t joint = tabi_model_link_joint(model, i);
    if (joint == TABI_NONE) (void)fputs("stands", out);
    if (joint != TABI_NONE) print_joint(out, model, joint);
    if (i == link) break;
    (void)fputs(", ", out);
  }
  if (mass > 0) (void)fprintf(out, ", %.4g kg", mass);
  (void)fputs(")\n", out);
}

static bool print_tree(FILE *out, const tabi_model *model) {
  forest f;
  if (!forest_create(&f, model)) return false;
  (void)fputc('\n', out);
  for (int32_t i = f.root; i != TABI_NONE; i = forest_step(&f, i)) {
    if (!is_drawn(model, &f, i)) continue;
    print_branches(out, model, &f, i);
    print_link(out, model, &f, i);
  }
  free(f.parent);
  return true;
}

static int32_t count_joints(const tabi_model *model, tabi_joint_type type) {
  int32_t count = 0;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    count += tabi_model_joint(model, j).type == type;
  }
  return count;
}

static int32_t count_colliding(const tabi_model *model) {
  int32_t count = 0;
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    count += tabi_model_shape(model, i).collides;
  }
  return count;
}

static void print_joint_counts(FILE *out, const tabi_model *model) {
  (void)fprintf(out, "  joints    %d", tabi_model_njoint(model));
  const char *separator = " (";
  for (int type = 0; type < TABI_JOINT_COUNT; ++type) {
    int32_t count = count_joints(model, (tabi_joint_type)type);
    if (count == 0) continue;
    (void)fprintf(out, "%s%d %s", separator, count, tbi_joint_type_name((tabi_joint_type)type));
    separator = ", ";
  }
  (void)fprintf(out, "%s\n", separator[0] == ',' ? ")" : "");
}

/* Rounding errors of sums are shown as zero. */
static double shown(double length) { return fabs(length) < 1e-12 ? 0 : length; }

static void print_extent(FILE *out, const tbi_extent *e) {
  if (e->empty) {
    (void)fputs("  extent    unknown: no shapes\n", out);
    return;
  }
  (void)fprintf(
      out,
      "  extent    %.4g x %.4g x %.4g m in the initial posture, from (%.4g, %.4g, %.4g) to "
      "(%.4g, %.4g, %.4g)\n",
      e->upper[0] - e->lower[0], e->upper[1] - e->lower[1], e->upper[2] - e->lower[2],
      shown(e->lower[0]), shown(e->lower[1]), shown(e->lower[2]), shown(e->upper[0]),
      shown(e->upper[1]), shown(e->upper[2]));
}

static void print_numbers(FILE *out, const summary *s) {
  const tabi_model *m = s->model;
  double g[3];
  tabi_model_gravity(m, g);
  (void)fprintf(out, "%s\n", s->path);
  if (s->sidecar[0] != '\0') (void)fprintf(out, "  sidecar   %s\n", s->sidecar);
  (void)fprintf(out, "  mass      %.6g kg, centre of mass (%.4g, %.4g, %.4g) m\n",
                tabi_model_mass(m), shown(s->com[0]), shown(s->com[1]), shown(s->com[2]));
  print_extent(out, &s->extent);
  (void)fprintf(out, "  DOF       %d%s, in %d moving bodies\n", tabi_model_nv(m),
                tbi_base_joint(m) != TABI_NONE ? ", 6 of the free base" : "", tabi_model_nbody(m));
  (void)fprintf(out, "  links     %d\n", tabi_model_nlink(m));
  print_joint_counts(out, m);
  (void)fprintf(out, "  shapes    %d (%d collide), %d meshes\n", tabi_model_nshape(m),
                count_colliding(m), tabi_model_nmesh(m));
  (void)fprintf(out, "  actuators %d, couplings %d, connections %d, postures %d\n",
                tabi_model_nactuator(m), tabi_model_ncoupling(m), tabi_model_nconnection(m),
                tabi_model_nposture(m));
  if (tabi_model_ntendon(m) > 0) (void)fprintf(out, "  tendons   %d\n", tabi_model_ntendon(m));
  (void)fprintf(out, "  gravity   (%g, %g, %g) m/s^2\n", g[0], g[1], g[2]);
}

/* The name of a link for a list; NULL for the world. */
static const char *link_name(const tabi_model *model, int32_t link) {
  if (link == TABI_WORLD) return NULL;
  const char *name = tabi_model_link(model, link).name;
  return name ? name : "(unnamed)";
}

static void print_connections(FILE *out, const tabi_model *model) {
  int32_t count = tabi_model_nconnection(model);
  if (count > 0) (void)fprintf(out, "\nconnections:\n");
  for (int32_t i = 0; i < count; ++i) {
    tabi_connection_def c = tabi_model_connection(model, i);
    const char *a = link_name(model, c.a);
    const char *b = link_name(model, c.b);
    (void)fprintf(out, "  %s (%s: %s, %s)\n", c.name ? c.name : "(unnamed)",
                  tbi_connection_type_name(c.type), a ? a : "world", b ? b : "world");
  }
}

static void print_ignored(FILE *out, const tbi_findings *warnings, const tbi_args *args) {
  if (warnings->count == 0 || args->value[TBI_QUIET]) return;
  char hidden[TBI_HIDDEN_SIZE];
  bool hides = tbi_hidden_notes(warnings, args, hidden)[0] != '\0';
  (void)fprintf(out, "\nwarnings:\n");
  for (int32_t i = 0; i < warnings->count; ++i) {
    const tabi_error *w = &warnings->item[i];
    bool note = w->severity == TABI_SEVERITY_NOTE;
    if (note && hides) continue;
    (void)fprintf(out, "  line %d: %s%s\n", w->line, note ? "note: " : "", w->message);
  }
  if (hides) (void)fprintf(out, "  %s\n", hidden);
}

static json_t *json_links(const tabi_model *model) {
  json_t *links = json_array();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    int32_t parent = tbi_parent_link(model, i);
    int32_t joint = tabi_model_link_joint(model, i);
    const char *parent_name = parent == TABI_WORLD ? NULL : tabi_model_link(model, parent).name;
    const char *joint_name = joint == TABI_NONE ? NULL : tabi_model_joint(model, joint).name;
    json_t *object = json_object();
    bad |= json_object_set_new(object, "name", tbi_json_text(link.name));
    bad |= json_object_set_new(object, "parent", tbi_json_text(parent_name));
    bad |= json_object_set_new(object, "joint", tbi_json_text(joint_name));
    bad |= json_object_set_new(object, "mass", tbi_json_number(link.mass));
    bad |= json_object_set_new(object, "com", tbi_json_numbers(link.com, 3));
    bad |= json_object_set_new(object, "inertia", tbi_json_numbers(link.inertia, 6));
    bad |= json_object_set_new(object, "line", json_integer(link.place.line));
    bad |= json_array_append_new(links, object);
  }
  if (!bad) return links;
  json_decref(links);
  return NULL;
}

static json_t *json_joints(const tabi_model *model) {
  json_t *joints = json_array();
  int bad = 0;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_joint_def joint = tabi_model_joint(model, j);
    json_t *object = json_object();
    bad |= json_object_set_new(object, "name", tbi_json_text(joint.name));
    bad |= json_object_set_new(object, "type", tbi_json_text(tbi_joint_type_name(joint.type)));
    bad |= json_object_set_new(object, "lower", tbi_json_number(joint.lower));
    bad |= json_object_set_new(object, "upper", tbi_json_number(joint.upper));
    bad |= json_object_set_new(object, "effort", tbi_json_number(joint.effort));
    bad |= json_object_set_new(object, "velocity", tbi_json_number(joint.velocity));
    bad |= json_object_set_new(object, "line", json_integer(joint.place.line));
    bad |= json_array_append_new(joints, object);
  }
  if (!bad) return joints;
  json_decref(joints);
  return NULL;
}

static json_t *json_connections(const tabi_model *model) {
  json_t *connections = json_array();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nconnection(model); ++i) {
    tabi_connection_def c = tabi_model_connection(model, i);
    json_t *object = json_object();
    bad |= json_object_set_new(object, "name", tbi_json_text(c.name));
    bad |= json_object_set_new(object, "type", tbi_json_text(tbi_connection_type_name(c.type)));
    bad |= json_object_set_new(object, "a", tbi_json_text(link_name(model, c.a)));
    bad |= json_object_set_new(object, "b", tbi_json_text(link_name(model, c.b)));
    bad |= json_object_set_new(object, "line", json_integer(c.place.line));
    bad |= json_array_append_new(connections, object);
  }
  if (!bad) return connections;
  json_decref(connections);
  return NULL;
}

static json_t *json_extent(const tbi_extent *e) {
  if (e->empty) return json_null();
  json_t *object = json_object();
  int bad = json_object_set_new(object, "lower", tbi_json_numbers(e->lower, 3));
  bad |= json_object_set_new(object, "upper", tbi_json_numbers(e->upper, 3));
  if (!bad) return object;
  json_decref(object);
  return NULL;
}

static json_t *json_counts(const tabi_model *m) {
  return json_pack("{si si si si si si si si si si si}", "links", tabi_model_nlink(m), "joints",
                   tabi_model_njoint(m), "bodies", tabi_model_nbody(m), "shapes",
                   tabi_model_nshape(m), "colliding", count_colliding(m), "meshes",
                   tabi_model_nmesh(m), "actuators", tabi_model_nactuator(m), "couplings",
                   tabi_model_ncoupling(m), "connections", tabi_model_nconnection(m), "postures",
                   tabi_model_nposture(m), "tendons", tabi_model_ntendon(m));
}

static int print_json(FILE *out, const summary *s) {
  double gravity[3];
  tabi_model_gravity(s->model, gravity);
  bool floats = tbi_base_joint(s->model) != TABI_NONE;
  json_t *object = json_object();
  int bad = json_object_set_new(object, "file", tbi_json_text(s->path));
  const char *sidecar = s->sidecar[0] != '\0' ? s->sidecar : NULL;
  bad |= json_object_set_new(object, "sidecar", tbi_json_text(sidecar));
  bad |= json_object_set_new(object, "base", json_string(floats ? "free" : "fixed"));
  bad |= json_object_set_new(object, "mass", tbi_json_number(tabi_model_mass(s->model)));
  bad |= json_object_set_new(object, "com", tbi_json_numbers(s->com, 3));
  bad |= json_object_set_new(object, "extent", json_extent(&s->extent));
  bad |= json_object_set_new(object, "dof", json_integer(tabi_model_nv(s->model)));
  bad |= json_object_set_new(object, "gravity", tbi_json_numbers(gravity, 3));
  bad |= json_object_set_new(object, "counts", json_counts(s->model));
  bad |= json_object_set_new(object, "links", json_links(s->model));
  bad |= json_object_set_new(object, "joints", json_joints(s->model));
  bad |= json_object_set_new(object, "connections", json_connections(s->model));
  bad |= json_object_set_new(object, "sensors", tbi_sensor_list_json(s->model));
  bad |= json_object_set_new(object, "warnings", tbi_json_findings(s->warnings));
  bad |= json_object_set_new(object, "repairs", tbi_json_repairs(s->warnings));
  if (bad) {
    json_decref(object);
    object = NULL;
  }
  return tbi_json_print(out, object);
}

/* Centre of mass and extent in the initial posture. */
static bool summarise(summary *s, tabi_error *err) {
  tabi_dynamics *dynamics = tabi_dynamics_create(s->model, err);
  size_t nq = (size_t)tabi_model_nq(s->model);
  size_t nv = (size_t)tabi_model_nv(s->model);
  double *q = calloc(nq + nv + 1, sizeof *q);
  bool ok = dynamics && q;
  if (dynamics && !q) tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  if (ok) {
    tabi_model_initial_q(s->model, q);
    tabi_dynamics_set_state(dynamics, q, q + nq);
    tabi_dynamics_com(dynamics, s->com);
    s->extent = tbi_extent_of(s->model, dynamics);
  }
  free(q);
  tabi_dynamics_destroy(dynamics);
  return ok;
}

static int run_model(summary *s, bool json, FILE *out) {
  tabi_error err;
  if (!summarise(s, &err)) return tbi_print_error(&err);
  /* on a terminal the list in the result is enough */
  if (json || !isatty(STDOUT_FILENO)) tbi_print_warnings(s->warnings, s->args);
  if (json) return print_json(out, s);
  print_numbers(out, s);
  if (!print_tree(out, s->model)) return tbi_out_of_memory();
  print_connections(out, s->model);
  tbi_sensor_list(out, s->model);
  print_ignored(out, s->warnings, s->args);
  return TBI_EXIT_OK;
}

static int run(const tbi_args *args, FILE *out) {
  tabi_load_def def = tbi_args_load_def(args);
  if (!tbi_base_parse("info", args->value[BASE], &def.base)) return TBI_EXIT_USAGE;
  tbi_findings warnings = {0};
  int code = TBI_EXIT_INTERNAL;
  tabi_model *model = tbi_model_open(args->word[0], &def, &warnings, &code);
  if (model) {
    summary s = {.path = args->word[0], .model = model, .warnings = &warnings, .args = args};
    if (!tabi_sidecar_find(s.path, s.sidecar, sizeof s.sidecar)) s.sidecar[0] = '\0';
    code = run_model(&s, args->value[JSON] != NULL, out);
  }
  tabi_model_destroy(model);
  tbi_findings_free(&warnings);
  return code;
}

const tbi_command tbi_cmd_info = {
    .name = "info",
    .usage = "info MODEL [--base free|fixed] [--strict] [--package-path DIR[:DIR]] [--json]",
    .summary = "print a model: links, joints, masses, limits, and what tabi ignores",
    .text = "Reads a robot (URDF, MJCF, SDF) and prints its mass, size, degrees of freedom and\n"
            "kinematic tree, and the parts of the file that tabi ignores or had to repair:\n"
            "impossible inertias, swapped limits and the like.  --strict refuses these instead.\n"
            "\n"
            "examples:\n"
            "  tabi info robot.urdf\n"
            "  tabi info robot.xml --json | jq .mass\n",
    .nword = 1,
    .word = "MODEL",
    .options = {[BASE] = {"--base", "free|fixed",
                          "base of the root link; default: free for URDF, the file's for MJCF",
                          false, NULL},
                [JSON] = {"--json", NULL, "print everything as one JSON object", false, NULL}},
    .loads = true,
    .tells = true,
    .run = run,
};
