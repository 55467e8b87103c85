internal import HTTPServer
internal import Server

// The rows of the table for how much a peer may send, how long it may take, and where the log goes.

extension Setting {
    static let limits: [Setting] = [
        limit("limit-target", "BYTES", 256...65_536, default: 8192, into: \.limits.targetByteCount)
            .saying("Maximum length of a request target; a longer one gets 414."),
        limit("limit-fields", "BYTES", 1024...1_048_576, default: 16_384, into: \.limits.fieldsByteCount)
            .saying("Maximum of all header fields of a request together; more get 431."),
        limit("limit-field-count", "N", 8...10_000, default: 100, into: \.limits.fieldCount)
            .saying("Maximum number of header fields of a request; more get 431."),
        limit("limit-body", "BYTES", 1024...16_777_216, default: 65_536, into: \.limits.bodyByteCount)
            .saying("Maximum length of a body; a longer one gets 413 before it is read."),
        limit(
            "limit-memory",
            "BYTES",
            1_048_576...1_099_511_627_776,
            default: 67_108_864,
            into: \.requestMemory
        )
        .saying("Memory of all requests that have not arrived completely; one more gets 503."),
        limit("limit-requests", "N", 1...1_000_000_000, default: 1000, into: \.limits.requestsPerConnection)
            .saying("Maximum number of requests on one connection; the response to the last one closes it."),
        limit("limit-queue", "N", 1...1_000_000, default: 8192, into: \.queueLimit)
            .saying("Clicks and matches that may wait for the disk; one more gets 503 at once."),
    ]

    static let timeLimits: [Setting] = [
        seconds("timeout-header", default: 10, into: \.timeouts.header)
            .saying("Time from a request's first byte to the end of its header; then 408."),
        seconds("timeout-body", default: 10, into: \.timeouts.body)
            .saying("Time from the end of the header to the end of the body; then 408."),
        seconds("timeout-idle", default: 75, into: \.timeouts.idle)
            .saying("Time without a byte between requests; then the connection is closed."),
        seconds("timeout-write", default: 10, into: \.timeouts.write)
            .saying("Time without progress while a response is sent; then the connection is closed."),
        Setting(
            "shutdown-grace",
            .timeLimits,
            "SECONDS",
            default: "7",
            allowed: "a whole number of seconds from 0 to 3600",
            help: "How long requests in flight may take to finish after SIGTERM.",
            into: \.shutdownGrace,
            { ValueText.integer($0, in: 0...3600) }
        ),
    ]

    static let log: [Setting] = [
        Setting(
            "log-format",
            .log,
            "json|text",
            default: "text on a terminal, else json",
            allowed: "json or text",
            help: "Write one JSON object a line, or lines for people.",
            intoOptional: \.logFormat,
            { LogFormat(rawValue: $0) }
        ),
        Setting(
            "log-file",
            .log,
            "FILE",
            default: "standard error",
            allowed: "the path of a file",
            help: "Append the log to this file. SIGHUP reopens it, for rotation.",
            intoOptional: \.logFile,
            ValueText.path
        ),
    ]

    private static func limit(
        _ name: String,
        _ placeholder: String,
        _ range: ClosedRange<Int>,
        default standard: Int,
        into path: any WritableKeyPath<Configuration, Int> & Sendable
    ) -> Setting {
        Setting(
            name,
            .limits,
            placeholder,
            default: String(standard),
            allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            help: "",
            into: path,
            { ValueText.integer($0, in: range) }
        )
    }

    private static func seconds(
        _ name: String,
        default standard: Int,
        into path: any WritableKeyPath<Configuration, Duration> & Sendable
    ) -> Setting {
        Setting(
            name,
            .timeLimits,
            "SECONDS",
            default: String(standard),
            allowed: "a whole number of seconds from 1 to 3600",
            help: "",
            into: path,
            { ValueText.integer($0, in: 1...3600).map { Duration.seconds($0 as Int) } }
        )
    }

    private func saying(_ help: String) -> Setting {
        Setting(
            name: name,
            section: section,
            placeholder: placeholder,
            isRepeatable: isRepeatable,
            isSecret: isSecret,
            defaultText: defaultText,
            allowed: allowed,
            help: help,
            read: read
        )
    }
}
