// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "oclspkt/export.hpp"
#include "plan.hpp"

namespace oclspkt {

/// Figures that were measured on a family of devices: tables of numbers by name. The files in tuning/ of the source
/// tree, which are part of the library, say what each means; a user's file replaces some for other devices.
class OCLSPKT_API Tuning {
 public:
  static constexpr std::size_t kMostColumns = 5;
  using Row = std::array<double, kMostColumns>;
  struct Table {
    std::string columns;  ///< their names, which say what values they take
    std::vector<Row> rows;
  };
  using Tables = std::map<std::string, Table, std::less<>>;

  /// Read a file of lines `devices = WORD, ...` and `NAME [COLUMNS] = NUMBERS; NUMBERS`.
  /// @param file   its name, for errors
  /// @param known  the tables that there are; null: all are new
  /// @throws InvalidInput that names the line and what it should be
  Tuning(const std::string& file, const std::string& text, const Tuning* known = nullptr);

  /// The figures of the files in tuning/, the first of a name.
  static const Tuning& built_in();
  /// Those of the first file that has a word of a device's name, the user's before those of the library; else
  /// built_in(). OCLSPKT_TUNING names the user's file. They live until the process ends.
  /// @throws InvalidInput if that file cannot be read or is wrong
  static const Tuning& of_device(const std::string& device);
  /// Take `text` for the user's file, for plans that are made from now on.
  /// @throws InvalidInput, and then nothing changes
  static void use(const std::string& file, const std::string& text);

  /// The rows of a table, at least one; those of built_in() where this file has none.
  /// @throws InvalidInput if there is no such table
  const std::vector<Row>& rows(std::string_view name) const;
  double number(std::string_view name, std::size_t column = 0) const { return rows(name).front()[column]; }
  Index count(std::string_view name, std::size_t column = 0) const { return static_cast<Index>(number(name, column)); }
  const Tables& tables() const { return tables_; }
  bool names(const std::string& device) const;

 private:
  void read_line(const std::string& line, const Tuning* known);
  std::vector<std::string> devices_;
  Tables tables_;
};

/// The figures for the device of some traits.
inline const Tuning& figures_of(const DeviceTraits& traits) {
  return traits.figures != nullptr ? *traits.figures : Tuning::built_in();
}

}  // namespace oclspkt
