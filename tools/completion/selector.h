// Completion of selectors (docs/rules.md#selectors).
#pragma once

#include <string>

#include "completion/in_file.h"

namespace gedit {

// Offers what the last word of the selector can become; `before` stands before the selector.
void offer_selector(const std::vector<GraphOnLine>& graphs, Candidates& candidates, const std::string& before,
                    const std::string& selector);

// The same for what a checkpoint's selectors know: names, dtype:, size>.
void offer_key_selector(const std::string& checkpoint, Candidates& candidates, const std::string& before,
                        const std::string& selector);

}  // namespace gedit
