/* model.c - loading a model for a command, names of its DOF, and states of its links as JSON. */
#include "common/input.h"

#include <string.h>

bool tbi_base_parse(const char *command, const char *word, tabi_base *base) {
  if (!word) {
    *base = TABI_BASE_AS_FILE;
  } else if (strcmp(word, "free") == 0) {
    *base = TABI_BASE_FREE;
  } else if (strcmp(word, "fixed") == 0) {
    *base = TABI_BASE_FIXED;
  } else {
    tbi_usage_error(command, "--base is 'free' or 'fixed', not '%s'", word);
    return false;
  }
  return true;
}

tabi_load_def tbi_args_load_def(const tbi_args *args) {
  tabi_load_def def = tabi_load_def_default();
  def.strict = args->value[TBI_STRICT] != NULL;
  return def;
}

tabi_model *tbi_model_open(const char *path, tabi_load_def *def, tbi_findings *warnings,
                           int *code) {
  tabi_error err = {0};
  def->warn = tbi_findings_add;
  def->warn_user = warnings;
  tabi_model *model = tabi_model_load(path, def, &err);
  if (!model) {
    tbi_input_explain(path, TBI_INPUT_MODEL, &err);
    *code = tbi_print_error(&err);
  }
  if (!model || !warnings->no_memory) return model;
  *code = tbi_out_of_memory();
  tabi_model_destroy(model);
  return NULL;
}

/* Bodies are numbered tree by tree, so the joint at the first place in v heads the first tree
 * that moves. */
int32_t tbi_base_joint(const tabi_model *model) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    if (tabi_model_joint_v(model, j).first != 0) continue;
    tabi_joint_def joint = tabi_model_joint(model, j);
    return joint.type == TABI_JOINT_FREE && joint.parent == TABI_WORLD ? j : TABI_NONE;
  }
  return TABI_NONE;
}

const char *tbi_joint_key(const tabi_model *model, int32_t joint, char buffer[TBI_KEY_SIZE]) {
  tabi_joint_def def = tabi_model_joint(model, joint);
  if (def.type == TABI_JOINT_FREE && def.parent == TABI_WORLD) {
    if (tabi_model_joint_v(model, joint).first == 0) return "base";
    const char *name = tabi_model_link(model, def.child).name;
    if (name) return name;
  }
  if (def.name) return def.name;
  (void)snprintf(buffer, TBI_KEY_SIZE, "joint%d", joint);
  return buffer;
}

const char *tbi_dof_suffix(tabi_joint_type type, int32_t dof) {
  static const char *const suffix[6] = {".x", ".y", ".z", ".rx", ".ry", ".rz"};
  if (type == TABI_JOINT_PLANAR && dof == 2) return ".rz";
  bool many = type == TABI_JOINT_BALL || type == TABI_JOINT_PLANAR || type == TABI_JOINT_FREE;
  return many ? suffix[dof] : "";
}

const char *tbi_joint_type_name(tabi_joint_type type) {
  static const char *const name[TABI_JOINT_COUNT] = {
      [TABI_JOINT_FIXED] = "fixed",
      [TABI_JOINT_REVOLUTE] = "revolute",
      [TABI_JOINT_CONTINUOUS] = "continuous",
      [TABI_JOINT_PRISMATIC] = "prismatic",
      [TABI_JOINT_BALL] = "ball",
      [TABI_JOINT_PLANAR] = "planar",
      [TABI_JOINT_FREE] = "free",
  };
  return name[type];
}

const char *tbi_connection_type_name(tabi_connection_type type) {
  static const char *const name[TABI_CONNECTION_COUNT] = {
      [TABI_CONNECTION_BALL] = "ball",   [TABI_CONNECTION_HINGE] = "hinge",
      [TABI_CONNECTION_FIXED] = "fixed", [TABI_CONNECTION_AXES] = "axes",
      [TABI_CONNECTION_ROD] = "rod",     [TABI_CONNECTION_SPRING] = "spring",
  };
  return name[type];
}

int32_t tbi_parent_link(const tabi_model *model, int32_t link) {
  int32_t joint = tabi_model_link_joint(model, link);
  return joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
}

static json_t *json_link(const tabi_dynamics *dynamics, int32_t link, bool velocity) {
  double pos[3];
  double quat[4];
  double lin[3];
  double ang[3];
  json_t *object = json_object();
  tabi_dynamics_link_pose(dynamics, link, pos, quat);
  int bad = json_object_set_new(object, "pos", tbi_json_numbers(pos, 3));
  bad |= json_object_set_new(object, "quat", tbi_json_numbers(quat, 4));
  if (velocity) {
    tabi_dynamics_link_velocity(dynamics, link, lin, ang);
    bad |= json_object_set_new(object, "lin", tbi_json_numbers(lin, 3));
    bad |= json_object_set_new(object, "ang", tbi_json_numbers(ang, 3));
  }
  if (!bad) return object;
  json_decref(object);
  return NULL;
}

json_t *tbi_json_links(const tabi_model *model, const tabi_dynamics *dynamics, bool velocity) {
  json_t *links = json_object();
  int bad = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    const char *name = tabi_model_link(model, i).name;
    if (name) bad |= json_object_set_new(links, name, json_link(dynamics, i, velocity));
  }
  if (!bad) return links;
  json_decref(links);
  return NULL;
}
