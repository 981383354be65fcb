# Installs the public headers, one library per room, the program, and what find_package(bregmax) needs.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bregmax DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(TARGETS ${BREGMAX_ROOMS} bregmax_all EXPORT bregmaxTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(BREGMAX_BUILD_APP)
  install(TARGETS bregmax RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(bregmax_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bregmax)
install(EXPORT bregmaxTargets NAMESPACE bregmax:: DESTINATION ${bregmax_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/bregmaxConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/bregmaxConfig.cmake INSTALL_DESTINATION ${bregmax_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bregmaxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bregmaxConfig.cmake ${PROJECT_BINARY_DIR}/bregmaxConfigVersion.cmake
        DESTINATION ${bregmax_package_dir})
