// What a request does next after each outcome, and how often: the table of
// client/session/attempt.h, row by row.
#include "client/session/attempt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>

namespace nfsrdma::client::test {
namespace {

using AttemptKind = Attempt::Kind;

/// Goes through these outcomes; returns the last step.
Step after(Attempt& attempt, std::initializer_list<Outcome> outcomes) {
  for (const Outcome outcome : outcomes) attempt.after(outcome);
  return attempt.step();
}

/// One that has sent its request for the first time.
Attempt sent(AttemptKind kind = AttemptKind::ordinary) {
  Attempt attempt(kind);
  if (kind == AttemptKind::ordinary) attempt.after(Outcome::state_known);
  if (kind != AttemptKind::resolution) attempt.after(Outcome::slot_taken);
  attempt.after(Outcome::connected);
  EXPECT_EQ(attempt.step(), Step::send);
  return attempt;
}

/// Once more from wait_for_state to send.
void execute_again(Attempt& attempt) {
  after(attempt, {Outcome::state_known, Outcome::slot_taken, Outcome::connected});
}

TEST(Attempt, TheStepsOfARequestThatIsAnswered) {
  Attempt attempt(AttemptKind::ordinary);
  EXPECT_EQ(attempt.step(), Step::wait_for_state);
  EXPECT_EQ(attempt.after(Outcome::state_known), Step::take_slot);
  EXPECT_EQ(attempt.after(Outcome::slot_taken), Step::connect);
  EXPECT_EQ(attempt.after(Outcome::connected), Step::send);
  EXPECT_EQ(attempt.after(Outcome::answered), Step::done);
}

TEST(Attempt, BeginsByItsKind) {
  EXPECT_EQ(Attempt(AttemptKind::recovery).step(), Step::take_slot);
  EXPECT_EQ(Attempt(AttemptKind::resolution).step(), Step::connect);
}

TEST(Attempt, AFailureEndsItAtEachStep) {
  for (const AttemptKind kind :
       {AttemptKind::ordinary, AttemptKind::recovery, AttemptKind::resolution}) {
    Attempt attempt(kind);
    EXPECT_EQ(attempt.after(Outcome::failed), Step::fail);
    EXPECT_EQ(sent(kind).after(Outcome::failed), Step::fail);
  }
}

// E-8881-14: the same slot and number on one connection after the other, as often as they break.
TEST(Attempt, ALostConnectionKeepsTheSlotWithoutBound) {
  Attempt attempt = sent();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(attempt.after(Outcome::connection_lost), Step::connect);
    ASSERT_TRUE(attempt.keeps_slot());
    ASSERT_EQ(attempt.after(Outcome::connected), Step::send);
  }
}

TEST(Attempt, WhatCouldNotBeSentIsSentAfterAPause) {
  Attempt attempt = sent();
  EXPECT_EQ(attempt.after(Outcome::not_sent), Step::pause);
  EXPECT_EQ(attempt.pause(), Backoff::kFirst);
  EXPECT_TRUE(attempt.keeps_slot());
  EXPECT_EQ(attempt.after(Outcome::waited), Step::connect);
  after(attempt, {Outcome::connected, Outcome::not_sent});
  EXPECT_EQ(attempt.pause(), 2 * Backoff::kFirst);
}

TEST(Attempt, ADelayedSequenceKeepsItsSlotAndIsNumberedAgain) {
  Attempt attempt = sent();
  EXPECT_EQ(attempt.after(Outcome::sequence_delayed), Step::pause);
  EXPECT_TRUE(attempt.keeps_slot());
  EXPECT_EQ(attempt.after(Outcome::waited), Step::number);
  EXPECT_EQ(attempt.after(Outcome::numbered), Step::connect);
}

TEST(Attempt, TheFirstPauseInAnotherSlotIsShort) {
  Attempt attempt = sent();
  after(attempt, {Outcome::sequence_delayed, Outcome::waited, Outcome::numbered, Outcome::connected,
                  Outcome::sequence_delayed});
  EXPECT_EQ(attempt.pause(), 2 * Backoff::kFirst);
  after(attempt,
        {Outcome::slot_left, Outcome::slot_taken, Outcome::connected, Outcome::sequence_delayed});
  EXPECT_EQ(attempt.pause(), Backoff::kFirst);
}

TEST(Attempt, AfterManyCorrectionsAnotherSlotIsTaken) {
  Attempt attempt = sent();
  for (int i = 1; i < Attempt::kMaxTries; ++i) {
    ASSERT_EQ(attempt.after(Outcome::corrected), Step::number);
    ASSERT_TRUE(attempt.keeps_slot());
    after(attempt, {Outcome::numbered, Outcome::connected});
  }
  EXPECT_EQ(attempt.after(Outcome::corrected), Step::take_slot);
  after(attempt, {Outcome::slot_taken, Outcome::connected});
  EXPECT_EQ(attempt.after(Outcome::corrected), Step::number) << "another slot, counted by itself";
}

TEST(Attempt, SoManySlotsAreTriedForOneExecution) {
  for (const AttemptKind kind : {AttemptKind::ordinary, AttemptKind::recovery}) {
    Attempt attempt = sent(kind);
    for (int i = 1; i < Attempt::kMaxTries; ++i) {
      ASSERT_EQ(attempt.after(Outcome::slot_left), Step::take_slot);
      ASSERT_FALSE(attempt.keeps_slot());
      ASSERT_EQ(attempt.after(Outcome::session_changed), Step::take_slot) << "is not counted";
      after(attempt, {Outcome::slot_taken, Outcome::connected});
    }
    EXPECT_EQ(attempt.after(Outcome::slot_left), Step::fail);
  }
}

TEST(Attempt, AnotherExecutionHasItsOwnSlots) {
  Attempt attempt = sent();
  for (int i = 1; i < Attempt::kMaxTries; ++i) {
    after(attempt, {Outcome::slot_left, Outcome::slot_taken, Outcome::connected});
  }
  after(attempt, {Outcome::put_off, Outcome::waited});
  execute_again(attempt);
  EXPECT_EQ(attempt.after(Outcome::slot_left), Step::take_slot);
}

TEST(Attempt, ASlotThatIsGoneEndsItsResolution) {
  EXPECT_EQ(sent(AttemptKind::resolution).after(Outcome::slot_left), Step::fail);
  EXPECT_EQ(sent(AttemptKind::resolution).after(Outcome::corrected), Step::number);
}

TEST(Attempt, ARefusedStateIsRecoveredSoManyTimes) {
  Attempt attempt = sent();
  for (int i = 0; i < Attempt::kMaxRefusals; ++i) {
    ASSERT_EQ(attempt.after(Outcome::state_refused), Step::wait_for_state);
    ASSERT_FALSE(attempt.keeps_slot());
    execute_again(attempt);
  }
  EXPECT_EQ(attempt.after(Outcome::state_refused), Step::done) << "the refusal is the answer";
}

TEST(Attempt, WhatIsPutOffHasGrowingPausesAndNoBoundHere) {
  Attempt attempt = sent();
  Duration pause = Backoff::kFirst;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(attempt.after(Outcome::put_off), Step::pause);
    ASSERT_FALSE(attempt.keeps_slot()) << "others can have it meanwhile";
    ASSERT_EQ(attempt.pause(), pause);
    pause = std::min(2 * pause, Backoff::kLongest);
    ASSERT_EQ(attempt.after(Outcome::waited), Step::wait_for_state);
    execute_again(attempt);
  }
}

TEST(Attempt, AnOpenFileIsWaitedForSoManyTimes) {
  Attempt attempt = sent();
  Duration waited{0};
  for (int i = 0; i < Attempt::kMaxFileOpens; ++i) {
    ASSERT_EQ(attempt.after(Outcome::file_open), Step::pause);
    waited += attempt.pause();
    attempt.after(Outcome::waited);
    execute_again(attempt);
  }
  EXPECT_EQ(waited, std::chrono::milliseconds(1500));
  EXPECT_EQ(attempt.after(Outcome::file_open), Step::done);
}

}  // namespace
}  // namespace nfsrdma::client::test
