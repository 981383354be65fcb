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

# Most presets compile the files of a target in groups (CMAKE_UNITY_BUILD), so that templates are compiled once per group.
# Files whose local names clash with those of another file are compiled alone.
function(bregmax_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

set(BREGMAX_ROOMS "" CACHE INTERNAL "")

# bregmax_room(NAME SOURCES a.cpp ... ROOMS core ... LIBRARIES fmt::fmt ...)
# LIBRARIES are private to the room; libraries that its headers need go to PUBLIC_LIBRARIES.
function(bregmax_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ROOMS;LIBRARIES;PUBLIC_LIBRARIES" ${ARGN})
  set(target bregmax_${name})
  # Header-only and private, so programs that link the installed library need not find it.
  list(TRANSFORM ROOM_LIBRARIES REPLACE "^(nlohmann_json::nlohmann_json)$" "$<BUILD_INTERFACE:\\1>")
  add_library(${target} STATIC ${ROOM_SOURCES})
  add_library(bregmax::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${ROOM_PUBLIC_LIBRARIES} PRIVATE ${ROOM_LIBRARIES}
                        PRIVATE $<BUILD_INTERFACE:bregmax_build_flags>)
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
