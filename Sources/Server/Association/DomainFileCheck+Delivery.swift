internal import Attribution
internal import DomainFiles
internal import HTTPServer

extension DomainFileCheck {
    /// As long as Apple reads, and a little more, so that what is too long is known to be.
    private static let bodyLimit = AppleAssociation.maximumByteCount + 1024

    /// Fetches a file and looks at how it is delivered, and at what it says.
    static func fetch(_ kind: DomainFile?, _ url: WebURL, by client: HTTPSClient) -> DomainFileCheck {
        guard let request = HTTPSRequest(url, fields: [FieldLine(name: "Accept", value: "application/json")])
        else {
            let finding = AssociationFinding(.unreachable, "The address cannot be asked", "Correct it")
            return DomainFileCheck(kind ?? .apple, from: url.text, without: [finding])
        }
        var client = client
        client.bounds.bodyByteCount = bodyLimit
        do throws(HTTPSFailure) {
            return DomainFileCheck(kind, try client.send(request), from: url)
        } catch {
            return DomainFileCheck(kind ?? Self.kind(of: url), from: url.text, without: [finding(for: error)])
        }
    }

    /// An answer, whatever it is.
    init(_ kind: DomainFile?, _ answer: HTTPSResponse, from url: WebURL) {
        var findings = Self.headFindings(kind ?? Self.kind(of: url), answer, url)
        let isRead = answer.status == 200 && !findings.contains { $0.rule == .contentEncoding }
        if isRead {
            self.init(kind, answer.body, from: url.text)
            findings += self.findings
            self.findings = findings
        } else {
            self.init(kind ?? Self.kind(of: url), from: url.text, without: findings)
        }
    }

    private static func kind(of url: WebURL) -> DomainFile {
        url.target.contains("assetlinks") ? .google : .apple
    }

    private static func finding(for failure: HTTPSFailure) -> AssociationFinding {
        switch failure {
        case .certificate(let reason):
            AssociationFinding(
                .certificate,
                "The server's certificate is refused: \(reason)",
                "Give the server a certificate for this host from a public authority, with its whole chain"
            )
        case .tooLarge:
            AssociationFinding(
                .size,
                "The file has more than \(AppleAssociation.maximumByteCount) bytes, and no more are read",
                "Write fewer rules, with wildcards and substitution variables"
            )
        default:
            AssociationFinding(
                .unreachable,
                "The file could not be fetched: \(failure.message)",
                "Apple and Google fetch it from the public Internet, over TLS at port 443: let them"
            )
        }
    }

    private static func headFindings(_ kind: DomainFile, _ answer: HTTPSResponse, _ url: WebURL)
        -> [AssociationFinding]
    {
        guard answer.status == 200 else { return [statusFinding(kind, answer)] }
        var findings: [AssociationFinding] = []
        if let finding = typeFinding(answer.field("content-type")) { findings.append(finding) }
        if let coding = answer.field("content-encoding"), coding.lowercased() != "identity" {
            findings.append(
                AssociationFinding(
                    .contentEncoding,
                    "The answer is compressed (\(coding)) although nobody asked for that",
                    "Send it as it is where the request has no Accept-Encoding"
                )
            )
        }
        if kind == .apple, url.target.hasSuffix(".json") {
            findings.append(
                AssociationFinding(
                    .fileName,
                    "The file's name ends in .json, and is not looked for under that name",
                    "Serve it as \(kind.path), without an extension"
                )
            )
        }
        return findings
    }

    private static func statusFinding(_ kind: DomainFile, _ answer: HTTPSResponse) -> AssociationFinding {
        guard (300...399).contains(answer.status), let location = answer.field("location") else {
            return AssociationFinding(
                .status,
                "The answer's status is \(answer.status)",
                "Answer 200 under \(kind.path), to everybody and without signing in"
            )
        }
        return AssociationFinding(
            .redirect,
            "The answer is a redirect (\(answer.status)) to \(location), and none is followed",
            "Answer 200 at this very host and path, also where the rest of the site is redirected"
        )
    }

    private static func typeFinding(_ type: String?) -> AssociationFinding? {
        let parts = (type ?? "").split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let mediaType = parts.first.map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() } ?? ""
        guard mediaType != "application/json" else { return nil }
        return AssociationFinding(
            .contentType,
            mediaType.isEmpty
                ? "The answer has no Content-Type" : "The answer's Content-Type is \(mediaType)",
            "Send Content-Type: application/json; the file has no extension to tell it by"
        )
    }
}
