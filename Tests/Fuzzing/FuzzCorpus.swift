public import Foundation

/// The stored inputs of an entry: the starting points of its mutations, and inputs that once broke a promise.
public struct FuzzCorpus: Sendable {
    public let inputs: [[UInt8]]
    private let folder: URL

    /// The name of the file with the input that is being tried; the file remains after a crash.
    static let inFlightName = "in-flight"

    public init(of entry: FuzzEntry) throws {
        folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fuzz/Corpus/\(entry.name)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
        inputs = try names.filter { $0 != Self.inFlightName }.map { [folder] name in
            Array(try Data(contentsOf: folder.appending(path: name)))
        }
    }

    /// The file to which the program writes each input before it tries it.
    public var inFlight: URL { folder.appending(path: Self.inFlightName) }

    /// Stores an input, so that every later run tries it first, and returns its file.
    public func keep(_ input: [UInt8]) throws -> URL {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in input { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let file = folder.appending(path: "found-\(String(hash, radix: 16))")
        try Data(input).write(to: file)
        return file
    }
}
