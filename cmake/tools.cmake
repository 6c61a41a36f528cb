# Compiler options, ccache and mold where present, sanitizers, and whether CUDA is built.
find_program(GPUCALL_CCACHE ccache)
if(GPUCALL_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GPUCALL_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${GPUCALL_CCACHE})
endif()
find_program(GPUCALL_MOLD mold)
if(GPUCALL_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Inherited by every target of the project; generated protobuf code is exempt (proto/CMakeLists.txt).
add_library(gpucall_options INTERFACE)
target_compile_options(gpucall_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False reports on moved absl::InlinedVectors (GCC 12 and 13).
  target_compile_options(gpucall_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()
target_include_directories(gpucall_options INTERFACE ${PROJECT_SOURCE_DIR})

# gpucall_headers(target header...): the headers belong to `target`, and the target all_verify_interface_header_sets
# compiles each of them alone.
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
function(gpucall_headers target)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARGN})
endfunction()

# gpucall_precompile(target header...): the target's sources read these headers once, where builds are to be short. Others
# read each source as it is, so that one that includes too little is found.
option(GPUCALL_PRECOMPILE "precompile headers of the libraries used" OFF)
function(gpucall_precompile target)
  if(GPUCALL_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

if(GPUCALL_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GPUCALL_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${GPUCALL_SANITIZE})
  if(GPUCALL_SANITIZE MATCHES undefined)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
endif()

if(GPUCALL_CUDA STREQUAL "AUTO")
  find_program(GPUCALL_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(GPUCALL_NVCC)
    set(GPUCALL_BUILD_CUDA ON)
  else()
    set(GPUCALL_BUILD_CUDA OFF)
  endif()
else()
  set(GPUCALL_BUILD_CUDA ${GPUCALL_CUDA})
endif()
message(STATUS "gpucall: CUDA device is built: ${GPUCALL_BUILD_CUDA}")

if(GPUCALL_BUILD_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES ${GPUCALL_CUDA_ARCHITECTURES})
  if(NOT CMAKE_CUDA_COMPILER AND GPUCALL_NVCC)
    set(CMAKE_CUDA_COMPILER ${GPUCALL_NVCC})
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know nvcc's C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  # Debian 12's CMake 3.25.1 sets a property of this target, which CUDA 13 has no more.
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
  find_package(CUDAToolkit 13 REQUIRED)
endif()
