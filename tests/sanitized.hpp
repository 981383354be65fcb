#pragma once

// Sanitizers make everything about ten times slower: tests that repeat something at random do so less often under them.
// Properties of rapidcheck get the same from RC_PARAMS in the test presets.

namespace bregmax::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitized = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitized = false;
#endif

// How often a random test repeats.
inline constexpr int repeats(int released) { return kSanitized ? (released + 9) / 10 : released; }

}  // namespace bregmax::test
