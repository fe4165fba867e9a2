/* path.h - from a file name in a robot file to a file that may be opened.
 *
 * A robot file may name files in the package it is part of (the nearest folder above that holds a
 * package.xml, else the whole Python package around it, else the parent of its own folder), in
 * packages found by name, and in folders that the caller or the environment (ROS_PACKAGE_PATH,
 * AMENT_PREFIX_PATH/share, GAZEBO_MODEL_PATH, GZ_SIM_RESOURCE_PATH) lists.  Whatever ends up
 * elsewhere, by "..", by an absolute path or through a symbolic link, is refused. */
#ifndef TBI_PATH_H
#define TBI_PATH_H

#include "tabi/tabi.h"

#define TBI_PATH_SIZE 4096

typedef struct tbi_path_roots {
  char folder[TBI_PATH_SIZE]; /* of the robot file, without links; "" if it does not exist */
  char root[TBI_PATH_SIZE];   /* what plain names may not leave: the package, or the parent */
  bool is_package;            /* the root holds a package.xml */
  const char *packages;       /* as in tabi_load_def; not copied */
} tbi_path_roots;

typedef enum tbi_path_result {
  TBI_PATH_FOUND,
  TBI_PATH_MISSING,
  TBI_PATH_LEAVES, /* it would lie outside what is allowed */
} tbi_path_result;

/* What messages say of the latter, after "mesh 'm.stl': mesh ". */
#define TBI_PATH_LEAVES_TEXT                                                                  \
  "path leaves the model's package; move the file, or allow its folder by --package-path or " \
  "ROS_PACKAGE_PATH"

/* What was found, or where it was looked for. */
typedef struct tbi_path {
  char found[TBI_PATH_SIZE];
  char looked[240]; /* "a, b and 3 more" */
  int32_t nlooked;
} tbi_path;

/* The path of a file that another one names relative to itself; the caller frees.  NULL: out of
 * memory. */
char *tbi_path_beside(const char *path, const char *file);

/* Whether a path ends so, as in ".h5", in letters of either case. */
bool tbi_path_ends_with(const char *path, const char *ending);

void tbi_path_roots_init(tbi_path_roots *roots, const char *model_path, const char *packages);

/* For the files that a file names which was found by these roots: as seen from its folder, and no
 * further than it was allowed to be itself. */
void tbi_path_roots_below(tbi_path_roots *below, const tbi_path_roots *roots, const char *found);

/* `file` is a plain path, or file://, package://NAME/ or model://NAME/ with a path. */
tbi_path_result tbi_path_find(const tbi_path_roots *roots, const char *file, tbi_path *path);

#endif
