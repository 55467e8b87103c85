/// Parameters of what differs from click to click.
struct ClickColumns {
    let id, idLow, clickedAt, recordedAt, windowSeconds, expiresAt, visit, visitRest: Int32
    let campaign, source, rawSource, platform, osVersion, fingerprints, exactAddress, nearAddress: Int32

    init(_ row: RowTemplate) throws {
        id = try row.parameter("id")
        idLow = try row.parameter("id_low")
        clickedAt = try row.parameter("clicked_at")
        recordedAt = try row.parameter("recorded_at")
        windowSeconds = try row.parameter("window_seconds")
        expiresAt = try row.parameter("expires_at")
        visit = try row.parameter("visit")
        visitRest = try row.parameter("visit_rest")
        campaign = try row.parameter("campaign_key")
        source = try row.parameter("source")
        rawSource = try row.parameter("raw_source")
        platform = try row.parameter("platform")
        osVersion = try row.parameter("os_version")
        fingerprints = try row.parameter("fingerprints")
        exactAddress = try row.parameter("exact_address")
        nearAddress = try row.parameter("near_address")
    }
}

/// The same of a row that a check finds it by.
struct FingerprintColumns {
    let click, fingerprint, fingerprintRest, clickedAt, expiresAt, visit, exactAddress, nearAddress: Int32
    let visitor: Int32

    init(_ row: RowTemplate) throws {
        click = try row.parameter("click")
        fingerprint = try row.parameter("hash")
        fingerprintRest = try row.parameter("hash_rest")
        clickedAt = try row.parameter("since")
        expiresAt = try row.parameter("expires_at")
        visit = try row.parameter("visit")
        exactAddress = try row.parameter("exact_address")
        nearAddress = try row.parameter("near_address")
        visitor = try row.parameter("visitor")
    }
}

/// The same of the row by which a check finds it at its address.
struct AddressColumns {
    let click, clickedAt, exactAddress, nearAddress, marks: Int32

    init(_ row: RowTemplate) throws {
        click = try row.parameter("click")
        clickedAt = try row.parameter("clicked_at")
        exactAddress = try row.parameter("exact_address")
        nearAddress = try row.parameter("near_address")
        marks = try row.parameter("marks")
    }
}

extension RowTemplate {
    /// How long a click of this kind can be matched.
    func windowMilliseconds() throws -> Int64 {
        try integer("window_seconds") * 1000
    }

    func integer(_ column: String) throws -> Int64 {
        guard case .integer(let value) = values[Int(try parameter(column)) - 1] else {
            throw BenchmarkError("The column \(column) of \(table) holds no whole number.")
        }
        return value
    }
}
