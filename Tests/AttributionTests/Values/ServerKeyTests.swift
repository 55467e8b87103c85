import Attribution
import Testing

@Suite("Server key")
struct ServerKeyTests {
    private let key: ServerKey
    private let address = NetworkAddress(high: 5, low: 6)

    init() throws { key = try #require(ServerKey(bytes: Array(0..<32))) }

    @Test("has 32 bytes, no more and no fewer", arguments: [0, 16, 31, 33, 64])
    func length(_ count: Int) { #expect(ServerKey(bytes: [UInt8](repeating: 1, count: count)) == nil) }

    @Test("makes the same hash of the same value, and another hash under another key")
    func determinism() throws {
        let other = try #require(ServerKey(bytes: Array(1...32)))
        #expect(key.keyed(TestValues.fingerprint) == key.keyed(TestValues.fingerprint))
        #expect(key.keyed(TestValues.fingerprint) != other.keyed(TestValues.fingerprint))
        #expect(key.keyed(TestValues.fingerprint) != key.keyed(Fingerprint(of: "another")))
    }

    // Databases contain these hashes: if this test fails, launches cannot find the clicks of any existing database.
    @Test("makes the same hashes as earlier versions")
    func stability() {
        let stored = KeyedHash(index: 0x38c3_788d_8f04_eaab, rest: 0xb50b_b6fe_8f95_c261)
        #expect(key.keyed(Fingerprint(of: "")) == stored)
    }

    @Test("makes another hash if any value or the purpose differs")
    func separation() throws {
        let one = TestValues.fingerprint
        let two = Fingerprint(of: "another")
        let near = NetworkAddress(high: 5, low: 7)
        let spelled = NetworkAddress(high: 0x4141_4141_4141_4141, low: 0x4141_4141_4141_4141)
        let install = try #require(InstallID("install-1"))
        func visit(
            app: AppID = TestValues.app,
            isTest: Bool = false,
            fingerprint: Fingerprint? = TestValues.fingerprint,
            link: String = "myapp://a",
            address: NetworkAddress = NetworkAddress(high: 5, low: 6),
            agent: String = "Safari"
        ) -> KeyedHash {
            key.visit(
                app: app,
                isTest: isTest,
                fingerprint: fingerprint,
                destinationOrLink: link,
                address: address,
                userAgent: agent
            )
        }
        func caller(
            _ id: KeyID = KeyID(high: 1, low: 2),
            isTest: Bool = false,
            fingerprint: Fingerprint = TestValues.fingerprint,
            address: NetworkAddress = NetworkAddress(high: 5, low: 6),
            agent: String = "Safari"
        ) -> KeyedHash {
            key.caller(key: id, isTest: isTest, fingerprint: fingerprint, address: address, userAgent: agent)
        }
        let hashes: [KeyedHash] = [
            key.keyed(one), key.keyed(two),
            visit(), visit(app: TestValues.otherApp), visit(isTest: true), visit(fingerprint: two),
            visit(fingerprint: nil), visit(link: "myapp://b"), visit(address: near), visit(agent: "Chrome"),
            // The boundary between two texts counts, even if a text contains the bytes of the address.
            visit(link: "", agent: "myapp://aSafari"), visit(link: "", agent: ""),
            visit(link: "a", address: spelled, agent: "AAAAAAAAAAAAAAAAb"),
            visit(link: "aAAAAAAAAAAAAAAAA", address: spelled, agent: "b"), caller(), caller(isTest: true),
            caller(KeyID(high: 1, low: 3)), caller(fingerprint: two), caller(address: near),
            caller(agent: "Chrome"), key.install(app: TestValues.app, isTest: false, installID: install),
            key.install(app: TestValues.app, isTest: true, installID: install),
            key.install(app: TestValues.otherApp, isTest: false, installID: install),
            key.idempotency(app: TestValues.app, isTest: false, key: "install-1"),
            key.idempotency(app: TestValues.app, isTest: true, key: "install-1"),
            key.idempotency(app: TestValues.app, isTest: false, key: "install-2"),
        ]
        #expect(Set(hashes).count == hashes.count)
        #expect(visit() == visit())
    }

    @Test("does not appear in descriptions and dumps")
    func hidden() {
        #expect("\(key)" == "ServerKey(hidden)")
        #expect(String(reflecting: key) == "ServerKey(hidden)")
        #expect(Mirror(reflecting: key).children.isEmpty)
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("code") && !dumped.contains("inner"))
    }
}
