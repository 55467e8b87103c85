package import Attribution
package import HTTPServer

/// Tests whether a shop's domain leads to the receivers of Apple's postbacks.
///
/// Apple's devices call the registrable domain, which usually belongs to another server. The probe calls that
/// domain too, and the probe's body must arrive here with the same bytes.
package struct ApplePostbackProbe {
    /// The result of a probe of one receiver.
    package struct Finding: Sendable {
        package let path: String
        package let isReached: Bool
        /// One sentence without its full stop.
        package let text: String
    }

    /// The name of the body's member that contains the probe's text.
    static let member = "afterlink-probe"

    /// Probes both receivers.
    ///
    /// - Parameters:
    ///   - host: the shop's domain.
    ///   - store: the database of the servers that may receive the probes.
    ///   - now: the time.
    ///   - random: makes the texts.
    ///   - send: sends a request, and returns its response or failure; nil if too many calls are under way.
    /// - Returns: a finding for each receiver.
    /// - Throws: if the database fails.
    package static func run(
        _ host: LinkHost,
        _ store: any ApplePostbackStore,
        at now: Timestamp,
        random: RandomSource,
        send: (HTTPSRequest) async -> Result<HTTPSResponse, HTTPSFailure>?
    ) async throws(StoreError) -> [Finding] {
        var findings: [Finding] = []
        for path in [ApplePostback.Framework.skAdNetwork, .adAttributionKit].compactMap(\.path) {
            let nonce = Base64URL.text(of: random.exactly(24))
            // A system on the way that decodes JSON or text and encodes it again changes these bytes.
            let body = Array("{ \"\(member)\" : \"\(nonce)\", \"text\":\"\\/ é \\u00e9\" }\r\n".utf8)
            let end = now.advanced(byMilliseconds: AppleProbe.milliseconds)
            let probe = AppleProbe(nonce: nonce, digest: KeyDigest(of: body.span), expiresAt: end)
            try await store.start(probe, at: now)
            let fields = [FieldLine(name: "Content-Type", value: "application/json")]
            guard
                let request = HTTPSRequest(host: host.text, .post, path, fields: fields, body: body),
                let result = await send(request)
            else {
                findings.append(Finding(path: path, isReached: false, text: "the probe could not be sent"))
                continue
            }
            let problem = problem(of: result, try await store.arrival(ofProbe: nonce))
            let text = problem ?? "the probe arrived here unchanged"
            findings.append(Finding(path: path, isReached: problem == nil, text: text))
        }
        return findings
    }

    /// Returns what is wrong with a response; nil if the probe has arrived as it was sent.
    private static func problem(
        of result: Result<HTTPSResponse, HTTPSFailure>,
        _ arrival: AppleProbe.Arrival
    ) -> String? {
        switch result {
        case .failure(let failure): return failure.message
        case .success(let response):
            guard response.status == 200 else {
                if (300...399).contains(response.status), let location = response.field("location") {
                    return "the host redirects to \(location), and devices follow no redirect"
                }
                return "the host returns the status \(response.status)"
            }
            switch arrival {
            case .unchanged: return nil
            case .changed: return "the body arrived here with other bytes, so signatures may be invalid"
            case .missing: return "the host returns 200 by itself, and the probe did not arrive here"
            }
        }
    }
}

/// The settings with which a web server passes postbacks on to this service.
package enum ProxySnippet {
    /// Returns the name of each web server with its settings; `target` is a host of this service.
    package static func all(target: String) -> [(name: String, text: String)] {
        let pattern = #"^/\.well-known/(skadnetwork|appattribution)/report-attribution/?$"#
        let matching = #"^/(\.well-known/(?:skadnetwork|appattribution)/report-attribution/?)$"#
        return [
            (
                "nginx",
                """
                location ~ \(pattern) {
                    proxy_pass https://\(target);
                    proxy_ssl_server_name on;
                    proxy_set_header Host \(target);
                    proxy_set_header X-Forwarded-For $remote_addr;
                }
                """
            ),
            (
                "Caddy",
                """
                @apple path_regexp \(pattern)
                reverse_proxy @apple https://\(target) {
                    header_up Host \(target)
                }
                """
            ),
            (
                "Apache",
                """
                SSLProxyEngine on
                ProxyPassMatch "\(matching)" "https://\(target)/$1"
                """
            ),
            (
                "CDN",
                """
                Path     /.well-known/skadnetwork/report-attribution*
                         /.well-known/appattribution/report-attribution*
                Methods  POST, GET
                Origin   https://\(target), with the Host field \(target)
                Cache    off; leave the body as it is
                Redirect none, with and without the slash at the end
                Rules    no bot check, no challenge, no compression of requests
                """
            ),
        ]
    }
}
