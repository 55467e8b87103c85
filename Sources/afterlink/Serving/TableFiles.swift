internal import Attribution
internal import Glibc
internal import Server

/// The files that replace built-in tables and pages, read once at the start.
enum TableFiles {
    /// Apple's list of its relay's addresses has about a quarter of a million lines.
    private static let limit = 64 << 20

    /// Returns the settings of the service, with the contents of the files.
    ///
    /// - Throws: for the first file that cannot be used, with the line.
    static func settings(of configuration: Configuration) throws -> ServiceSettings {
        var settings = configuration.serviceSettings
        if let path = configuration.deviceData {
            settings.devices = try read(path, "device-data") { bytes throws(DataFileError) in
                try DeviceData(replacing: bytes, file: path)
            }
        }
        if let path = configuration.robots {
            settings.robots = try read(path, "robots") { bytes throws(DataFileError) in
                try RobotAgents(replacing: bytes, file: path)
            }
        }
        if let path = configuration.relayRanges {
            settings.relays = try read(path, "relay-ranges") { bytes throws(DataFileError) in
                try AddressRanges(reading: bytes, file: path)
            }
        }
        if let path = configuration.landingPage {
            settings.pages = try read(path, "landing-page") { bytes throws(DataFileError) in
                try LandingPages(replacing: bytes, file: path)
            }
        }
        return settings
    }

    private static func read<Table>(
        _ path: String,
        _ setting: String,
        _ parse: ([UInt8]) throws(DataFileError) -> Table
    ) throws -> Table {
        let bytes = try attempt(
            "The file of --\(setting) could not be read",
            .configuration,
            advice: "Correct the path, or leave the setting out to use the built-in table."
        ) { try OpenFile(path, O_RDONLY).readAll(limit: limit) }
        return try attempt {
            try parse(bytes)
        } orElse: { (error: DataFileError) in
            CommandFailure
                .configuration("The file of --\(setting) cannot be used: \(error.message)")
                .advising("Correct the file and start again; nothing was started.")
        }
    }
}
