// SPDX-License-Identifier: BSD-2-Clause
#include "translate.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>

#include "oclspkt/error.hpp"

namespace oclspkt::cuda {
namespace {

enum class TokenKind {
  word,       ///< a name, a keyword, or a number
  sign,       ///< one character
  literal,    ///< a string or a character
  condition,  ///< if, else or endif; #ifdef and #ifndef are if, #elif is else
  pragma,     ///< the whole line with its '#'
};

/// A token of C. It refers to the text of its Reader.
struct Token {
  TokenKind kind;
  std::string_view text;  ///< for #ifdef and other conditions: "if", "else" or "endif"
  int directive;          ///< number of the preprocessor line that contains the token; 0: none
  bool taken = false;     ///< the token has been rewritten
};

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

  /// Returns the end of the line. Backslashes join lines.
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

/// Returns the tokens of a text, without comments and blanks. The only tokens of preprocessor lines come from #define,
/// #pragma and conditions. A condition gives one token, its kind.
std::vector<Token> tokens_of(std::string_view text) { return Reader(text).read(); }
struct Edit {
  std::size_t begin, end;
  std::string text;
};

/// True if `word` is the keyword, with or without leading underscores.
bool is_keyword(std::string_view word, std::string_view keyword) {
  return word == keyword || (word.starts_with("__") && word.substr(2) == keyword);
}

bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "restrict" || word == "__restrict";
}
class Translation {
 public:
  explicit Translation(std::string_view text) : text_(text), tokens_(tokens_of(text)) {
    for (std::size_t at = 0; at < tokens_.size(); ++at) rewrite(at);
  }

  std::string result() {
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::string out;
    std::size_t done = 0;
    for (const Edit& edit : edits_) {
      out += text_.substr(done, edit.begin - done);
      out += edit.text;
      const std::string_view old = text_.substr(edit.begin, edit.end - edit.begin);
      out.append(static_cast<std::size_t>(std::count(old.begin(), old.end(), '\n')), '\n');
      done = edit.end;
    }
    return out + std::string(text_.substr(done));
  }

  bool contracts() const { return contracts_; }
  std::vector<std::string> kernels() { return std::move(kernels_); }

 private:
  bool is(std::size_t at, std::string_view what) const { return at < tokens_.size() && tokens_[at].text == what; }
  bool is_word(std::size_t at) const { return at < tokens_.size() && tokens_[at].kind == TokenKind::word; }
  bool is_keyword_at(std::size_t at, std::string_view keyword) const {
    return is_word(at) && is_keyword(tokens_[at].text, keyword);
  }

  [[noreturn]] void refuse(std::size_t at, const std::string& why) const {
    const auto place = static_cast<std::size_t>(tokens_[std::min(at, tokens_.size() - 1)].text.data() - text_.data());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(place), '\n');
    throw BuildError("line " + std::to_string(line) + " of a kernel text: " + why);
  }

  std::size_t begin_of(std::size_t at) const {
    return at < tokens_.size() ? static_cast<std::size_t>(tokens_[at].text.data() - text_.data()) : text_.size();
  }
  std::size_t end_of(std::size_t at) const { return begin_of(at) + tokens_[at].text.size(); }

  /// Replace tokens [first, end) and the text between them.
  void replace(std::size_t first, std::size_t end, std::string by) {
    edits_.push_back({begin_of(first), end_of(end - 1), std::move(by)});
  }

  /// Returns tokens [first, end) joined into one line, without comments.
  std::string in_a_line(std::size_t first, std::size_t end) const {
    std::string line;
    for (std::size_t at = first; at < end; ++at) {
      if (at > first && end_of(at - 1) < begin_of(at)) line += ' ';
      line += tokens_[at].text;
    }
    return line;
  }

  /// Returns the token after the bracket that closes the bracket at `open`. Both are in one directive, or in none.
  std::size_t behind_bracket(std::size_t open) const {
    int depth = 0;
    for (std::size_t at = open; at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (token.directive != tokens_[open].directive) {
        if (tokens_[open].directive != 0) break;
        continue;
      }
      if (token.text == "(" || token.text == "[" || token.text == "{") ++depth;
      if ((token.text == ")" || token.text == "]" || token.text == "}") && --depth == 0) return at + 1;
    }
    refuse(open, "a bracket is not closed");
  }

  void rewrite(std::size_t at) {
    const Token& token = tokens_[at];
    if (token.kind == TokenKind::pragma) rewrite_pragma(at);
    if (token.kind == TokenKind::word && !token.taken) {
      if (is_keyword(token.text, "kernel")) rewrite_kernel(at);
      if (is_keyword(token.text, "local")) rewrite_address_space(at, "__shared__", "");
      if (is_keyword(token.text, "constant")) rewrite_address_space(at, "__constant__", "const");
      if (token.text == "global" || token.text == "private") replace(at, at + 1, "");
    }
    if (token.text == "(") rewrite_literal(at);
  }

  void rewrite_pragma(std::size_t at) {
    const std::string_view line = tokens_[at].text;
    if (line.find("FP_CONTRACT") != std::string_view::npos && line.find("OFF") != std::string_view::npos) {
      contracts_ = false;
    }
    if (line.find("OPENCL") != std::string_view::npos) replace(at, at + 1, "");
  }

  /// Rewrite the address space of variables, or of a pointer's target. The first declarator decides between these two.
  void rewrite_address_space(std::size_t at, const char* variable, const char* pointee) {
    std::size_t next = at + 1;
    std::vector<bool> pointers = {false};
    for (; next < tokens_.size() && tokens_[next].directive == tokens_[at].directive; ++next) {
      const std::string_view text = tokens_[next].text;
      if (text == "*") pointers.back() = true;
      if (text == ",") pointers.push_back(false);
      if (text == "[") next = behind_bracket(next) - 1;
      if (text == ";" || text == ")" || text == "=" || text == "(" || text == "{" || text == "}") break;
    }
    if (is(next, ";") && std::count(pointers.begin(), pointers.end(), pointers.front()) < std::ssize(pointers)) {
      refuse(at, "variables and pointers are declared at once: declare them apart");
    }
    replace(at, at + 1, pointers.front() ? pointee : variable);
  }

  /// Rewrite a vector literal (type)(a, b). Calls (function)(a) and f(x)(a, b) stay as they are.
  void rewrite_literal(std::size_t at) {
    if (!is_word(at + 1) || !is(at + 2, ")") || !is(at + 3, "(")) return;
    if (at > 0 && is_word(at - 1) && tokens_[at - 1].text != "return") return;
    const std::size_t end = behind_bracket(at + 3);
    int depth = 0;
    bool several = false;
    for (std::size_t next = at + 3; next < end; ++next) {
      const std::string_view text = tokens_[next].text;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if (text == ")" || text == "]" || text == "}") --depth;
      several = several || (text == "," && depth == 1);
    }
    if (several) replace(at, at + 3, std::string(tokens_[at + 1].text));
  }

  void rewrite_kernel(std::size_t at) {
    replace(at, at + 1, "extern \"C\" __global__");
    std::array<std::string, 3> group = {"0", "0", "0"};
    std::size_t next = at + 1;
    for (; next < tokens_.size(); ++next) {
      if (tokens_[next].directive != tokens_[at].directive) return;
      if (is(next, "__attribute__") && is(next + 1, "(")) {
        const std::size_t end = behind_bracket(next + 1);
        find_group(next, end, group);
        next = end - 1;
      } else if (is_word(next) && is(next + 1, "(")) {
        break;
      } else if (is(next, ";") || is(next, "{")) {
        return;
      }
    }
    if (next >= tokens_.size()) return;
    const std::string name(tokens_[next].text);
    const std::size_t body = behind_bracket(next + 1);
    rewrite_parameters(next + 1, body);
    if (!is(body, "{")) return;
    const std::size_t end = behind_body(body);
    kernels_.push_back(name);
    edits_.push_back({end_of(end - 1), end_of(end - 1),
                      " OPENCL_KERNEL_TABLE(" + name + ", " + group[0] + ", " + group[1] + ", " + group[2] + ")"});
  }

  /// Find the numbers of reqd_work_group_size among the tokens of an attribute.
  void find_group(std::size_t at, std::size_t end, std::array<std::string, 3>& group) const {
    while (at < end && !is_keyword_at(at, "reqd_work_group_size")) ++at;
    if (at == end || !is(at + 1, "(")) return;
    const std::size_t close = behind_bracket(at + 1) - 1;
    std::size_t number = 0, begin = at + 2;
    int depth = 0;
    for (std::size_t next = begin; next <= close && number < group.size(); ++next) {
      if (is(next, "(")) ++depth;
      if (is(next, ")") && next < close) --depth;
      if (next < close && (depth > 0 || !is(next, ","))) continue;
      group[number++] = in_a_line(begin, next);
      begin = next + 1;
    }
  }

  /// Rewrite kernel parameters `__local T* name` in the brackets [at, end).
  void rewrite_parameters(std::size_t at, std::size_t end) {
    for (; at < end; ++at) {
      if (!is_keyword_at(at, "local")) continue;
      std::size_t star = at + 1;
      while (star < end && !is(star, "*") && !is(star, ",") && !is(star, ")")) ++star;
      std::size_t name = star + 1;
      while (name < end && is_word(name) && is_qualifier(tokens_[name].text)) ++name;
      if (!is(star, "*") || !is_word(name)) refuse(at, "a __local argument of a kernel is a pointer");
      replace(at, name, "::opencl::LocalArgument<" + in_a_line(at + 1, star) + "> ");
      tokens_[at].taken = true;
      at = name;
    }
  }

  /// Returns the token after the body of a function that begins at `open`. Of each #if, only the first branch is read.
  std::size_t behind_body(std::size_t open) const {
    int depth = 0;
    std::vector<int> before;  // depth at the start of each open branch
    bool skips = false;
    std::size_t skipped_in = 0;
    for (std::size_t at = open; at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::condition) {
        if (token.text == "if") before.push_back(depth);
        if (token.text == "else" && !before.empty() && !skips) skips = true, skipped_in = before.size();
        if (token.text == "endif" && !before.empty()) {
          if (skips && skipped_in == before.size()) skips = false;
          before.pop_back();
        }
      }
      if (skips || token.directive != tokens_[open].directive) continue;
      if (token.text == "{") ++depth;
      if (token.text == "}" && --depth == 0) return at + 1;
    }
    refuse(open, "the body of a kernel does not end");
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::vector<Edit> edits_;
  std::vector<std::string> kernels_;
  bool contracts_ = true;
};

/// The options of clBuildProgram, translated for NVRTC.
struct Options {
  std::string defines;  ///< #define lines
  bool exact_divisions = false;
  std::vector<std::string> more;
};

Options read_options(std::string_view text) {
  Options options;
  std::istringstream stream{std::string(text)};
  const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("-D")) {
      std::string definition = word.substr(2);
      if (definition.empty() && ++i < words.size()) definition = words[i];
      const std::size_t equals = definition.find('=');
      options.defines += "#define " + definition.substr(0, equals) + " " +
                         (equals == std::string::npos ? "1" : definition.substr(equals + 1)) + "\n";
    } else if (word == "-cl-fp32-correctly-rounded-divide-sqrt") {
      options.exact_divisions = true;
    } else if (word == "-cl-denorms-are-zero") {
      options.more.emplace_back("-ftz=true");
    } else if (word.starts_with("-cl-nv-maxrregcount=")) {
      options.more.push_back("-maxrregcount=" + word.substr(word.find('=') + 1));
    } else if (!word.starts_with("-cl-") && word != "-w") {  // other -cl- options need no translation
      throw BuildError("the option " + word + " is not known to kernels by CUDA");
    }
  }
  return options;
}

}  // namespace

CudaProgram translate(std::string_view text, std::string_view options) {
  Translation translation(text);
  const Options given = read_options(options);
  CudaProgram program;
  program.text = std::string(kPrelude) + given.defines +
                 "namespace opencl {\nnamespace program {\n#line 1 \"kernel\"\n" + translation.result() + "\n}\n}\n";
  const std::string exact = given.exact_divisions ? "true" : "false";
  program.options = {
      "-default-device",    "-std=c++17",          "-w",
      "-prec-div=" + exact, "-prec-sqrt=" + exact, translation.contracts() ? "-fmad=true" : "-fmad=false"};
  program.options.insert(program.options.end(), given.more.begin(), given.more.end());
  program.kernels = translation.kernels();
  return program;
}

std::string signature_variable(std::string_view kernel) { return "oclspkt_parameters_" + std::string(kernel); }

KernelSignature signature(std::span<const int> numbers) {
  KernelSignature result;
  if (numbers.size() < std::size(result.group)) throw BuildError("a compiled kernel does not tell its parameters");
  std::copy_n(numbers.begin(), std::size(result.group), result.group);
  for (const int kind : numbers.subspan(std::size(result.group))) {
    if (kind < 0 || kind > static_cast<int>(ParameterKind::local)) {
      throw BuildError("a compiled kernel tells parameters of no kind");
    }
    result.parameters.push_back({static_cast<ParameterKind>(kind)});
  }
  return result;
}

}  // namespace oclspkt::cuda
