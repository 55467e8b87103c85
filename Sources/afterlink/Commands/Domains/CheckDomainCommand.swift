internal import Attribution
internal import DomainFiles
internal import Glibc
internal import HTTPServer
internal import JSON
internal import Server

/// The command `afterlink check-domain`.
enum CheckDomainCommand {
    static let description = CommandDescription(
        name: "check-domain",
        summary: "Validate a host's domain files by Apple's and Google's rules",
        discussion: [
            "Fetches apple-app-site-association and assetlinks.json as Apple and Google do: over TLS with a valid"
                + " certificate, without following redirects, within five seconds, 128 KiB at most. It prints each mistake"
                + " with its position and its remedy. Takes a host, the https address of one file, or a file on this machine.",
            "--url shows what each app does with a URL or path, and the rule that decides it.",
            "The exit status is 1 after an error, and 0 after warnings and notes.",
        ],
        operands: [
            .required(
                "HOST|URL|FILE",
                "A host name, an https address, or a file's path; a word without / is a host, unless it is a domain file's name."
            )
        ],
        options: CommandOption.table([
            "url URL": "Also show the rule that decides for this path or URL.",
            "roots FILE": "Trust the authorities of this PEM file instead of the machine's.",
            "allow-private": "Also call loopback and private addresses, for a host that is not public yet.",
        ]) + [.json],
        examples: [
            "afterlink check-domain go.example.com --url '/products/1?x=y'":
                "Validate both files, and show whether this link opens the app.",
            "afterlink check-domain ./apple-app-site-association": "Validate a file before it is published.",
        ],
        run: run
    )

    /// The maximum size of a file, in bytes: more than Apple and Google accept, so that the validation reports larger
    /// files.
    private static let fileLimit = 4 << 20

    private static func run(_ invocation: Invocation) async throws {
        let arguments = invocation.arguments
        let url = try arguments.read("url", "must be a path such as /products/1, or a whole https URL") {
            AssociationURL($0)
        }
        let check = try check(arguments.operands.first ?? "", url, client(arguments))
        invocation.show(DomainCheckText(check: check).text, json: check.json(isPretty: true).text)
        if check.hasErrors { throw ExitCode.failed }
    }

    private static func client(_ arguments: Arguments) throws -> HTTPSClient {
        let roots = try arguments.read("roots", "must be the path of a PEM file; there is no such file") {
            TextFile.exists($0) ? $0 : nil
        }
        guard arguments.has("allow-private") else { return OutgoingRequests.publicOnly(roots: roots) }
        return HTTPSClient(roots: roots) { _ in true }
    }

    private static func check(
        _ subject: String,
        _ url: AssociationURL?,
        _ client: HTTPSClient
    ) throws -> DomainValidation {
        if subject.hasPrefix("https://") {
            do {
                return DomainValidation.ofURL(try WebURL(parsing: subject), url: url, by: client)
            } catch {
                throw CommandFailure.usage("\(subject) is not an address: \(error.message)").advising(advice)
            }
        }
        guard !subject.hasPrefix("http://") else {
            throw CommandFailure.usage("Apple and Google fetch nothing over plain http.").advising(advice)
        }
        // No host has the name of a domain file, such as assetlinks.json.
        guard !subject.contains("/"), DomainFile(rawValue: subject) == nil else {
            return try checkFile(subject, url)
        }
        guard let check = DomainValidation.ofHost(subject, url: url, by: client) else {
            throw CommandFailure.usage("\(subject) is not a host name.").advising(Self.advice)
        }
        return check
    }

    private static let advice =
        "Give a host such as go.example.com, an address that begins with https://, or the path of a file."

    private static func checkFile(_ path: String, _ url: AssociationURL?) throws -> DomainValidation {
        let bytes = try attempt("The file could not be read", advice: Self.advice) {
            try OpenFile(path, O_RDONLY).readAll(limit: fileLimit)
        }
        return DomainValidation(path, [DomainFileValidation(nil, bytes, from: path)], url: url)
    }
}

/// The text of a validation of domain files.
struct DomainCheckText {
    let check: DomainValidation

    var text: String { check.files.map(paragraph).joined(separator: "\n\n") }

    private func paragraph(_ file: DomainFileValidation) -> String {
        let size = file.byteCount.map { ", \($0) bytes" } ?? ""
        var lines = ["\(file.kind.rawValue) (\(file.source)\(size)): \(verdict(file))"]
        for finding in file.findings {
            let place = finding.place.isEmpty ? "" : " at \(finding.place)"
            lines.append("  \(finding.severity.rawValue)\(place)")
            lines.append("    \(finding.problem).")
            lines.append("    \(finding.advice).")
        }
        if let url = check.url { lines += file.decisions(for: url).map { "  \(sentence($0))" } }
        // Text from a fetched file must not add lines to this output.
        return lines.map(Table.printable).joined(separator: "\n")
    }

    private func verdict(_ file: DomainFileValidation) -> String {
        guard !file.findings.isEmpty else { return "good" }
        let counts = [AssociationFinding.Severity.error, .warning, .note].compactMap { severity in
            let count = file.findings.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity.rawValue)\(count == 1 ? "" : "s")"
        }
        return counts.joined(separator: ", ")
    }

    private func sentence(_ decision: RuleDecision) -> String {
        let rule = decision.rule.map { " by \"\($0)\" at \(decision.place ?? "")" } ?? ""
        return switch decision.outcome {
        case .opensApp: "\(decision.app) opens it\(rule)"
        case .excluded: "\(decision.app): it stays in the browser\(rule)"
        case .noRule: "\(decision.app): it stays in the browser, no rule fits"
        case .tooComplex: "\(decision.app): unknown, too complex to compare\(rule)"
        case .byManifest: "\(decision.app): the app's manifest decides, the file has no rules for it"
        }
    }
}
