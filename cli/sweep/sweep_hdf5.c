/* sweep_hdf5.c - see sweep_hdf5.h. */
#include "sweep/sweep_hdf5.h"

#include "common/output.h"

#ifdef TABI_HAVE_HDF5

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

/* The rows that there are, in the order of their numbers. */
typedef struct rows {
  const tabi_study *study;
  hsize_t count;
  int64_t *id, *seed;
  uint64_t *hash;
  double *seconds;
  const char **status, **engine;
  char (*version)[16];
  double *measure;   /* [count x nmeasure] */
  double *number;    /* [count] of one parameter or measure */
  const char **text; /* [count] of one parameter */
} rows;

static bool allocate(rows *r, int64_t count) {
  size_t n = (size_t)count + 1;
  r->id = calloc(n, sizeof *r->id);
  r->seed = calloc(n, sizeof *r->seed);
  r->hash = calloc(n, sizeof *r->hash);
  r->seconds = calloc(n, sizeof *r->seconds);
  r->status = calloc(n, sizeof *r->status);
  r->engine = calloc(n, sizeof *r->engine);
  r->version = calloc(n, sizeof *r->version);
  r->measure = calloc(n * ((size_t)tabi_study_nmeasure(r->study) + 1), sizeof *r->measure);
  r->number = calloc(n, sizeof *r->number);
  r->text = calloc(n, sizeof *r->text);
  return r->id && r->seed && r->hash && r->seconds && r->status && r->engine && r->version &&
         r->measure && r->number && r->text;
}

static void free_rows(rows *r) {
  free(r->id);
  free(r->seed);
  free(r->hash);
  free(r->seconds);
  free(r->status);
  free(r->engine);
  free(r->version);
  free(r->measure);
  free(r->number);
  free(r->text);
}

static void take_rows(rows *r, tabi_results *results) {
  const hsize_t room = (hsize_t)tabi_results_count(results);
  const size_t width = (size_t)tabi_study_nmeasure(r->study);
  for (int64_t run = 0; run < tabi_study_nrun(r->study) && r->count < room; ++run) {
    tabi_study_row row = {.measure = r->measure + (size_t)r->count * width};
    if (!tabi_results_has(results, run) || !tabi_results_get(results, run, &row)) continue;
    r->id[r->count] = run;
    r->seed[r->count] = tabi_study_seed(r->study, run);
    r->hash[r->count] = row.hash;
    r->seconds[r->count] = row.seconds;
    r->engine[r->count] = tabi_engine_name(row.engine);
    memcpy(r->version[r->count], row.version, sizeof row.version);
    r->status[r->count++] = row.status;
  }
}

/* -- writing */

static bool put(hid_t file, const rows *r, const char *name, hid_t type, const void *value) {
  hid_t space = H5Screate_simple(1, &r->count, NULL);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = dataset >= 0 &&
              (r->count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
  if (dataset >= 0) (void)H5Dclose(dataset);
  (void)H5Sclose(space);
  return good;
}

static bool put_texts(hid_t file, const rows *r, const char *name, const char *const *text) {
  hid_t type = H5Tcopy(H5T_C_S1);
  (void)H5Tset_size(type, H5T_VARIABLE);
  (void)H5Tset_cset(type, H5T_CSET_UTF8);
  bool good = put(file, r, name, type, text);
  (void)H5Tclose(type);
  return good;
}

static bool put_version(hid_t file, const rows *r) {
  for (hsize_t i = 0; i < r->count; ++i)
    r->text[i] = r->version[i];
  return put_texts(file, r, "version", r->text);
}

static bool put_parameter(hid_t file, const rows *r, int32_t parameter) {
  char name[80];
  (void)snprintf(name, sizeof name, "p_%s", tabi_study_parameter_name(r->study, parameter));
  if (r->count > 0 && tabi_study_choice(r->study, r->id[0], parameter)) {
    for (hsize_t i = 0; i < r->count; ++i)
      r->text[i] = tabi_study_choice(r->study, r->id[i], parameter);
    return put_texts(file, r, name, r->text);
  }
  for (hsize_t i = 0; i < r->count; ++i)
    r->number[i] = tabi_study_value(r->study, r->id[i], parameter);
  return put(file, r, name, H5T_NATIVE_DOUBLE, r->number);
}

static bool put_measure(hid_t file, const rows *r, int32_t measure) {
  char name[80];
  const size_t width = (size_t)tabi_study_nmeasure(r->study);
  (void)snprintf(name, sizeof name, "m_%s", tabi_study_measure_name(r->study, measure));
  for (hsize_t i = 0; i < r->count; ++i)
    r->number[i] = r->measure[(size_t)i * width + (size_t)measure];
  return put(file, r, name, H5T_NATIVE_DOUBLE, r->number);
}

static bool put_all(hid_t file, const rows *r) {
  bool good = put(file, r, "id", H5T_NATIVE_INT64, r->id) &&
              put(file, r, "seed", H5T_NATIVE_INT64, r->seed) &&
              put_texts(file, r, "status", r->status) && put_texts(file, r, "engine", r->engine) &&
              put_version(file, r) && put(file, r, "hash", H5T_NATIVE_UINT64, r->hash) &&
              put(file, r, "seconds", H5T_NATIVE_DOUBLE, r->seconds);
  for (int32_t i = 0; i < tabi_study_nparameter(r->study) && good; ++i)
    good = put_parameter(file, r, i);
  for (int32_t i = 0; i < tabi_study_nmeasure(r->study) && good; ++i)
    good = put_measure(file, r, i);
  return good;
}

static bool write_file(const rows *r, const char *path) {
  tbi_output output;
  if (!tbi_output_begin(&output, path, false)) return false;
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fcreate(output.part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  bool good = file >= 0 && put_all(file, r);
  if (file >= 0) good = H5Fclose(file) >= 0 && good;
  if (!good) (void)tbi_output_fail(&output, "HDF5 refuses it");
  return tbi_output_end(&output, good) && good;
}

bool tbi_sweep_write_hdf5(tabi_results *results, const char *path) {
  rows r = {.study = tabi_results_study(results)};
  bool good = allocate(&r, tabi_results_count(results));
  if (!good) (void)tbi_out_of_memory();
  if (good) {
    take_rows(&r, results);
    good = write_file(&r, path);
  }
  free_rows(&r);
  return good;
}

#else

bool tbi_sweep_write_hdf5(tabi_results *results, const char *path) {
  (void)results;
  const tbi_output output = {.path = path};
  return tbi_output_fail(&output, "this tabi was built without HDF5; install it (Debian: "
                                  "libhdf5-dev), configure and build again");
}

#endif
