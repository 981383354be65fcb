#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bregmax/core/matrix.hpp"

namespace bregmax::internal {

// Reads the whole field as a number with a decimal point, whatever the locale; spaces around it and a leading + are
// allowed. A number too small for double is 0, one that is too large is infinite. Nothing: the field is a text.
std::optional<double> parse_number(std::string_view field);

// The same with a decimal comma: no point is allowed then.
std::optional<double> parse_number_with_comma(std::string_view field);

// Marks a missing value: nothing, or one of NA, N/A, NaN, null, None (in any case) and ?.
bool is_missing(std::string_view field);
// Digits with -, / or . between them, perhaps with a time, that are no number: 2024-01-31, 31.1.2024 12:30:00.
bool is_date_like(std::string_view field);

inline bool is_number_like(std::string_view field) { return parse_number(field).has_value(); }

inline bool is_space(char c) { return c == ' ' || c == '\t'; }
std::string_view trim_spaces(std::string_view field);
std::string lower_case(std::string_view text);

// Appends 17 digits, which give back the same double.
void append_exact_number(std::string& text, double value);
// Appends numbers with commas between them and a line end.
void append_csv_row(std::string& text, std::span<const double> row);

// A field of a CSV file: quoted if the text has commas, quotes or line ends, or spaces that a reader would drop.
std::string csv_field(const std::string& text);

// Names that mark a last column as the labels: class, label, target and species, in any case.
bool is_label_name(std::string_view name);

// The text for a message: shortened, and without control characters, which would break the line.
std::string excerpt(std::string_view text);
std::string quoted_excerpt(std::string_view text);

}  // namespace bregmax::internal
