internal import Attribution
internal import HTTPServer

/// Members that have the same meaning in every body.
extension JSONBody {
    func fingerprint() throws(APIError) -> Fingerprint? {
        guard let text = try text("fingerprint", .max) else { return nil }
        guard let fingerprint = Fingerprint(hex: text) else { throw .invalidFingerprint }
        return fingerprint
    }

    func time(_ name: String) throws(APIError) -> Timestamp? {
        guard let text = try text(name, 255) else { return nil }
        guard let time = Timestamp(iso8601: text) else {
            throw .invalidField(name, "is not an ISO 8601 time such as 2026-01-31T12:00:00.000Z")
        }
        return time
    }

    func address() throws(APIError) -> NetworkAddress? {
        guard let text = try text("ip_address", 255) else { return nil }
        guard let address = NetworkAddress(text) else {
            throw .invalidField("ip_address", "is not an IPv4 or IPv6 address")
        }
        return address
    }

    func window() throws(APIError) -> AttributionWindow? {
        guard let seconds = try integer("attribution_window_seconds") else { return nil }
        guard let window = AttributionWindow(seconds: seconds) else {
            let allowed = AttributionWindow.allowedSeconds
            throw APIError(
                status: .badRequest,
                code: .expiredAttributionWindow,
                message:
                    "attribution_window_seconds must lie between \(allowed.lowerBound) and \(allowed.upperBound)",
                field: "attribution_window_seconds"
            )
        }
        return window
    }

    func platform() throws(APIError) -> Platform? {
        try text("platform", 255).map { Platform(rawValue: $0.lowercased()) ?? .other }
    }
}
