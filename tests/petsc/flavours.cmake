# SPDX-License-Identifier: BSD-2-Clause
# Which plugin liboclspkt.so opens for which PETSc. The PETScs that do not exist are a few functions each, and so are the
# plugins for two of them; they lie in a folder beside a copy of the dispatcher.
set(fakes ${CMAKE_CURRENT_BINARY_DIR}/made-up)

# fake_petsc(NAME MINOR INDEX SCALAR REAL)
function(fake_petsc name minor index scalar real)
  add_library(oclspkt-fake-${name} SHARED fake_petsc.c)
  target_compile_definitions(oclspkt-fake-${name} PRIVATE FAKE_MINOR=${minor} FAKE_INDEX=${index} FAKE_SCALAR=FAKE_${scalar}
                                                          FAKE_REAL=FAKE_${real})
  target_link_libraries(oclspkt-fake-${name} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(oclspkt-fake-${name} PROPERTIES OUTPUT_NAME petsc-${name} LIBRARY_OUTPUT_DIRECTORY ${fakes})
endfunction()
fake_petsc(next 98 int32_t DOUBLE DOUBLE)
fake_petsc(next-64 98 int64_t DOUBLE DOUBLE)
fake_petsc(later-64 99 int64_t DOUBLE DOUBLE)
fake_petsc(complex 98 int64_t COMPLEX DOUBLE)
fake_petsc(single 98 int32_t FLOAT FLOAT)
fake_petsc(quadruple 98 int32_t FLOAT128 FLOAT128)
foreach(kind 3.98-real 3.98-real-64)
  add_library(oclspkt-fake-plugin-${kind} SHARED fake_flavour.c)
  target_compile_definitions(oclspkt-fake-plugin-${kind} PRIVATE FAKE_KIND="${kind}")
  set_target_properties(oclspkt-fake-plugin-${kind} PROPERTIES OUTPUT_NAME oclspkt-petsc-${kind}
                        LIBRARY_OUTPUT_DIRECTORY ${fakes}/lib)
endforeach()
add_executable(oclspkt-fake-program fake_program.c)
target_link_libraries(oclspkt-fake-program PRIVATE ${CMAKE_DL_LIBS})
foreach(folder lib lonely)
  add_custom_command(OUTPUT ${fakes}/${folder}/liboclspkt.so COMMAND ${CMAKE_COMMAND} -E make_directory ${fakes}/${folder}
    COMMAND ${CMAKE_COMMAND} -E copy ${plugin} ${fakes}/${folder} DEPENDS ${plugin} oclspkt_dispatcher VERBATIM)
  list(APPEND copies ${fakes}/${folder}/liboclspkt.so)
endforeach()
# A link in another folder; a plugin, and a solver, of which there is no more than the first page.
foreach(folder linked cut cut-solver alone)
  file(MAKE_DIRECTORY ${fakes}/${folder})
endforeach()
file(CREATE_LINK ${fakes}/lib/liboclspkt.so ${fakes}/linked/liboclspkt.so SYMBOLIC)
set(solver $<TARGET_FILE:oclspkt::solver>)
set(first_page bs=4096 count=1 status=none)
set(fake_plugin $<TARGET_FILE:oclspkt-fake-plugin-3.98-real>)
set(cut_solver ${fakes}/cut-solver/liboclspkt-solver.so.${PROJECT_VERSION_MAJOR})
add_custom_command(OUTPUT ${fakes}/cut/liboclspkt.so ${cut_solver}
  COMMAND ${CMAKE_COMMAND} -E copy ${plugin} ${fakes}/cut
  COMMAND dd if=${fake_plugin} of=${fakes}/cut/liboclspkt-petsc-3.98-real.so ${first_page}
  COMMAND ${CMAKE_COMMAND} -E copy ${plugin} ${fake_plugin} ${fakes}/cut-solver
  COMMAND dd if=${solver} of=${cut_solver} ${first_page}
  COMMAND ${CMAKE_COMMAND} -E copy ${solver} ${fakes}/alone/liboclspkt-solver.so
  DEPENDS ${plugin} oclspkt_dispatcher oclspkt-fake-plugin-3.98-real ${solver} VERBATIM)
list(APPEND copies ${fakes}/cut/liboclspkt.so ${cut_solver})
add_custom_target(oclspkt-dispatcher-copies ALL DEPENDS ${copies})

# expect_of_fake(TEST NAME FOLDER CHECK...)
function(expect_of_fake test name folder)
  expect(Flavours.${test} CHECK ${ARGN} RUN $<TARGET_FILE:oclspkt-fake-program> $<TARGET_FILE:oclspkt-fake-${name}>
         ${fakes}/${folder}/liboclspkt.so ${fakes}/${folder}/liboclspkt.so)
endfunction()
set(refused --rc=76 "--match=^error 76 on all, initial: " "--without=^initialized")
expect_of_fake(AreToldApartByWidth.32 next lib "--match=^initialized 3.98-real\nreturned 0\ninitialized 3.98-real\nreturned 0\n$")
expect_of_fake(AreToldApartByWidth.64 next-64 lib "--match=^initialized 3.98-real-64\nreturned 0\ninitialized 3.98-real-64\n")
expect_of_fake(ThatIsMissingIsNamedWithTheCommand later-64 lib ${refused}
  "--match=PETSc 3.99 with real scalars in double precision and 64-bit indices .*libpetsc-later-64.so"
  "--match=liboclspkt-petsc-3.99-real-64.so, is not in .*made-up/lib, which has those for: 3.98-real, 3.98-real-64"
  "--match=cmake -B build/petsc-3.99-real-64 -DPETSC_DIR=<folder of that PETSc> -DOCLSPKT_SOLVER_FOLDER=${fakes}/lib -DCMAKE_INSTALL_PREFIX=${fakes}\n"
  "--match=cmake --build build/petsc-3.99-real-64 --target install-flavours")
expect_of_fake(AreFoundBehindALink next linked "--match=^initialized 3.98-real\nreturned 0\n")
set(is_cut "is cut short: it has 4096 bytes of [0-9]+ or more. install it anew")
expect_of_fake(ThatAreCutShortAreRefused next cut ${refused}
  "--match=does not open: ${fakes}/cut/liboclspkt-petsc-3.98-real.so ${is_cut}")
expect_of_fake(WithASolverCutShortAreRefused next cut-solver ${refused} "--match=does not open: ${cut_solver} ${is_cut}")
expect_of_fake(ThatAreAllMissing next lonely ${refused} "--match=made-up/lonely, which has those for: none")
set(unsupported ${refused} "--match=supports only PETSc in double precision")
expect_of_fake(WithComplexScalarsHaveTheirOwn complex lib ${refused} "--match=3.98 with complex scalars in double precision and 64-bit"
  "--match=liboclspkt-petsc-3.98-complex-64.so, is not in")
expect_of_fake(InSinglePrecisionAreRefused single lib ${unsupported} "--match=real scalars in single precision and 32")
expect_of_fake(InAnotherPrecisionAreRefused quadruple lib ${unsupported} "--match=real scalars in another than double precision")

if(petsc4py_is_ours)
  expect(Flavours.PythonSaysWhichIsMissing ENV ${helper_path} RUN ${helper} ${fakes}/lonely/liboclspkt.so
         CHECK --rc=failure "--match=petsc4py.PETSc.Error: error code 76" "--match=liboclspkt-petsc-${OCLSPKT_PETSC_KIND}.so, is not in"
               "--match=--target install-flavours")
endif()
# A program that links the plugin, and names a dispatcher that has none beside it; one that puts ours before others.
expect(Flavours.ThatTheProgramLinksAreTaken CHECK "--match=round 2 is right"
       RUN $<TARGET_FILE:oclspkt-petsc-rounds> -dll_append ${fakes}/lonely/liboclspkt.so -pc_oclspkt_devices host)
expect(Flavours.MayBePrepended CHECK "--match=CONVERGED_RTOL iterations 1\n" "--match=type: oclspkt"
       RUN $<TARGET_FILE:foreign-ksp-ex23> -dll_prepend ${plugin} -pc_type oclspkt -ksp_view -ksp_converged_reason)

expect(Flavours.AreNotBesideASolverAlone
       CHECK --rc=76 "--match=liboclspkt-solver.so, which is a part of oclspkt. Name liboclspkt.so instead"
             "--match=cannot be used: ${fakes}/alone/liboclspkt.so: cannot open"
       RUN $<TARGET_FILE:foreign-ksp-ex23> -dll_append ${fakes}/alone/liboclspkt-solver.so -pc_type oclspkt)

# Headers of a build of PETSc whose objects have members more, unless this one has them, too.
foreach(what SAWS DEVICE)
  string(TOLOWER ${what} name)
  file(STRINGS ${OCLSPKT_PETSCCONF_DIR}/petscconf.h has REGEX "define PETSC_HAVE_${what}( |$)")
  if(has)
    continue()
  endif()
  set(program oclspkt-layout-of-${name})
  add_executable(${program} other_layout.cxx ${PROJECT_SOURCE_DIR}/plugin/petsc/check_flavour.cxx
                 ${PROJECT_SOURCE_DIR}/plugin/petsc/flavour.cpp)
  target_compile_definitions(${program} PRIVATE PETSC_HAVE_${what}=1)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/plugin/petsc ${PROJECT_SOURCE_DIR}/plugin/include)
  target_link_libraries(${program} PRIVATE oclspkt_flags PkgConfig::PETSC MPI::MPI_C)
  expect(Flavours.RefuseAnotherLayout.${name} CHECK --rc=failure "--match=lay out PC and Mat in another way" --without=^ran
         RUN $<TARGET_FILE:${program}>)
endforeach()

# Programs of the other builds of PETSc beside ours, and of Debian's.
file(GLOB other_builds ${PETSC_PREFIX}/../../petsc*/*/include/petscconf.h /usr/lib/petscdir/petsc*/*/include/petscconf.h)
list(TRANSFORM other_builds REPLACE "/include/petscconf.h$" "")
set(roots "")
foreach(root IN LISTS other_builds)
  file(REAL_PATH ${root} root)
  list(APPEND roots ${root})
endforeach()
list(REMOVE_DUPLICATES roots)
set(refused 0)
foreach(root IN LISTS roots)
  file(GLOB library ${root}/lib/libpetsc*.so)
  oclspkt_petsc_kind(${root}/include kind unsupported ${root}/../include)
  if(TARGET oclspkt_petsc_${kind} OR TARGET wrong-flavour-${kind} OR kind STREQUAL OCLSPKT_PETSC_KIND OR NOT library)
    continue()
  endif()
  # 3.24-real-64 in the words of the message.
  string(REGEX MATCH "^[0-9.]+" version ${kind})
  set(found "PETSc ${version} with [a-z]+ scalars .*32-bit indices")
  if(kind MATCHES "-64")
    string(REPLACE 32 64 found "${found}")
  endif()
  string(REGEX MATCH "real|complex" scalars ${kind})
  string(REPLACE "[a-z]+" ${scalars} found "${found}")
  if(unsupported)
    set(cure "--match=supports only PETSc in double precision")
  else()
    set(cure "--match=which has those for: .*${OCLSPKT_PETSC_KIND}"
             "--match=cmake -B build/petsc-${kind} -DPETSC_DIR=/.* -DOCLSPKT_SOLVER_FOLDER=${PROJECT_BINARY_DIR}/lib -DCMAKE_INSTALL_PREFIX=${PROJECT_BINARY_DIR}\n"
             "--match=cmake --build build/petsc-${kind} --target install-flavours")
  endif()
  set(program wrong-flavour-${kind})
  add_executable(${program} wrong_flavour.c)
  # A PETSc that is not installed has most headers beside the folder of its arch.
  target_include_directories(${program} PRIVATE ${root}/include ${root}/../include)
  target_link_libraries(${program} PRIVATE ${library} MPI::MPI_C)
  expect(RefusesAProgramOf.${kind}
         CHECK --rc=failure "--match=This program runs ${found}" ${cure} --without=^ran
         RUN $<TARGET_FILE:${program}> -dll_append ${plugin})
  if(refused EQUAL 0)
    expect(RefusesAProgramOfOtherKindOnSeveralRanks LABELS mpi
           CHECK --rc=failure "--match=0.PETSC ERROR: This program runs ${found}" --without=^ran
           RUN ${MPIEXEC_EXECUTABLE} -n 3 $<TARGET_FILE:${program}> -dll_append ${plugin})
  endif()
  math(EXPR refused "${refused} + 1")
endforeach()
message(STATUS "oclspkt: ${refused} other builds of PETSc to be refused")

# The plugins of two builds in one folder, as the message above says: one path for programs of both.
set(other_build ${OCLSPKT_SOLVER_FOLDER}/..)
if(OCLSPKT_SOLVER_FOLDER AND EXISTS ${other_build}/cmake_install.cmake)
  set(both ${CMAKE_CURRENT_BINARY_DIR}/both)
  set(one_path ${both}/${CMAKE_INSTALL_LIBDIR}/liboclspkt.so)
  petsc_test(Flavours.GoBesideOthers COMMAND ${CMAKE_COMMAND} -DOTHER=${other_build} -DBUILD=${PROJECT_BINARY_DIR} -DPREFIX=${both}
             -P ${CMAKE_CURRENT_SOURCE_DIR}/install_both.cmake)
  set_tests_properties(petsc.Flavours.GoBesideOthers PROPERTIES FIXTURES_SETUP both_flavours)
  set(solves --match=type:\ oclspkt "--match=CONVERGED_RTOL iterations 1")
  set(by_one_path -dll_append ${one_path} -pc_type oclspkt -ksp_view -ksp_converged_reason)
  expect(Flavours.HaveOnePath.this CHECK ${solves} RUN $<TARGET_FILE:foreign-ksp-ex23> ${by_one_path})
  expect(Flavours.HaveOnePath.petsc4py CHECK ${solves}
         RUN ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/solve.py ${by_one_path})
  set_tests_properties(petsc.Flavours.HaveOnePath.this petsc.Flavours.HaveOnePath.petsc4py PROPERTIES
                       FIXTURES_REQUIRED both_flavours)
endif()
