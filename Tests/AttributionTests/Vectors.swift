import Foundation

/// The test vectors of this module, read from the folder `Vectors` beside this file.
enum Vectors {
    struct Fingerprints: Decodable {
        struct Device: Decodable, Sendable, CustomStringConvertible {
            struct Form: Decodable, Sendable {
                let input: String
                let sha256: String
            }
            let device: String
            let platform: String
            let model: String
            let osVersion: String?
            let widthPoints: Double?
            let heightPoints: Double?
            let scale: Double?
            let widthPixels: Double?
            let heightPixels: Double?
            let timezone: String
            let language: String
            let forms: [String: Form]
            var description: String { device }
        }
        let devices: [Device]
    }

    struct Canonical: Decodable {
        struct Pair: Decodable, Sendable {
            let platform: String?
            let web: String
            let native: String
        }
        struct Agent: Decodable, Sendable {
            struct HighEntropy: Decodable, Sendable {
                let platformVersion: String
                let model: String
            }
            struct Expectation: Decodable, Sendable {
                let model: String?
                let osVersion: String?
            }
            let userAgent: String
            let uaData: HighEntropy?
            let touchPoints: Int
            let expect: Expectation
        }
        struct Width: Decodable, Sendable {
            let cssWidth: Double
            let cssHeight: Double
            let pixelRatio: Double
            let widthPixels: Int
        }
        let androidWidth: [Width]
        let timezone: [Pair]
        let language: [Pair]
        let osVersion: [Pair]
        let userAgent: [Agent]
    }

    struct TimeZones: Decodable { let classes: [String: [String]] }

    static func read<Content: Decodable>(_ name: String, as type: Content.Type) throws -> Content {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let data = try Data(contentsOf: folder.appending(path: "Vectors/\(name).json"))
        return try JSONDecoder().decode(type, from: data)
    }
}
