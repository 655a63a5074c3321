# The solver as it lies in OCLSPKT_SOLVER_FOLDER, with its modules for devices if they are there, instead of one that is built here:
# oclspkt::solver and oclspkt_cl_shared. Links make the build folder look as if it had built them.
cmake_path(ABSOLUTE_PATH OCLSPKT_SOLVER_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
set(solver liboclspkt-solver.so.${PROJECT_VERSION_MAJOR})
if(NOT EXISTS ${OCLSPKT_SOLVER_FOLDER}/${solver})
  message(FATAL_ERROR "There is no ${solver} in OCLSPKT_SOLVER_FOLDER=${OCLSPKT_SOLVER_FOLDER}: name the folder with "
                      "liboclspkt.so of an installed oclspkt, or leave OCLSPKT_SOLVER_FOLDER out")
endif()
message(STATUS "oclspkt: the solver in ${OCLSPKT_SOLVER_FOLDER}")
file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
foreach(file ${solver} liboclspkt-cl.so liboclspkt-cuda.so)
  if(EXISTS ${OCLSPKT_SOLVER_FOLDER}/${file})
    file(CREATE_LINK ${OCLSPKT_SOLVER_FOLDER}/${file} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${file} SYMBOLIC)
  endif()
endforeach()

add_library(oclspkt::solver SHARED IMPORTED GLOBAL)
set_target_properties(oclspkt::solver PROPERTIES IMPORTED_LOCATION ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${solver}
  INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/plugin/include INTERFACE_COMPILE_FEATURES cxx_std_20)
if(EXISTS ${OCLSPKT_SOLVER_FOLDER}/liboclspkt-cl.so)
  add_library(oclspkt_cl_shared SHARED IMPORTED GLOBAL)
  set_target_properties(oclspkt_cl_shared PROPERTIES IMPORTED_LOCATION ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/liboclspkt-cl.so)
else()
  set(OCLSPKT_WITH_OPENCL OFF CACHE BOOL "" FORCE)
endif()
