/* recording.c - see recording.h.  HDF5: the datasets /NAME or /signals/NAME over /time, as `tabi
 * export` writes them; of those with several numbers in a row NAME[K] is the K-th, from 0. */
#include "sweep/recording.h"

#include "common/input.h"
#include "sweep/recording_mcap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef TABI_HAVE_HDF5
#include <hdf5.h>
#endif

#define MAX_BYTES ((size_t)1 << 30)

static tabi_status fail(tabi_error *err, const char *path, const char *why) {
  *err = (tabi_error){.status = TABI_ERR_PARSE, .line = 1};
  (void)snprintf(err->file, sizeof err->file, "%s", path);
  (void)snprintf(err->message, sizeof err->message, "%s", why);
  return err->status;
}

static tabi_status fail_column(tabi_error *err, const char *path, const char *name,
                               const char *how) {
  char why[400];
  (void)snprintf(why, sizeof why, "no numbers are called '%.100s'; %s", name, how);
  return fail(err, path, why);
}

/* -- MCAP */

static unsigned char *read_all(const char *path, size_t *size, tabi_error *err) {
  FILE *file = tbi_input_open(path, err);
  if (!file) return NULL;
  unsigned char *bytes = NULL;
  long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  bool fits = length >= 0 && (size_t)length <= MAX_BYTES && fseek(file, 0, SEEK_SET) == 0;
  if (fits) bytes = malloc((size_t)length + 1);
  *size = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
  (void)fclose(file);
  if (!bytes) (void)fail(err, path, fits ? "out of memory" : "it is larger than 1 GB");
  return bytes;
}

static tabi_status read_mcap(const char *path, const char *name, tabi_column *column,
                             tabi_error *err) {
  size_t size = 0;
  unsigned char *bytes = read_all(path, &size, err);
  if (!bytes) return err->status;
  const char *wrong = tbi_recording_mcap(bytes, size, name, column);
  free(bytes);
  if (wrong) return fail(err, path, wrong);
  if (column->count > 0) return TABI_OK;
  return fail_column(err, path, name,
                     "give a topic of std_msgs/Float64, or TOPIC:FIELD as in "
                     "/joint_states:l_knee.position or /l_ft:force.z");
}

/* -- HDF5 */

#ifdef TABI_HAVE_HDF5
/* Column `place` of a dataset of one or two dimensions; NULL: it is none. */
static double *read_dataset(hid_t file, const char *name, hsize_t place, int64_t *count) {
  hid_t dataset = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
  if (dataset < 0) return NULL;
  hid_t space = H5Dget_space(dataset);
  hsize_t size[2] = {0, 1};
  int rank = H5Sget_simple_extent_ndims(space);
  bool good = (rank == 1 || rank == 2) && H5Sget_simple_extent_dims(space, size, NULL) >= 0 &&
              place < size[1] && size[0] <= MAX_BYTES / sizeof(double);
  double *values = good ? malloc((size_t)size[0] * sizeof *values + 1) : NULL;
  hsize_t start[2] = {0, place};
  hsize_t rows[2] = {size[0], 1};
  hid_t memory = H5Screate_simple(1, size, NULL);
  if (values && (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, rows, NULL) < 0 ||
                 H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) < 0)) {
    free(values);
    values = NULL;
  }
  *count = (int64_t)size[0];
  if (memory >= 0) (void)H5Sclose(memory);
  (void)H5Sclose(space);
  (void)H5Dclose(dataset);
  return values;
}

/* "q[3]" is number 3 of q */
static double *find_dataset(hid_t file, const char *name, int64_t *count) {
  char path[700];
  const char *bracket = strrchr(name, '[');
  size_t length = bracket ? (size_t)(bracket - name) : strlen(name);
  hsize_t place = bracket ? strtoull(bracket + 1, NULL, 10) : 0;
  if (length == 0 || length > 600) return NULL;
  (void)snprintf(path, sizeof path, "%.*s", (int)length, name);
  double *values = read_dataset(file, path, place, count);
  (void)snprintf(path, sizeof path, "signals/%.*s", (int)length, name);
  return values ? values : read_dataset(file, path, place, count);
}

static tabi_status read_hdf5(const char *path, const char *name, tabi_column *column,
                             tabi_error *err) {
  FILE *regular = tbi_input_open(path, err); /* HDF5 would wait for a pipe */
  if (!regular) return err->status;
  (void)fclose(regular);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return fail(err, path, "HDF5 cannot open it");
  int64_t rows = 0;
  column->time = read_dataset(file, "time", 0, &column->count);
  column->value = column->time ? find_dataset(file, name, &rows) : NULL;
  (void)H5Fclose(file);
  if (!column->time) return fail(err, path, "it has no dataset 'time', s");
  if (!column->value || rows != column->count) {
    return fail_column(err, path, name,
                       "give a dataset with as many rows as time, or one of the group signals");
  }
  return TABI_OK;
}
#else
static tabi_status read_hdf5(const char *path, const char *name, tabi_column *column,
                             tabi_error *err) {
  (void)name;
  (void)column;
  return fail(err, path, "this tabi was built without HDF5; export a CSV table");
}
#endif

tabi_status tbi_recording_column(void *user, const char *path, const char *name,
                                 tabi_column *column, tabi_error *err) {
  (void)user;
  *column = (tabi_column){0};
  size_t length = strlen(path);
  bool mcap = length > 5 && strcasecmp(path + length - 5, ".mcap") == 0;
  return mcap ? read_mcap(path, name, column, err) : read_hdf5(path, name, column, err);
}
