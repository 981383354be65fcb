#pragma once

#include <string>

namespace bregmax::app {

// Was the program built with librsvg?
bool can_draw_png();

// Writes a PNG of `scale` dots per pixel if the name ends in .png, else the SVG itself. Throws Error when the picture
// cannot be drawn or written.
void write_picture(const std::string& path, const std::string& svg, double scale = 2);
// Throws the Error that write_picture() would throw for this name, so that it comes before the work and not after it.
void check_picture(const std::string& path);

}  // namespace bregmax::app
