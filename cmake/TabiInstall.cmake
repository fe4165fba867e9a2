# Installation: headers, shared and static libraries, the command, models and scenes, a CMake package
# (find_package(tabi): tabi::tabi, tabi::tabi-io and both with -static) and pkg-config files.

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tabi)

install(TARGETS tabi tabi-static tabi-io tabi-io-static EXPORT tabi
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tabi-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tabi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/tabi
        FILES_MATCHING PATTERN "*.urdf" PATTERN "*.xml" PATTERN "*.yaml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/tabi
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.csv" PATTERN "*.obj" PATTERN "*.txt")

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# what `cmake --install` has listed goes away again, with the folders that are then empty
add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
          -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)

install(EXPORT tabi NAMESPACE tabi:: FILE tabiTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tabiConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/tabiConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# before 1.0 a minor release may change the interface
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tabiConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tabiConfig.cmake ${PROJECT_BINARY_DIR}/tabiConfigVersion.cmake
        DESTINATION ${package_dir})

# the .pc files find the prefix from where they stand, so that the tree may be moved
file(RELATIVE_PATH prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(library tabi tabi-io)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc
                 @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
