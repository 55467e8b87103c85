internal import Attribution
internal import Crypto
internal import Glibc

/// The arguments and environment variables of this process.
enum Environment {
    /// Returns the arguments without the program's name.
    ///
    /// Swift looks for the arguments in the memory before the environment variables, but a preloaded library may have
    /// moved these variables. So this function reads the system's copy of the arguments.
    static func arguments() -> [String] {
        guard let list = try? OpenFile("/proc/self/cmdline", O_RDONLY).readAll(limit: 1 << 22), list.last == 0
        else { return Array(CommandLine.arguments.dropFirst()) }
        let words = list.dropLast().split(separator: 0, omittingEmptySubsequences: false)
        return words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the variables that begin with the settings' prefix.
    ///
    /// If the list of variables cannot be read, this function reads each known variable by its name.
    static func settings() -> [String: String] {
        guard let list = try? OpenFile("/proc/self/environ", O_RDONLY).readAll(limit: 1 << 22) else {
            return known()
        }
        var variables: [String: String] = [:]
        for line in list.split(separator: 0) {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = String(decoding: line[..<equals], as: UTF8.self)
            guard name.hasPrefix(Setting.environmentPrefix) else { continue }
            variables[name] = String(decoding: line[(equals + 1)...], as: UTF8.self)
        }
        return variables
    }

    private static func known() -> [String: String] {
        var variables: [String: String] = [:]
        for name in Setting.all.map(\.environmentVariable) + ["AFTERLINK_CONFIG"] {
            // The text is copied before anything could change the environment.
            variables[name] = unsafe getenv(name).map { unsafe String(cString: $0) }
        }
        return variables
    }
}

extension RandomSource {
    /// The unpredictable bytes of the system.
    static let system = RandomSource { SystemRandom.bytes($0) }
}
