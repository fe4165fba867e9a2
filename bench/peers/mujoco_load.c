/* mujoco_load.c - MuJoCo's XML reader stops at 100 elements in each other, but an <include> starts
 * counting anew.  So text as mjcf.c writes it, a tag on each line, is cut into files in memory,
 * each of which includes the next where bodies have become too deep. */
#include "mujoco_load.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEP = 80, PARTS = 64 }; /* bodies in each other in one part, and parts */

typedef struct part {
  char *text;
  size_t size;
  FILE *file;
} part;

typedef struct cutter {
  part parts[PARTS]; /* each is included by the one before it, while that is being written */
  int stack[PARTS];  /* parts that are being written, the innermost last */
  int count, open, depth;
} cutter;

static bool begin_part(cutter *c) {
  if (c->count == PARTS) return false;
  part *p = &c->parts[c->count];
  p->file = open_memstream(&p->text, &p->size);
  if (!p->file) return false;
  if (c->count > 0) {
    (void)fprintf(c->parts[c->stack[c->open - 1]].file, "<include file='part%d.xml'/>\n", c->count);
    (void)fputs("<mujocoinclude>\n", p->file);
  }
  c->stack[c->open++] = c->count++;
  return true;
}

static bool cut_line(cutter *c, const char *line) {
  bool opens = strncmp(line, "<body", 5) == 0, closes = strncmp(line, "</body>", 7) == 0;
  if (opens && c->depth > 0 && c->depth % DEEP == 0 && !begin_part(c)) return false;
  c->depth += opens;
  FILE *file = c->parts[c->stack[c->open - 1]].file;
  if (fputs(line, file) < 0) return false;
  c->depth -= closes;
  if (!closes || c->depth == 0 || c->depth % DEEP != 0) return true;
  --c->open;
  return fputs("</mujocoinclude>\n", file) >= 0;
}

static bool cut(cutter *c, FILE *from) {
  char *line = NULL;
  size_t size = 0;
  bool ok = begin_part(c);
  while (ok && getline(&line, &size, from) > 0)
    ok = cut_line(c, line);
  free(line);
  for (int i = 0; i < c->count; ++i)
    ok = fclose(c->parts[i].file) == 0 && ok;
  return ok;
}

/* a copy of a part under its name */
static bool add_file(mjVFS *files, const char *name, const part *p) {
#if mjVERSION_HEADER >= 300
  return mj_addBufferVFS(files, name, p->text, (int)p->size) == 0;
#else
  if (mj_makeEmptyFileVFS(files, name, (int)p->size) != 0) return false;
  memcpy(files->filedata[mj_findFileVFS(files, name)], p->text, p->size);
  return true;
#endif
}

static bool keep(mjVFS *files, const cutter *c) {
  for (int i = 0; i < c->count; ++i) {
    char name[32];
    (void)snprintf(name, sizeof name, "part%d.xml", i);
    if (!add_file(files, name, &c->parts[i])) return false;
  }
  return true;
}

mjModel *tbi_mujoco_load(const char *path, char *message, int size) {
  cutter *c = calloc(1, sizeof *c);
  mjVFS *files = calloc(1, sizeof *files);
  FILE *from = fopen(path, "r");
  mjModel *model = NULL;
  (void)snprintf(message, (size_t)size, "%s cannot be read", path);
  if (c && files && from) {
    mj_defaultVFS(files);
    bool ok = cut(c, from) && keep(files, c);
    // a robot's own file, which may refer to others, is left as it is
    if (ok && c->count > 1) model = mj_loadXML("part0.xml", files, message, size);
    if (ok && c->count == 1) model = mj_loadXML(path, NULL, message, size);
    mj_deleteVFS(files);
  }
  if (from) (void)fclose(from);
  for (int i = 0; c && i < c->count; ++i)
    free(c->parts[i].text);
  free(c);
  free(files);
  return model;
}
