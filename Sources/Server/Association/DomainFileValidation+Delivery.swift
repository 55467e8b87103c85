internal import Attribution
internal import DomainFiles
internal import HTTPServer

extension DomainFileValidation {
    /// A little more than Apple reads, to detect files that are too long.
    private static let bodyLimit = AppleAssociation.maximumByteCount + 1024

    /// Fetches a file, and validates its delivery and its content; blocks.
    static func fetch(_ kind: DomainFile?, _ url: WebURL, by client: HTTPSClient) -> DomainFileValidation {
        let usualKind = kind ?? (url.target.contains("assetlinks") ? .google : .apple)
        guard let request = HTTPSRequest(url, fields: [FieldLine(name: "Accept", value: "application/json")])
        else {
            return DomainFileValidation(
                usualKind,
                from: url.text,
                without: [AssociationFinding(.unusableAddress)]
            )
        }
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
