import Server
import Support
import Testing

@Suite("JSON under fire")
struct JSONFuzzTests {
    private static let click = #"""
        {"signals":{"model":"iPhone","osVersion":"17.2","screenWidth":390,"pixelRatio":3.0e0,"languages":["tr-TR","en"],
        "uaModel":null},"deeplink_url":"myapp:\/\/promo?x=\u00e9\ud83d\ude00","metadata":{"a":[1,-2.5e3,true,false,null]}}
        """#

    @Test(
        "never crashes on damaged documents, and what it reads writes and reads back the same",
        arguments: [1, 2, 3]
    )
    func damage(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let original = Array(Self.click.utf8)
        let spice = Array("{}[]\",:\\u0eE+-.tfn \u{0}é".utf8) + [0xff, 0xed, 0xa0]
        var readCount = 0
        for _ in 0..<7000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<max(bytes.count, 1), using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0 where !bytes.isEmpty: bytes[index] = spice.randomElement(using: &generator) ?? 0
                case 1 where !bytes.isEmpty: bytes.remove(at: index)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
                case 3: bytes = Array(bytes[..<index])
                default: bytes.append(contentsOf: bytes[..<min(index, 40)])
                }
            }
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            readCount += 1
            var writer = JSONWriter()
            write(value, to: &writer)
            #expect(try JSONValue(parsing: writer.bytes) == value)
        }
        #expect(readCount > 100)
    }

    private func write(_ value: JSONValue, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let flag): writer.value(flag)
        case .number(let number): writer.raw(number.text.utf8)
        case .string(let text): writer.value(text)
        case .array(let values): writer.array { writer in values.forEach { write($0, to: &writer) } }
        case .object(let object):
            writer.object { writer in
                object.members.forEach { member in writer.member(member.name) { write(member.value, to: &$0) }
                }
            }
        }
    }
}
