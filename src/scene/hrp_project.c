/* hrp_project.c - a project of OpenHRP3 (<grxui>) as the text of a scene.
 *
 *   GrxSimulationItem     time step, duration, gravity, integrator
 *   GrxModelItem          a robot of the scene, with its place, posture and joint modes
 *   GrxCollisionPairItem  two models that touch, and their friction
 *
 * Items are lists of properties, <property name="J0.angle" value="-0.78"/>.  Each model has a
 * material of its own name; models that no pair names pass through each other, as in OpenHRP3. */
#include "scene/hrp_project.h"

#include "base/error.h"
#include "io/format.h"
#include "io/path.h"
#include "io/report.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MODELS     200
#define MAX_PROPERTIES 4096
#define MAX_PAIRS      20000

typedef struct model {
  tbi_xml_node *node;
  const char *name;
  bool touches_itself;
  bool touches[MAX_MODELS]; /* other models, by index */
} model;

typedef struct project {
  tbi_xml_node *root;
  const char *path;
  tabi_load_def def; /* for notes and warnings */
  tbi_first_error error;
  FILE *out;
  model *models;
  int32_t nmodel;
  double timestep, duration, gravity, log_step;
  bool euler;
  tabi_place method; /* where it is said; line 0: nowhere */
  bool has_pairs;    /* models may touch */
} project;

/* ------------------------------------------------------------------------------ properties */

/* "GrxModelItem" of "com.generalrobotix.ui.item.GrxModelItem". */
static const char *class_of(tbi_xml_node *item) {
  const char *name = tbi_xml_get(item, "class");
  const char *dot = name ? strrchr(name, '.') : NULL;
  return dot ? dot + 1 : name ? name : "";
}

static bool is_class(tbi_xml_node *item, const char *name) {
  return strcmp(class_of(item), name) == 0;
}

static bool is_selected(tbi_xml_node *item) {
  const char *select = tbi_xml_get(item, "select");
  return !select || strcmp(select, "false") != 0;
}

static const char *name_of(tbi_xml_node *item) {
  const char *name = tbi_xml_get(item, "name");
  return name ? name : "";
}

/* The last property of that name, as a map keeps it; NULL: none. */
static tbi_xml_node *find(tbi_xml_node *item, const char *name) {
  tbi_xml_node *found = NULL;
  for (tbi_xml_node *p = tbi_xml_child(item, "property"); p; p = tbi_xml_next(p)) {
    if (strcmp(name_of(p), name) == 0) found = p;
  }
  return found;
}

static const char *text_of(tbi_xml_node *property) {
  const char *text = property ? tbi_xml_get(property, "value") : NULL;
  return text ? text : "";
}

static bool is_true(tbi_xml_node *item, const char *name) {
  return strncmp(text_of(find(item, name)), "true", 4) == 0;
}

/* Exactly count numbers. */
static bool numbers_of(project *p, tbi_xml_node *property, double *values, int32_t count) {
  char what[160];
  double read[8];
  (void)snprintf(what, sizeof what, "property '%.100s'", name_of(property));
  int32_t n = tbi_xml_numbers(&p->error, text_of(property), property->place, what, read, 8);
  if (!tbi_ok(&p->error)) return false;
  if (n != count) {
    return tbi_fail_at(&p->error, TABI_ERR_PARSE, property->place, "%s needs %d numbers, got %d",
                       what, (int)count, (int)n);
  }
  memcpy(values, read, (size_t)count * sizeof *values);
  return true;
}

static bool number_of(project *p, tbi_xml_node *item, const char *name, double *value) {
  tbi_xml_node *property = find(item, name);
  return property && text_of(property)[0] != '\0' && numbers_of(p, property, value, 1);
}

/* Of "J0.angle" the part after the last point; "" without a point. */
static const char *ending_of(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? dot + 1 : "";
}

/* ---------------------------------------------------------------------------------- output */

/* In double quotes, whatever is in it. */
static void put_text(project *p, const char *text, size_t length) {
  (void)fputc('"', p->out);
  for (size_t i = 0; i < length; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') (void)fputc('\\', p->out);
    if (c < ' ') {
      (void)fprintf(p->out, "\\x%02x", c);
    } else {
      (void)fputc(c, p->out);
    }
  }
  (void)fputc('"', p->out);
}

/* With a point, whatever the locale says. */
static void put_number(project *p, double value) {
  char text[40];
  (void)snprintf(text, sizeof text, "%.17g", value);
  for (char *c = text; *c; ++c) {
    if (*c == ',') *c = '.';
  }
  (void)fputs(text, p->out);
}

static void put_numbers(project *p, const char *key, const double *values, int32_t count) {
  (void)fprintf(p->out, ", %s: [", key);
  for (int32_t i = 0; i < count; ++i) {
    if (i > 0) (void)fputs(", ", p->out);
    put_number(p, values[i]);
  }
  (void)fputs("]", p->out);
}

/* --------------------------------------------------------------------------------- ignored */

static bool says_nothing(const char *text) {
  return strcmp(text, "false") == 0 || text[strspn(text, "0. ")] == '\0';
}

/* What the table does not list as used, once for each class and ending of a name. */
static void tell_properties(project *p, tbi_xml_node *item) {
  const tbi_xml_node owner = {.name = class_of(item)};
  int32_t count = 0;
  for (tbi_xml_node *q = tbi_xml_child(item, "property"); q; q = tbi_xml_next(q)) {
    const char *name = name_of(q);
    const char *ending = ending_of(name);
    const tbi_format_row *row =
        tbi_format_find(&tbi_hrp_project_format, &owner, ending[0] ? ending : name);
    if (++count > MAX_PROPERTIES) {
      tbi_fail_at(&p->error, TABI_ERR_PARSE, q->place, "more than %d properties", MAX_PROPERTIES);
      return;
    }
    if (row && row->use <= TBI_APPROXIMATED) continue;
    if (says_nothing(text_of(q))) continue;
    if (row && row->use == TBI_IGNORED) {
      tbi_warn(&p->def, q->place, "%.60s: %.60s is ignored%s%s", name_of(item), name,
               row->how ? ": " : "", row->how ? row->how : "");
    } else {
      tbi_note(&p->def, q->place, "%.60s: %.60s is ignored", name_of(item), name);
    }
  }
}

static void tell_item(project *p, tbi_xml_node *item) {
  const tbi_xml_node owner = {.name = class_of(item)};
  const tbi_format_row *row = tbi_format_find(&tbi_hrp_project_format, &owner, NULL);
  if (row && row->use <= TBI_APPROXIMATED && is_selected(item)) {
    tell_properties(p, item);
  } else if (row && row->use == TBI_IGNORED && is_selected(item)) {
    tbi_warn(&p->def, item->place, "%.60s '%.60s' is ignored: %.100s", owner.name, name_of(item),
             row->how);
  } else if (row) {
    tbi_note(&p->def, item->place, "%.60s '%.60s' is ignored%s", owner.name, name_of(item),
             is_selected(item) ? "" : ": it is not selected");
  } else {
    tbi_warn(&p->def, item->place, "%.60s '%.60s' is ignored: tabi does not know its kind",
             owner.name, name_of(item));
  }
}

/* -------------------------------------------------------------------------------- settings */

static void read_method(project *p, tbi_xml_node *item) {
  tbi_xml_node *method = find(item, "method");
  const char *text = text_of(method);
  if (text[0] == '\0') return;
  p->euler = strncmp(text, "EULER", 5) == 0;
  p->method = method->place;
  if (p->euler || strncmp(text, "RUNGE_KUTTA", 11) == 0) return;
  tbi_fail_at(&p->error, TABI_ERR_PARSE, method->place,
              "unknown method '%.40s' (EULER, RUNGE_KUTTA)", text);
}

/* Older projects have the settings in the item of the world. */
static void read_settings(project *p, tbi_xml_node *item) {
  number_of(p, item, "timeStep", &p->timestep);
  number_of(p, item, "totalTime", &p->duration);
  number_of(p, item, "gravity", &p->gravity);
  number_of(p, item, "logTimeStep", &p->log_step);
  read_method(p, item);
  tbi_xml_node *integrate = find(item, "integrate");
  if (integrate && strncmp(text_of(integrate), "false", 5) == 0) {
    tbi_warn(&p->def, integrate->place,
             "integrate false, which moves models without dynamics, is ignored");
  }
}

/* Under rk4 a body penetrates by its motion of one step when it lands; semi-implicit steps with
 * contacts that look ahead prevent that. */
static bool takes_semi_implicit(const project *p) {
  if (!p->euler && p->has_pairs && p->method.line > 0) {
    tbi_warn(&p->def, p->method,
             "method RUNGE_KUTTA: models may touch, so the integrator is semi-implicit; "
             "--integrator rk4 takes the file's");
  }
  return p->euler || p->has_pairs;
}

static void put_settings(project *p) {
  const double gravity[3] = {0, 0, -p->gravity};
  double every = p->timestep > 0 ? round(p->log_step / p->timestep) : 1;
  bool semi_implicit = takes_semi_implicit(p);
  const char *slash = strrchr(p->path, '/');
  const char *name = slash ? slash + 1 : p->path;
  (void)fputs("{name: ", p->out);
  put_text(p, name, strcspn(name, "."));
  (void)fputs(", timestep: ", p->out);
  put_number(p, p->timestep);
  (void)fputs(", duration: ", p->out);
  put_number(p, p->duration);
  put_numbers(p, "gravity", gravity, 3);
  (void)fprintf(p->out, ", integrator: %s, log: {every: %.0f}",
                semi_implicit ? "semi-implicit" : "rk4", every >= 1 && every < 1e6 ? every : 1);
}

/* ---------------------------------------------------------------------------------- models */

static model *find_model(const project *p, const char *name) {
  for (int32_t i = 0; i < p->nmodel; ++i) {
    if (strcmp(p->models[i].name, name) == 0) return &p->models[i];
  }
  return NULL;
}

static void list_model(project *p, tbi_xml_node *item) {
  const char *name = name_of(item);
  if (find_model(p, name)) {
    tbi_fail_at(&p->error, TABI_ERR_PARSE, item->place, "two models are called '%.60s'", name);
  } else if (p->nmodel == MAX_MODELS) {
    tbi_fail_at(&p->error, TABI_ERR_PARSE, item->place, "more than %d models", MAX_MODELS);
  } else {
    p->models[p->nmodel++] = (model){.node = item, .name = name};
  }
}

static void note_pair(project *p, tbi_xml_node *item) {
  (void)item;
  p->has_pairs = true;
}

/* The path that a URL means; both macros stand for the project's folder. */
static const char *plain_url(const char *url) {
  static const char *const begins[] = {"$(PROJECT_DIR)/", "$(CURRENT_DIR)/"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; ++i) {
    size_t n = strlen(begins[i]);
    if (strncmp(url, begins[i], n) == 0) return url + n;
  }
  return url;
}

static void put_model_file(project *p, const model *m) {
  const char *url = tbi_xml_get(m->node, "url");
  tbi_path_roots *roots = malloc(sizeof *roots);
  tbi_path *path = malloc(sizeof *path);
  tbi_path_result result = TBI_PATH_MISSING;
  if (roots && path) {
    tbi_path_roots_init(roots, p->path, p->def.package_path);
    result = tbi_path_find(roots, plain_url(url ? url : ""), path);
    if (result == TBI_PATH_FOUND) put_text(p, path->found, strlen(path->found));
  } else {
    tbi_fail_memory(&p->error);
  }
  if (result != TBI_PATH_FOUND) {
    tbi_fail_at(&p->error, TABI_ERR_FILE, m->node->place, "model '%.60s': '%.160s' %s", m->name,
                url ? url : "",
                result == TBI_PATH_LEAVES
                    ? "lies outside the project's package; allow its folder by --package-path"
                    : "is not there");
  }
  free(path);
  free(roots);
}

/* The first property with an ending, as WAIST.translation: that of the root. */
static tbi_xml_node *find_ending(tbi_xml_node *item, const char *ending) {
  for (tbi_xml_node *p = tbi_xml_child(item, "property"); p; p = tbi_xml_next(p)) {
    if (strcmp(ending_of(name_of(p)), ending) == 0) return p;
  }
  return NULL;
}

static q4 rotation_of(const double axis_angle[4]) {
  v3 axis = v3_load(axis_angle);
  double length = v3_norm(axis);
  return length > 0 ? q_exp(v3_scale(axis_angle[3] / length, axis)) : q_identity();
}

static void put_place(project *p, const model *m) {
  double values[4];
  tbi_xml_node *at = find_ending(m->node, "translation");
  tbi_xml_node *turn = find_ending(m->node, "rotation");
  if (at && numbers_of(p, at, values, 3)) put_numbers(p, "xyz", values, 3);
  if (turn && numbers_of(p, turn, values, 4)) {
    double quat[4];
    q_store(rotation_of(values), quat);
    put_numbers(p, "quat", quat, 4);
  }
}

/* A base that stands has none, and projects say so by zeros. */
static void put_velocity(project *p, const model *m, const char *ending, const char *key) {
  double values[3];
  tbi_xml_node *property = find_ending(m->node, ending);
  if (property && numbers_of(p, property, values, 3) &&
      (values[0] != 0 || values[1] != 0 || values[2] != 0))
    put_numbers(p, key, values, 3);
}

static bool is_last(tbi_xml_node *item, tbi_xml_node *property) {
  return find(item, name_of(property)) == property;
}

static size_t joint_length(const char *name) { return (size_t)(strrchr(name, '.') - name); }

static void put_angles(project *p, const model *m) {
  (void)fputs(", posture: {", p->out);
  const char *comma = "";
  tbi_xml_node *q = tbi_xml_child(m->node, "property");
  for (; q && tbi_ok(&p->error); q = tbi_xml_next(q)) {
    double angle = 0;
    if (strcmp(ending_of(name_of(q)), "angle") != 0 || !is_last(m->node, q)) continue;
    if (!numbers_of(p, q, &angle, 1)) return;
    (void)fputs(comma, p->out);
    put_text(p, name_of(q), joint_length(name_of(q)));
    (void)fputs(": ", p->out);
    put_number(p, angle);
    comma = ", ";
  }
  (void)fputs("}", p->out);
}

/* Whether a property is of the joint that also has a place: the root. */
static bool is_of_root(const model *m, tbi_xml_node *property) {
  tbi_xml_node *root = find_ending(m->node, "translation");
  if (!root) root = find_ending(m->node, "rotation");
  const char *name = name_of(property);
  size_t n = joint_length(name);
  return root && joint_length(name_of(root)) == n && strncmp(name_of(root), name, n) == 0;
}

/* Joints that OpenHRP3 moves as told, and nobody tells to move. */
static void put_modes(project *p, const model *m) {
  (void)fputs(", motion: {", p->out);
  const char *comma = "";
  tbi_xml_node *q = tbi_xml_child(m->node, "property");
  for (; q && tbi_ok(&p->error); q = tbi_xml_next(q)) {
    const char *ending = ending_of(name_of(q));
    if (strcmp(ending, "mode") != 0 && strcmp(ending, "jointMode") != 0) continue;
    bool held = strncmp(text_of(q), "HighGain", 8) == 0 || strncmp(text_of(q), "High-Gain", 9) == 0;
    if (!held || is_of_root(m, q) || !is_last(m->node, q)) continue;
    (void)fputs(comma, p->out);
    put_text(p, name_of(q), joint_length(name_of(q)));
    (void)fputs(": {velocity: 0}", p->out);
    comma = ", ";
  }
  (void)fputs("}", p->out);
}

static void put_model(project *p, const model *m) {
  (void)fputs("{name: ", p->out);
  put_text(p, m->name, strlen(m->name));
  (void)fputs(", model: ", p->out);
  put_model_file(p, m);
  put_place(p, m);
  put_velocity(p, m, "velocity", "lin");
  put_velocity(p, m, "angularVelocity", "ang");
  put_angles(p, m);
  put_modes(p, m);
  (void)fprintf(p->out,
                ", self_collision: %s, materials: {\"*\": ", m->touches_itself ? "true" : "false");
  put_text(p, m->name, strlen(m->name));
  (void)fputs("}}", p->out);
}

static void put_models(project *p) {
  (void)fputs(",\nrobots: [", p->out);
  for (int32_t i = 0; i < p->nmodel && tbi_ok(&p->error); ++i) {
    if (i > 0) (void)fputs(",\n  ", p->out);
    put_model(p, &p->models[i]);
  }
  (void)fputs("]", p->out);
}

/* ----------------------------------------------------------------------------------- pairs */

static model *end_of(project *p, tbi_xml_node *item, const char *name) {
  tbi_xml_node *property = find(item, name);
  model *found = find_model(p, text_of(property));
  if (!found) {
    tbi_warn(&p->def, item->place, "pair '%.60s' of a model '%.60s' that is not there is ignored",
             name_of(item), text_of(property));
  }
  return found;
}

static void put_pair(project *p, tbi_xml_node *item, const char **comma) {
  model *a = end_of(p, item, "objectName1");
  model *b = a ? end_of(p, item, "objectName2") : NULL;
  double still = 0.5;
  double sliding = 0.5;
  double restitution = 0;
  if (!b || !tbi_ok(&p->error)) return;
  if (a == b) a->touches_itself = true;
  if (a->touches[b - p->models]) return;
  a->touches[b - p->models] = b->touches[a - p->models] = true;
  number_of(p, item, "slidingFriction", &sliding);
  still = sliding;
  number_of(p, item, "staticFriction", &still);
  if (!number_of(p, item, "restitution", &restitution))
    number_of(p, item, "Restitution", &restitution);
  if (is_true(item, "sprintDamperModel") || is_true(item, "springDamperModel")) {
    tbi_warn(&p->def, item->place, "pair '%.60s': springs and dampers become a rigid contact",
             name_of(item));
  }
  (void)fprintf(p->out, "%s[", *comma);
  put_text(p, a->name, strlen(a->name));
  (void)fputs(", ", p->out);
  put_text(p, b->name, strlen(b->name));
  (void)fputs(", {friction: ", p->out);
  put_number(p, tbi_max(still, sliding));
  (void)fputs(", kinetic: ", p->out);
  put_number(p, sliding);
  (void)fputs(", restitution: ", p->out);
  put_number(p, restitution);
  (void)fputs("}]", p->out);
  *comma = ",\n  ";
}

static void put_materials(project *p) {
  (void)fputs(",\nmaterials: {", p->out);
  for (int32_t i = 0; i < p->nmodel; ++i) {
    if (i > 0) (void)fputs(", ", p->out);
    put_text(p, p->models[i].name, strlen(p->models[i].name));
    (void)fputs(": {friction: 0.5}", p->out);
  }
  (void)fputs("}", p->out);
}

static void put_strangers(project *p) {
  const char *comma = "";
  (void)fputs(",\nno_collision: [", p->out);
  for (int32_t i = 0; i < p->nmodel; ++i) {
    for (int32_t j = i + 1; j < p->nmodel; ++j) {
      if (p->models[i].touches[j]) continue;
      (void)fprintf(p->out, "%s[", comma);
      put_text(p, p->models[i].name, strlen(p->models[i].name));
      (void)fputs(", ", p->out);
      put_text(p, p->models[j].name, strlen(p->models[j].name));
      (void)fputs("]", p->out);
      comma = ", ";
    }
  }
  (void)fputs("]}\n", p->out);
}

/* ------------------------------------------------------------------------------------- all */

typedef void item_fn(project *p, tbi_xml_node *item);

/* Selected items of a class, in the order of the file. */
static void for_each(project *p, const char *name, item_fn *act) {
  for (tbi_xml_node *mode = tbi_xml_child(p->root, "mode"); mode; mode = tbi_xml_next(mode)) {
    tbi_xml_node *item = tbi_xml_child(mode, "item");
    for (; item && tbi_ok(&p->error); item = tbi_xml_next(item)) {
      if (!name || (is_class(item, name) && is_selected(item))) act(p, item);
    }
  }
}

static void put_pairs(project *p) {
  const char *comma = "";
  int32_t count = 0;
  (void)fputs(",\npairs: [", p->out);
  for (tbi_xml_node *mode = tbi_xml_child(p->root, "mode"); mode; mode = tbi_xml_next(mode)) {
    tbi_xml_node *item = tbi_xml_child(mode, "item");
    for (; item && tbi_ok(&p->error); item = tbi_xml_next(item)) {
      if (!is_class(item, "GrxCollisionPairItem") || !is_selected(item)) continue;
      if (++count > MAX_PAIRS)
        tbi_fail_at(&p->error, TABI_ERR_PARSE, item->place, "more than %d pairs", MAX_PAIRS);
      put_pair(p, item, &comma);
    }
  }
  (void)fputs("]", p->out);
}

static void translate(project *p) {
  for_each(p, NULL, tell_item);
  for_each(p, "GrxWorldStateItem", read_settings);
  for_each(p, "GrxSimulationItem", read_settings);
  for_each(p, "GrxModelItem", list_model);
  for_each(p, "GrxCollisionPairItem", note_pair);
  if (p->nmodel == 0)
    tbi_fail_at(&p->error, TABI_ERR_MODEL, p->root->place, "no model is selected");
  if (!tbi_ok(&p->error)) return;
  put_settings(p);
  put_materials(p);
  put_pairs(p);
  put_models(p);
  put_strangers(p);
}

tabi_status tbi_hrp_project_scene(tbi_xml_node *root, const char *path, const tabi_scene_def *def,
                                  char **scene, size_t *size, tabi_error *err) {
  project p = {
      .root = root,
      .path = path,
      .def = tabi_load_def_default(),
      .error = {.err = err},
      .timestep = 1e-3,
      .duration = 20,
      .gravity = 9.8,
      .log_step = 0,
  };
  *scene = NULL;
  p.def.package_path = def->package_path;
  p.def.warn = def->warn;
  p.def.warn_user = def->warn_user;
  p.models = calloc(MAX_MODELS, sizeof *p.models);
  p.out = open_memstream(scene, size);
  if (p.models && p.out) {
    translate(&p);
  } else {
    tbi_fail_memory(&p.error);
  }
  if (p.out && fclose(p.out) != 0) tbi_fail_memory(&p.error);
  free(p.models);
  if (tbi_ok(&p.error)) return TABI_OK;
  free(*scene);
  *scene = NULL;
  return p.error.status;
}
