#pragma once

#include <string>

#include "paper/figure1.hpp"
#include "paper/figure2.hpp"

namespace bregmax::app {

std::string draw_figure1(const Figure1& figure);
std::string draw_figure2(const std::vector<ErrorCurve>& curves);

}  // namespace bregmax::app
