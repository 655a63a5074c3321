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

/// Figures measured on a family of devices: tables of numbers by name. The library contains the files of the source
/// folder tuning/, which explain each table. A user's file may replace tables for some devices.
class OCLSPKT_API Tuning {
 public:
  static constexpr std::size_t kMostColumns = 5;
  using Row = std::array<double, kMostColumns>;
  struct Table {
    std::string columns;  ///< names of the columns; a name decides which values its column allows
    std::vector<Row> rows;
  };
  using Tables = std::map<std::string, Table, std::less<>>;

  /// Read a file of lines `devices = WORD, ...` and `NAME [COLUMNS] = NUMBERS; NUMBERS`.
  /// @param file   name of the file, for errors
  /// @param known  figures with all allowed tables; null: any table is allowed
  /// @throws InvalidInput that names the line and its correct form
  Tuning(const std::string& file, const std::string& text, const Tuning* known = nullptr);

  /// All tables of the files in tuning/. If several files have a table of the same name, the first file counts.
  static const Tuning& built_in();
  /// The figures of a device, from the first file with a word (`devices = WORD, ...`) that is part of the device's
  /// name, or from built_in(). The user's file, which the variable OCLSPKT_TUNING names, comes before the library's
  /// files. The result lives until the process ends.
  /// @throws InvalidInput if the user's file cannot be read or has errors
  static const Tuning& of_device(const std::string& device);
  /// Use `text` as the content of a user's file, for all later plans.
  /// @throws InvalidInput for errors in `text`, which then has no effect
  static void use(const std::string& file, const std::string& text);

  /// The rows of a table, at least one. They come from built_in() if these figures lack the table.
  /// @throws InvalidInput if neither has the table
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

inline const Tuning& figures_of(const DeviceTraits& traits) {
  return traits.figures != nullptr ? *traits.figures : Tuning::built_in();
}

}  // namespace oclspkt
