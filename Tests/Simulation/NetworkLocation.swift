import Foundation
import Support

/// The network that a person is in, and their address there.
struct NetworkLocation {
    enum Network { case home, carrier, office, venue, relay }

    var network: Network
    /// The IPv4 address; nil if it is unknown.
    var address: UInt32?
}

extension Networks {
    private static let homeBase: UInt32 = 0x5000_0000
    private static let carrierBase: UInt32 = 0xb000_0000
    private static let officeBase: UInt32 = 0xc100_0000
    private static let venueBase: UInt32 = 0xc900_0000
    private static let relayBase: UInt32 = 0xd000_0000

    /// Returns where a person is; each person always has the same home and the same office.
    func place(of person: UInt64, isApple: Bool, _ random: inout SeededGenerator) -> NetworkLocation {
        if unknown || hidden > 0 && random.chance(hidden) {
            return NetworkLocation(network: .home, address: nil)
        }
        if isApple, random.chance(relay) {
            // Half of the relays are on the operator's list, and their addresses count as unknown.
            let egress = Self.relayBase + UInt32(random.below(4000))
            return NetworkLocation(network: .relay, address: random.chance(0.5) ? nil : egress)
        }
        let shares = [homeShare, carrierShare, officeShare, venueShare]
        let networks: [NetworkLocation.Network] = [.home, .carrier, .office, .venue]
        return place(of: person, in: networks[random.index(weights: shares)], &random)
    }

    private func place(
        of person: UInt64,
        in network: NetworkLocation.Network,
        _ random: inout SeededGenerator
    ) -> NetworkLocation {
        let address: UInt32 =
            switch network {
            case .home: Self.homeBase + UInt32(SeededGenerator.mixed(person) % UInt64(max(1, homes)))
            case .carrier: Self.carrierBase + UInt32(Double(carrierAddresses) * pow(random.unit(), 2))
            case .office: Self.officeBase + officeNumber(person) * 7
            case .venue: Self.venueBase + UInt32(random.below(max(1, venueAddresses))) * 5
            case .relay: Self.relayBase + UInt32(random.below(4000))
            }
        return NetworkLocation(network: network, address: address)
    }

    private func officeNumber(_ person: UInt64) -> UInt32 {
        var own = SeededGenerator(seed: person &+ 17)
        return UInt32(own.skewed(below: offices * 4) / 4)
    }

    /// Returns where a person is some seconds later.
    func later(
        _ place: NetworkLocation,
        seconds: Double,
        of person: UInt64,
        isApple: Bool,
        _ random: inout SeededGenerator
    ) -> NetworkLocation {
        let ages = [600.0, 3600, 14_400, 43_200]
        let stay = stays[ages.firstIndex { seconds < $0 } ?? 4]
        guard !neverAgree, random.chance(stay) else {
            var other = self.place(of: person, isApple: isApple, &random)
            for _ in 0..<4
            where other.network == place.network || neverAgree && other.address == place.address {
                other = self.place(of: person, isApple: isApple, &random)
            }
            if neverAgree, other.address == place.address {
                other.address = UInt32(truncatingIfNeeded: random.next())
            }
            return other
        }
        let lease: Double =
            switch place.network {
            case .home: homeLease
            case .carrier: carrierLease
            case .office, .venue: 30 * 86_400
            case .relay: 900
            }
        guard !random.chance(1 - fading(seconds / lease)), let address = place.address else {
            return renewed(place, of: person, &random)
        }
        return NetworkLocation(network: place.network, address: address)
    }

    private func renewed(
        _ place: NetworkLocation,
        of person: UInt64,
        _ random: inout SeededGenerator
    ) -> NetworkLocation {
        guard let address = place.address else { return place }
        if random.chance(nearby) {
            let neighbour = address & 0xffff_ff00 | UInt32(random.below(256))
            return NetworkLocation(network: place.network, address: neighbour)
        }
        return self.place(of: person &+ random.next(), in: place.network, &random)
    }
}
