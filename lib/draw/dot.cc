#include "draw/dot.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/size.h"
#include "base/utf8.h"
#include "draw/describe.h"

namespace gedit {
namespace {

// What an ellipsis in the middle leaves of a long name, in bytes.
constexpr size_t kLongestName = 60;

// In double quotes; control characters and what is no UTF-8 as \ooo. Graphviz takes a backslash for an
// escape.
std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Graphviz reads these labels as XML.
std::string markup(std::string_view text, size_t longest = kLongestName) {
  return escaped_markup(shortened(printable(text), longest));
}

struct Paint {
  std::string_view fill, line;
};
Paint paint(const Item& item) {
  switch (item.look) {
    case Look::kState:
      return {"#fde7c7", "#b7791f"};
    case Look::kInput:
      return {"#d6efdc", "#2f855a"};
    case Look::kOutput:
      return {"#f9d5d5", "#c53030"};
    case Look::kPlain:
      break;
  }
  if (item.op.empty()) return {"#e8edf4", "#5a6b82"};
  return {"#ffffff", "#5a6b82"};
}

// Past so many lines their words are put where there is room left, instead of having room made for them:
// Graphviz takes four times as long for that, and fails in the end ("trouble in init_rank").
constexpr size_t kMostLabels = 500;

constexpr size_t kMostRows = 8;  // constants in a box

// For borders of what has been put on a device, in the order of their names.
constexpr std::string_view kDevicePens[] = {"#6b46c1", "#0987a0", "#b83280", "#2b6cb0", "#718096", "#97266d"};

class Writer {
 public:
  Writer(std::span<const Sheet* const> sheets, const DotOptions& options)
      : sheets_(sheets), options_(options) {}

  std::string run() {
    const std::vector<Drawing> drawings = draw_all(options_.depth);
    if (count(drawings) > options_.most_boxes) refuse(count(drawings));
    size_t lines = 0;
    for (const Drawing& drawing : drawings) lines += drawing.lines.size();
    if (lines > kMostLabels) label_ = "xlabel=";
    find_devices(drawings);
    out_ =
        "digraph gedit {\n"
        "  graph [rankdir=TB, fontname=\"Helvetica\", fontsize=12, nodesep=0.25, ranksep=0.45, "
        "compound=true,\n"
        "         color=\"#9aa7b8\", style=rounded, labeljust=l, tooltip=\"\"];\n"
        "  node [shape=plain, fontname=\"Helvetica\", fontsize=10];\n"
        "  edge [fontname=\"Helvetica\", fontsize=8, color=\"#7b8794\", fontcolor=\"#52606d\", "
        "arrowsize=0.6];\n";
    if (!options_.title.empty())
      out_ += "  label=" + dot_quoted(printable(options_.title)) + ";\n  labelloc=t;\n";
    for (size_t i = 0; i < sheets_.size(); ++i) {
      if (sheets_[i]->boxes() > 0) sheet(i, drawings[i]);
    }
    legend();
    return out_ + "}\n";
  }

 private:
  std::vector<Drawing> draw_all(uint32_t depth) const {
    std::vector<Drawing> drawings;
    for (const Sheet* sheet : sheets_) drawings.push_back(draw(*sheet, depth));
    return drawings;
  }

  static size_t count(const std::vector<Drawing>& drawings) {
    size_t boxes = 0;
    for (const Drawing& drawing : drawings) boxes += drawing.seen();
    return boxes;
  }

  // With the greatest depth that is not refused.
  [[noreturn]] void refuse(size_t boxes) const {
    uint32_t depth = 0;
    while (depth + 1 != options_.depth && count(draw_all(depth + 1)) <= options_.most_boxes) ++depth;
    throw Error(Cause::kRefused,
                count_text(boxes) + " boxes would be seen, more than " + count_text(options_.most_boxes))
        .hint(depth > 0 ? "--depth " + std::to_string(depth) : "-s SELECTOR, or -o OUT.html");
  }

  void find_devices(const std::vector<Drawing>& drawings) {
    for (size_t i = 0; i < sheets_.size(); ++i) {
      for (const Drawing::Box& box : drawings[i].boxes) {
        const std::string_view device = sheets_[i]->items[box.item].device;
        if (!device.empty()) devices_.emplace(device, std::string_view());
      }
    }
    size_t k = 0;
    for (auto& [device, pen] : devices_) pen = kDevicePens[k++ % std::size(kDevicePens)];
  }

  void sheet(size_t number, const Drawing& drawing) {
    const Sheet& sheet = *sheets_[number];
    const std::string prefix = sheet.function.empty() ? "n" : "f" + std::to_string(number) + "_";
    std::string margin = "  ";
    if (!sheet.function.empty()) {
      out_ += "  subgraph cluster_" + prefix +
              " {\n    label=" + dot_quoted("function " + printable(sheet.function)) +
              ";\n    style=\"rounded,filled\"; fillcolor=\"#f7f9fb\";\n";
      margin = "    ";
    }
    boxes(sheet, drawing, prefix, margin);
    lines(sheet, drawing, prefix, margin);
    if (margin.size() > 2) out_ += "  }\n";
  }

  void boxes(const Sheet& sheet, const Drawing& drawing, const std::string& prefix, std::string margin) {
    std::vector<uint32_t> around;  // clusters that have begun
    for (uint32_t i = 0; i < drawing.boxes.size(); ++i) {
      const Drawing::Box& box = drawing.boxes[i];
      while (!around.empty() && around.back() != box.around) {
        around.pop_back();
        margin.resize(margin.size() - 2);
        out_ += margin + "}\n";
      }
      const std::string id = prefix + std::to_string(i);
      if (box.open) {
        const Item& item = sheet.items[box.item];
        out_ += margin + "subgraph cluster_" + id + " {\n";
        margin += "  ";
        out_ += margin + "label=" +
                dot_quoted(shortened(printable(box_label(sheet, drawing, box)), kLongestName) + times(item)) +
                ";\n";
        if (item.blocks > 1) out_ += margin + "style=\"rounded,bold\";\n";
        around.push_back(i);
        continue;
      }
      out_ += margin + id + " [label=<" + table(sheet, drawing, box) +
              ">, tooltip=" + dot_quoted(printable(item_path(sheet, box.item))) + "];\n";
    }
    for (; !around.empty(); around.pop_back()) {
      margin.resize(margin.size() - 2);
      out_ += margin + "}\n";
    }
  }

  static std::string times(const Item& item) {
    return item.blocks > 1 ? " \u00d7" + count_text(item.blocks) : "";
  }

  std::string table(const Sheet& sheet, const Drawing& drawing, const Drawing::Box& box) const {
    const Item& item = sheet.items[box.item];
    const Paint colors = paint(item);
    std::string_view pen = colors.line;
    if (const auto found = devices_.find(item.device); found != devices_.end()) pen = found->second;
    const bool scope = item.op.empty();
    std::string text = "<table border=\"" + std::string(item.blocks > 1 || !item.device.empty() ? "2" : "1") +
                       "\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\" style=\"" +
                       (item.hit ? "rounded" : "rounded,dashed") + "\" color=\"" + std::string(pen) +
                       "\" bgcolor=\"" + std::string(colors.fill) + "\">";
    const std::string label = markup(box_label(sheet, drawing, box));
    if (scope) {
      text += "<tr><td><b>" + label + times(item) + "</b></td></tr><tr><td><font point-size=\"8\">" +
              count_text(item.nodes) + " nodes</font></td></tr>";
    } else {
      text += "<tr><td><b>" + markup(item.op) + "</b></td></tr><tr><td>" + label + "</td></tr>";
      if (!item.device.empty())
        text += "<tr><td><font point-size=\"8\">" + markup(item.device) + "</font></td></tr>";
    }
    size_t rows = 0;
    for (const uint32_t row : box.rows) {
      if (rows++ == kMostRows) {
        text += "<tr><td align=\"left\"><font point-size=\"8\">and " +
                count_text(box.rows.size() - kMostRows) + " more</font></td></tr>";
        break;
      }
      text += "<hr/><tr><td align=\"left\"><font point-size=\"8\"" +
              (sheet.items[row].look == Look::kState ? " color=\"#8a5a12\"" : std::string()) + ">" +
              markup(constant_text(sheet, row)) + "</font></td></tr>";
    }
    return text + "</table>";
  }

  void lines(const Sheet& sheet, const Drawing& drawing, const std::string& prefix,
             const std::string& margin) {
    size_t stubs = 0;
    for (const Drawing::Line& line : drawing.lines) {
      std::string from = prefix + std::to_string(line.from), to = prefix + std::to_string(line.to);
      if (line.stub) {
        const Drawing::Box& other = drawing.boxes[line.sink ? line.to : line.from];
        const std::string stub = prefix + "s" + std::to_string(stubs++);
        out_ += margin + stub + " [shape=plaintext, fontsize=8, fontcolor=\"#52606d\", label=" +
                dot_quoted(shortened(printable(item_path(sheet, other.item)), kLongestName)) + "];\n";
        (line.sink ? to : from) = stub;
      }
      out_ += margin + from + " -> " + to;
      const std::string text = line_text(sheet, line);
      std::string attributes = text.empty() ? "" : label_ + dot_quoted(" " + text);
      const auto add = [&](const char* attribute) {
        attributes += (attributes.empty() ? "" : ", ") + std::string(attribute);
      };
      if (line.next || line.stub)
        add("style=dotted");
      else if (line.tensors == 0)
        add("style=dashed");
      if (line.next) add("constraint=false");
      if (line.stub) add("arrowhead=vee");
      out_ += (attributes.empty() ? "" : " [" + attributes + "]") + ";\n";
    }
  }

  void legend() {
    if (devices_.empty()) return;
    out_ += "  legend [label=<<table border=\"0\" cellspacing=\"4\">";
    for (const auto& [device, pen] : devices_)
      out_ += "<tr><td border=\"2\" style=\"rounded\" color=\"" + std::string(pen) + "\">" + markup(device) +
              "</td></tr>";
    out_ += "</table>>];\n";
  }

  std::span<const Sheet* const> sheets_;
  const DotOptions& options_;
  std::map<std::string_view, std::string_view> devices_;  // and the colour of their borders
  std::string label_ = "label=", out_;
};

}  // namespace

std::vector<const Sheet*> first_sheets(std::span<const Sheet> sheets) {
  std::vector<const Sheet*> first;
  for (const Sheet& sheet : sheets) {
    if (sheet.entry > 0) first.push_back(&sheet);
  }
  std::sort(first.begin(), first.end(), [](const Sheet* a, const Sheet* b) { return a->entry < b->entry; });
  const bool all = first.empty();
  for (const Sheet& sheet : sheets) {
    if (all || sheet.function.empty()) first.push_back(&sheet);
  }
  return first;
}

uint32_t fitting_depth(std::span<const Sheet* const> sheets) {
  constexpr size_t kFew = 4;
  constexpr uint32_t kDeepest = 20;
  size_t there = 0;
  for (const Sheet* sheet : sheets) there += sheet->boxes();
  for (uint32_t depth = 1; depth < kDeepest; ++depth) {
    size_t seen = 0;
    for (const Sheet* sheet : sheets) seen += draw(*sheet, depth).seen();
    if (seen >= std::min(kFew, there)) return depth;
  }
  return 1;
}

std::string dot_text(std::span<const Sheet* const> sheets, const DotOptions& options) {
  return Writer(sheets, options).run();
}

}  // namespace gedit
