import Foundation
import Testing

/// Reads Parquet files as `afterlink export` writes them: plain pages without compression.
struct ParquetReader {
    struct Column {
        let name: String
        /// The physical type and its meaning, as in `INT64 timestamp`.
        let type: String
        let isOptional: Bool
        /// The values as texts; nil for unknown ones.
        var values: [String?] = []
    }

    private(set) var columns: [Column] = []
    private(set) var groupCount = 0

    var rowCount: Int { columns.first?.values.count ?? 0 }

    init(_ bytes: [UInt8]) throws {
        #expect(bytes.prefix(4) == Array("PAR1".utf8)[...] && bytes.suffix(4) == Array("PAR1".utf8)[...])
        let length = Int(Self.number(bytes, at: bytes.count - 8, count: 4))
        var thrift = Thrift(bytes, at: bytes.count - 8 - length)
        let footer = thrift.structure()
        let schema = try #require(footer[2]?.list)
        #expect(footer[1]?.number == 1 && schema.first?.fields?[5]?.number == Int64(schema.count - 1))
        for element in schema.dropFirst() { columns.append(try Self.column(try #require(element.fields))) }
        #expect(footer[6]?.text?.wholeMatch(of: /afterlink version \d+\.\d+\.\d+/) != nil)
        let groups = try #require(footer[4]?.list)
        groupCount = groups.count
        for group in groups {
            let fields = try #require(group.fields)
            let chunks = try #require(fields[1]?.list)
            #expect(chunks.count == columns.count)
            for (index, chunk) in chunks.enumerated() {
                let data = try #require(chunk.fields?[3]?.fields)
                #expect(data[3]?.list?.first?.text == columns[index].name && data[4]?.number == 0)
                #expect(data[2]?.list?.map(\.number) == [0, 3] && data[6]?.number == data[7]?.number)
                #expect(data[5]?.number == fields[3]?.number)
                let (start, size) = (try #require(data[9]?.number), try #require(data[6]?.number))
                try readPage(bytes, Int(start)..<Int(start + size), into: index)
            }
        }
        let counts = groups.compactMap { $0.fields?[3]?.number }
        #expect(footer[3]?.number == counts.reduce(0, +) && Int64(rowCount) == footer[3]?.number)
    }

    private static func column(_ element: [Int: Thrift.Value]) throws -> Column {
        let meaning = element[10]?.fields
        let type: String
        switch (element[1]?.number, element[6]?.number) {
        case (0, nil): type = "BOOLEAN"
        case (2, nil): type = "INT64"
        case (2, 9):
            let time = try #require(meaning?[8]?.fields)
            #expect(time[1]?.flag == true && time[2]?.fields?[1]?.fields != nil)
            type = "INT64 timestamp"
        case (5, nil): type = "DOUBLE"
        case (6, 0):
            #expect(meaning?[1]?.fields != nil)
            type = "BYTE_ARRAY text"
        default: type = "\(element)"
        }
        let name = try #require(element[4]?.text)
        return Column(name: name, type: type, isOptional: element[3]?.number == 1)
    }

    private mutating func readPage(_ bytes: [UInt8], _ range: Range<Int>, into index: Int) throws {
        var thrift = Thrift(bytes, at: range.lowerBound)
        let header = thrift.structure()
        let page = try #require(header[5]?.fields)
        #expect(header[1]?.number == 0 && page[2]?.number == 0 && page[3]?.number == 3)
        #expect(header[2]?.number == Int64(range.upperBound - thrift.place))
        var place = thrift.place
        var levels = [Bool](repeating: true, count: Int(try #require(page[1]?.number)))
        if columns[index].isOptional {
            let end = place + 4 + Int(Self.number(bytes, at: place, count: 4))
            var runs = Thrift(bytes, at: place + 4)
            levels = []
            while runs.place < end {
                let run = runs.variable()
                #expect(run & 1 == 0 && run > 0)
                levels += [Bool](repeating: bytes[runs.place] == 1, count: Int(run >> 1))
                runs.skip(1)
            }
            #expect(runs.place == end && levels.count == Int(page[1]?.number ?? -1))
            place = end
        }
        var flagCount = 0
        for isPresent in levels {
            guard isPresent else {
                columns[index].values.append(nil)
                continue
            }
            var count = 8
            let text: String
            switch columns[index].type {
            case "BOOLEAN":
                text = bytes[place + flagCount / 8] >> (flagCount % 8) & 1 == 1 ? "true" : "false"
                (flagCount, count) = (flagCount + 1, 0)
            case "DOUBLE": text = String(Double(bitPattern: Self.number(bytes, at: place, count: 8)))
            case "BYTE_ARRAY text":
                count = 4 + Int(Self.number(bytes, at: place, count: 4))
                text = String(decoding: bytes[place + 4..<place + count], as: UTF8.self)
            default: text = String(Int64(bitPattern: Self.number(bytes, at: place, count: 8)))
            }
            columns[index].values.append(text)
            place += count
        }
        #expect(place + (flagCount + 7) / 8 == range.upperBound)
    }

    private static func number(_ bytes: [UInt8], at place: Int, count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[place + $1]) << (8 * $1) }
    }
}

/// Reads the compact protocol of Thrift.
private struct Thrift {
    indirect enum Value {
        case number(Int64)
        case text(String)
        case flag(Bool)
        case list([Value])
        case fields([Int: Value])

        var number: Int64? { if case .number(let number) = self { number } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }
        var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
        var list: [Value]? { if case .list(let list) = self { list } else { nil } }
        var fields: [Int: Value]? { if case .fields(let fields) = self { fields } else { nil } }
    }

    private let bytes: [UInt8]
    private(set) var place: Int

    init(_ bytes: [UInt8], at place: Int) { (self.bytes, self.place) = (bytes, place) }

    mutating func skip(_ count: Int) { place += count }

    private mutating func byte() -> UInt8 {
        defer { place += 1 }
        return bytes[place]
    }

    mutating func variable() -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while true {
            let next = byte()
            value |= UInt64(next & 0x7F) << shift
            guard next & 0x80 != 0 else { return value }
            shift += 7
        }
    }

    mutating func structure() -> [Int: Value] {
        var (fields, last): ([Int: Value], Int) = ([:], 0)
        while true {
            let header = byte()
            guard header != 0 else { return fields }
            last += Int(header >> 4)
            fields[last] = value(header & 15)
        }
    }

    private mutating func value(_ kind: UInt8) -> Value {
        switch kind {
        case 1, 2: return .flag(kind == 1)
        case 5, 6:
            let value = variable()
            return .number(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
        case 8:
            let count = Int(variable())
            defer { place += count }
            return .text(String(decoding: bytes[place..<place + count], as: UTF8.self))
        case 9:
            let header = byte()
            let count = header >> 4 == 15 ? Int(variable()) : Int(header >> 4)
            return .list((0..<count).map { _ in value(header & 15) })
        default: return .fields(structure())
        }
    }
}
