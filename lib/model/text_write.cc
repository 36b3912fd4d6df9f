#include <utility>

#include "message/text.h"
#include "model/text.h"
#include "model/transcode.h"

namespace gedit {
namespace {

class TextWriter final : public Receiver {
 public:
  explicit TextWriter(Sink& out) : out_(out) {}

  void begin(const MessageField& field) override {
    line(field.name + " {\n");
    ++depth_;
  }
  void end(const MessageField& /*field*/) override {
    --depth_;
    line("}\n");
  }
  void print(const MessageField& field, std::string_view bytes, std::string& text) const override {
    print_message_text(text, *field.containing, bytes, TextStyle::kLines, depth_);
  }
  void piece(const MessageField& /*field*/, std::string_view text) override { out_.write(text); }

 private:
  void line(std::string_view text) {
    out_.write(std::string(2 * static_cast<size_t>(depth_), ' ').append(text));
  }

  Sink& out_;
  int depth_ = 0;
};

}  // namespace

void write_text(Kind kind, std::string_view message, std::string_view file, bool drop_unknown, Sink& out) {
  TextWriter writer(out);
  take_apart(kind, message, file, {.word = "text"}, drop_unknown, writer);
}

}  // namespace gedit
