/* scene_options.c - see scene_options.h. */
#include "common/scene_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tbi_check_settings(const char *command, const tbi_args *args) {
  for (int i = 0; i < args->nmany; ++i) {
    const char *equals = strchr(args->many[i], '=');
    if (equals && equals != args->many[i]) continue;
    tbi_usage_error(command, "--set needs path=value, as in bodies.box.mass=3, not '%s'",
                    args->many[i]);
    return false;
  }
  return true;
}

bool tbi_check_seconds(const char *command, const char *option, const char *text, bool zero) {
  if (!text) return true;
  char *end = NULL;
  double value = strtod(text, &end);
  bool number = end != text && *end == '\0' && isfinite(value);
  if (number && (value > 0 || (zero && value == 0))) return true;
  tbi_usage_error(command, "%s needs a number of seconds >%s 0, not '%s'", option, zero ? "=" : "",
                  text);
  return false;
}

bool tbi_check_name(const char *command, const char *what, const char *name,
                    const tbi_names *names) {
  if (!name) return true;
  for (int32_t i = 0; i < names->count; ++i) {
    if (strcmp(name, names->name(i)) == 0) return true;
  }
  char list[TBI_NAMES_SIZE];
  tbi_usage_error(command, "unknown %s '%s' (%s)", what, name, tbi_names_list(names, list));
  return false;
}

void tbi_settings_add_all(tbi_scene_settings *settings, const tbi_args *args) {
  for (int i = 0; i < args->nmany; ++i)
    settings->set[settings->count++] = args->many[i];
}

bool tbi_settings_add(tbi_scene_settings *settings, const char *command, const char *path,
                      const char *value) {
  if (!value) return true;
  char *text = settings->text[settings->ntext];
  int n = snprintf(text, sizeof settings->text[0], "%s=%s", path, value);
  if (n < 0 || (size_t)n >= sizeof settings->text[0]) {
    tbi_usage_error(command, "'%.40s...' is too long", value);
    return false;
  }
  ++settings->ntext;
  settings->set[settings->count++] = text;
  return true;
}

tabi_scene_def tbi_args_scene_def(const tbi_args *args, tbi_findings *warnings) {
  tabi_scene_def def = tabi_scene_def_default();
  def.strict = args->value[TBI_STRICT] != NULL;
  def.warn = tbi_findings_add;
  def.warn_user = warnings;
  return def;
}

tabi_scene_def tbi_settings_scene_def(const tbi_scene_settings *settings, const tbi_args *args,
                                      tbi_findings *warnings) {
  tabi_scene_def def = tbi_args_scene_def(args, warnings);
  def.set = settings->set;
  def.nset = settings->count;
  def.plugins = true;
  return def;
}
