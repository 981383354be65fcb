#include "interrupt.hpp"

#include <csignal>
#include <cstdint>
#include <ctime>

namespace bregmax::app {
namespace {

// Global, because a signal handler reaches nothing else.
std::atomic<bool> interrupt_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

std::atomic<std::int64_t> milliseconds_of_interrupt{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

// One request may come as several signals: `timeout` sends one to the process and one to its group.
constexpr std::int64_t kSameRequest = 1000;  // milliseconds

void handle_interrupts_by(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // system calls go on
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

extern "C" void request_interrupt(int signal) {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
  if (!interrupt_requested.exchange(true, std::memory_order_relaxed)) {
    milliseconds_of_interrupt.store(now, std::memory_order_relaxed);
  } else if (now - milliseconds_of_interrupt.load(std::memory_order_relaxed) >= kSameRequest) {
    handle_interrupts_by(SIG_DFL);
    raise(signal);  // delivered when this handler returns
  }
}

}  // namespace

Interrupt::Interrupt() {
  interrupt_requested = false;
  milliseconds_of_interrupt = 0;
  handle_interrupts_by(request_interrupt);
}

// After a request the handler stays, because more signals of the same request may come.
Interrupt::~Interrupt() {
  if (!interrupt_requested) handle_interrupts_by(SIG_DFL);
}

const std::atomic<bool>& Interrupt::requested() { return interrupt_requested; }

}  // namespace bregmax::app
