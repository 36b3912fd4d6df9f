#include "select/selector.h"

#include <utility>

#include "base/argument_list.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/near.h"
#include "base/number.h"
#include "base/size.h"
#include "graph/dtype.h"
#include "graph/scanner.h"
#include "select/tensors.h"

namespace gedit {
namespace {

using Is = Selector::Is;

constexpr int kDeepestExpression = 200;
constexpr std::string_view kSelectorWords[] = {"re",    "op",   "attr", "dtype",      "device",
                                               "shape", "rank", "var",  "collection", "fn"};
constexpr uint32_t kAllSteps = 0xffffffff;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A word of the text, with which of its letters stood in quotes.
struct SelectorWord {
  std::string text;
  std::vector<bool> quoted;

  // Position of `what` outside quotes, at or behind `from`.
  size_t find(std::string_view what, size_t from = 0) const {
    for (size_t at = text.find(what, from); at != std::string::npos; at = text.find(what, at + 1)) {
      if (!quoted[at]) return at;
    }
    return std::string::npos;
  }
  SelectorWord part(size_t from, size_t count = std::string::npos) const {
    SelectorWord word;
    word.text = text.substr(from, count);
    word.quoted.assign(quoted.begin() + static_cast<std::ptrdiff_t>(from),
                       quoted.begin() + static_cast<std::ptrdiff_t>(from + word.text.size()));
    return word;
  }
  bool literal() const {
    for (const bool one : quoted) {
      if (one) return true;
    }
    return false;
  }
  bool starts(std::string_view what) const { return text.starts_with(what) && !quoted[0]; }
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Selector parse() {
    Selector selector = any_of();
    skip_blanks();
    if (at_ < text_.size()) fail("unexpected '" + std::string(1, text_[at_]) + "'");
    return selector;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(Cause::kUsage, message).of(quoted("selector", text_));
  }

  void skip_blanks() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Selector any_of() {
    return join(Is::kOr, ',', [this] { return all_of(); });
  }
  Selector all_of() {
    return join(Is::kAnd, '&', [this] { return term(); });
  }

  template <typename Next>
  Selector join(Is is, char sign, Next next) {
    skip_blanks();
    const size_t begin = at_;
    std::vector<Selector> operands;
    operands.push_back(next());
    while (take(sign)) operands.push_back(next());
    if (operands.size() == 1) return std::move(operands[0]);
    Selector selector;
    selector.is = is;
    selector.written = text_.substr(begin, at_ - begin);
    selector.operands = std::move(operands);
    return selector;
  }

  Selector term() {
    if (++depth_ > kDeepestExpression) fail("nests too deep");
    skip_blanks();
    const size_t begin = at_;
    Selector selector;
    if (take('!')) {
      selector.is = Is::kNot;
      selector.operands.push_back(term());
    } else if (take('(')) {
      selector = any_of();
      if (!take(')')) fail("a ')' is missing");
    } else {
      selector = path(word());
    }
    selector.written = text_.substr(begin, at_ - begin);
    --depth_;
    return selector;
  }

  SelectorWord word() {
    skip_blanks();
    SelectorWord word;
    int brackets = 0, parens = 0;
    bool regex = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        quoted_text(word, regex);
        continue;
      }
      if (c == '[' || c == '{') ++brackets;
      if ((c == ']' || c == '}') && brackets > 0) --brackets;
      if (c == '(' && (regex || parens > 0)) ++parens;
      if (c == ')' && parens == 0) break;
      if (c == ')') --parens;
      if (brackets == 0 && parens == 0 && (blank(c) || c == ',' || c == '&')) break;
      if (brackets > 0 && blank(c)) break;
      if (c == '(' && !regex && parens == 0) break;
      word.text += c;
      word.quoted.push_back(false);
      if (c == '\\' && at_ + 1 < text_.size()) {
        word.text += text_[++at_];
        word.quoted.push_back(false);
      }
      regex = regex || word.text.ends_with("re:");
    }
    if (word.text.empty() && word.quoted.empty() && !empty_quotes_) {
      if (at_ == text_.size() && at_ > 0) fail("something is missing at its end");
      fail(at_ == text_.size() ? "is empty" : "unexpected '" + std::string(1, text_[at_]) + "'");
    }
    return word;
  }

  // In a regular expression a backslash is its own; elsewhere it is what it is in listings.
  void quoted_text(SelectorWord& word, bool regex) {
    empty_quotes_ = true;
    if (!regex && text_.find('\\', at_) != std::string_view::npos) return escaped_text(word);
    const size_t begin = at_++;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\'))
        ++at_;
      word.text += text_[at_];
      word.quoted.push_back(true);
    }
    if (at_ == text_.size()) {
      at_ = begin;
      fail("a '\"' is not closed");
    }
  }

  void escaped_text(SelectorWord& word) {
    Scanner scanner(text_);
    scanner.seek(at_);
    std::string store;
    try {
      const std::string_view text = scanner.quoted(store, "a name");
      word.text += text;
      word.quoted.insert(word.quoted.end(), text.size(), true);
    } catch (const Error& error) {
      fail(error.message());
    }
    at_ = scanner.position() - 1;  // at the closing quote
  }

  Selector path(const SelectorWord& word) {
    const size_t dots = word.starts("re:") || word.starts("@") ? std::string::npos : word.find("..");
    if (dots == std::string::npos) return walk(word);
    if (dots == 0 || dots + 2 == word.text.size()) fail("'..' needs a node on either side");
    Selector selector;
    selector.is = Is::kPath;
    selector.operands.push_back(walk(word.part(0, dots)));
    selector.operands.push_back(walk(word.part(dots + 2)));
    return selector;
  }

  // [N]+X+[N]
  Selector walk(const SelectorWord& word) {
    if (word.starts("re:") || word.starts("@")) return primary(word);
    size_t begin = 0, end = word.text.size();
    uint32_t back = 0, forward = 0;
    const size_t first = word.find("+");
    if (first != std::string::npos && (first == 0 || is_digits(word.text.substr(0, first)))) {
      back = steps(word.text.substr(0, first));
      begin = first + 1;
    }
    size_t last = std::string::npos;
    for (size_t at = word.find("+", begin); at != std::string::npos; at = word.find("+", at + 1)) last = at;
    if (last != std::string::npos && (last + 1 == end || is_digits(word.text.substr(last + 1)))) {
      forward = steps(word.text.substr(last + 1));
      end = last;
    }
    if (begin >= end) fail("'+' needs a node");
    if (back == 0 && forward == 0) return primary(word);
    Selector selector;
    selector.is = Is::kWalk;
    selector.back = back;
    selector.forward = forward;
    selector.operands.push_back(primary(word.part(begin, end - begin)));
    return selector;
  }

  uint32_t steps(const std::string& number) const {
    if (number.empty()) return kAllSteps;
    const std::optional<uint32_t> value = read_number<uint32_t>(number);
    if (!value || *value == 0) fail("'" + number + "' is no number of steps");
    return *value;
  }

  Selector primary(const SelectorWord& word) {
    Selector selector;
    selector.written = word.text;
    selector.literal = word.literal();
    const auto rest = [&](std::string_view prefix) { return word.text.substr(prefix.size()); };
    if (word.starts("@")) return file(rest("@"));
    if (word.starts("re:")) return make(selector, Is::kRegex, rest("re:"));
    if (word.starts("op:")) return make(selector, Is::kOp, rest("op:"));
    if (word.starts("device:")) return make(selector, Is::kDevice, rest("device:"));
    if (word.starts("collection:")) return make(selector, Is::kCollection, rest("collection:"));
    if (word.starts("dtype:")) {
      if (!parse_dtype(rest("dtype:"))) fail("'" + rest("dtype:") + "' is no dtype");
      return make(selector, Is::kDtype, rest("dtype:"));
    }
    if (word.starts("shape:")) {
      parse_shape(rest("shape:"));  // refuses what is none
      return make(selector, Is::kShape, rest("shape:"));
    }
    if (word.starts("rank:")) {
      const std::string number = rest("rank:");
      const auto rank = read_number<decltype(selector.number)>(number);
      if (!rank) fail("'" + number + "' is no rank");
      selector.number = *rank;
      return make(selector, Is::kRank, number);
    }
    if (word.starts("var:")) {
      const std::string which = rest("var:");
      if (!which.empty() && which != "trainable") fail("'var:' stands alone or is 'var:trainable'");
      selector.is = Is::kVariable;
      selector.text = which;
      return selector;
    }
    if (word.starts("attr:")) {
      const size_t equals = word.text.find('=');
      selector.key = word.text.substr(5, equals == std::string::npos ? equals : equals - 5);
      selector.has_value = equals != std::string::npos;
      if (selector.has_value) selector.text = word.text.substr(equals + 1);
      selector.is = Is::kAttr;
      if (selector.key.empty()) fail("'attr:' needs the name of an attribute");
      return selector;
    }
    if (word.starts("size>") || word.starts("size<")) return size(selector, word);
    const size_t inside = word.find("//");
    if (inside != std::string::npos && inside > 0) {
      selector.is = Is::kFunction;
      const size_t begin = word.starts("fn:") ? 3 : 0;
      selector.key = word.text.substr(begin, inside - begin);
      if (selector.key.empty() || inside + 2 == word.text.size())
        fail("is 'FUNCTION//node', or 'fn:GLOB//selector'");
      if (++depth_ > kDeepestExpression) fail("nests too deep");
      selector.operands.push_back(path(word.part(inside + 2)));
      --depth_;
      return selector;
    }
    refuse_unknown_word(word);
    if (word.starts("fn:")) fail("'fn:' needs '//' and what is meant inside");
    if (word.text.size() > 1 && word.text.ends_with('/'))
      return make(selector, Is::kScope, word.text.substr(0, word.text.size() - 1));
    return make(selector, Is::kName, word.text);
  }

  // `dtpe:float32`: no node's name has a colon in it, and what numbers an output follows a name.
  void refuse_unknown_word(const SelectorWord& word) const {
    const size_t colon = word.find(":");
    if (colon == std::string::npos || word.starts("fn:")) return;
    const std::string before = word.text.substr(0, colon);
    if (before.empty() || before.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) return;
    if (is_digits(word.text.substr(colon + 1))) return;
    Near near(before);
    for (const std::string_view known : kSelectorWords) near.offer(known);
    throw Error(Cause::kUsage, "'" + before + ":' is no kind of selector")
        .of(quoted("selector", text_))
        .hint(near.best().empty() ? "in double quotes it is a name" : "did you mean '" + near.best() + ":'?");
  }

  Selector make(Selector& selector, Is is, std::string text) const {
    if (text.empty()) fail("'" + selector.written + "' needs something behind the colon");
    selector.is = is;
    selector.text = std::move(text);
    return selector;
  }

  Selector size(Selector& selector, const SelectorWord& word) const {
    selector.is = Is::kSize;
    selector.compare = word.text[4];
    selector.or_equal = word.text.size() > 5 && word.text[5] == '=';
    const std::string number = word.text.substr(selector.or_equal ? 6 : 5);
    const std::optional<uint64_t> bytes = parse_size(number);
    if (!bytes) fail("'" + number + "' is no size");
    selector.number = *bytes;
    return selector;
  }

  Selector file(const std::string& path) const {
    Selector all;
    all.is = Is::kOr;
    all.written = "@" + path;
    each_line(path, [&](std::string_view line) {
      while (!line.empty() && blank(line.back())) line.remove_suffix(1);
      while (!line.empty() && blank(line.front())) line.remove_prefix(1);
      if (line.empty() || line.front() == '#') return;
      if (line.front() == '@') fail("a selector file names no other file");
      all.operands.push_back(parse_selector(line));
    });
    return all;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool empty_quotes_ = false;
};

}  // namespace

Selector parse_selector(std::string_view text) { return Parser(text).parse(); }

std::string selector_of(std::string_view function, std::string_view name) {
  std::string out;
  if (!function.empty()) {
    print_name(out, function);
    out += "//";
  }
  if (name.find("..") == std::string_view::npos && !name.ends_with('/')) {
    print_name(out, name);
  } else {
    print_quoted(out, name);
  }
  return out;
}

}  // namespace gedit
