// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

namespace oclspkt::test::fake {

/// Counts calls by name, and lets some fail. Not safe for threads.
class Calls {
 public:
  void forget() { *this = {}; }
  void fail(const std::string& function, int first, int result, int times) {
    rule_ = {function, first, result, times};
    seen_ = 0;
  }
  /// Note a call. @return what it answers in place of being done; 0: it is done
  int enter(const std::string& function) {
    ++counts_[function];
    if (rule_.times == 0 || (!rule_.function.empty() && rule_.function != function)) return 0;
    const int number = seen_++;
    if (number < rule_.first || number - rule_.first >= rule_.times) return 0;
    ++failed_;
    return rule_.result;
  }
  int count(const std::string& function) const {
    const auto at = counts_.find(function);
    return at != counts_.end() ? at->second : 0;
  }
  int failed() const { return failed_; }

 private:
  struct Rule {
    std::string function;
    int first = 0, result = 0, times = 0;
  };
  std::map<std::string, int> counts_;
  Rule rule_;
  int seen_ = 0, failed_ = 0;
};

}  // namespace oclspkt::test::fake
