#if PostgreSQL
import Foundation
import Support
import Testing

/// Faults of the connections between servers and PostgreSQL.
extension FleetTests {
    @Test("lose no click if connections are cut before, during or after the COMMIT of claims")
    func cutAtCommit() throws {
        let fleet = try Fleet.shared().fleet
        let load = FleetLoad(fleet, seed: 3)
        load.run(for: .milliseconds(600))
        let cuts = (0..<(isLong ? 100 : 2)).flatMap { _ in FaultyWire.CommitCut.allCases }
        for (number, cut) in cuts.enumerated() {
            let wire = fleet.wires[number % fleet.wires.count]
            let before = wire.commitCutCount
            wire.set(.cutAtCommit(cut))
            let end = Polling.end
            while wire.commitCutCount == before, ContinuousClock.now < end { load.turn() }
            #expect(wire.commitCutCount == before + 1)
            let recovery = load.recover()
            #expect(recovery < Self.recoveryLimit, "\(cut)")
        }
        try load.finish()
        print("\(cuts.count) connections cut at a COMMIT of claims; \(load.summary)")
    }

    /// Faults of a wire, by name, because arguments must be printable.
    private static let wireFaults: [String: FaultyWire.Fault] = [
        "cut": .cut, "delay of 2 s": .delay(milliseconds: 2000),
        "no byte to the database": .swallow(.toDatabase), "no byte to the server": .swallow(.toServer),
        "no byte": .swallow([.toDatabase, .toServer]),
    ]

    private static let shortForm = ["cut", "delay of 2 s", "no byte to the server"]

    @Test("lose no click if the connections of one server or of all are cut, slow or silent")
    func faultyWires() throws {
        let fleet = try Fleet.shared().fleet
        let load = FleetLoad(fleet, seed: 4)
        load.run(for: .milliseconds(600))
        for round in 0..<(isLong ? 20 : 1) {
            let faults = Self.wireFaults.filter { isLong || Self.shortForm.contains($0.key) }
            for (index, (name, fault)) in faults.sorted(by: { $0.key < $1.key }).enumerated() {
                let isOfAll = (round + index) % 2 == 0
                let wires = isOfAll ? fleet.wires : [fleet.wires[(round + index) % fleet.wires.count]]
                for wire in wires { wire.set(fault) }
                // With the longest faults, servers give up their connections.
                load.run(for: .milliseconds(fault == .cut ? 500 : isLong ? 5000 : 2200))
                for wire in wires { wire.set(.none) }
                let recovery = load.recover()
                #expect(recovery < Self.recoveryLimit, "\(name)")
                print("\(name), \(wires.count) servers: success after \(recovery.inSeconds)")
            }
        }
        try load.finish()
        #expect(load.longestWait < .seconds(4), "every request has a response in time, possibly 503")
        print("faulty wires: \(load.summary)")
    }

    @Test(
        "respond 503 in about a second and start no thread if the database accepts connections but never answers"
    )
    func silentDatabase() throws {
        let fleet = try Fleet.shared().fleet
        let servers = try (0..<Fleet.serverCount).map { try #require(fleet.server($0)) }
        let connections = try servers.map { try HTTPTestClient(port: $0.port, key: fleet.keys.app, of: $0) }
        for (number, connection) in connections.enumerated() {
            #expect(try connection.click(fingerprint(number), ["jid": "silent\(number)"]).status == 201)
        }
        func threads() -> [Int] { servers.map { ProcessFigures(of: $0.identifier).threadCount } }
        let before = threads()
        // Existing connections carry no more bytes, and new ones are accepted.
        fleet.set(.swallow([.toDatabase, .toServer]))
        var longest = Duration.zero
        let end = ContinuousClock.now + .seconds(isLong ? 60 : 3)
        while ContinuousClock.now < end {
            for (number, connection) in connections.enumerated() {
                let watch = ServerStopwatch(of: servers[number].identifier)
                let reply = try connection.check(fingerprint(number))
                longest = max(longest, watch.elapsed)
                #expect(reply.status == 503 && reply.fields["retry-after"] != nil)
                #expect(try connection.get("/healthz").status == 200)
            }
        }
        #expect(longest < .seconds(2), "503 after about a second, on a busy machine too")
        #expect(zip(threads(), before).allSatisfy { $0 <= $1 })
        for connection in connections { #expect(try connection.get("/readyz").status == 503) }
        fleet.set(.none)
        let start = ContinuousClock.now
        for (number, connection) in connections.enumerated() {
            #expect(try Polling.until { try connection.check(fingerprint(number)).isMatch })
        }
        #expect(ContinuousClock.now - start < Self.recoveryLimit)
        print(
            "a silent database: 503 after \(longest.inSeconds), \(before) threads before, \(threads()) after"
        )
    }
}
#endif
