internal import Attribution
internal import HTTPServer

/// Gives each request the id under which the log lists it: the caller's where it may be logged, else a new one.
struct RequestIDs {
    /// The last id; its memory is reused for the next.
    private var text: [UInt8]
    /// The length of the prefix, which is random for each loop and process, so that ids of different runs differ.
    private let prefixLength: Int
    private var count: UInt64 = 0

    private static let maximumLength = 128

    init(random: RandomSource) {
        text = Array("req_\(Base64URL.text(of: random.bytes(9)))-".utf8)
        prefixLength = text.count
    }

    mutating func identify(_ request: Request) -> String {
        guard let brought = request.field("x-request-id"), Self.isFit(brought) else { return make() }
        return brought
    }

    mutating func make() -> String {
        count &+= 1
        text.removeSubrange(prefixLength...)
        text.append(decimal: count)
        return String(decoding: text, as: UTF8.self)
    }

    private static func isFit(_ text: String) -> Bool {
        // The id is logged, and neither keys nor fingerprints may be.
        (1...maximumLength).contains(text.utf8.count) && !KeyText.mayOccur(in: text)
            && !Fingerprint.mayOccur(in: text)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "="),
                    UInt8(ascii: "+"):
                    true
                default: false
                }
            }
    }
}
