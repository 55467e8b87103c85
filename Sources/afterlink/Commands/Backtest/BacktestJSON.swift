internal import Attribution
internal import JSON
internal import Storage

/// The parts of a backtest's JSON.
enum BacktestJSON {
    static func write(_ column: BacktestColumn, to json: inout JSONWriter) {
        let score = column.score
        json.object { json in
            if let plan = column.plan {
                json.member("rule", plan.policy.rule.rawValue)
                json.member("minimum_confidence", plan.policy.minimumConfidence)
                json.member("on_ambiguity", plan.policy.onAmbiguity.rawValue)
                json.member("window", plan.window?.seconds)
            }
            json.member("launches", score.launches)
            json.member("matches", score.matches)
            json.member("match_rate", score.matchRate)
            json.member("by_token", score.tokenMatches)
            json.member("campaign_only", score.campaignMatches)
            json.member("replays", score.replays)
            json.object("no_match") { json in
                json.member("no_candidate", score.reasons[nil] ?? 0)
                for reason in NoMatchReason.ofVerdicts {
                    json.member(reason.rawValue, score.reasons[reason] ?? 0)
                }
            }
            json.member("expected_conversions", score.expectedConversions)
            json.member("spread", score.spread)
            json.member("expected_right", score.expectedRight + Double(score.tokenMatches))
            if score.besideTokens.launches > 0 {
                json.member("beside_tokens") { write(score.besideTokens, to: &$0) }
            }
            guard score.knownLaunches > 0 else { return }
            json.member("truth") { writeTruth(score, to: &$0) }
        }
    }

    private static func writeTruth(_ score: ReplayScore, to json: inout JSONWriter) {
        json.object { json in
            json.member("launches", score.knownLaunches)
            json.member("conversions", score.conversions)
            json.member("conversions_after_window", score.lateConversions)
            json.member("unknown_clicks", score.unknownClicks)
            json.member("right_matches", score.rightLink)
            json.member("precision", score.precision)
            json.member("found", score.found)
            json.member("organic", score.organic)
            json.member("false_attribution", score.falseAttribution)
            json.member("reinstalls", score.reinstalls)
            json.member("rematched_reinstalls", score.rematched)
            write(score.calibration, of: score.knownMatches, to: &json)
        }
    }

    /// Writes the trials of launches that a token or an id recognised.
    private static func write(_ trials: TokenTrials, to json: inout JSONWriter) {
        json.object { json in
            json.member("launches", trials.launches)
            json.member("matches", trials.matches)
            json.member("right", trials.right)
            json.member("precision", trials.precision)
            json.member("found", trials.found)
            write(trials.calibration, of: trials.matches, to: &json)
        }
    }

    private static func write(_ calibration: Calibration, of matches: Int, to json: inout JSONWriter) {
        json.member("calibration_error", matches > 0 ? calibration.error : nil)
        json.member("calibration") { json in
            json.array { json in
                for (index, bin) in calibration.bins.enumerated() {
                    json.object { json in
                        json.member("from", Double(index) / 10)
                        json.member("matches", bin.count)
                        json.member("stated", bin.count > 0 ? bin.stated : nil)
                        json.member("right", bin.count > 0 ? bin.right : nil)
                    }
                }
            }
        }
    }

    static func write(_ gaps: BacktestGaps, to json: inout JSONWriter) {
        json.object { json in
            for entry in gaps.entries { json.member(entry.name, entry.count) }
            json.member("nothing_before", gaps.firstHeld?.iso8601)
            json.member("minimum_confidences") { json in
                json.array { json in
                    for (minimum, count) in gaps.gaps.minimums.sorted(by: { $0.key < $1.key }) {
                        json.object { json in
                            json.member("minimum_confidence", minimum)
                            json.member("launches", count)
                        }
                    }
                }
            }
        }
    }

    static func write(_ changes: Backtest.Changes, hasTruth: Bool, to json: inout JSONWriter) {
        json.object { json in
            json.member("gained", changes.gained)
            json.member("lost", changes.lost)
            json.member("redirected", changes.redirected)
            json.member("same", changes.same)
            json.member("same_link_by_another_click", changes.otherClick)
            json.member("repeated_in_one", changes.repeatedInOne)
            json.member("unknown", changes.unknown)
            guard hasTruth else { return }
            json.member("gained_right", changes.gainedRight)
            json.member("lost_right", changes.lostRight)
            json.member("redirected_right", changes.redirectedRight)
        }
    }
}
