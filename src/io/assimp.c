/* assimp.c - through assimp's C interface.  Nodes are flattened, so that a mesh is where its
 * file puts it; points and lines are left out.  The up axis that a COLLADA file names does not
 * rotate it: robots use their meshes with the numbers as written.  Without the library everything
 * is refused. */
#include "io/assimp.h"

#include "base/error.h"

#ifdef TABI_HAVE_ASSIMP

#include "io/weld.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <math.h>
#include <stdio.h>

#define MAX_FACES 5000000

bool tbi_assimp_reads(const char *extension) {
  char dotted[32];
  int length = snprintf(dotted, sizeof dotted, ".%s", extension);
  return length > 1 && length < (int)sizeof dotted && aiIsExtensionSupported(dotted) == AI_TRUE;
}

static size_t count_faces(const struct aiScene *scene) {
  size_t count = 0;
  for (unsigned i = 0; i < scene->mNumMeshes; ++i)
    count += scene->mMeshes[i]->mNumFaces;
  return count;
}

/* What is read, and where it goes. */
typedef struct reading {
  const char *name;
  tabi_place place;
  tbi_first_error *error;
  tbi_weld weld;
} reading;

static bool take_face(reading *r, const struct aiMesh *from, unsigned face) {
  const struct aiFace *f = &from->mFaces[face];
  double corners[9];
  if (f->mNumIndices != 3) return true;
  for (size_t k = 0; k < 3; ++k) {
    if (f->mIndices[k] >= from->mNumVertices) {
      return tbi_fail_at(r->error, TABI_ERR_PARSE, r->place,
                         "mesh '%s': face %u uses vertex %u of %u", r->name, face + 1,
                         f->mIndices[k] + 1, from->mNumVertices);
    }
    struct aiVector3D v = from->mVertices[f->mIndices[k]];
    corners[3 * k] = (double)v.x;
    corners[3 * k + 1] = (double)v.y;
    corners[3 * k + 2] = (double)v.z;
  }
  for (int k = 0; k < 9; ++k) {
    if (isfinite(corners[k])) continue;
    return tbi_fail_at(r->error, TABI_ERR_PARSE, r->place, "mesh '%s': vertex %u not finite",
                       r->name, f->mIndices[k / 3] + 1);
  }
  tbi_weld_face(&r->weld, corners);
  return true;
}

static tabi_status take_scene(reading *r, const struct aiScene *scene, tbi_mesh *mesh) {
  size_t nface = count_faces(scene);
  if (nface > MAX_FACES) {
    tbi_fail_at(r->error, TABI_ERR_PARSE, r->place, "mesh '%s': %zu faces, limit %d", r->name,
                nface, MAX_FACES);
    return r->error->status;
  }
  if (!tbi_weld_begin(&r->weld, mesh, nface > 0 ? nface : 1)) tbi_fail_memory(r->error);
  for (unsigned i = 0; i < scene->mNumMeshes; ++i) {
    const struct aiMesh *from = scene->mMeshes[i];
    for (unsigned f = 0; f < from->mNumFaces && tbi_ok(r->error); ++f)
      take_face(r, from, f);
  }
  return tbi_weld_finish(&r->weld, r->error, r->name, r->place);
}

tabi_status tbi_assimp_read(const char *path, const char *name, tabi_place place, tbi_mesh *mesh,
                            tabi_error *err) {
  *mesh = (tbi_mesh){0};
  struct aiPropertyStore *properties = aiCreatePropertyStore();
  if (!properties) return tbi_error_memory(err);
  aiSetImportPropertyInteger(properties, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
  const struct aiScene *scene = aiImportFileExWithProperties(
      path, aiProcess_Triangulate | aiProcess_PreTransformVertices, NULL, properties);
  aiReleasePropertyStore(properties);
  if (!scene) {
    return tbi_error_set(err, TABI_ERR_PARSE, place, "mesh '%.100s': %.200s", name,
                         aiGetErrorString());
  }
  tbi_first_error error = {.err = err};
  reading r = {.name = name, .place = place, .error = &error};
  tabi_status status = take_scene(&r, scene, mesh);
  aiReleaseImport(scene);
  return status;
}

#else

bool tbi_assimp_reads(const char *extension) {
  (void)extension;
  return false;
}

tabi_status tbi_assimp_read(const char *path, const char *name, tabi_place place, tbi_mesh *mesh,
                            tabi_error *err) {
  (void)path;
  *mesh = (tbi_mesh){0};
  return tbi_error_set(err, TABI_ERR_FILE, place, "mesh '%s': tabi was built without assimp", name);
}

#endif
