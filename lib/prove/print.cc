#include "prove/print.h"

#include "base/error.h"
#include "base/size.h"

namespace gedit {
namespace {

std::string_view verdict_word(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::kProved:
      return "proved";
    case ProofVerdict::kDiffers:
      return "differs";
    case ProofVerdict::kUnknown:
      return "unknown";
  }
  return "";
}

std::string pair_text(const OutputPair& output) {
  std::string text = printable(output.a);
  if (output.b != output.a) text.append("=").append(printable(output.b));
  return text;
}

std::string quoted_name(const std::string& name) { return "'" + printable(name) + "'"; }

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (byte < 0x20) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out.append("\\u00").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string proof_text(const Proof& proof) {
  std::string text;
  for (const OutputProof& output : proof.outputs) {
    text.append(verdict_word(output.verdict)).append(" ").append(pair_text(output.output));
    if (output.verdict == ProofVerdict::kProved) {
      text.append("  ").append(counted(output.tensors, "tensor"));
    } else if (output.verdict == ProofVerdict::kDiffers) {
      text += ": ";
      if (!output.a.empty()) {
        text.append("first where a ").append(quoted_name(output.a)).append(" and b ");
        text.append(quoted_name(output.b)).append(" part: ");
      }
      text += output.why;
    } else {
      text += ": ";
      if (!output.a.empty()) text.append(quoted_name(output.a)).append(" ");
      text += output.why;
    }
    text += '\n';
  }
  return text;
}

std::string proof_json(const Proof& proof) {
  std::string text = "[";
  for (const OutputProof& output : proof.outputs) {
    text += text.size() > 1 ? ",\n {" : "\n {";
    const auto member = [&](std::string_view key, const std::string& value) {
      if (text.back() != '{') text += ", ";
      append_json(text, key);
      text += ": ";
      if (value.empty()) {
        text += "null";
      } else {
        append_json(text, printable(value));
      }
    };
    member("output", pair_text(output.output));
    member("verdict", std::string(verdict_word(output.verdict)));
    text.append(", \"tensors\": ").append(std::to_string(output.tensors));
    member("a", output.a);
    member("b", output.b);
    member("why", output.why);
    text += '}';
  }
  return text + (proof.outputs.empty() ? "]\n" : "\n]\n");
}

}  // namespace gedit
