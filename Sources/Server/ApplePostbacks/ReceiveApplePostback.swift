internal import Attribution
internal import HTTPServer
internal import JSON

/// The receivers of Apple's postbacks, which devices call on every host.
enum ReceiveApplePostback {
    /// The largest body, in bytes.
    static let maximumByteCount = 8192
    static let paths = frameworks.flatMap(paths)

    private static let frameworks: [ApplePostback.Framework] = [.skAdNetwork, .adAttributionKit]

    /// Apple's paths end in a slash, and some proxies remove it.
    private static func paths(_ framework: ApplePostback.Framework) -> [String] {
        framework.path.map { [$0, String($0.dropLast())] } ?? []
    }

    /// Makes the routes of both receivers.
    static func makeRoutes() -> [Route] {
        frameworks.flatMap { framework in paths(framework).flatMap { makeRoutes(framework, $0) } }
    }

    private static func makeRoutes(_ framework: ApplePostback.Framework, _ path: String) -> [Route] {
        let store: Route.Endpoint = { exchange throws(APIError) in try await receive(framework, &exchange) }
        let explain: Route.Endpoint = { _ throws(APIError) in
            Response(.ok, contentType: .plainText, body: Array(explanation.utf8))
        }
        return [
            Route(.get, path, .anyone, limitedAs: .applePostbacks, explain),
            Route(.post, path, .anyone, limitedAs: .applePostbacks, store),
        ]
    }

    private static let explanation =
        "Apple's devices send postbacks of installations to this address by POST. There is nothing to see.\n"

    /// Stores a postback or the arrival of a probe.
    ///
    /// A postback that is not verified is stored too: Apple may use a new key before this program knows it.
    ///
    /// - Throws: 413 for a body that is too long; 400 for any other body that Apple cannot have sent; 500 while the store
    ///   cannot write, because by Apple's documentation devices send a postback again only after that status.
    private static func receive(_ framework: ApplePostback.Framework, _ exchange: inout Exchange)
        async throws(APIError) -> Response
    {
        let (body, store) = (exchange.request.body, exchange.stores.applePostbacks)
        guard body.count <= maximumByteCount else {
            let message = "A postback has at most \(maximumByteCount) bytes"
            throw APIError(status: Status(413), code: .bodyTooLarge, message: message)
        }
        let object = try ApplePostbackJSON.object(body)
        let nonce = object[ApplePostbackProbe.member]?.string
        let signed = nonce == nil ? try ApplePostbackJSON.read(object, framework) : nil
        do throws(StoreError) {
            if let nonce {
                try await store.noteArrival(ofProbe: nonce, KeyDigest(of: body.span))
            } else if let signed {
                let stored = StoredApplePostback(
                    signed.postback,
                    signed.verification,
                    signed.environment,
                    receivedAt: exchange.now,
                    body: String(decoding: body, as: UTF8.self)
                )
                exchange.outcome = try await store.store(stored).rawValue
            }
        } catch {
            let message = "The service cannot store the postback right now. Send it again later"
            throw APIError(status: .internalServerError, code: .unavailable, message: message)
        }
        return Response(.ok) { $0.member("status", "ok") }
    }
}
