internal import Attribution
internal import HTTPServer

extension Configuration {
    /// Something that is wrong about a setting only when another one is looked at with it.
    struct SettingConflict {
        /// The setting's name.
        let setting: String
        /// Nil where the value is secret or says nothing.
        let value: String?
        let sentence: String
    }

    var conflicts: [SettingConflict] {
        var conflicts: [SettingConflict] = []
        conflicts += testClockConflictss
        if let metricsListen, metricsListen == listen, listen.address.port != 0 {
            let sentence = "must be another address or port than --listen"
            conflicts.append(
                SettingConflict(setting: "metrics-listen", value: "\(metricsListen)", sentence: sentence)
            )
        }
        conflicts += tlsConflictss
        if let initialAppKey, initialAppKey.text == initialAdminKey?.text {
            let sentence = "must be another key than AFTERLINK_INITIAL_APP_KEY"
            conflicts.append(
                SettingConflict(setting: "initial-admin-key", value: nil, sentence: sentence)
            )
        }
        return conflicts
    }

    /// A clock that anybody can set stays on this machine, and off everything that looks like a real service.
    private var testClockConflictss: [SettingConflict] {
        guard usesTestClock else { return [] }
        var sentences = [listen, metricsListen].compactMap(\.self).filter { !$0.isLoopback }.map { address in
            "lets anybody who can reach \(address) set the time; it works on 127.0.0.1 and ::1 only"
        }
        if tlsCertificate != nil || tlsKey != nil {
            sentences.append(
                "is for tests and is not served over TLS; leave out --tls-certificate and --tls-key"
            )
        }
        return sentences.map { SettingConflict(setting: "unsafe-test-clock", value: nil, sentence: $0) }
    }

    /// Refuses one of the two alone: its operator expects HTTPS, so plain HTTP must not be served.
    private var tlsConflictss: [SettingConflict] {
        switch (tlsCertificate, tlsKey) {
        case (let certificate?, nil):
            [
                SettingConflict(
                    setting: "tls-certificate",
                    value: certificate,
                    sentence: "needs --tls-key with it"
                )
            ]
        case (nil, let key?):
            [SettingConflict(setting: "tls-key", value: key, sentence: "needs --tls-certificate with it")]
        default: []
        }
    }
}

extension ListenAddress {
    /// Whether only this machine can reach it: 127.0.0.0/8 or ::1.
    var isLoopback: Bool {
        if let ipv4 = address.ipv4 { return ipv4 >> 24 == 127 }
        return address.high == 0 && address.low == 1
    }
}
