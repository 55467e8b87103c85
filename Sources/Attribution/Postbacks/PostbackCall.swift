/// A request to an endpoint.
public struct PostbackCall: Equatable, Sendable {
    public let url: String
    public let isPost: Bool
    public private(set) var fields: [Field]
    public let body: [UInt8]

    public struct Field: Equatable, Sendable {
        public let name: String
        public fileprivate(set) var value: String
        /// Whether an operator set the field, so that no page and no response shows its value.
        public var isSecret = false
    }

    /// The bytes that signatures cover; nil for a template.
    public var baseString: [UInt8]?

    /// Creates the request of a delivery; nil if the server key that encrypted the endpoint's secrets is missing.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - sequence: the number of the delivery.
    ///   - endpoint: the endpoint.
    ///   - keys: the server keys.
    ///   - now: the time of the attempt.
    public init?(
        _ event: OutboxEvent,
        _ sequence: Int64,
        to endpoint: PostbackEndpoint,
        keys: ServerKeys,
        at now: Timestamp
    ) {
        guard let own = endpoint.fields(keys) else { return nil }
        var fields = own.map { Field(name: $0.name, value: $0.value, isSecret: true) }
        if endpoint.isTemplate {
            let values = PostbackTemplate.Values(event, app: endpoint.app, sequence: sequence)
            url = PostbackTemplate.url(endpoint.url, values)
            body = endpoint.body.map { Array(PostbackTemplate.body($0, values).utf8) } ?? []
            isPost = endpoint.body != nil
        } else {
            (url, isPost) = (endpoint.url, true)
            body = event.body(app: endpoint.app, isTest: endpoint.isTest, sequence: sequence)
            let secrets = endpoint.secrets(keys, at: now)
            guard !secrets.isEmpty else { return nil }
            let message = PostbackMessage(id: event.id.text, at: now, body: body)
            baseString = message.baseString
            fields += message.fields(signedBy: secrets).map { Field(name: $0.name, value: $0.value) }
        }
        if isPost { fields.append(Field(name: "Content-Type", value: "application/json")) }
        self.fields = fields
    }

    /// Replaces each signature by a note, because the secret that signed is no longer stored.
    public mutating func omitSignatures() {
        for index in fields.indices where fields[index].name == PostbackMessage.signatureField {
            fields[index].value = "made before the secret was rotated"
        }
    }
}
