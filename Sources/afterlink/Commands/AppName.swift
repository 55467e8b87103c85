internal import Attribution

/// An app's name, as an operator gives it.
enum AppName {
    static func read(_ text: String) throws -> String {
        guard let name = ValueText.name(text) else {
            throw CommandFailure(
                .usage,
                "\"\(text)\" cannot be an app's name.",
                advice:
                    "A name has 1 to 100 characters, no white space at its ends, and no control characters."
            )
        }
        return name
    }

    /// Runs a change of an app, and explains a name that another app has.
    static func translatingConflict(
        _ name: String,
        _ change: () async throws -> Void
    ) async throws {
        do {
            try await change()
        } catch let error as StoreError where error.code == .conflict {
            throw CommandFailure(
                "There is an app named \"\(name)\" already.",
                advice: "Take another name; `afterlink apps list` shows those there are."
            )
        }
    }
}
