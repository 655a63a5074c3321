# SPDX-License-Identifier: BSD-2-Clause
# What the plugin does to programs that know nothing of it, in plain words.

PLUGIN=$PWD/build/release/lib/liboclspkt.so
DEMO=$PWD/build/demo
ROWS=1000000
# Open MPI refuses to start as root, which is usual in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

say() { printf '\n== %s\n' "$*"; }

# show COMMAND...: print the command as a user would type it, run it, keep its output in $DEMO/output.
show() {
  local status=0
  printf '$'
  printf ' %s' "$@"
  echo
  "$@" >"$DEMO/output" 2>&1 || status=$?
  cat "$DEMO/output"
  if [ "$status" -ne 0 ]; then
    echo "run.sh: that ended with exit code $status" >&2
    exit 1
  fi
}

# field NAME: what the view says after "NAME: ".
field() { sed -n "s/^ *$1: //p" "$DEMO/output" | head -n 1; }

# Iterations of the last linear solve, and the error that ex23 prints (it prints none if it is below 2.2e-13).
iterations() { sed -n 's/.*converged due to .* iterations \([0-9]*\).*/\1/p' "$DEMO/output" | tail -n 1; }
ex23_error() {
  local error
  error=$(sed -n 's/^Norm of error \([^,]*\),.*/\1/p' "$DEMO/output")
  echo "${error:-below 2.2e-13}"
}

# PETSc's own program, compiled from the source that Debian installs, without a line of it changed.
compile_ex23() {
  local source=/usr/share/petsc/3.18/share/petsc/examples/src/ksp/ksp/tutorials/ex23.c flags
  read -ra flags <<<"$(pkg-config --cflags --libs petsc)"
  [ "$DEMO/ex23" -nt "$source" ] || mpicc -O2 -o "$DEMO/ex23" "$source" "${flags[@]}" -lm
}

# Rows of the closing table.
table=()
remember() { table+=("$(printf '%-26s %-17s %-34.34s %10s   %s' "$@")"); }

run_ex23() {
  local common=(-n "$ROWS" -ksp_converged_reason) ours=(-dll_append "$PLUGIN" -pc_type oclspkt)
  say "1. PETSc's ksp/tutorials/ex23 with PETSc's own direct solver: -pc_type lu"
  show "$DEMO/ex23" "${common[@]}" -pc_type lu
  remember "PETSc's LU" lu processor "$(iterations)" "$(ex23_error)"

  say "2. The same program; two options load the plugin and select it"
  show "$DEMO/ex23" "${common[@]}" "${ours[@]}"
  check_one_iteration
  explain_choice
  remember "plugin, device auto" "$(field method | cut -d, -f1)" "$(field device | sed 's/,.*//')" "$(iterations)" \
    "$(ex23_error)"

  say "3. The same again, told to use the processor through OpenCL"
  show "$DEMO/ex23" "${common[@]}" "${ours[@]}" -pc_oclspkt_devices cpu
  check_one_iteration
  explain_choice
  remember "plugin, OpenCL cpu" "$(field method | cut -d, -f1)" "$(field device | sed 's/ (cpu.*//')" "$(iterations)" \
    "$(ex23_error)"
}

check_one_iteration() {
  if [ "$(iterations)" != 1 ]; then
    echo "run.sh: one iteration was expected of an exact preconditioner, not '$(iterations)'" >&2
    exit 1
  fi
}

explain_choice() {
  cat <<TEXT

   In words: the matrix is the 1-D Laplacian with $ROWS rows, whose rows are dominant by nothing
   (2 = 1 + 1), so that cutting it into pieces is not allowed to neglect anything.
   The plugin took the method '$(field method | cut -d, -f1)' because: $(field method | cut -d' ' -f2-).
   It ran on: $(field device).
   GMRES was done after $(iterations) iteration; ex23 measured the error $(ex23_error).
TEXT
}

run_heat() {
  local heat=build/release/bin/heat
  say "4. The heat equation, 50 implicit steps of $ROWS rows, checked against the analytic solution (examples/heat.c)"
  show "$heat" -n "$ROWS" -steps 50 -pc_oclspkt_devices cpu -ts_view
}

run_heat2d() {
  local picture=$DEMO/heat2d.png
  say "5. The heat equation on a grid: two tridiagonal solves a step, along x and along y (examples/heat2d.c)"
  show build/release/bin/heat2d -plot "$DEMO/heat2d.csv" -vtk "$DEMO/heat2d.vts"
  cat <<TEXT

   In words: each solve took all lines of the grid at once, exactly. Halving the time step quarters the error in time,
   as the method promises (order 2); 'the method' says that the solves themselves added rounding and nothing else.
TEXT
  if /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
    show /usr/bin/python3 examples/plot.py "$DEMO/heat2d.csv" "$picture"
    echo "   The picture of the solution lies in $picture"
  else
    echo "   No picture: matplotlib is missing (Debian: python3-matplotlib). The numbers lie in $DEMO/heat2d.csv"
  fi
  echo "   For ParaView and its like: $DEMO/heat2d.vts"
}

run_demo() {
  local heat_error
  build_release plugin/all examples/all
  mkdir -p "$DEMO"
  compile_ex23
  say "The OpenCL devices of this machine"
  show build/release/bin/oclspkt-devices
  run_ex23
  run_heat
  heat_error=$(grep 'largest error' "$DEMO/output")
  run_heat2d
  say "What happened"
  printf '%-26s %-17s %-34s %10s   %s\n' "ex23, $ROWS rows" method "solved on" iterations "error (2-norm)"
  printf '%s\n' "${table[@]}"
  cat <<TEXT

ex23's right answer is a vector of $ROWS ones; its matrix has the condition number 4e11, so errors around 1e-9 are
what double precision gives. The heat equation was solved too: $heat_error.
TEXT
}
