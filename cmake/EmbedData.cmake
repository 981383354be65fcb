# Turns files into a C++ source with one function embedded_NAME() per file, declared in src/data/embedded_data.hpp.
# Run as a script: cmake -DOUTPUT=embedded_data.cpp "-DFILES=iris.csv wine.csv" -P EmbedData.cmake

separate_arguments(FILES)
set(code "// Made from the files of data/ by cmake/EmbedData.cmake.\n#include \"data/embedded_data.hpp\"\n\n")
string(APPEND code "namespace bregmax::internal {\n\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  # Bytes rather than a string literal: compilers need not accept literals of more than 65536 characters.
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes
                       "${bytes}")
  string(APPEND code "static constexpr char k_${name}[] = {\n${bytes}};\n"
                     "std::string_view embedded_${name}() { return {k_${name}, sizeof k_${name}}; }\n\n")
endforeach()
string(APPEND code "}  // namespace bregmax::internal\n")
file(WRITE ${OUTPUT} "${code}")
