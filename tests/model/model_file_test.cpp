#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "bregmax/core/error.hpp"
#include "bregmax/divergence/average.hpp"
#include "bregmax/divergence/log_sum_exp_quadratic.hpp"
#include "bregmax/divergence/max_affine.hpp"
#include "bregmax/divergence/network_embedding.hpp"
#include "bregmax/divergence/smoothed_max_affine.hpp"
#include "bregmax/model/model.hpp"
#include "model/container.hpp"

namespace bregmax {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

Model small_model() {
  Model model;
  Matrix slopes(2, 1);
  slopes << 0.1, -0.0;
  model.divergence = make_max_affine(slopes, Vector::Constant(2, std::numeric_limits<double>::denorm_min()), 0);
  model.scaling.center = Vector::Constant(1, 1.0 / 3);
  model.scaling.scale = Vector::Constant(1, 1e-300);
  model.feature_names = {"length, \"cm\" \n \xc3\xa9"};
  model.class_names = {"setosa", ""};
  model.record.method = "pbdl";
  model.record.supervision = "comparisons";
  model.record.solver = "exact";
  model.record.status = "optimal";
  model.record.rows = 150;
  model.record.items = 2000;
  model.record.lambda = 1e-8;
  model.record.lipschitz_bound = std::numeric_limits<double>::infinity();
  model.record.lipschitz = 0.1;
  model.record.loss = 1.0 / 7;
  model.record.objective = std::numeric_limits<double>::quiet_NaN();
  model.record.lower_bound = -0.0;
  model.record.relative_gap = 5e-324;
  model.record.iterations = 17;
  model.record.seconds = 0.25;
  model.record.seed = std::numeric_limits<std::uint64_t>::max();
  model.record.drawn = "hard_comparisons";
  model.record.drawn_seed = std::numeric_limits<std::uint64_t>::max() - 1;
  model.record.neighbours = 7;
  return model;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// The small model's file with its metadata or arrays changed and sealed again, as a hostile or future writer would.
template <class Change>
std::string changed_file(const Change& change) {
  internal::Container container = internal::read_container(serialize_model(small_model()), kModelFormatVersion);
  change(container);
  return internal::write_container(container, kModelFormatVersion);
}

TEST(ModelFile, CarriesEverythingExactly) {
  const Model model = small_model();
  const Model read = deserialize_model(serialize_model(model), "memory");
  const auto& pieces = dynamic_cast<const MaxAffine&>(*read.divergence);
  EXPECT_EQ(bits(pieces.slopes()(0, 0)), bits(0.1));
  EXPECT_EQ(bits(pieces.slopes()(1, 0)), bits(-0.0));
  EXPECT_EQ(pieces.offsets()(1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(read.scaling.center, model.scaling.center);
  EXPECT_EQ(read.scaling.scale, model.scaling.scale);
  EXPECT_EQ(read.feature_names, model.feature_names);
  EXPECT_EQ(read.class_names, model.class_names);
  EXPECT_EQ(read.record.method, "pbdl");
  EXPECT_EQ(read.record.supervision, "comparisons");
  EXPECT_EQ(read.record.solver, "exact");
  EXPECT_EQ(read.record.status, "optimal");
  EXPECT_EQ(read.record.rows, 150);
  EXPECT_EQ(read.record.items, 2000);
  EXPECT_EQ(read.record.lambda, 1e-8);
  EXPECT_EQ(read.record.lipschitz_bound, std::numeric_limits<double>::infinity());
  EXPECT_EQ(read.record.lipschitz, 0.1);
  EXPECT_EQ(read.record.loss, 1.0 / 7);
  EXPECT_TRUE(std::isnan(read.record.objective));
  EXPECT_EQ(bits(read.record.lower_bound), bits(-0.0));
  EXPECT_EQ(read.record.relative_gap, 5e-324);
  EXPECT_EQ(read.record.iterations, 17);
  EXPECT_EQ(read.record.seconds, 0.25);
  EXPECT_EQ(read.record.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(read.record.drawn, "hard_comparisons");
  EXPECT_EQ(read.record.drawn_seed, std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(read.record.neighbours, 7);
  EXPECT_EQ(serialize_model(read), serialize_model(model));
}

TEST(ModelFile, CarriesTheResolution) {
  Model model = small_model();
  const auto& pieces = dynamic_cast<const MaxAffine&>(*model.divergence);
  model.divergence = std::make_shared<MaxAffine>(pieces.slopes(), pieces.offsets(), 1.0 / 3e6);
  const Model read = deserialize_model(serialize_model(model), "memory");
  EXPECT_EQ(read.divergence->resolution(), 1.0 / 3e6);
  EXPECT_EQ(serialize_model(read), serialize_model(model));
  EXPECT_EQ(deserialize_model(serialize_model(small_model()), "memory").divergence->resolution(), 0)
      << "files of version 0.1 have none";
}

std::shared_ptr<const Divergence> quadratic_of_one() {
  Matrix slopes(2, 1);
  slopes << 0.1, -0.0;
  Vector offsets(2);
  offsets << 1.0 / 3, std::numeric_limits<double>::denorm_min();
  return std::make_shared<LogSumExpQuadratic>(slopes, offsets, 0.7, Matrix::Constant(1, 1, 1.0 / 7));
}

// One feature, two hidden values and one output, for the inner divergence.
std::shared_ptr<const Divergence> network_of_one(std::shared_ptr<const Divergence> inner) {
  Matrix first(2, 1), second(1, 2);
  first << 0.1, -1.0 / 3;
  second << 1, 0.3;
  std::vector<NetworkEmbedding::Layer> layers = {{first, Vector::Constant(2, 1.0 / 7)}, {second, Vector::Zero(1)}};
  return std::make_shared<NetworkEmbedding>(std::move(layers), Activation::kTanh, std::move(inner));
}

Model model_of(std::shared_ptr<const Divergence> divergence) {
  Model model = small_model();
  model.divergence = std::move(divergence);
  return model;
}

TEST(ModelFile, CarriesTheQuadraticPart) {
  const Model model = model_of(quadratic_of_one());
  const Model read = deserialize_model(serialize_model(model), "memory");
  const auto& phi = dynamic_cast<const LogSumExpQuadratic&>(*read.divergence);
  EXPECT_EQ(bits(phi.slopes()(0, 0)), bits(0.1));
  EXPECT_EQ(bits(phi.slopes()(1, 0)), bits(-0.0));
  EXPECT_EQ(phi.offsets()(0), 1.0 / 3);
  EXPECT_EQ(phi.offsets()(1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(phi.temperature(), 0.7);
  EXPECT_EQ(phi.roots(), Matrix::Constant(1, 1, 1.0 / 7));
  EXPECT_EQ(serialize_model(read), serialize_model(model));
  const auto flat = std::make_shared<LogSumExpQuadratic>(phi.slopes(), phi.offsets(), 1, Matrix(0, 1));
  const Model without = deserialize_model(serialize_model(model_of(flat)), "memory");
  EXPECT_EQ(dynamic_cast<const LogSumExpQuadratic&>(*without.divergence).roots().rows(), 0);
}

TEST(ModelFile, CarriesANetworkAndWhatIsInsideAndAroundIt) {
  Matrix rows(4, 1);
  rows << -2, 0.3, 1, 5;
  const auto pieces = small_model().divergence;
  const AverageDivergence::Members members = {network_of_one(quadratic_of_one()), pieces};
  const std::shared_ptr<const Divergence> all[] = {network_of_one(quadratic_of_one()), network_of_one(pieces),
                                                   network_of_one(network_of_one(pieces)),
                                                   std::make_shared<AverageDivergence>(members)};
  for (const auto& divergence : all) {
    const Model model = model_of(divergence);
    const Model read = deserialize_model(serialize_model(model), "memory");
    EXPECT_EQ(read.divergence->matrix(rows, rows), divergence->matrix(rows, rows));
    EXPECT_EQ(serialize_model(read), serialize_model(model));
  }
  const Model read = deserialize_model(serialize_model(model_of(network_of_one(pieces))), "memory");
  const auto& network = dynamic_cast<const NetworkEmbedding&>(*read.divergence);
  EXPECT_EQ(network.activation(), Activation::kTanh);
  ASSERT_EQ(network.layers().size(), 2U);
  EXPECT_EQ(network.layers()[0].bias, Vector::Constant(2, 1.0 / 7));
  EXPECT_EQ(network.inner().name(), "max_affine");
}

TEST(ModelFile, RefusesANetworkThatIsNotWhole) {
  using internal::Container;
  const auto refused = [](const std::function<void(Container&)>& change, const char* message) {
    Container container =
        internal::read_container(serialize_model(model_of(network_of_one(quadratic_of_one()))), kModelFormatVersion);
    change(container);
    const std::string bytes = internal::write_container(container, kModelFormatVersion);
    EXPECT_THAT([&] { deserialize_model(bytes, "f"); },
                ThrowsMessage<Error>(AllOf(StartsWith("model file f: "), HasSubstr(message))));
  };
  refused([](Container& file) { file.metadata["divergence"].erase("inner"); }, "key 'inner' not found");
  refused([](Container& file) { file.metadata["divergence"]["inner"] = 3; }, "cannot use at() with number");
  refused([](Container& file) { file.metadata["divergence"]["inner"].erase("kind"); }, "key 'kind' not found");
  refused([](Container& file) { file.metadata["divergence"]["inner"]["kind"] = "unheard_of"; },
          "unknown divergence 'unheard_of'");
  refused([](Container& file) { file.arrays.erase("divergence.inner.slopes"); },
          "the array 'divergence.inner.slopes' is missing");
  refused([](Container& file) { file.arrays.erase("divergence.inner.temperature"); },
          "the array 'divergence.inner.temperature' is missing");
  refused([](Container& file) { file.arrays.erase("divergence.activation"); }, "has no 'activation'");
  refused([](Container& file) { file.arrays.erase("divergence.weights.0"); }, "has no 'weights.0'");
  refused([](Container& file) { file.arrays.erase("divergence.weights.1"); },
          "has 'bias.1', which belongs to no layer");
  refused([](Container& file) { file.arrays.erase("divergence.bias.1"); }, "has no 'bias.1'");
  refused([](Container& file) { file.put("divergence.activation", Matrix(0, 1)); },
          "the array 'divergence.activation' is empty");
  refused([](Container& file) { file.put("divergence.activation", Matrix(Matrix::Ones(2, 1))); },
          "the activation of the network has 2 rows; allowed: 1");
  refused([](Container& file) { file.put("divergence.weights.0", Matrix(Matrix::Constant(2, 1, NAN))); },
          "the weights of layer 0 of the network(0, 0) is nan");
  refused([](Container& file) { file.put("divergence.inner.roots", Matrix(Matrix::Ones(1, 2))); },
          "the matrix of the quadratic part has 2 columns");
  refused(
      [](Container& file) {
        nlohmann::json& description = file.metadata["divergence"];
        for (int depth = 0; depth < 20; ++depth) description = {{"kind", "network_embedding"}, {"inner", description}};
      },
      "divergences are nested too deeply");
}

Model tuned_model() {
  Model model = small_model();
  model.record.constant = true;
  TuningRecord& tuning = model.tuning;
  tuning.tuned_for = "auc";
  tuning.folds = 3;
  tuning.measures = {"auc", "loss"};
  tuning.candidates = {{{"lambda", 0.1}, {"scale", 0, "standard"}}, {{"lambda", 1e-8}, {"scale", 0, "none"}}};
  tuning.means = (Matrix(2, 2) << 0.9, 1.0 / 3, std::numeric_limits<double>::quiet_NaN(), 2).finished();
  tuning.standard_errors = Matrix::Constant(2, 2, 0.1);
  tuning.chosen = 1;
  tuning.compared = 1;
  tuning.compared_folds = 2;
  tuning.solved = 4;
  tuning.proved = 2;
  tuning.unproved = 1;
  tuning.seconds = 12.5;
  return model;
}

TEST(ModelFile, CarriesTheTableOfScores) {
  const Model model = tuned_model();
  const Model read = deserialize_model(serialize_model(model), "memory");
  EXPECT_TRUE(read.record.constant);
  EXPECT_EQ(read.tuning.tuned_for, "auc");
  EXPECT_EQ(read.tuning.folds, 3);
  EXPECT_EQ(read.tuning.measures, model.tuning.measures);
  EXPECT_EQ(read.tuning.candidates, model.tuning.candidates);
  EXPECT_EQ(bits(read.tuning.means(0, 1)), bits(1.0 / 3));
  EXPECT_TRUE(std::isnan(read.tuning.means(1, 0)));
  EXPECT_EQ(read.tuning.standard_errors, model.tuning.standard_errors);
  EXPECT_EQ(read.tuning.chosen, 1);
  EXPECT_EQ(read.tuning.compared, 1);
  EXPECT_EQ(read.tuning.compared_folds, 2);
  EXPECT_EQ(read.tuning.solved, 4);
  EXPECT_EQ(read.tuning.proved, 2);
  EXPECT_EQ(read.tuning.unproved, 1);
  EXPECT_EQ(read.tuning.seconds, 12.5);
  EXPECT_EQ(serialize_model(read), serialize_model(model));
  EXPECT_TRUE(deserialize_model(serialize_model(small_model()), "memory").tuning.empty()) << "as older files have it";
}

// A model of two features, one of which is a category.
Model model_with_recipe() {
  Model model = small_model();
  model.divergence = make_max_affine(Matrix::Identity(2, 2), Vector::Zero(2), 0);
  model.scaling = Scaling::none(2);
  model.feature_names = {"colour=r\u00f6d", "height"};
  model.recipe = {.features = {{"colour", "r\u00f6d", 1.0 / 3}, {.column = "height"}},
                  .named = true,
                  .missing = MissingValues::kMean,
                  .label = "class",
                  .id = "who",
                  .target = "price",
                  .others = {"when", "where"}};
  return model;
}

TEST(ModelFile, KeepsHowFeaturesAreMadeOfColumns) {
  const Recipe expected = model_with_recipe().recipe;
  const Recipe read = deserialize_model(serialize_model(model_with_recipe()), "memory").recipe;
  ASSERT_EQ(read.features.size(), 2u);
  EXPECT_EQ(read.features[0].column, "colour");
  EXPECT_EQ(read.features[0].category, expected.features[0].category);
  EXPECT_EQ(bits(read.features[0].fill), bits(1.0 / 3));
  EXPECT_EQ(read.features[1].column, "height");
  EXPECT_FALSE(read.features[1].category);
  EXPECT_TRUE(std::isnan(read.features[1].fill));
  EXPECT_TRUE(read.named);
  EXPECT_EQ(read.missing, MissingValues::kMean);
  EXPECT_EQ(read.label, "class");
  EXPECT_EQ(read.id, "who");
  EXPECT_EQ(read.target, "price");
  EXPECT_EQ(read.others, expected.others);
  EXPECT_TRUE(deserialize_model(serialize_model(small_model()), "memory").recipe.empty()) << "as older files have it";
}

TEST(ModelFile, RefusesColumnsThatDoNotFit) {
  const auto refused = [](const auto& change, const char* message) {
    internal::Container container = internal::read_container(serialize_model(model_with_recipe()), kModelFormatVersion);
    change(container);
    const std::string bytes = internal::write_container(container, kModelFormatVersion);
    EXPECT_THAT([&] { deserialize_model(bytes, "f"); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  using internal::Container;
  refused([](Container& c) { c.metadata["columns"]["features"].push_back({"a"}); }, "columns.features has 3 entries");
  refused([](Container& c) { c.metadata["columns"]["features"][0] = {"a", "b", "c"}; }, "columns.features[0]");
  refused([](Container& c) { c.metadata["columns"]["features"][0] = {"height"}; }, "column height makes two features");
  refused([](Container& c) { c.metadata["columns"]["missing"] = "guess"; }, "refuse, mean, drop");
  refused([](Container& c) { c.metadata["columns"].erase("features"); }, "features");
  refused([](Container& c) { c.arrays.erase("columns.fill"); }, "columns.fill");
  refused([](Container& c) { c.arrays["columns.fill"].values[0] = std::numeric_limits<double>::infinity(); }, "finite");
  Model three = model_with_recipe();
  three.recipe.features.push_back({.column = "more"});
  EXPECT_THAT([&] { check_model(three); }, ThrowsMessage<Error>(HasSubstr("columns for 3 features")));
}

TEST(ModelFile, RefusesATableThatDoesNotFit) {
  const auto refused = [](const auto& change, const char* message) {
    internal::Container container = internal::read_container(serialize_model(tuned_model()), kModelFormatVersion);
    change(container);
    const std::string bytes = internal::write_container(container, kModelFormatVersion);
    EXPECT_THAT([&] { deserialize_model(bytes, "f"); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  using internal::Container;
  refused([](Container& c) { c.metadata["tuning"]["chosen"] = 2; }, "chose candidate 2");
  refused([](Container& c) { c.metadata["tuning"]["chosen"] = -1; }, "tuning.chosen");
  refused([](Container& c) { c.metadata["tuning"]["folds"] = 1e300; }, "tuning.folds");
  refused([](Container& c) { c.metadata["tuning"]["compared"] = 3; }, "compared 3 candidates");
  refused([](Container& c) { c.metadata["tuning"]["compared_folds"] = 4; }, "on 4 folds");
  refused([](Container& c) { c.metadata["tuning"]["measures"] = {"auc"}; }, "table of 2 x 2");
  refused([](Container& c) { c.metadata["tuning"]["tuned_for"] = "purity"; }, "not one of its measures");
  refused([](Container& c) { c.metadata["tuning"]["candidates"] = nlohmann::json::array(); }, "tuning.values");
  refused([](Container& c) { c.metadata["tuning"]["candidates"].push_back({{"lambda"}}); }, "tuning.values");
  refused([](Container& c) { c.metadata["tuning"].erase("measures"); }, "measures");
  refused([](Container& c) { c.arrays.erase("tuning.means"); }, "tuning.means");
}

TEST(ModelFile, AnyDoubleSurvives) {
  EXPECT_TRUE(rc::check([] {
    const auto word = *rc::gen::arbitrary<std::uint64_t>();
    Model model = small_model();
    model.record.lambda = std::bit_cast<double>(word);
    RC_ASSERT(bits(deserialize_model(serialize_model(model), "memory").record.lambda) == word);
  }));
}

TEST(ModelFile, SavesAndLoads) {
  const auto path = std::filesystem::temp_directory_path() / "bregmax_model_file_test.bregmax";
  save_model(small_model(), path.string());
  EXPECT_EQ(serialize_model(load_model(path.string())), serialize_model(small_model()));
  std::ofstream(path, std::ios::binary) << "length,width\n1,2\n";
  EXPECT_THAT([&] { load_model(path.string()); },
              ThrowsMessage<Error>(AllOf(HasSubstr(path.string()), HasSubstr("not a bregmax model file"))));
  // It is not read to its end, which it need not have.
  EXPECT_THAT([] { load_model("/dev/zero"); }, ThrowsMessage<Error>(HasSubstr("not a bregmax model file")));
  std::filesystem::remove(path);
  EXPECT_THAT([&] { load_model(path.string()); }, ThrowsMessage<Error>(HasSubstr("cannot open")));
  EXPECT_THAT([&] { load_model(path.parent_path().string()); }, ThrowsMessage<Error>(HasSubstr("is a directory")));
}

TEST(ModelFile, DetectsBadMagic) {
  for (const char* foreign :
       {"bregmax", "\x93NUMPY", "x", "BREGMAX\r\n..............................................."}) {
    EXPECT_THAT([&] { deserialize_model(foreign, "f"); },
                ThrowsMessage<Error>(HasSubstr("f: not a bregmax model file")));
  }
}

TEST(ModelFile, DetectsTruncationAtEveryByte) {
  const std::string bytes = serialize_model(small_model());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT([&] { deserialize_model(bytes.substr(0, length), "f"); },
                ThrowsMessage<Error>(HasSubstr("f: truncated: ")))
        << length;
  }
  EXPECT_THAT([&] { deserialize_model(bytes + "x", "f"); }, ThrowsMessage<Error>(HasSubstr("f: corrupted: ")));
}

TEST(ModelFile, DetectsEveryFlippedByte) {
  const std::string bytes = serialize_model(small_model());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      EXPECT_THAT(
          [&] { deserialize_model(damaged, "f"); },
          ThrowsMessage<Error>(AnyOf(HasSubstr("corrupted"), HasSubstr("truncated"), HasSubstr("not a bregmax"))))
          << at;
    }
  }
}

// Two changes that a weak checksum would let cancel: the signs of two numbers.
TEST(ModelFile, DetectsTwoFlippedSigns) {
  std::string damaged = serialize_model(small_model());
  damaged[damaged.size() - 1] = static_cast<char>(damaged[damaged.size() - 1] ^ 0x80);
  damaged[damaged.size() - 9] = static_cast<char>(damaged[damaged.size() - 9] ^ 0x80);
  EXPECT_THAT([&] { deserialize_model(damaged, "f"); }, ThrowsMessage<Error>(HasSubstr("corrupted")));
}

TEST(ModelFile, DetectsNewerVersion) {
  std::string newer = serialize_model(small_model());
  newer[8] = kModelFormatVersion + 1;
  internal::seal(newer);
  EXPECT_THAT([&] { deserialize_model(newer, "f"); },
              ThrowsMessage<Error>(HasSubstr("f: newer: written in format version 2")));
  newer[8] = 0;
  internal::seal(newer);
  EXPECT_THAT([&] { deserialize_model(newer, "f"); }, ThrowsMessage<Error>(HasSubstr("f: invalid: format version 0")));
}

TEST(ModelFile, IgnoresWhatItDoesNotKnowAndDefaultsWhatIsMissing) {
  const Model read = deserialize_model(changed_file([](internal::Container& file) {
                                         file.metadata["later"] = {{"anything", 1}};
                                         file.metadata["record"]["later"] = "x";
                                         file.put("record.later", 1.0);
                                         file.metadata["record"].erase("rows");
                                         file.metadata.erase("class_names");
                                         file.arrays.erase("record.lambda");
                                       }),
                                       "f");
  EXPECT_EQ(read.record.rows, 0);
  EXPECT_EQ(read.record.lambda, 0);
  EXPECT_TRUE(read.class_names.empty());
  EXPECT_EQ(read.record.items, 2000);
}

TEST(ModelFile, RefusesInvalidContent) {
  using internal::Container;
  const auto refused = [](const std::function<void(Container&)>& change, const char* reason) {
    EXPECT_THAT([&] { deserialize_model(changed_file(change), "f"); },
                ThrowsMessage<Error>(AllOf(StartsWith("model file f: "), HasSubstr(reason))));
  };
  refused([](Container& file) { file.metadata.erase("divergence"); }, "key 'divergence' not found");
  refused([](Container& file) { file.metadata["divergence"] = 5; }, "cannot use at() with number");
  refused([](Container& file) { file.metadata["divergence"]["kind"] = "unheard_of"; },
          "unknown divergence 'unheard_of'");
  refused([](Container& file) { file.metadata["divergence"]["kind"] = "average"; }, "key 'members' not found");
  refused([](Container& file) { file.metadata["divergence"]["kind"] = "smoothed_max_affine"; },
          "the array 'divergence.temperature' is missing");
  refused(
      [](Container& file) {
        file.metadata["feature_names"] = {"a", "b"};
      },
      "there are 2 feature names for 1 features");
  refused([](Container& file) { file.metadata["class_names"] = {1, 2}; }, "type must be string, but is number");
  refused([](Container& file) { file.metadata["record"] = {1}; }, "cannot use value() with array");
  refused([](Container& file) { file.metadata["record"]["rows"] = -1; },
          "record.rows is not a whole number >= 0 that fits");
  refused([](Container& file) { file.metadata["record"]["iterations"] = 1e300; },
          "record.iterations is not a whole number >= 0 that fits");
  refused([](Container& file) { file.metadata["record"]["iterations"] = 5000000000; },
          "record.iterations is not a whole number >= 0 that fits");
  refused([](Container& file) { file.metadata["record"]["status"] = 1; }, "type must be string, but is number");
  refused([](Container& file) { file.arrays.erase("divergence.slopes"); }, "the array 'divergence.slopes' is missing");
  refused([](Container& file) { file.put("divergence.offsets", Vector(Vector::Zero(3))); },
          "there are 3 offsets for 2 pieces");
  refused([](Container& file) { file.put("divergence.offsets", 1.0); },
          "the array 'divergence.offsets' has 0 dimensions instead of 1");
  refused([](Container& file) { file.put("divergence.slopes", Matrix(Matrix::Constant(2, 1, NAN))); },
          "slopes(0, 0) is nan");
  refused([](Container& file) { file.put("divergence.resolution", -1.0); }, "the resolution is -1");
  refused([](Container& file) { file.put("scaling.scale", Vector(Vector::Zero(1))); }, "the scale of feature 0 is 0");
  refused([](Container& file) { file.put("scaling.scale", Vector(Vector::Constant(1, INFINITY))); },
          "the scale of feature 0 is inf");
  refused([](Container& file) { file.put("scaling.scale", Vector(Vector::Ones(2))); },
          "the scaling has 1 centers and 2 scales");
  refused([](Container& file) { file.put("scaling.center", Vector(Vector::Constant(1, NAN))); },
          "the center of feature 0 is nan");
  refused([](Container& file) { file.put("scaling.center", Vector()); }, "the scaling has 0 centers and 1 scales");
  refused(
      [](Container& file) {
        file.metadata["divergence"]["kind"] = "smoothed_max_affine";
        file.put("divergence.temperature", -1.0);
      },
      "the temperature is -1");
}

// Metadata that a hostile writer controls: no size in it may reach an allocation unchecked.
TEST(ModelFile, RefusesHostileSizes) {
  const std::string good = serialize_model(small_model());
  const std::string shape = "\"shape\":[2,1]";
  const std::size_t at = good.find(shape);
  ASSERT_NE(at, std::string::npos);
  for (const std::string hostile : {"4294967296,4294967296", "9223372036854775807,3", "0,18446744073709551615",
                                    "18446744073709551616,1", "-1,2", "1.5,2", "1,1,2", "\"a\",1"}) {
    std::string bytes = good.substr(0, at) + "\"shape\":[" + hostile + "]" + good.substr(at + shape.size());
    const std::size_t text_end = bytes.rfind('}') + 1;
    std::string text = bytes.substr(40, text_end - 40);
    text.append((8 - text.size() % 8) % 8, ' ');
    bytes = good.substr(0, 40) + text + std::string(8 * 14, '\0');
    for (int i = 0; i < 8; ++i) bytes[32 + static_cast<std::size_t>(i)] = static_cast<char>(text.size() >> (8 * i));
    internal::seal(bytes);
    EXPECT_THAT([&] { deserialize_model(bytes, "f"); }, ThrowsMessage<Error>(HasSubstr("invalid"))) << hostile;
  }
}

TEST(ModelFile, SurvivesDeepNesting) {
  internal::Container container;
  std::string bytes = internal::write_container(container, kModelFormatVersion);
  const std::size_t depth = 200000;
  std::string text = "{\"arrays\":[],\"record\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  bytes = bytes.substr(0, 40) + text;
  for (int i = 0; i < 8; ++i) bytes[32 + static_cast<std::size_t>(i)] = static_cast<char>(text.size() >> (8 * i));
  internal::seal(bytes);
  EXPECT_THAT([&] { deserialize_model(bytes, "f"); }, ThrowsMessage<Error>(HasSubstr("f: invalid metadata: ")));
}

TEST(ModelFile, RefusesToWriteWhatItCouldNotRead) {
  const auto expect_refused = [](const auto& change, const char* message) {
    Model model = small_model();
    change(model);
    EXPECT_THAT([&] { serialize_model(model); }, ThrowsMessage<Error>(HasSubstr(message)));
  };
  expect_refused([](Model& model) { model.divergence = nullptr; }, "the model has no divergence");
  expect_refused([](Model& model) { model.scaling.scale(0) = 0; }, "the scale of feature 0 is 0; allowed: > 0");
  expect_refused([](Model& model) { model.feature_names.push_back("extra"); }, "feature names for");
  expect_refused([](Model& model) { model.record.rows = -1; }, "the training record counts less than 0 rows");
  expect_refused(
      [](Model& model) {
        for (int depth = 0; depth < 20; ++depth) {
          model.divergence = std::make_shared<AverageDivergence>(AverageDivergence::Members{model.divergence});
        }
      },
      "divergences are nested too deeply for a model file");
  expect_refused(
      [](Model& model) {
        for (int depth = 0; depth < 20; ++depth) model.divergence = network_of_one(model.divergence);
      },
      "divergences are nested too deeply for a model file");
}

TEST(ModelFile, TextThatIsNotUtf8IsReplaced) {
  Model model = small_model();
  model.class_names = {"caf\xe9"};
  EXPECT_EQ(deserialize_model(serialize_model(model), "f").class_names[0], "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace bregmax
