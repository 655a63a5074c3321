// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery.hpp"
#include "oclspkt/export.hpp"
#include "opencl.hpp"
#include "program_maker.hpp"

namespace oclspkt::ocl {

/// A kernel for which a device needs a program.
struct WantedProgram {
  std::string kernel;
  std::string source;   ///< the OpenCL C text
  std::string options;  ///< build options for a compiler of OpenCL C
};

/// The kernel and the device that a program file is for. File FILE has its note in FILE.json.
struct ProgramNote {
  std::string device, platform, driver;  ///< names and version as the driver reports them
  std::string kernel;
  std::string scalar;       ///< float or double
  std::string form;         ///< one of kFormNames
  std::int64_t rows = 0;    ///< rows of a block; 0: the kernel has no blocks
  std::string options;      ///< the result of ordered_options()
  std::string source;       ///< SHA-256 of the text
  std::int64_t length = 0;  ///< bytes of the file
  std::string checksum;     ///< SHA-256 of the file
  bool operator==(const ProgramNote&) const = default;
};

/// Returns the words of build options, sorted and each once. Equivalent options give equal texts.
OCLSPKT_API std::string ordered_options(const std::string& options);

/// Returns the note of a program for a device; length and checksum are those of `bytes`.
OCLSPKT_API ProgramNote note_of(const WantedProgram& wanted, const std::string& device, const std::string& platform,
                                const std::string& driver, const std::vector<unsigned char>& bytes);

/// Returns the name of a program's file without its ending, such as task_spkjac_f32_m32.
OCLSPKT_API std::string program_name(const WantedProgram& wanted);

/// @throws InvalidInput if the note cannot be written
OCLSPKT_API void write_note(const std::string& file, const ProgramNote& note);

/// Write FILE and FILE.json. @throws InvalidInput if a file cannot be written
OCLSPKT_API void write_program(const std::string& file, const ProgramNote& note,
                               const std::vector<unsigned char>& bytes);

/// Read FILE.json.
/// @throws BuildError that names the file, the cause and the cure
OCLSPKT_API ProgramNote read_note(const std::string& file);

/// Returns the bytes of a file if it is a program for this kernel and device. Everything is checked, because some
/// drivers end the process when they load a damaged program.
/// @throws BuildError that names the file, the cause and the cure
OCLSPKT_API std::vector<unsigned char> read_program(const std::string& file, const DeviceInfo& device,
                                                    const WantedProgram& wanted);

/// Find a program along a path and load it.
/// @param path  files and folders joined by colons. In a folder, files for other kernels or devices are ignored
/// @return nothing if the path has no file for this kernel and these options
/// @throws BuildError that names the file, the cause and the cure: if a file is damaged or of another text, if a named
///         file is for another device, or if the driver rejects the program
OCLSPKT_API std::optional<cl::Program> load_program(const FoundDevice& device, const cl::Context& context,
                                                    const std::string& path, const WantedProgram& wanted);

/// Explains why load_program() finds nothing, by the first program of that kernel: "FILE is for scalar double, not
/// float". Empty if the kernel has no program.
/// @throws BuildError
OCLSPKT_API std::string nearest_program(const std::string& path, const DeviceInfo& device, const WantedProgram& wanted);

/// Returns the bytes of a program that was built for one device.
/// @throws cl::Error
OCLSPKT_API std::vector<unsigned char> bytes_of_program(const cl::Program& program);

ProgramMaker& program_maker();

}  // namespace oclspkt::ocl
