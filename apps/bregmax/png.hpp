#pragma once

#include <string>

namespace bregmax::app {

// Was the program built with librsvg?
bool can_draw_png();

// The picture as a PNG file of `scale` dots a pixel. Throws Error when it cannot be drawn or the program cannot.
std::string png_of_svg(const std::string& svg, double scale);

}  // namespace bregmax::app
