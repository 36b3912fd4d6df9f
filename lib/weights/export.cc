#include "weights/export.h"

#include "base/error.h"
#include "checkpoint/bundle.h"
#include "weights/npy.h"
#include "weights/npy_folder.h"
#include "weights/npz.h"
#include "weights/safetensors.h"

namespace gedit {

WeightsFormat format_of(const std::string& path) {
  if (path.ends_with('/') || (path != "-" && is_directory(path))) return WeightsFormat::kNpyFolder;
  if (path.ends_with(".safetensors")) return WeightsFormat::kSafetensors;
  if (path.ends_with(".npz")) return WeightsFormat::kNpz;
  throw misused(path, "tells no format")
      .of(quoted("-o", path))
      .hint("NAME.safetensors, NAME.npz, or NAME/ for a folder of .npy");
}

bool can_hold(WeightsFormat format, const Weight& weight) {
  if (weight.values == nullptr || !weight.parts.empty()) return false;
  if (format == WeightsFormat::kSafetensors) return safetensors_type(weight.dtype).has_value();
  try {
    npy_header(weight.dtype, weight.shape);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<std::string> leave_out(Weights& weights, WeightsFormat format) {
  std::vector<std::string> out;
  std::vector<Weight> kept;
  for (Weight& weight : weights.weights) {
    if (can_hold(format, weight)) {
      kept.push_back(std::move(weight));
    } else {
      out.push_back(tensor_subject(weight.name) + ": " + weight_text(weight));
    }
  }
  weights.weights = std::move(kept);
  return out;
}

void export_weights(const Weights& weights, WeightsFormat format, const std::string& path, bool overwrite,
                    const Overflowed& overflowed) {
  for (const Weight& weight : weights.weights) {
    if (weight.values == nullptr) {
      throw refused("is no number but a " + dtype_name(weight.dtype))
          .of(tensor_subject(weight.name))
          .in(weights.path)
          .hint("--skip leaves it out");
    }
    if (!weight.parts.empty()) {
      throw refused(weight_text(weight))
          .of(tensor_subject(weight.name))
          .in(weights.path)
          .hint("--skip leaves it out");
    }
    if (can_hold(format, weight)) continue;
    throw refused(std::string(format == WeightsFormat::kSafetensors ? "safetensors" : "numpy") + " has no " +
                  dtype_name(weight.dtype))
        .of(tensor_subject(weight.name))
        .in(weights.path)
        .hint(can_be_cast(weight.dtype) ? "--cast float32" : "--skip leaves it out");
  }
  if (format == WeightsFormat::kSafetensors) return write_safetensors(weights, path, overwrite, overflowed);
  if (format == WeightsFormat::kNpz) return write_npz(weights, path, overwrite, overflowed);
  write_npy_folder(weights, path, overwrite, overflowed);
}

}  // namespace gedit
