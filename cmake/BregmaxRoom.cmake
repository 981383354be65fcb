# One static library per room, so that the linker enforces which room may see which.

add_library(bregmax_build_flags INTERFACE)
target_compile_features(bregmax_build_flags INTERFACE cxx_std_20)
target_compile_options(bregmax_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                     -Wno-sign-conversion -Wnon-virtual-dtor)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc treats the grouped files as headers and warns about types that contain types local to a file.
  target_compile_options(bregmax_build_flags INTERFACE -Wno-subobject-linkage)
endif()
if(BREGMAX_WARNINGS_AS_ERRORS)
  target_compile_options(bregmax_build_flags INTERFACE -Werror)
endif()
if(BREGMAX_SANITIZE)
  target_compile_options(bregmax_build_flags INTERFACE -fsanitize=${BREGMAX_SANITIZE} -fno-sanitize-recover=all
                                                       -fno-omit-frame-pointer)
  target_link_options(bregmax_build_flags INTERFACE -fsanitize=${BREGMAX_SANITIZE})
endif()
if(BREGMAX_COVERAGE)
  # Threads count the same lines: without atomic updates counts are lost. The counters also make gcc warn about paths
  # that do not exist.
  target_compile_options(bregmax_build_flags INTERFACE --coverage -fprofile-update=atomic -Wno-maybe-uninitialized)
  target_link_options(bregmax_build_flags INTERFACE --coverage)
endif()

# Most presets compile the files of a target several at a time (CMAKE_UNITY_BUILD), so that headers and templates are
# compiled once per group. Files with their own compiler options, or with a local name that another file of the group
# has, too, are compiled alone.
function(bregmax_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# Code without loops that take time (reports, options, files, tests): -O1 halves the time to compile it.
function(bregmax_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With -O1 gcc does not see that Eigen's copies are initialised, and warns.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# Headers that nearly every file reads, parsed once per kind of target rather than once per group of files. gcc
# requires the same options for a precompiled header and the files that use it. It does not check the optimisation level,
# but compiles the functions in the header at the level of the header.
set(BREGMAX_COMMON_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <functional> <limits> <map> <memory>
                           <numeric> <optional> <set> <string> <string_view> <utility> <variant> <vector> <Eigen/Core>
                           <fmt/format.h>)
function(bregmax_precompiled_headers name)
  cmake_parse_arguments(PCH "QUICK" "" "HEADERS;LIBRARIES" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/${name}.cpp)
  file(GENERATE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_link_libraries(${name} PRIVATE bregmax_build_flags Eigen3::Eigen fmt::fmt OpenMP::OpenMP_CXX ${PCH_LIBRARIES})
  if(PCH_QUICK)
    bregmax_compile_quickly(${name})
  endif()
  target_precompile_headers(${name} PRIVATE ${BREGMAX_COMMON_HEADERS} ${PCH_HEADERS})
endfunction()

# Precompiled headers for a program, which then needs the options of the libraries.
function(bregmax_reuse_headers target headers)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM ${headers})
endfunction()

set(BREGMAX_ROOMS "" CACHE INTERNAL "")

# bregmax_room(NAME [QUICK] SOURCES a.cpp ... ROOMS core ... LIBRARIES fmt::fmt ...)
# LIBRARIES are private to the room; what its headers need goes to PUBLIC_LIBRARIES. QUICK: bregmax_compile_quickly.
function(bregmax_room name)
  cmake_parse_arguments(ROOM "QUICK" "" "SOURCES;ROOMS;LIBRARIES;PUBLIC_LIBRARIES" ${ARGN})
  set(target bregmax_${name})
  # Header-only and private, so programs that link the installed library need not find it.
  list(TRANSFORM ROOM_LIBRARIES REPLACE "^(nlohmann_json::nlohmann_json)$" "$<BUILD_INTERFACE:\\1>")
  add_library(${target} STATIC ${ROOM_SOURCES})
  add_library(bregmax::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON UNITY_BUILD_BATCH_SIZE 20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ROOM_PUBLIC_LIBRARIES} PRIVATE ${ROOM_LIBRARIES} fmt::fmt OpenMP::OpenMP_CXX
                        PRIVATE $<BUILD_INTERFACE:bregmax_build_flags>)
  if(ROOM_QUICK)
    bregmax_compile_quickly(${target})
    target_precompile_headers(${target} REUSE_FROM bregmax_quick_headers)
  else()
    target_precompile_headers(${target} REUSE_FROM bregmax_headers)
  endif()
  foreach(room IN LISTS ROOM_ROOMS)
    target_link_libraries(${target} PUBLIC bregmax_${room})
  endforeach()
  set(BREGMAX_ROOMS ${BREGMAX_ROOMS} ${target} CACHE INTERNAL "")
endfunction()

function(bregmax_umbrella_target)
  add_library(bregmax_all INTERFACE)
  add_library(bregmax::bregmax ALIAS bregmax_all)
  set_target_properties(bregmax_all PROPERTIES EXPORT_NAME bregmax)
  target_link_libraries(bregmax_all INTERFACE ${BREGMAX_ROOMS})
endfunction()
