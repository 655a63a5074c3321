# SPDX-License-Identifier: BSD-2-Clause
# Other releases of PETSc than Debian's, from the source packages on PyPI, each built once for all clones: PETSc bakes its
# folder into its libraries.
KEPT=${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/oclspkt

# What the plugin needs of PETSc, and no more: without optimisation it compiles in a third of the time.
PETSC_CONFIGURE=(--with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-cudac=0 --with-hipc=0 --with-syclc=0
  --with-debugging=0 COPTFLAGS=-O0 CXXOPTFLAGS=-O0 --with-shared-libraries=1
  "--with-blaslapack-lib=-llapack -lblas" --with-x=0 --with-ssl=0 --with-hwloc=0 --with-valgrind=0)

# What the word viennacl stands for.
PETSC_VIENNACL=(--with-viennacl --with-viennacl-dir=/usr --with-opencl-dir=/usr)

# What the word kokkos stands for: Kokkos and Kokkos Kernels 4.5.1, which this package on PyPI brings as source. Debian's
# are older than PETSc takes.
KOKKOS_VERSION=4.5.1
KOKKOS_SOURCE=https://files.pythonhosted.org/packages/ef/9b/282133c69b9dfb6fff5861a059336caedfef3bb5983242d433c83c56f327/pycompadre-1.7.6.tar.gz
KOKKOS_SHA256=c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c
KOKKOS_CONFIGURE=(-DCMAKE_CXX_COMPILER=mpicxx -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
  -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_COMPLEX_ALIGN=OFF)
# No kernel is compiled ahead of time: the few that PETSc calls are compiled with it, out of the headers.
KOKKOS_KERNELS_CONFIGURE=(-DKokkosKernels_ADD_DEFAULT_ETI=OFF)

# download_petsc VERSION FOLDER: the source package of a release such as 3.22.4, or of the newest 3.22.
download_petsc() {
  local version=$1 folder=$2 venv=$PWD/build/pip
  [[ $version =~ ^[0-9]+\.[0-9]+$ ]] && version+='.*'
  [ -x "$venv/bin/pip" ] || /usr/bin/python3 -m venv "$venv" || return
  "$venv/bin/pip" download --quiet --disable-pip-version-check --no-cache-dir --no-binary petsc --no-deps \
    --dest "$folder" "petsc==$version"
}

# build_kokkos: unless it is there already. Sets petsc_kokkos, the options of PETSc's configure that name it.
build_kokkos() {
  local key folder begin=$SECONDS
  key=$(printf '%s\n' "$KOKKOS_SHA256" "${KOKKOS_CONFIGURE[@]}" "${KOKKOS_KERNELS_CONFIGURE[@]}" | sha256sum | cut -c 1-8)
  folder=$KEPT/kokkos-$KOKKOS_VERSION-$key
  petsc_kokkos=("--with-kokkos-dir=$folder" "--with-kokkos-kernels-dir=$folder")
  if [ -f "$folder/built" ]; then
    return
  fi
  echo "== building Kokkos $KOKKOS_VERSION"
  rm -rf "$folder"
  mkdir -p "$folder/source"
  if ! (
    cd "$folder/source" &&
      curl --fail --silent --show-error --location --max-time 300 --output package.tar.gz "$KOKKOS_SOURCE" &&
      echo "$KOKKOS_SHA256  package.tar.gz" | sha256sum --check &&
      tar -xzf package.tar.gz --strip-components=1 &&
      install_kokkos_part kokkos &&
      install_kokkos_part kokkos-kernels "-DKokkos_ROOT=$folder" "${KOKKOS_KERNELS_CONFIGURE[@]}"
  ) >"$folder.log" 2>&1; then
    tail -n 40 "$folder.log" >&2
    echo "run.sh: Kokkos $KOKKOS_VERSION did not build, see $folder.log" >&2
    return 1
  fi
  rm -rf "$folder/source"
  touch "$folder/built"
  echo "== built Kokkos $KOKKOS_VERSION in $((SECONDS - begin)) s"
}

# install_kokkos_part NAME [cmake options]: one of the two projects in this folder, into the one above.
install_kokkos_part() {
  cmake -G Ninja -S "$1" -B "build-$1" "-DCMAKE_INSTALL_PREFIX=${PWD%/*}" "${KOKKOS_CONFIGURE[@]}" "${@:2}" &&
    cmake --build "build-$1" -j "$JOBS" --target install
}

# build_petsc VERSION [options of PETSc's configure]: unless it is there already; of 3.26 the newest release is looked for.
# Sets petsc_dir and petsc_arch, by which CMake finds it. mpicc calls the compiler in OMPI_CC if it is set: Clang takes less
# than half the time of GCC if headers are precompiled.
build_petsc() {
  local version=$1 key package=$PWD/build/petsc-package configure=("${PETSC_CONFIGURE[@]}" "${@:2}")
  key=$(printf '%s\n' "${configure[@]}" ${OMPI_CC:+"$OMPI_CC"} | sha256sum | cut -c 1-8)
  rm -rf "$package"
  if [[ $version =~ ^[0-9]+\.[0-9]+$ ]]; then
    download_petsc "$version" "$package" || return
    version=$(basename "$package"/petsc-*.tar.gz .tar.gz) version=${version#petsc-}
  fi
  petsc_dir=$KEPT/petsc-$version-$key petsc_arch=oclspkt
  mkdir -p "$KEPT"
  # Two clones may want it at once.
  (flock 9 && { [ -f "$petsc_dir/$petsc_arch/built" ] || make_petsc; }) 9>"$petsc_dir.lock"
}

# make_petsc: the work of build_petsc, out of its variables.
make_petsc() {
  local begin=$SECONDS log=$petsc_dir.log
  echo "== building PETSc $version in $petsc_dir, which takes some minutes"
  rm -rf "$petsc_dir"
  mkdir -p "$petsc_dir"
  [ -d "$package" ] || download_petsc "$version" "$package" || return
  tar -xzf "$package"/petsc-*.tar.gz -C "$petsc_dir" --strip-components=1 || return
  if ! (
    cd "$petsc_dir" && export PETSC_DIR=$petsc_dir PETSC_ARCH=$petsc_arch &&
      /usr/bin/python3 ./configure "${configure[@]}" "--with-make-np=$JOBS" && precompile_headers &&
      make -f gmakefile -j "$JOBS" libs "CFLAGS=$petsc_cflags"
  ) >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "run.sh: PETSc $version did not build, see $log" >&2
    return 1
  fi
  rm -rf "$package" "$petsc_dir/$petsc_arch"/{obj,all.h,all.h.pch}
  touch "$petsc_dir/$petsc_arch/built"
  echo "== built PETSc $version in $((SECONDS - begin)) s"
}

# precompile_headers: PETSc's own, for the Clang in OMPI_CC if it is set. Sets petsc_cflags, by which Clang finds them. Some
# files of PETSc define the macro before they include headers.
precompile_headers() {
  local headers=$petsc_dir/$petsc_arch/all.h flags
  petsc_cflags=
  [ -n "${OMPI_CC:-}" ] || return 0
  petsc_cflags="-w -include $headers"
  printf '%s\n' '#define PETSC_DESIRE_FEATURE_TEST_MACROS' '#include <petsc.h>' \
    '#include <petsc/private/'{petsc,vec,mat,dm,ksp,pc,snes,ts}'impl.h>' >"$headers"
  mapfile -t flags < <(sed -n 's/^\(CC_FLAGS\|PETSC_CC_INCLUDES\) = //p' "$petsc_arch/lib/petsc/conf/petscvariables" | xargs -n 1)
  mpicc "${flags[@]}" -w -c -x c-header "$headers" -o "$headers.pch"
}

# build_petsc4py: petsc4py of the same release for the PETSc of build_petsc. Sets petsc4py_python, the interpreter
# that has it; empty if it cannot be built, and its tests are skipped. Newer Cythons do not compile petsc4py 3.22.
build_petsc4py() {
  local version venv=$petsc_dir/venv begin=$SECONDS
  version=$(sed -n 's/^Version: //p' "$petsc_dir/PKG-INFO")
  petsc4py_python=$venv/bin/python
  if [ -f "$venv/built" ]; then
    return
  fi
  echo "== building petsc4py $version, which takes some minutes"
  rm -rf "$venv"
  if ! (
    /usr/bin/python3 -m venv "$venv" &&
      "$venv/bin/pip" install --disable-pip-version-check --no-cache-dir numpy "cython<3.1" setuptools wheel &&
      PETSC_DIR=$petsc_dir PETSC_ARCH=$petsc_arch CC=mpicc CFLAGS=-O0 "$venv/bin/pip" install --disable-pip-version-check \
        --no-cache-dir --no-build-isolation --no-deps --no-binary petsc4py "petsc4py==$version"
  ) >"$petsc_dir/petsc4py.log" 2>&1; then
    echo "run.sh: petsc4py $version did not build, see $petsc_dir/petsc4py.log" >&2
    petsc4py_python=
    return
  fi
  touch "$venv/built"
  echo "== built petsc4py $version in $((SECONDS - begin)) s"
}
