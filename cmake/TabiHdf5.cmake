# The target tabi-hdf5, if HDF5 is there: the serial C library.
#
# Debian's shared one loads some thirty others for reading from the cloud (curl, LDAP, Kerberos, ...),
# which every command would wait for, and one of which leaks memory when it is loaded.  The static one
# needs two, so it is taken where it is found.

pkg_search_module(HDF5 hdf5-serial hdf5)
if(NOT HDF5_FOUND)
  message(NOTICE "tabi: HDF5 not found, so `tabi export` does not write it (Debian: libhdf5-dev)")
  return()
endif()
find_library(HDF5_ARCHIVE libhdf5.a HINTS ${HDF5_LIBRARY_DIRS})
find_library(SZ_LIBRARY sz)
find_library(Z_LIBRARY z)
mark_as_advanced(HDF5_ARCHIVE SZ_LIBRARY Z_LIBRARY)

add_library(tabi-hdf5 INTERFACE)
target_include_directories(tabi-hdf5 SYSTEM INTERFACE ${HDF5_INCLUDE_DIRS})
target_compile_definitions(tabi-hdf5 INTERFACE TABI_HAVE_HDF5)
if(HDF5_ARCHIVE AND SZ_LIBRARY AND Z_LIBRARY)
  target_link_libraries(tabi-hdf5 INTERFACE ${HDF5_ARCHIVE} ${SZ_LIBRARY} ${Z_LIBRARY} m ${CMAKE_DL_LIBS})
  target_link_options(tabi-hdf5 INTERFACE -Wl,--exclude-libs,libhdf5_serial.a:libhdf5.a)
else()
  target_link_libraries(tabi-hdf5 INTERFACE ${HDF5_LINK_LIBRARIES})
endif()
