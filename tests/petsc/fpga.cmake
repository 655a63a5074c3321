# SPDX-License-Identifier: BSD-2-Clause
# PETSc's programs and ours on devices with FPGAs, which are emulated here. The view tells which scheme solves; the host in
# the device's place is a failure (foreign.py).
# Beside what is preloaded for PETSc in builds with sanitizers (tests/sanitizers/keep_mapped.c) the emulator's driver ends the
# process; tests/solver has the emulator there.
if(NOT OCLSPKT_WITH_OPENCL OR OCLSPKT_SANITIZE)
  return()
endif()

# One for each scheme and several directions; `./run.sh test` leaves the others to `./run.sh test all`.
set(few_on_fpga from-a-file petsc4py lines.ksp-ex50)

# fpga_test(NAME SCHEMES scheme... CHECK ... RUN program... [OUTER ...] [RANKS n]): see foreign.py and foreign_test().
function(fpga_test name)
  cmake_parse_arguments(ARG "" "RANKS" "SCHEMES;CHECK;RUN;OUTER" ${ARGN})
  set(labels device)
  if(NOT name IN_LIST few_on_fpga)
    list(APPEND labels slow)
  endif()
  if(ARG_RANKS)
    list(APPEND labels mpi)
    list(APPEND ARG_CHECK --ranks ${ARG_RANKS})
  endif()
  list(TRANSFORM ARG_SCHEMES PREPEND "--scheme=")
  list(JOIN ARG_OUTER " " outer)
  petsc_test(fpga.${name} LABELS ${labels}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/foreign.py --plugin ${plugin} --device fpga
                     --mpiexec ${MPIEXEC_EXECUTABLE} ${ARG_SCHEMES} ${ARG_CHECK} "--outer=${outer}" -- ${ARG_RUN})
  set_tests_properties(petsc.fpga.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

set(bin $<TARGET_FILE_DIR:foreign-ksp-ex23>)
foreach(program "ksp-ex1 fpga-tdma ksp" "ksp-ex23 fpga-tdma ksp -n 1000" "ksp-ex25 fpga-tdma ksp -da_grid_x 1000"
        "ksp-ex65 fpga-tdma monitor" "ksp-ex1f fpga-tdma ksp" "snes-ex2 fpga-tdma snes -n 1000"
        "snes-ex3 fpga-tdma snes -n 1000" "ts-ex2 fpga-tdma ts -M 600" "ts-ex3 fpga-spkjac ts -m 600 -ts_type beuler"
        "ts-ex4 fpga-spkjac ts -m 600 -ts_type beuler" "ts-ex22 fpga-batch ts" "tao-blackscholes fpga-tdma tao -ms 400")
  separate_arguments(program)
  list(POP_FRONT program name scheme solution)
  if(NOT TARGET foreign-${name})  # in Fortran
    continue()
  endif()
  fpga_test(${name} SCHEMES ${scheme} CHECK --one-iteration --solution ${solution} RUN ${bin}/foreign-${name}
            OUTER ${program})
endforeach()
if(petsc4py_is_ours)
  fpga_test(petsc4py SCHEMES fpga-spkjac CHECK --one-iteration --solution ksp
            RUN ${OCLSPKT_PETSC4PY_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/solve.py)
endif()
fpga_test(lines.ksp-ex50 SCHEMES fpga-spkjac fpga-batch RUN ${bin}/foreign-ksp-ex50
          CHECK ${neumann} --iterations 89 "--inner=-pc_oclspkt_lines x,y"
          OUTER -da_grid_x 65 -da_grid_y 65 -ksp_rtol 1e-10)
fpga_test(lines.ksp-ex45 SCHEMES fpga-spkjac fpga-batch RUN ${bin}/foreign-ksp-ex45 OUTER ${ex45_grid}
          CHECK --solution ksp --iterations 27 "--inner=-pc_oclspkt_lines x,y,z -pc_oclspkt_combine factored")
fpga_test(lines.ts-ex13 SCHEMES fpga-spkjac fpga-batch RUN ${bin}/foreign-ts-ex13
          CHECK --solution ts --iterations 18 "--inner=-pc_oclspkt_lines x,y"
          OUTER -da_grid_x 20 -da_grid_y 20 -ts_max_steps 20 -ksp_rtol 1e-12)
# Two ranks: each its own line by the emulator, and one line over both.
fpga_test(bjacobi.2 SCHEMES fpga-tdma RANKS 2 RUN ${bin}/foreign-ksp-ex23 CHECK --solution ksp --prefix sub_
          OUTER -n 1000 -pc_type bjacobi -ksp_rtol 1e-12 -ksp_max_it 1000)
fpga_test(long-line.2 SCHEMES fpga-tdma RANKS 2 RUN ${bin}/foreign-ksp-ex23 OUTER -n 1000
          CHECK --solution own --one-iteration "--expect=Norm of error [0-9.]+e-1")
# Ours check their own answers.
if(OCLSPKT_EXAMPLES)
  fpga_test(heat SCHEMES fpga-tdma CHECK --solution own --one-iteration RUN $<TARGET_FILE:heat>)
  fpga_test(heat3d SCHEMES fpga-spkjac fpga-batch CHECK --solution own RUN $<TARGET_FILE:heat3d>)
endif()

# A program that oclspkt-fpga-build made of the kernel, in place of its text.
if(TARGET oclspkt-fpga-build)
  set(programs ${CMAKE_CURRENT_BINARY_DIR}/fpga-programs)
  file(MAKE_DIRECTORY ${programs})
  petsc_test(fpga.BuildsAProgram LABELS device COMMAND oclspkt-fpga-build --scalar double --form symmetric
             --out ${programs} tdma)
  fpga_test(from-a-file SCHEMES fpga-tdma CHECK --one-iteration --solution ksp "--inner=-pc_oclspkt_fpga_binary ${programs}"
            RUN ${bin}/foreign-ksp-ex23 OUTER -n 1000)
  set_tests_properties(petsc.fpga.BuildsAProgram PROPERTIES FIXTURES_SETUP fpga_programs)
  set_tests_properties(petsc.fpga.from-a-file PROPERTIES FIXTURES_REQUIRED fpga_programs)
endif()

# One system over all devices and the emulator, which has to be named.
set(ex23 $<TARGET_FILE:foreign-ksp-ex23> -dll_append ${plugin} -pc_type oclspkt -ksp_converged_reason)
set(seconds "[0-9.e-]+[1-9][0-9.e-]* s")
expect(fpga.SharesWithAllDevices LABELS device
       CHECK "--match=CONVERGED_RTOL iterations 1" "--match=Norm of error [0-9.]+e-(0[6-9]|1)"
             "--match=share: [0-9.]+ % of the rows, [0-9]+, on .*\\(cpu, Portable"
             "--match=share: [0-9.]+ % of the rows, [0-9]+, on .*\\(cpu, Intel"
             "--match=share: [0-9.]+ % of the rows, [0-9]+, on .*\\(emulated fpga, .*one work-item, blocks of 32 rows"
             "--match=share of pthread.*: predicted ${seconds}, measured ${seconds}"
             "--match=share of .*FPGA.*, emulated: predicted ${seconds}, measured ${seconds}"
             "--match=shares together: predicted ${seconds} an apply, measured ${seconds}"
       RUN ${ex23} -n 30000 -pc_oclspkt_devices all,emulation -pc_oclspkt_balance even -pc_oclspkt_profile none
           -ksp_view ::ascii_info_detail)
# A device that does not finish in time is abandoned.
expect(fpga.LosesTheEmulatorAndSaysSo LABELS device ENV ${late_events}
       CHECK "--match=PCOCLSPKT degraded: .*FPGA.*its rows are solved on host" "--match=CONVERGED_RTOL iterations 1"
             "--match=device: host \\(host\\), every device of 'fpga' failed" "--match=degraded: .*did not finish within"
       RUN ${ex23} -n 100000 -pc_oclspkt_devices fpga -pc_oclspkt_timeout 1e-9 -ksp_view)
