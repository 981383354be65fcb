#include "pictures/png.hpp"

#include "bregmax/core/atomic_file.hpp"
#include "bregmax/core/error.hpp"

#ifdef BREGMAX_HAS_RSVG
#include <fmt/format.h>
#include <librsvg/rsvg.h>

#include <cmath>
#include <memory>
#endif

namespace bregmax::app {
namespace {

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

#ifdef BREGMAX_HAS_RSVG

constexpr bool kCanDrawPng = true;

using Handle = std::unique_ptr<RsvgHandle, decltype(&g_object_unref)>;
using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

[[noreturn]] void refuse(GError* error) {
  const std::string reason = error != nullptr ? error->message : "unknown";
  if (error != nullptr) g_error_free(error);
  throw Error(fmt::format("the picture cannot be drawn as PNG: {}", reason));
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned int length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

std::string png_of_svg(const std::string& svg, double scale) {
  GError* error = nullptr;
  const Handle handle(
      rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), static_cast<gsize>(svg.size()), &error),
      g_object_unref);
  if (!handle) refuse(error);
  double width = 0, height = 0;
  if (rsvg_handle_get_intrinsic_size_in_pixels(handle.get(), &width, &height) == 0) refuse(nullptr);
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(std::lround(width * scale)),
                                                   static_cast<int>(std::lround(height * scale))),
                        cairo_surface_destroy);
  const Context context(cairo_create(surface.get()), cairo_destroy);
  const RsvgRectangle viewport{0, 0, width * scale, height * scale};
  if (rsvg_handle_render_document(handle.get(), context.get(), &viewport, &error) == 0) refuse(error);
  std::string png;
  if (cairo_surface_write_to_png_stream(surface.get(), append, &png) != CAIRO_STATUS_SUCCESS) refuse(nullptr);
  return png;
}

#else

constexpr bool kCanDrawPng = false;

std::string png_of_svg(const std::string& /*svg*/, double /*scale*/) { return {}; }

#endif

}  // namespace

bool can_draw_png() { return kCanDrawPng; }

void write_picture(const std::string& path, const std::string& svg, double scale) {
  check_picture(path);
  write_file_atomically(path, is_png(path) ? png_of_svg(svg, scale) : svg);
}

void check_picture(const std::string& path) {
  if (is_png(path) && !can_draw_png()) {
    throw Error(path + ": this program was built without librsvg and draws no PNG; use a name that ends in .svg");
  }
}

}  // namespace bregmax::app
