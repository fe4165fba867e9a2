/* control_plugin.c - a controller from a shared object, which exports `tabi_plugin`
 * (tabi_plugin.h).  Only programs that allow it (tabi_scene_def) load any; for a program that
 * only looks at a scene the controller does nothing. */
#include "scene/control.h"

#include "base/assertion.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOL "tabi_plugin"

typedef struct controller {
  void *object;                     /* of dlopen */
  const tabi_controller_type *type; /* NULL: does nothing */
  void *made;                       /* by that type */
} controller;

static void destroy(void *controller_made) {
  controller *c = controller_made;
  if (c->made) c->type->destroy(c->made);
  if (c->object) (void)dlclose(c->object);
  free(c);
}

static bool check_type(tabi_options *options, const char *path, const tabi_controller_type *type) {
  if (type->version != TABI_PLUGIN_VERSION) {
    return tbi_fail_about(options->r->error, tbi_options_place(options, "file"), options->what,
                          "file '%.100s' is a plugin of version %u, and this tabi needs %u; "
                          "compile it against this tabi's tabi_plugin.h",
                          path, (unsigned)type->version, (unsigned)TABI_PLUGIN_VERSION);
  }
  if (type->create && type->update && type->destroy) return true;
  return tbi_fail_about(options->r->error, tbi_options_place(options, "file"), options->what,
                        "file '%.100s': " SYMBOL " lacks create, update or destroy", path);
}

static bool open_object(tabi_options *options, const char *path, controller *c) {
  if (access(path, R_OK) != 0) {
    return tbi_fail_about(options->r->error, tbi_options_place(options, "file"), options->what,
                          "file '%.100s' cannot be read; it is looked for from the scene's "
                          "folder, and must be compiled first",
                          path);
  }
  c->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!c->object) {
    const char *why = dlerror();
    return tbi_fail_about(options->r->error, tbi_options_place(options, "file"), options->what,
                          "file '%.100s' cannot be loaded: %.200s", path,
                          why ? why : "no reason given");
  }
  c->type = dlsym(c->object, SYMBOL);
  if (c->type) return check_type(options, path, c->type);
  return tbi_fail_about(options->r->error, tbi_options_place(options, "file"), options->what,
                        "file '%.100s' is no plugin: it does not export " SYMBOL " (tabi_plugin.h)",
                        path);
}

/* Without a slash dlopen would look through the system's folders. */
static char *object_path(tabi_options *options, const char *file) {
  char *path = tbi_scene_path(options->r, file);
  if (!path || strchr(path, '/')) return path;
  size_t size = strlen(path) + 3;
  char *here = malloc(size);
  if (here) (void)snprintf(here, size, "./%s", path);
  free(path);
  return here;
}

static bool load(tabi_options *options, controller *c) {
  const char *file = tabi_options_text(options, "file", NULL);
  if (!tbi_ok(options->r->error)) return false;
  if (!file) {
    return tbi_fail_about(options->r->error, options->node->place, options->what,
                          "file is missing: a shared object, as in "
                          "{type: plugin, file: ./my.so}");
  }
  if (!options->r->def->plugins && options->r->def->skip_plugins) return true;
  if (!options->r->def->plugins) {
    return tbi_fail_about(options->r->error, options->node->place, options->what,
                          "this program does not run plugins; use `tabi run`, or set plugins of "
                          "tabi_scene_def");
  }
  char *path = object_path(options, file);
  if (!path) return tbi_fail_memory(options->r->error);
  bool opened = open_object(options, path, c);
  free(path);
  return opened;
}

/* Keys that it never asked for. */
static bool check_keys(tabi_options *options) {
  TBI_ASSERT(options->asked);
  int32_t i = 0;
  for (const tbi_yaml_node *node = options->node->first; node; node = node->next, ++i) {
    if (options->asked[i]) continue;
    return tbi_fail_about(options->r->error, tbi_options_place(options, node->key), options->what,
                          "unknown key '%.60s': the plugin does not ask for it", node->key);
  }
  return true;
}

static bool make(const tabi_controller_setup *setup, controller *c) {
  tabi_options *options = setup->options;
  (void)tbi_options_ask(options, "type");
  if (!load(options, c)) return false;
  if (!c->type) return true;
  tabi_error why = {0};
  c->made = c->type->create(setup, &why);
  if (!tbi_ok(options->r->error)) return false;
  if (c->made) return check_keys(options);
  if (why.status == TABI_OK) why.status = TABI_ERR_PARSE;
  return tbi_fail_as(options->r->error, &why);
}

static void *create(const tabi_controller_setup *setup, tabi_error *err) {
  (void)err;
  tabi_options *options = setup->options;
  controller *c = calloc(1, sizeof *c);
  options->asked = calloc((size_t)options->node->count + 1, sizeof *options->asked);
  if (c && options->asked) {
    make(setup, c);
  } else {
    tbi_fail_memory(options->r->error);
  }
  free(options->asked);
  options->asked = NULL;
  return tbi_controller_made(options, c, destroy);
}

static void reset(void *controller_made) {
  controller *c = controller_made;
  if (c->type && c->type->reset) c->type->reset(c->made);
}

static void update(void *controller_made, tabi_world *world, double timestep) {
  controller *c = controller_made;
  if (c->type) c->type->update(c->made, world, timestep);
}

const tabi_controller_type tbi_controller_plugin = {.version = TABI_PLUGIN_VERSION,
                                                    .name = "plugin",
                                                    .create = create,
                                                    .reset = reset,
                                                    .update = update,
                                                    .destroy = destroy};
