/* export_hdf5.c - arrays in an HDF5 file:
 *
 *   /time, /step, /q, /v      a row for each sample
 *   /signals/<name>           likewise, with the attributes unit and about
 *   /contacts/start           where the contacts of a sample begin in the arrays beside it, with
 * the end of the last one behind /contacts/force, ...      a row for each contact /links names, by
 * the indexes in /contacts/link_a and link_b /scene                    text of the scene; how it
 * was run stands in attributes of the file
 *
 * Rows are gathered and written by the chunk, past the library's own cache, which would otherwise
 * take a megabyte for every signal. */
#include "export/export.h"

#ifdef TABI_HAVE_HDF5

#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1024 }; /* of a chunk */

/* An array that grows by rows. */
typedef struct column {
  hid_t dataset, type;
  hsize_t width; /* numbers in a row */
  size_t size;   /* bytes of a row */
  unsigned char *room;
} column;

/* Arrays that grow together. */
typedef struct table {
  column *column;
  int32_t count;
  hsize_t rows, written; /* gathered, and in the file */
} table;

typedef struct writer {
  tbi_export export;
  hid_t file;
  table samples, contacts, starts;
  int64_t ncontact;   /* so far */
  const char *signal; /* that is being given its place */
  bool failed;
} writer;

/* -- errors */

/* The library tells the reason of the system in the words "errno = 28, ...". */
static herr_t find_errno(unsigned n, const H5E_error2_t *error, void *found) {
  const char *text = error->desc ? strstr(error->desc, "errno = ") : NULL;
  int *number = found;
  (void)n;
  if (text && *number == 0) *number = (int)strtol(text + strlen("errno = "), NULL, 10);
  return 0;
}

static bool fail(writer *w) {
  int number = 0;
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_errno, &number);
  char why[700] = "HDF5 refuses it";
  if (w->signal) {
    (void)snprintf(why, sizeof why,
                   "HDF5 has no place for signals/%s beside the others, in whose names slashes "
                   "divide; choose others by --signals",
                   w->signal);
  }
  // the library goes to and fro in a file
  if (number == ESPIPE) (void)snprintf(why, sizeof why, "HDF5 needs a regular file");
  bool known = number && number != ESPIPE;
  if (!w->failed) (void)tbi_output_fail(w->export.output, known ? strerror(number) : why);
  w->failed = true;
  return false;
}

/* What the library returns is negative after a failure. */
static bool good(writer *w, int64_t result) { return result >= 0 || fail(w); }

/* -- attributes and texts */

static hid_t text_type(void) {
  hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, H5T_VARIABLE);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static bool put_attribute(writer *w, hid_t object, const char *name, hid_t type, hid_t space,
                          const void *value) {
  hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool done = good(w, attribute) && good(w, H5Awrite(attribute, type, value));
  if (attribute >= 0) (void)H5Aclose(attribute);
  (void)H5Sclose(space);
  return done;
}

static bool put_texts(writer *w, hid_t object, const char *name, const char *const *text,
                      int32_t count) {
  hsize_t size = (hsize_t)count;
  if (count == 0) return true;
  hid_t type = text_type();
  bool done = put_attribute(w, object, name, type, H5Screate_simple(1, &size, NULL), (void *)text);
  (void)H5Tclose(type);
  return done;
}

static bool put_text(writer *w, hid_t object, const char *name, const char *text) {
  hid_t type = text_type();
  bool done = put_attribute(w, object, name, type, H5Screate(H5S_SCALAR), &text);
  (void)H5Tclose(type);
  return done;
}

/* An array of texts; a single one if count is 0. */
static bool put_text_array(writer *w, const char *name, const char *const *text, int32_t count) {
  hsize_t size = (hsize_t)count;
  hid_t type = text_type();
  hid_t space = count > 0 ? H5Screate_simple(1, &size, NULL) : H5Screate(H5S_SCALAR);
  hid_t dataset = H5Dcreate2(w->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool done =
      good(w, dataset) && good(w, H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text));
  if (dataset >= 0) (void)H5Dclose(dataset);
  (void)H5Sclose(space);
  (void)H5Tclose(type);
  return done;
}

/* -- tables */

static bool make_dataset(writer *w, column *c, const char *name) {
  hsize_t size[2] = {0, c->width};
  hsize_t max[2] = {H5S_UNLIMITED, c->width};
  hsize_t chunk[2] = {ROWS, c->width};
  int rank = c->width > 1 ? 2 : 1;
  hid_t space = H5Screate_simple(rank, size, max);
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
  hid_t link = H5Pcreate(H5P_LINK_CREATE);
  (void)H5Pset_chunk(creation, rank, chunk);
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
    (void)H5Pset_shuffle(creation);
    (void)H5Pset_deflate(creation, 1);
  }
  (void)H5Pset_chunk_cache(access, 0, 0, 1);
  (void)H5Pset_create_intermediate_group(link, 1);
  c->dataset = H5Dcreate2(w->file, name, c->type, space, link, creation, access);
  (void)H5Sclose(space);
  (void)H5Pclose(creation);
  (void)H5Pclose(access);
  (void)H5Pclose(link);
  return good(w, c->dataset);
}

static bool make_table(table *t, int32_t capacity) {
  t->column = calloc((size_t)capacity, sizeof *t->column);
  if (!t->column) (void)tbi_out_of_memory();
  return t->column != NULL;
}

static bool add_column(writer *w, table *t, const char *name, hid_t type, int32_t width) {
  column *c = &t->column[t->count++];
  *c = (column){.dataset = -1, .type = type, .width = (hsize_t)width};
  c->size = H5Tget_size(type) * (size_t)width;
  c->room = malloc(c->size * ROWS);
  if (c->room) return make_dataset(w, c, name);
  (void)tbi_out_of_memory();
  w->failed = true;
  return false;
}

static bool write_column(writer *w, const column *c, hsize_t at, hsize_t rows) {
  int rank = c->width > 1 ? 2 : 1;
  const hsize_t size[2] = {at + rows, c->width};
  const hsize_t start[2] = {at, 0};
  const hsize_t count[2] = {rows, c->width};
  if (!good(w, H5Dset_extent(c->dataset, size))) return false;
  hid_t file = H5Dget_space(c->dataset);
  hid_t memory = H5Screate_simple(rank, count, NULL);
  (void)H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL);
  bool done = good(w, H5Dwrite(c->dataset, c->type, memory, file, H5P_DEFAULT, c->room));
  (void)H5Sclose(file);
  (void)H5Sclose(memory);
  return done;
}

static bool flush(writer *w, table *t) {
  for (int32_t i = 0; t->rows > 0 && i < t->count; ++i) {
    if (!write_column(w, &t->column[i], t->written, t->rows)) return false;
  }
  t->written += t->rows;
  t->rows = 0;
  return true;
}

static void set_row(table *t, int32_t at, const void *value) {
  const column *c = &t->column[at];
  memcpy(c->room + c->size * t->rows, value, c->size);
}

static bool end_row(writer *w, table *t) { return ++t->rows < ROWS || flush(w, t); }

static void free_table(table *t) {
  for (int32_t i = 0; i < t->count; ++i) {
    if (t->column[i].dataset >= 0) (void)H5Dclose(t->column[i].dataset);
    free(t->column[i].room);
  }
  free(t->column);
  *t = (table){0};
}

/* -- contacts */

typedef struct member {
  const char *name, *unit;
  size_t offset;
  int32_t width; /* numbers; 0: one int */
} member;

#define MEMBER(field) offsetof(tabi_sample_contact, field)
static const member members[] = {
    {"contacts/link_a",   "",    MEMBER(link_a),   0},
    {"contacts/link_b",   "",    MEMBER(link_b),   0},
    {"contacts/status",   "",    MEMBER(status),   0},
    {"contacts/point",    "m",   MEMBER(point),    3},
    {"contacts/normal",   "",    MEMBER(normal),   3},
    {"contacts/force",    "N",   MEMBER(force),    3},
    {"contacts/velocity", "m/s", MEMBER(velocity), 3},
    {"contacts/gap",      "m",   MEMBER(gap),      1},
    {"contacts/friction", "",    MEMBER(friction), 1},
    {"contacts/slip",     "m/s", MEMBER(slip),     1},
    {"contacts/power",    "W",   MEMBER(power),    1},
    {"contacts/residual", "m/s", MEMBER(residual), 1},
};
enum { NMEMBER = sizeof members / sizeof *members };
_Static_assert(sizeof(tabi_contact_status) == sizeof(int), "written as an int");

static bool make_contacts(writer *w) {
  if (!make_table(&w->contacts, NMEMBER) || !make_table(&w->starts, 1)) return false;
  for (int32_t i = 0; i < NMEMBER; ++i) {
    const member *m = &members[i];
    hid_t type = m->width > 0 ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT;
    if (!add_column(w, &w->contacts, m->name, type, m->width > 0 ? m->width : 1) ||
        !put_text(w, w->contacts.column[i].dataset, "unit", m->unit)) {
      return false;
    }
  }
  if (!put_text(w, w->contacts.column[2].dataset, "values", "0 separating, 1 stick, 2 slip") ||
      !add_column(w, &w->starts, "contacts/start", H5T_NATIVE_INT64, 1)) {
    return false;
  }
  set_row(&w->starts, 0, &w->ncontact);
  return end_row(w, &w->starts);
}

static bool put_contacts(writer *w, const tabi_sample *sample) {
  for (int32_t i = 0; i < sample->ncontact; ++i) {
    for (int32_t k = 0; k < NMEMBER; ++k)
      set_row(&w->contacts, k, (const unsigned char *)&sample->contact[i] + members[k].offset);
    if (!end_row(w, &w->contacts)) return false;
  }
  w->ncontact += sample->ncontact;
  set_row(&w->starts, 0, &w->ncontact);
  return end_row(w, &w->starts);
}

/* -- samples */

/* The joint of every number of q or v; one without a name is called like its child. */
static bool name_numbers(writer *w, int32_t at, int32_t count, bool velocities) {
  const tabi_model *model = tabi_scene_model(w->export.scene);
  const char **name = calloc((size_t)count + 1, sizeof *name);
  if (!name) return put_text(w, w->samples.column[at].dataset, "joints", "");
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def joint = tabi_model_joint(model, i);
    tabi_range range = velocities ? tabi_model_joint_v(model, i) : tabi_model_joint_q(model, i);
    bool named = joint.name && joint.name[0] != '\0';
    const char *called = named ? joint.name : tabi_model_link(model, joint.child).name;
    for (int32_t k = 0; k < range.count; ++k)
      name[range.first + k] = called ? called : "";
  }
  for (int32_t i = 0; i < count; ++i) {
    if (!name[i]) name[i] = "";
  }
  bool done = put_texts(w, w->samples.column[at].dataset, "joints", name, count);
  free(name);
  return done;
}

static bool make_signals(writer *w) {
  for (int32_t i = 0; i < w->export.nchosen; ++i) {
    tabi_signal signal = tabi_signals_get(w->export.signals, w->export.chosen[i]);
    char name[600];
    (void)snprintf(name, sizeof name, "signals/%s", signal.name);
    w->signal = signal.name;
    if (!add_column(w, &w->samples, name, H5T_NATIVE_DOUBLE, 1)) return false;
    w->signal = NULL;
    hid_t dataset = w->samples.column[w->samples.count - 1].dataset;
    if (!put_text(w, dataset, "unit", signal.unit) || !put_text(w, dataset, "about", signal.about))
      return false;
  }
  return true;
}

static bool make_samples(writer *w) {
  int32_t nq = w->export.info.nq;
  int32_t nv = w->export.info.nv;
  table *t = &w->samples;
  if (!make_table(t, w->export.nchosen + 4) || !add_column(w, t, "time", H5T_NATIVE_DOUBLE, 1) ||
      !put_text(w, t->column[0].dataset, "unit", "s") ||
      !add_column(w, t, "step", H5T_NATIVE_INT64, 1)) {
    return false;
  }
  if (nq > 0 && nv > 0) {
    if (!add_column(w, t, "q", H5T_NATIVE_DOUBLE, nq) || !name_numbers(w, 2, nq, false) ||
        !add_column(w, t, "v", H5T_NATIVE_DOUBLE, nv) || !name_numbers(w, 3, nv, true)) {
      return false;
    }
  }
  return make_signals(w);
}

static bool write_sample(void *self, const tabi_sample *sample, const double *value) {
  writer *w = self;
  int32_t at = 0;
  set_row(&w->samples, at++, &sample->time);
  set_row(&w->samples, at++, &sample->step);
  if (w->samples.count > w->export.nchosen + 2) {
    set_row(&w->samples, at++, sample->q);
    set_row(&w->samples, at++, sample->v);
  }
  for (int32_t i = 0; i < w->export.nchosen; ++i)
    set_row(&w->samples, at++, &value[w->export.chosen[i]]);
  return end_row(w, &w->samples) && put_contacts(w, sample);
}

/* -- the file */

static bool put_links(writer *w) {
  const tabi_model *model = tabi_scene_model(w->export.scene);
  int32_t count = tabi_model_nlink(model);
  const char **name = calloc((size_t)count + 1, sizeof *name);
  if (!name) {
    (void)tbi_out_of_memory();
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    const char *listed = tabi_model_link(model, i).name;
    name[i] = listed ? listed : "";
  }
  bool done = count == 0 || put_text_array(w, "links", name, count);
  free(name);
  return done;
}

static bool put_facts(writer *w) {
  const tabi_recording_info *info = &w->export.info;
  char version[32];
  hid_t file = w->file;
  return put_text(w, file, "scene", info->scene) &&
         put_text(w, file, "scene_path", info->source.path) &&
         put_texts(w, file, "settings", info->source.set, info->source.nset) &&
         put_text(w, file, "contact", tabi_contact_name(info->contact)) &&
         put_text(w, file, "integrator", tabi_integrator_name(info->integrator)) &&
         put_attribute(w, file, "timestep", H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR),
                       &info->timestep) &&
         put_text(w, file, "tabi_version", tbi_export_version(info, version)) &&
         put_text(w, file, "complete", info->complete ? "true" : "false") &&
         put_text(w, file, "units", "SI: m, kg, s, rad, N; z up; quaternions w x y z") &&
         put_text_array(w, "scene", &info->source.text, 0) && put_links(w);
}

static void close_hdf5(void *self) {
  writer *w = self;
  free_table(&w->samples);
  free_table(&w->contacts);
  free_table(&w->starts);
  if (w->file >= 0) (void)H5Fclose(w->file);
  free(w);
}

/* The format of HDF5 1.8 takes attributes above 64 KB, as names of 4096 coordinates are. */
static bool create_file(writer *w) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  (void)H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  w->file = H5Fcreate(w->export.output->part, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  bool made = good(w, w->file);
  (void)H5Pclose(access);
  return made;
}

static void *open_hdf5(const tbi_export *export) {
  writer *w = calloc(1, sizeof *w);
  if (!w) {
    (void)tbi_out_of_memory();
    return NULL;
  }
  /* otherwise the library prints on its own, and at the exit it tries once more to close what could
   * not be written, and crashes */
  (void)H5dont_atexit();
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  w->export = *export;
  if (create_file(w) && put_facts(w) && make_samples(w) && make_contacts(w)) return w;
  close_hdf5(w);
  return NULL;
}

static bool finish(void *self) {
  writer *w = self;
  if (!flush(w, &w->samples) || !flush(w, &w->contacts) || !flush(w, &w->starts)) return false;
  free_table(&w->samples);
  free_table(&w->contacts);
  free_table(&w->starts);
  /* all that is left is written here, and may fail */
  hid_t file = w->file;
  bool done = good(w, H5Fflush(file, H5F_SCOPE_LOCAL));
  w->file = -1;
  return (H5Fclose(file) >= 0 || fail(w)) && done;
}

#else

static void *open_hdf5(const tbi_export *export) {
  (void)tbi_output_fail(export->output, "this tabi was built without HDF5; install it (Debian: "
                                        "libhdf5-dev), configure and build again");
  return NULL;
}

static bool write_sample(void *self, const tabi_sample *sample, const double *value) {
  (void)self;
  (void)sample;
  (void)value;
  return false;
}

static bool finish(void *self) {
  (void)self;
  return false;
}

static void close_hdf5(void *self) { (void)self; }

#endif

const tbi_export_format tbi_export_hdf5 = {
    .name = "hdf5",
    .endings = {".h5", ".hdf5"},
    .signals = "*",
    .stream = false,
    .open = open_hdf5,
    .sample = write_sample,
    .finish = finish,
    .close = close_hdf5,
};
