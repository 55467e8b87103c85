internal import Attribution
internal import HTTPServer

extension CommandFailure {
    /// A store's refusal in words for whoever called the command.
    init(_ error: StoreError) {
        let advice =
            switch error.code {
            case .overloaded, .timedOut, .locked: "Try again in a moment."
            case .full: "Make room on the disk and try again."
            case .readOnly: "The file and its directory must belong to the user that Afterlink runs as."
            case .inputOutput: "Look at the disk; the system's log may say more."
            case .corrupted: "Put the database back from a backup; nothing was changed."
            case .incompatible:
                "Use the version of Afterlink that the database was last used with, or a newer one."
            case .stopping: "Try again when the service has started."
            case .conflict, .notFound: "Look at what is there with the list commands."
            case .defect: "This is a defect; please report it."
            }
        self.init("The database could not do it: \(error.explanation).", advice: advice)
    }

    /// A database that could not be opened; the store's explanation names the file.
    init(opening error: StoreError) {
        guard error.code == .notFound else {
            self.init(error)
            return
        }
        self.init(
            "The database cannot be opened: \(error.explanation).",
            advice: "--database and --data-directory say where it is."
        )
    }
}

extension CommandFailure {
    /// A server that could not start.
    init(_ error: StartError) {
        let advice =
            switch error.cause {
            case .listening: "See which process has the address, or take another one with --listen."
            case .resources: "Raise the limits of the user that Afterlink runs as (ulimit -a shows them)."
            case .handler, .state: "This is a defect; please report it."
            }
        self.init(error.message, advice: advice)
    }
}
