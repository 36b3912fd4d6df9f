// gedit draw: a picture of a graph.
#include <unistd.h>

#include <charconv>

#include "base/process.h"
#include "base/size.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "commands.h"
#include "draw/dot.h"
#include "draw/page.h"
#include "select/selection.h"

namespace gedit {
namespace {

class Draw final : public Command {
 public:
  void setup(CommandLine& line) override {
    input_.setup(line);
    line.add_option("-o,--output", path_, "Write to OUT.svg, OUT.html or OUT.dot; - is standard output")
        ->type_name("OUT");
    line.add_option("-f,--format", format_, "svg, html or dot; default: by the suffix of OUT")
        ->one_of({"svg", "html", "dot"})
        ->type_name("FORMAT");
    line.add_flag("-O,--overwrite", overwrite_, "Replace OUT where it exists");
    line.add_option("-s,--select", selector_, "Only what this hits and one step around it")
        ->type_name("SELECTOR");
    depth_option_ = line.add_option("--depth", depth_,
                                    "Scopes are seen down to N levels, closed at the last; 0: all are open. "
                                    "Default: 1, of an SVG the "
                                    "least that shows something")
                        ->type_name("N")
                        ->within(0, 1000);
    line.add_flag("--functions", functions_,
                  "Draw all functions, not only those that the signatures of a TensorFlow 2 model call");
  }

  int run() override {
    const std::string format = chosen_format();
    if (path_.empty() && ::isatty(STDOUT_FILENO) != 0) {
      throw Error(Cause::kUsage, "standard output is a terminal")
          .hint("-o FILE, or -o - to have it there all the same");
    }
    Model model = input_.load_one();
    with_file(model, [&] {
      Registry ops = input_.registry(model);
      Selecting selecting(model, ops);
      Selection selection;
      SheetOptions options;
      if (!selector_.empty()) {
        selection = selecting.require(selector_);
        options.selection = &selection;
      }
      if (format == "html") options.most_children = kMostInPage;
      const std::vector<Sheet> sheets = [&] {
        const Progress drawing("drawing " + model.path);
        return make_sheets(model, ops, options);
      }();
      const std::string title(model.path == "-" ? std::string_view() : base_name(model.path));
      write(format, sheets, title);
    });
    return 0;
  }

 private:
  static constexpr uint32_t kMostInPage = 150;  // side by side: as many as a browser lays out at once

  std::string chosen_format() const {
    if (!format_.empty()) return format_;
    for (const char* format : {"svg", "html", "dot"}) {
      if (base_name(path_).ends_with(std::string(".") + format)) return format;
    }
    if (path_.empty() || path_ == "-") throw Error(Cause::kUsage, "no format").hint("-f svg, html or dot");
    throw Error(Cause::kUsage, "a picture is .svg, .html or .dot").in(path_).hint("-f svg, html or dot");
  }

  void write(const std::string& format, const std::vector<Sheet>& sheets, const std::string& title) {
    OutputFile out(path_.empty() ? "-" : path_, overwrite_);
    if (format == "html") {
      StringSink page;  // whole before the first byte of it is out
      write_page(sheets, {title, depth_}, page);
      out.write(page.text);
    } else {
      const bool picture = format == "svg";
      const std::string text = dot(sheets, title, picture);
      out.write(picture ? svg(text) : text);
    }
    out.commit();
  }

  std::string dot(const std::vector<Sheet>& sheets, const std::string& title, bool picture) {
    std::vector<const Sheet*> drawn;
    for (const Sheet& sheet : sheets) drawn.push_back(&sheet);
    // What a selector hits is asked for.
    if (!functions_ && selector_.empty()) drawn = first_sheets(sheets);
    if (drawn.size() < sheets.size()) {
      const size_t left = sheets.size() - drawn.size();
      say_note(counted(left, "function") + (left == 1 ? " is" : " are") +
               " not in the picture; with them: --functions, or OUT.html");
    }
    if (picture && depth_option_->count() == 0) depth_ = fitting_depth(drawn);
    return dot_text(drawn, {title, depth_});
  }

  // Graphviz is run, not linked: gedit is one static program, and Debian has no static libgvc.
  std::string svg(const std::string& text) const {
    constexpr size_t kManyLines = 1000;  // take seconds; 3,000 may take minutes
    size_t lines = 0;
    for (size_t at = text.find(" -> "); at != std::string::npos; at = text.find(" -> ", at + 4)) ++lines;
    const bool depth_given = depth_option_->count() > 0;
    if (lines > kManyLines) {
      say_note("dot takes its time to lay out " + std::to_string(lines) + " lines" +
               (depth_given ? "" : ", a minute at most") +
               "; sooner: " + (depth_ != 1 ? "a smaller --depth, " : "") + "-s SELECTOR, or OUT.html");
    }
    const std::string picture = laid_out(text, depth_given ? 0 : kMostSeconds);
    note_width(picture);
    return picture;
  }

  static std::string laid_out(const std::string& text, int most_seconds) {
    Finished dot;
    try {
      const Progress drawing("dot lays the picture out");
      dot = run_program({"dot", "-Tsvg"}, text, most_seconds);
      // "trouble in init_rank": ranks of boxes and of scopes contradict each other. Then those of all scopes
      // together, and at last none.
      if (dot.status != 0) dot = run_program({"dot", "-Tsvg", "-Gnewrank=true"}, text, most_seconds);
      if (dot.status != 0)
        dot = run_program({"dot", "-Tsvg", "-Gnewrank=true", "-Econstraint=false"}, text, most_seconds);
    } catch (const Error& error) {
      const bool late = error.message().starts_with("takes more than");
      throw Error(error.cause(), error.message())
          .of("dot")
          .hint(late ? "--depth 1 to let it run on, -s SELECTOR, or write OUT.html"
                     : "install Graphviz, or write OUT.html or OUT.dot");
    }
    if (dot.status != 0) {
      const std::string why = dot.err.substr(0, dot.err.find('\n'));
      throw Error(Cause::kRefused, "ended with status " + std::to_string(dot.status) +
                                       (why.empty() ? "" : ": " + printable(why)))
          .of("dot")
          .hint("write OUT.html or OUT.dot");
    }
    return dot.out;
  }

  // A browser shows 96 points in 128 pixels.
  static void note_width(const std::string& picture) {
    constexpr uint64_t kScreen = 1440;  // points: 1,920 pixels
    constexpr std::string_view kBefore = "<svg width=\"";
    const size_t at = picture.find(kBefore);
    if (at == std::string::npos) return;
    uint64_t points = 0;
    const char* begin = picture.data() + at + kBefore.size();
    std::from_chars(begin, picture.data() + picture.size(), points);
    if (points <= kScreen) return;
    say_note("the picture is " + std::to_string(points * 4 / 3) +
             " pixels wide, more than a screen shows; OUT.html moves in it and opens scopes at a click, -s "
             "SELECTOR draws a part");
  }

  InputOptions input_;
  std::string path_, format_, selector_;
  static constexpr int kMostSeconds = 60;  // that dot may take where nobody asked for more

  Option* depth_option_ = nullptr;
  uint32_t depth_ = 1;
  bool overwrite_ = false, functions_ = false;
};

}  // namespace

CommandInfo draw_command() {
  return {
      .summary = "draws a graph as SVG, as one HTML file, or for Graphviz",
      .synopsis = "FILE -o OUT.svg|.html|.dot [-s SELECTOR] [--depth N] [--functions]",
      .text = R"(
Scopes are boxes, open down to depth N and closed below it, with the number of nodes in them. Blocks that
are the same but for the numbers in their names are one box with their count. Constants, reads and
initializers sit in the boxes of the nodes that they belong to. What more than 12 others read is named at
each of them instead of being joined to them by lines; so is a scope or NoOp at those that it reads, where
they are more than 12. Lines tell dtype and shape, as far as they are known; dashed ones are control inputs,
dotted ones lead from one folded block to the next. Variables and tables are orange, inputs green, outputs
red; the border tells the device.

Of a model of TensorFlow 2 the functions that its signatures call are drawn first and then the graph; --functions
draws the others, too. Without --depth an SVG has its scopes open as far as it takes to see something, and dot is
given a minute; with it, whatever it takes. A picture that is wider than a screen is told of.

OUT.html is one file without any link to the network: scopes open and close at a click, functions are pages,
a search finds nodes, and the address keeps what is shown. It holds graphs of millions of nodes. OUT.dot is
Graphviz's text, with functions as clusters; OUT.svg is what Graphviz's program dot makes of it, which has
to be installed. Both are refused where more than 5,000 boxes would be seen.
)",
      .examples = R"(
gedit draw m.pb -o m.html
gedit draw m.pb -s decoder/ --depth 2 -o decoder.svg
)",
      .make = make_command<Draw>,
  };
}

}  // namespace gedit
