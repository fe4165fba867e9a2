/* broken.c - plugins that must be refused; BROKEN says what is wrong with each. */
#include "tabi/tabi_plugin.h"

#include <stdio.h>
#include <stdlib.h>

#define SYMBOL    1
#define VERSION   2
#define LACKS     3
#define FAILS     4
#define SILENT    5
#define UNDEFINED 6
#define ASSERTS   7

#if BROKEN == UNDEFINED
void tabi_does_not_exist(void);
#endif

#if BROKEN == ASSERTS
/* where the assertions of tabi end, which the command exports */
TABI_API _Noreturn void tabi_assert_fail(const char *condition, const char *file, int line);
#endif

static void *create(const tabi_controller_setup *setup, tabi_error *err) {
  (void)setup;
#if BROKEN == FAILS
  (void)snprintf(err->message, sizeof err->message, "the moon is full");
  err->status = TABI_ERR_ARGUMENT;
#else
  (void)err;
#endif
#if BROKEN == UNDEFINED
  tabi_does_not_exist();
#endif
#if BROKEN == ASSERTS
  tabi_assert_fail("0 <= joint", "model.c", 42);
#endif
  return NULL;
}

static void update(void *controller, tabi_world *world, double timestep) {
  (void)controller;
  (void)world;
  (void)timestep;
}

#if BROKEN == SYMBOL
/* what it is called is the mistake */
extern TABI_API const tabi_controller_type my_plugin;
#define TABLE my_plugin
#else
#define TABLE tabi_plugin
#endif

const tabi_controller_type TABLE = {
    .version = BROKEN == VERSION ? 9999 : TABI_PLUGIN_VERSION,
    .name = "broken",
    .create = create,
    .update = BROKEN == LACKS ? NULL : update,
    .destroy = free,
};
