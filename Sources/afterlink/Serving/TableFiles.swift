internal import Attribution
internal import Glibc
internal import Server

/// The files that replace built-in tables and pages, read once at the start.
enum TableFiles {
    /// The maximum size of a file, in bytes; Apple's list of relay addresses has about 250,000 lines.
    private static let limit = 64 << 20

    /// Returns the settings of the service, with the contents of the files.
    ///
    /// - Throws: for the first file that cannot be used, with the line.
    static func settings(of given: Configuration) throws -> ServiceSettings {
        var settings = given.serviceSettings
        try read("device-data", given.deviceData, into: &settings.devices, DeviceData.init(replacing:file:))
        try read("robots", given.robots, into: &settings.robots, RobotAgents.init(replacing:file:))
        try read("relay-ranges", given.relayRanges, into: &settings.relays, AddressRanges.init(reading:file:))
        try read("landing-page", given.landingPage, into: &settings.pages, LandingPages.init(replacing:file:))
        return settings
    }

    /// Replaces a built-in table with the table in a setting's file, if the setting names a file.
    private static func read<Table>(
        _ setting: String,
        _ path: String?,
        into table: inout Table,
        _ parse: ([UInt8], String) throws(DataFileError) -> Table
    ) throws {
        guard let path else { return }
        let bytes = try attempt(
            "The file of --\(setting) could not be read",
            .configuration,
            advice: "Correct the path, or leave the setting out to use the built-in table."
        ) { try OpenFile(path, O_RDONLY).readAll(limit: limit) }
        do {
            table = try parse(bytes, path)
        } catch {
            throw CommandFailure.configuration("The file of --\(setting) cannot be used: \(error.message)")
                .advising("Correct the file and start again; nothing was started.")
        }
    }
}
