#pragma once

#include <string>

namespace bregmax::app {

// Was the program built with librsvg?
bool can_draw_png();

// The picture as a PNG file of `scale` dots a pixel. Throws Error when it cannot be drawn or the program cannot.
std::string png_of_svg(const std::string& svg, double scale);

// As PNG where the name ends in .png, else as SVG.
void write_picture(const std::string& path, const std::string& svg);
// To be called before the work that ends in a picture: throws Error if write_picture() would, for its name.
void check_picture(const std::string& path);

}  // namespace bregmax::app
