import Attribution
import Foundation
import QRCodes
import Testing

/// What the standard says of each version, read from the shared vectors.
struct QRTableRow: CustomTestStringConvertible {
    struct Level {
        let codewords: Int
        let dataCodewords: Int
        let blocks: Int
        /// How many characters fit, by mode.
        let capacities: [QRMode: Int]
    }

    let version: QRVersion
    let alignmentCentres: [Int]
    /// Nil for versions that are told by their size.
    let versionInformation: Int?
    let levels: [QRErrorCorrection: Level]

    var testDescription: String { "version \(version.number)" }

    static func all() throws -> [QRTableRow] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Vectors/qr-versions.tsv")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }.map { try QRTableRow(columns: $0.split(separator: "\t")) }
    }

    private init(columns: [Substring]) throws {
        version = try #require(Int(columns[0]).flatMap { QRVersion($0) })
        alignmentCentres = columns[1].split(separator: " ").compactMap { Int($0) }
        versionInformation = Int(columns[2], radix: 16)
        let levels = try columns[3...].map { column in
            let numbers = column.split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 6)
            return Level(
                codewords: numbers[0],
                dataCodewords: numbers[1],
                blocks: numbers[2],
                capacities: [.numeric: numbers[3], .alphanumeric: numbers[4], .byte: numbers[5]]
            )
        }
        self.levels = Dictionary(uniqueKeysWithValues: zip(QRErrorCorrection.allCases, levels))
    }
}
