package import Attribution
package import DomainFiles
package import HTTPServer
package import JSON

/// `POST /admin/api/domains/check`: fetches a host's domain files from the public Internet and validates them against
/// the rules of Apple and Google.
enum CheckDomain {
    static func respond(_ exchange: inout Exchange) async throws(APIError) -> Response {
        let body = try JSONBody(ofAdmin: exchange.request, with: ["host", "url"])
        guard let host = try body.text("host", 253) else {
            throw body.refusal(of: "host", "is missing; send the host name of the domain files as \"host\"")
        }
        guard let name = LinkHost(host), name.text == host.lowercased() else {
            let rule = "must be a host name such as links.example.com, without https:// and a path"
            throw body.refusal(of: "host", rule)
        }
        let text = try body.text("url", 2048)
        let url = text.flatMap { AssociationURL($0) }
        guard text == nil || url != nil else {
            throw body.refusal(of: "url", "must be a path such as /products/1, or a whole https URL")
        }
        // The outer nil means too many concurrent calls, and the inner nil means an invalid host.
        let validation = await exchange.service.settings.outgoing.perform { client in
            DomainValidation.ofHost(name.text, url: url, by: client)
        }
        guard let validation else {
            let message = "Too many domains are being checked; try again after some seconds"
            throw APIError(status: .serviceUnavailable, code: .unavailable, message: message, retryAfter: 5)
        }
        guard let validation else { throw .invalidField("host", "is not a host name") }
        return Response(.ok, json: validation.json())
    }
}

/// The validated domain files of a host, or a single validated file, and the files' decisions about a URL.
package struct DomainValidation: Sendable {
    /// The host, or the URL or path of the single file.
    package let subject: String
    package let files: [DomainFileValidation]
    package let url: AssociationURL?

    package init(_ subject: String, _ files: [DomainFileValidation], url: AssociationURL? = nil) {
        self.subject = subject
        self.files = files
        self.url = url
    }

    /// Fetches both files of a host from the paths that Apple and Google request; blocks.
    ///
    /// - Parameters:
    ///   - host: a host name, with a port for a host that is not public yet.
    ///   - url: the URL for which the files' decisions are reported; nil for none.
    ///   - client: the client that makes the requests.
    /// - Returns: nil if `host` is not a host name.
    package static func ofHost(_ host: String, url: AssociationURL?, by client: HTTPSClient) -> Self? {
        let files = DomainFile.allCases.compactMap { kind in
            (try? WebURL(parsing: "https://\(host)\(kind.path)")).map { address in
                kind == .apple
                    ? apple(address, host, client) : DomainFileValidation.fetch(kind, address, by: client)
            }
        }
        return files.isEmpty ? nil : DomainValidation(host, files, url: url)
    }

    /// Fetches Apple's file as Apple does: from the root if the path under `.well-known` does not return it.
    private static func apple(_ url: WebURL, _ host: String, _ client: HTTPSClient) -> DomainFileValidation {
        let file = DomainFileValidation.fetch(.apple, url, by: client)
        guard file.findings.contains(where: { $0.kind == .status }),
            let root = try? WebURL(parsing: "https://\(host)/\(DomainFile.apple.rawValue)")
        else { return file }
        var other = DomainFileValidation.fetch(.apple, root, by: client)
        guard other.byteCount != nil else { return file }
        other.findings.insert(AssociationFinding(.rootLocation, DomainFile.apple.path), at: 0)
        return other
    }

    /// Fetches one file; blocks.
    package static func ofURL(_ address: WebURL, url: AssociationURL?, by client: HTTPSClient) -> Self {
        DomainValidation(address.text, [DomainFileValidation.fetch(nil, address, by: client)], url: url)
    }

    package var hasErrors: Bool { files.contains(where: \.hasErrors) }
}

extension DomainValidation {
    package func json(isPretty: Bool = false) -> JSONWriter {
        var json = JSONWriter(isPretty: isPretty, reservedCapacity: 2048)
        json.object { json in
            json.member("subject", subject)
            json.member("ok", !hasErrors)
            json.objects("files", files) { write($1, to: &$0) }
        }
        return json
    }

    private func write(_ file: DomainFileValidation, to json: inout JSONWriter) {
        json.member("file", file.kind.rawValue)
        json.member("source", file.source)
        json.member("bytes", file.byteCount)
        json.member("ok", !file.hasErrors)
        json.objects("findings", file.findings) { json, finding in
            json.member("severity", finding.severity.rawValue)
            json.member("rule", finding.rule)
            json.member("place", finding.place)
            json.member("problem", finding.problem)
            json.member("advice", finding.advice)
        }
        guard let url else { return }
        json.objects("decisions", file.decisions(for: url)) { json, decision in
            json.member("app", decision.app)
            json.member("outcome", decision.outcome.rawValue)
            json.member("place", decision.place)
            json.member("rule", decision.rule)
        }
    }
}

extension DomainFileValidation {
    /// The largest number of bytes to fetch: 1024 more than Apple reads, to detect files that are too long.
    private static let bodyLimit = AppleAssociation.maximumByteCount + 1024

    /// Fetches a file, and validates its delivery and its content; blocks.
    static func fetch(_ kind: DomainFile?, _ url: WebURL, by client: HTTPSClient) -> DomainFileValidation {
        let usualKind = kind ?? (url.target.contains("assetlinks") ? .google : .apple)
        guard let request = HTTPSRequest(url, fields: [FieldLine(name: "Accept", value: "application/json")])
        else { return Self(usualKind, from: url.text, without: [AssociationFinding(.unusableAddress)]) }
        var client = client
        client.bounds.bodyByteCount = bodyLimit
        let response: HTTPSResponse
        do throws(HTTPSFailure) {
            response = try client.send(request)
        } catch {
            return DomainFileValidation(usualKind, from: url.text, without: [finding(for: error)])
        }
        let findings = headFindings(usualKind, response, url)
        guard response.status == 200, !findings.contains(where: { $0.kind == .contentEncoding }) else {
            return DomainFileValidation(usualKind, from: url.text, without: findings)
        }
        var validation = DomainFileValidation(kind, response.body, from: url.text)
        validation.findings = findings + validation.findings
        return validation
    }

    private static func finding(for failure: HTTPSFailure) -> AssociationFinding {
        switch failure {
        case .certificate(let reason): AssociationFinding(.certificate, reason)
        case .tooLarge: AssociationFinding(.sizeUnknown)
        default: AssociationFinding(.unreachable, failure.message)
        }
    }

    private static func headFindings(_ kind: DomainFile, _ response: HTTPSResponse, _ url: WebURL)
        -> [AssociationFinding]
    {
        guard response.status == 200 else {
            if (300...399).contains(response.status), let location = response.field("location") {
                return [AssociationFinding(.redirect, "\(response.status)", location)]
            }
            return [AssociationFinding(.status, "\(response.status)", kind.path)]
        }
        var findings: [AssociationFinding] = []
        let type = (response.field("content-type") ?? "").prefix { $0 != ";" }
        let mediaType = type.filter { $0 != " " && $0 != "\t" }.lowercased()
        if mediaType.isEmpty {
            findings.append(AssociationFinding(.noContentType))
        } else if mediaType != "application/json" {
            findings.append(AssociationFinding(.wrongContentType, mediaType))
        }
        if let coding = response.field("content-encoding"), coding.lowercased() != "identity" {
            findings.append(AssociationFinding(.contentEncoding, coding))
        }
        if kind == .apple, url.target.hasSuffix(".json") {
            findings.append(AssociationFinding(.fileName, kind.path))
        }
        return findings
    }
}
