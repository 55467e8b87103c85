internal import Attribution

/// The options that several commands have in common; each is nil without the option.
extension Arguments {
    /// The option `--limit`: how many rows to show at most.
    var limit: Int? {
        get throws {
            try read("limit", "must be a whole number from 1 to 1000000") {
                ValueText.integer($0, in: 1...1_000_000)
            }
        }
    }

    /// The options `--from` and `--to`: a span of time, to which the time of `--to` does not belong.
    var range: (from: Timestamp?, to: Timestamp?) {
        get throws {
            let (from, to) = (try moment("from"), try moment("to"))
            if let from, let to, to < from {
                throw CommandFailure.wrongValue("to", value("to") ?? "", "must not be before --from")
            }
            return (from, to)
        }
    }

    /// The option `--campaign`: the key of a campaign.
    var campaign: CampaignKey? {
        get throws { try read("campaign", "must have 1 to 255 characters") { CampaignKey($0) } }
    }

    /// Reads an option whose value is a time.
    func moment(_ name: String) throws -> Timestamp? {
        try read(name, "must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z", TimeArgument.moment)
    }

    /// Reads an option whose value is one of a type's words.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String) throws -> Word?
    where Word.RawValue == String {
        let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
        return try read(name, "must be one of \(words)") { Word(rawValue: $0) }
    }
}
