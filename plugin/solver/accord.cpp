// SPDX-License-Identifier: BSD-2-Clause
#include "accord.hpp"

#include <algorithm>
#include <string>

namespace oclspkt {
namespace {

/// How many characters of an error text other processes get.
constexpr std::size_t kMostText = 500;

/// The kind of an exception, as other processes learn it.
enum class Kind { breakdown, invalid, not_finite };

std::string text_of(const std::exception_ptr& exception, Kind& kind) {
  kind = Kind::breakdown;
  try {
    std::rethrow_exception(exception);
  } catch (const InvalidInput& error) {
    kind = Kind::invalid;
    return error.what();
  } catch (const NotFinite& error) {
    kind = Kind::not_finite;
    return error.what();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

}  // namespace

void Accord::agree(std::vector<double>& values) {
  const int size = exchange_.size();
  values.push_back(own_ ? size - exchange_.rank() : 0);  // the first process that failed gives the largest value
  exchange_.largest(values);
  const double failed = values.back();
  values.pop_back();
  if (failed > 0) tell(size - static_cast<int>(failed));
}

/// Send the text as numbers, because an exchange can give nothing else to all processes.
void Accord::tell(int process) {
  std::vector<double> text(kMostText + 1, 0);
  Kind kind = Kind::breakdown;
  if (process == exchange_.rank()) {
    const std::string own = text_of(own_, kind);
    text[0] = static_cast<double>(kind);
    for (std::size_t i = 0; i < std::min(own.size(), kMostText); ++i) text[i + 1] = static_cast<unsigned char>(own[i]);
  }
  exchange_.largest(text);
  if (own_) std::rethrow_exception(own_);
  std::string told = "process " + std::to_string(process) + ": ";
  for (std::size_t i = 1; i < text.size() && text[i] > 0; ++i) told.push_back(static_cast<char>(text[i]));
  kind = static_cast<Kind>(static_cast<int>(text[0]));
  if (kind == Kind::invalid) throw InvalidInput(told);
  if (kind == Kind::not_finite) throw NotFinite(told);
  throw Breakdown(told);
}

}  // namespace oclspkt
