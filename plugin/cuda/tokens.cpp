// SPDX-License-Identifier: BSD-2-Clause
#include "tokens.hpp"

#include <cctype>

namespace oclspkt::cuda {
namespace {

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Token> read() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  char now() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void skip_to(std::size_t to) { at_ = to < text_.size() ? to : text_.size(); }

  void step() {
    if (sees("\\\n")) {
      at_ += 2;
    } else if (now() == '\n') {
      ++at_;
      begins_line_ = true;
      inside_ = 0;
    } else if (std::isspace(static_cast<unsigned char>(now())) != 0) {
      ++at_;
    } else if (sees("//")) {
      skip_to(text_.find('\n', at_));
    } else if (sees("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      skip_to(end == std::string_view::npos ? end : end + 2);
    } else if (now() == '#' && begins_line_) {
      read_directive();
    } else {
      begins_line_ = false;
      read_token();
    }
  }

  /// The end of the line, or of the last line that backslashes join to it.
  std::size_t line_end() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    return end == std::string_view::npos ? text_.size() : end;
  }

  void read_directive() {
    const std::size_t begin = at_++;
    while (now() == ' ' || now() == '\t') ++at_;
    const std::string_view name = read_word();
    ++directives_;
    begins_line_ = false;
    if (name == "define") {
      inside_ = directives_;
      return;
    }
    skip_to(line_end());
    if (name == "pragma") {
      add(TokenKind::pragma, text_.substr(begin, at_ - begin));
    } else if (name.starts_with("if")) {
      add(TokenKind::condition, name.substr(0, 2));
    } else if (name == "else" || name == "elif") {
      add(TokenKind::condition, "else");
    } else if (name == "endif") {
      add(TokenKind::condition, name);
    }
  }

  std::string_view read_word() {
    const std::size_t begin = at_;
    while (is_word_character(now())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void read_token() {
    const std::size_t begin = at_;
    if (is_word_character(now())) {
      add(TokenKind::word, read_word());
    } else if (now() == '"' || now() == '\'') {
      const char quote = now();
      for (++at_; at_ < text_.size() && now() != quote; ++at_) {
        if (now() == '\\') ++at_;
      }
      skip_to(at_ + 1);
      add(TokenKind::literal, text_.substr(begin, at_ - begin));
    } else {
      add(TokenKind::sign, text_.substr(at_++, 1));
    }
  }

  void add(TokenKind kind, std::string_view text) { tokens_.push_back({kind, text, inside_}); }

  std::string_view text_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  int directives_ = 0, inside_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) { return Reader(text).read(); }

}  // namespace oclspkt::cuda
