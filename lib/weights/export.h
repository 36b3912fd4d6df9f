// Weights as a file of another format. docs/rules.md#checkpoint-export
#pragma once

#include <string>
#include <vector>

#include "weights/stream.h"
#include "weights/weights.h"

namespace gedit {

enum class WeightsFormat : uint8_t { kSafetensors, kNpz, kNpyFolder };

// By the name: NAME.safetensors, NAME.npz, a folder or NAME/. Throws Error (kUsage) for others.
WeightsFormat format_of(const std::string& path);

// Whether the format has the type.
bool can_hold(WeightsFormat format, const Weight& weight);

// Takes out what the format cannot hold, and names it.
std::vector<std::string> leave_out(Weights& weights, WeightsFormat format);

// Throws Error (kRefused) for what it cannot hold.
void export_weights(const Weights& weights, WeightsFormat format, const std::string& path, bool overwrite,
                    const Overflowed& overflowed);

}  // namespace gedit
