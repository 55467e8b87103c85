import Attribution
import Support
import Testing

@Suite("Lists of address ranges")
struct AddressRangesTests {
    private func ranges(_ text: String) throws(DataFileError) -> AddressRanges {
        try AddressRanges(reading: Array(text.utf8), file: "ranges.csv")
    }

    @Test(
        "contain the addresses of each range, to the last one",
        arguments: [
            ("172.224.224.0", true), ("172.224.224.31", true), ("172.224.224.32", false),
            ("172.224.223.255", false), ("10.0.0.1", true), ("10.0.0.2", false), ("0.0.0.0", false),
            ("255.255.255.255", false), ("2a02:26f7::", true), ("2a02:26f7::ffff:ffff:ffff:ffff", true),
            ("2a02:26f7:0:1::", true), ("2a02:26f7:0:2::", false), ("::", false),
            ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true),
        ]
    )
    func contains(text: String, expected: Bool) throws {
        let ranges = try ranges(
            """
            # Addresses of a relay
            172.224.224.0/27,GB,GB-EN,London,
            172.224.224.16/28,GB,GB-EN,London,\r

            10.0.0.1
            2a02:26f7::/64,US,US-CA,"San Jose",
              2a02:26f7:0:1::/64
            ffff::/16
            """
        )
        let address = try #require(NetworkAddress(text))
        #expect(ranges.contains(address) == expected)
    }

    @Test("contain exactly the addresses of their ranges, for random ranges")
    func likeEachRange() throws {
        var random = SeededGenerator(seed: 7)
        func next() -> UInt64 { random.next() >> 33 }
        let all = (0..<300).compactMap { _ in
            AddressRange("10.\(next() % 4).\(next() % 256).\(next() % 256)/\(14 + next() % 19)")
        }
        #expect(all.count == 300)
        let ranges = AddressRanges(all)
        for _ in 0..<5000 {
            let address = try #require(NetworkAddress("10.\(next() % 4).\(next() % 256).\(next() % 256)"))
            #expect(ranges.contains(address) == all.contains { $0.contains(address) })
        }
    }

    @Test("contain nothing if empty, and everything with ::/0")
    func ends() throws {
        let address = try #require(NetworkAddress("203.0.113.9"))
        #expect(!AddressRanges().contains(address) && AddressRanges().isEmpty)
        #expect(try ranges("::/0").contains(address))
    }

    @Test(
        "are refused with the number of the wrong line",
        arguments: [("10.0.0.0/8\nhere,GB\n", 2), ("10.0.0.0/33", 1), ("# nothing\n\n", 0), (",GB", 1)]
    )
    func refusal(text: String, line: Int) throws {
        let error = #expect(throws: DataFileError.self) { try ranges(text) }
        #expect(error?.line == line)
        #expect(error?.message.contains("ranges.csv") == true)
    }
}
