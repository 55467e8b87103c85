import Attribution
import Support

/// Writes made-up clicks, and the rows that checks find those by that can still be matched.
struct SeededRows {
    private let click: PlainStatement
    private let open: PlainStatement
    private let address: PlainStatement
    private let clickColumns: ClickColumns
    private let openColumns: FingerprintColumns
    private let addressColumns: AddressColumns
    private var closed: SeededEndings
    private var random = SeededGenerator(seed: 1)

    init(_ template: ClickTemplate, _ database: PlainDatabase) throws {
        click = try template.click.inserting(into: database)
        open = try template.fingerprint().inserting(into: database)
        address = try template.address.inserting(into: database)
        clickColumns = try ClickColumns(template.click)
        openColumns = try FingerprintColumns(template.fingerprint())
        addressColumns = try AddressColumns(template.address)
        closed = try SeededEndings(scope: template.scope(), database)
    }

    mutating func insert(_ seeded: SeededClick) throws {
        let visit = Int64(bitPattern: random.next())
        try insertClick(seeded, visit: visit)
        guard seeded.closedAs == nil else { return try closed.insert(seeded) }
        open.bind(seeded.id, at: openColumns.click)
        open.bind(seeded.fingerprint, at: openColumns.fingerprint)
        open.bind(seeded.fingerprintRest, at: openColumns.fingerprintRest)
        open.bind(seeded.clickedAt, at: openColumns.clickedAt)
        open.bind(seeded.expiresAt, at: openColumns.expiresAt)
        open.bind(visit, at: openColumns.visit)
        open.bind(seeded.exactAddress, at: openColumns.exactAddress)
        open.bind(seeded.nearAddress, at: openColumns.nearAddress)
        open.bind(Int64(bitPattern: random.next()), at: openColumns.visitor)
        try open.run()
        address.bind(seeded.id, at: addressColumns.click)
        address.bind(seeded.clickedAt, at: addressColumns.clickedAt)
        address.bind(seeded.exactAddress, at: addressColumns.exactAddress)
        address.bind(seeded.nearAddress, at: addressColumns.nearAddress)
        address.bindMark(seeded.fingerprint, at: addressColumns.marks)
        try address.run()
    }

    private mutating func insertClick(_ seeded: SeededClick, visit: Int64) throws {
        let (columns, trait) = (clickColumns, seeded.trait)
        click.bind(seeded.id, at: columns.id)
        click.bind(Int64(bitPattern: random.next()), at: columns.idLow)
        click.bind(seeded.clickedAt, at: columns.clickedAt)
        click.bind(seeded.clickedAt, at: columns.recordedAt)
        click.bind(seeded.windowSeconds, at: columns.windowSeconds)
        click.bind(seeded.expiresAt, at: columns.expiresAt)
        click.bind(visit, at: columns.visit)
        click.bind(Int64(bitPattern: random.next()), at: columns.visitRest)
        click.bind(seeded.fingerprint, seeded.fingerprintRest, at: columns.fingerprints)
        click.bind(seeded.exactAddress, at: columns.exactAddress)
        click.bind(seeded.nearAddress, at: columns.nearAddress)
        click.bind(.text(trait.campaign), at: columns.campaign)
        click.bind(.text(trait.source.rawValue), at: columns.source)
        click.bind(.text(trait.source.rawValue), at: columns.rawSource)
        click.bind(.text(trait.platform.rawValue), at: columns.platform)
        click.bind(.text(trait.osVersion), at: columns.osVersion)
        try click.run()
    }
}
