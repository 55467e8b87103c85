/// A receiver of an app's events, at an address that the operator has named.
public struct PostbackEndpoint: Equatable, Sendable {
    public enum State: String, CaseIterable, Sendable {
        case enabled
        /// Deliveries are queued but not sent, until an operator enables the endpoint.
        case held
        /// No delivery is queued or sent.
        case disabled
    }

    public let id: EndpointID
    public let app: AppID
    /// Whether it receives the traffic of test keys instead of live traffic.
    public let isTest: Bool
    /// A URL with or without macros.
    public let url: String
    public let types: Set<PostbackType>
    /// A JSON body with macros; nil for the body of Standard Webhooks.
    public let body: String?
    public let createdAt: Timestamp
    public var state = State.enabled
    /// Why the endpoint is held or disabled; empty if it is enabled.
    public var reason = ""
    /// The secret and the operator's header fields, encrypted by ``ServerKey/seal(_:of:random:)``.
    public var secret: [UInt8] = []
    public var headers: [UInt8] = []
    /// The secret before the last rotation, which also signs until ``formerUntil``.
    public var formerSecret: [UInt8] = []
    public var formerUntil: Timestamp?
    public var circuit = PostbackCircuit()

    public init(
        id: EndpointID,
        app: AppID,
        isTest: Bool,
        url: String,
        types: Set<PostbackType>,
        body: String?,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.isTest, self.url) = (id, app, isTest, url)
        (self.types, self.body, self.createdAt) = (types, body, createdAt)
    }

    /// Whether requests are made from a template; such requests are unsigned.
    public var isTemplate: Bool { body != nil || PostbackTemplate.hasMacros(url) }

    /// The types in the order of ``PostbackType``, separated by blanks.
    public var typesText: String {
        PostbackType.allCases.filter(types.contains).map(\.rawValue).joined(separator: " ")
    }

    /// The reason of an endpoint that an operator has disabled.
    public static let byOperator = "an operator has disabled it"

    public var isDisabledByOperator: Bool { state == .disabled && reason == Self.byOperator }

    /// How long the former secret signs after a rotation, in milliseconds.
    public static let overlapMilliseconds: Int64 = 86_400_000

    /// The time of the last rotation; nil without one.
    public var rotatedAt: Timestamp? {
        formerUntil.map { $0.advanced(byMilliseconds: -Self.overlapMilliseconds) }
    }

    /// Returns the secrets that sign at a time, the current one first; omits a secret whose server key is missing.
    public func secrets(_ keys: ServerKeys, at now: Timestamp) -> [PostbackSecret] {
        let former = formerUntil.map { $0 > now } ?? false ? [formerSecret] : []
        return ([secret] + former).compactMap { keys.open($0, of: id).flatMap { PostbackSecret(bytes: $0) } }
    }

    /// Returns the operator's header fields; nil if the server key that encrypted them is missing.
    public func fields(_ keys: ServerKeys) -> [(name: String, value: String)]? {
        guard !headers.isEmpty else { return [] }
        return keys.open(headers, of: id).map { bytes in
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { Self.field(String($0)) }
        }
    }

    fileprivate static func field(_ line: String) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1)
        return (String(parts.first ?? "").trimmed, parts.count > 1 ? String(parts[1]).trimmed : "")
    }
}

/// An endpoint as an operator describes it, before it is validated.
public struct PostbackDraft: Sendable {
    public var url = ""
    /// Names of types, or groups such as `link.*`.
    public var types: [String] = []
    public var body: String?
    /// Lines such as `Authorization: Bearer x`.
    public var headers: [String] = []
    public var isTest = false

    public static let maximumHeaders = 4
    private static let maximumBodyLength = 8192
    private static let ownHeaders = [
        "host", "connection", "content-length", "content-type", "transfer-encoding", "accept-encoding",
        "user-agent",
        "webhook-id", "webhook-timestamp", "webhook-signature",
    ]

    public init() {}

    /// Validates the draft, and creates the endpoint and its secret.
    ///
    /// - Parameters:
    ///   - app: the app.
    ///   - keys: the server keys, the current one of which encrypts the secret.
    ///   - now: the time of the creation.
    ///   - random: for the identifier and the secret.
    /// - Returns: the endpoint, and its secret.
    /// - Throws: ``FieldProblems`` with all problems of the draft.
    public func endpoint(of app: AppID, keys: ServerKeys, at now: Timestamp, random: RandomSource)
        throws(FieldProblems) -> (PostbackEndpoint, PostbackSecret)
    {
        var problems: [FieldProblem] = []
        if let message = Self.problem(ofURL: url) { problems.append(FieldProblem("url", message)) }
        problems += types.compactMap(Self.problem(ofType:))
        if types.isEmpty {
            problems.append(FieldProblem("types", "Name at least one type, such as match.created."))
        }
        if let body {
            if body.utf8.count > Self.maximumBodyLength {
                problems.append(
                    FieldProblem("body", "The template may have \(Self.maximumBodyLength) bytes at most.")
                )
            }
            if let name = PostbackTemplate.unknownName(in: body) {
                problems.append(FieldProblem("body", Self.unknownMacro(name)))
            } else if !PostbackTemplate.isJSON(body) {
                let advice =
                    "The template is no JSON; write it as {\"id\":\"{click_id}\"}, with macros in texts."
                problems.append(FieldProblem("body", advice))
            } else if let name = PostbackTemplate.unquotedText(in: body) {
                let advice = "The value of {\(name)} is a text; write it as \"{\(name)}\"."
                problems.append(FieldProblem("body", advice))
            }
        }
        if headers.count > Self.maximumHeaders {
            problems.append(FieldProblem("headers", "Give \(Self.maximumHeaders) header fields at most."))
        }
        for line in headers {
            let (name, value) = PostbackEndpoint.field(line)
            let isToken =
                !name.isEmpty && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
            guard isToken, !value.isEmpty, value.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) else {
                problems.append(FieldProblem("headers", "Write each header field as NAME: VALUE in ASCII."))
                continue
            }
            guard Self.ownHeaders.contains(name.asciiLowercased) else { continue }
            problems.append(FieldProblem("headers", "The service sets \(name) itself; leave it out."))
        }
        guard problems.isEmpty else { throw FieldProblems(problems) }
        var endpoint = PostbackEndpoint(
            id: EndpointID(at: now, random: random),
            app: app,
            isTest: isTest,
            url: url.trimmed,
            types: Set(types.flatMap(PostbackType.types)),
            body: body,
            createdAt: now
        )
        let secret = PostbackSecret(random: random)
        endpoint.secret = keys.current.seal(secret.bytes, of: endpoint.id, random: random)
        if !headers.isEmpty {
            // Store the lines as they were validated, without white space at their ends. Swift reads a carriage return
            // and a line feed after it as one character. So a line that ended in a carriage return would not be split
            // from the next one.
            let lines = headers.map(PostbackEndpoint.field).map { "\($0.name): \($0.value)" }
            let bytes = Array(lines.joined(separator: "\n").utf8)
            endpoint.headers = keys.current.seal(bytes, of: endpoint.id, random: random)
        }
        return (endpoint, secret)
    }

    /// Returns what is wrong with the name of a type or of a group of types; nil for a known name.
    public static func problem(ofType name: String) -> FieldProblem? {
        guard PostbackType.types(named: name).isEmpty else { return nil }
        let known = PostbackType.allCases.map(\.rawValue)
        let near = Suggestion.nearest(to: name, among: known).map { "; did you mean \($0)?" }
        let advice = near ?? "; the types are \(known.joined(separator: ", "))"
        return FieldProblem("types", "There is no type \"\(name.prefix(64))\"\(advice)")
    }

    private static func unknownMacro(_ name: String) -> String {
        let near = Suggestion.nearest(to: name, among: PostbackTemplate.names)
        return "{\(name)} is not a macro; "
            + (near.map { "did you mean {\($0)}?" } ?? "the article Postbacks lists the macros.")
    }

    /// Returns what is wrong with a URL; nil if requests can be sent to it.
    private static func problem(ofURL url: String) -> String? {
        let url = url.trimmed
        guard !url.isEmpty, url.utf8.count <= WebURL.maximumLength else {
            return "Give a URL of at most \(WebURL.maximumLength) bytes, such as https://example.com/hooks."
        }
        if let name = PostbackTemplate.unknownName(in: url) { return unknownMacro(name) }
        guard let target = PostbackTarget(url) else {
            return
                "Start the URL with https:// and a host; credentials, fragments and blanks are not allowed."
        }
        guard !PostbackTemplate.hasLooseBrace(url) else {
            return "Braces may only enclose the name of a macro; write any other brace as %7B or %7D."
        }
        guard !PostbackTemplate.hasMacros(target.origin) else {
            return "Move the macros to the path or the query; the scheme and the host cannot have any."
        }
        return nil
    }
}

/// The parts of an endpoint's URL.
public struct PostbackTarget: Equatable, Sendable {
    /// Whether the scheme is `http`, which only addresses of `--postback-allow` may have.
    public let isPlain: Bool
    public let host: String
    public let port: UInt16
    /// The path and the query.
    public let target: String
    /// The scheme and the authority as written.
    public let origin: String

    /// Reads a URL, whose path and query may have macros; nil for one that cannot be called.
    public init?(_ url: String) {
        guard url.utf8.allSatisfy({ (0x21..<0x7f).contains($0) && $0 != UInt8(ascii: "\\") }),
            let parts = try? URLParts(Array(url.utf8)), parts.isWeb, parts.fragment == nil,
            let end = url.firstRange(of: "://")?.upperBound
        else { return nil }
        let rest = url[end...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        origin = String(url[..<authority.endIndex])
        guard let known = try? URLParts(Array("\(origin)/".utf8)), let host = try? known.host() else {
            return nil
        }
        isPlain = parts.scheme == "http"
        self.host = host.name
        port = host.port ?? (isPlain ? 80 : 443)
        let path = url[authority.endIndex...]
        target = path.hasPrefix("/") ? String(path) : "/" + path
    }
}
