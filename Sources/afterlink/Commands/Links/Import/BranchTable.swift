internal import Attribution
internal import JSON
internal import Server

/// An export of Branch's quick links.
///
/// Branch documents the labels and the link data of its links, but not the columns of an export. The import therefore
/// accepts the names of Branch's API, with or without `$` or `~`, and the names of the dashboard. A column `data` may
/// have all link data as a JSON object, as the API returns it. The import reports unknown columns.
///
/// Source: Branch's documentation, "Quick Links API" and "Configuring Links".
struct BranchTable: ImportedTable {
    private let names: [String]

    init(_ header: CSVReader.Record) throws(CSVReader.Failure) {
        names = header.cells
        let columns = Set(names.compactMap { BranchLink.Label(named: $0) })
        guard columns.contains(.url) || columns.contains(.alias) else {
            throw CSVReader.Failure(
                line: header.line,
                message:
                    "an export of Branch's links has a column url or alias, and columns such as $deeplink_path,"
                    + " $desktop_url, campaign, channel, tags or data"
            )
        }
    }

    func read(_ cells: [String], into entry: inout LinkFile.Entry) {
        var link = BranchLink()
        for (name, cell) in zip(names, cells) where !cell.isEmpty {
            if ["data", "link_data", "link data"].contains(name.lowercased()) {
                link.setData(cell)
            } else {
                link.set(name, cell, isData: false)
            }
        }
        link.write(to: &entry)
    }
}

/// A link of Branch: its labels and its data.
struct BranchLink {
    enum Label: String, CaseIterable {
        case url
        case alias
        case title = "marketing_title"
        case path = "deeplink_path"
        case iosPath = "ios_deeplink_path"
        case androidPath = "android_deeplink_path"
        case canonicalURL = "canonical_url"
        case desktopURL = "desktop_url"
        case iosURL = "ios_url"
        case androidURL = "android_url"
        case huaweiURL = "huawei_url"
        case fallbackURL = "fallback_url"
        case campaign
        case channel
        case tags
        case previewTitle = "og_title"
        case previewDescription = "og_description"
        case previewImage = "og_image_url"
        case matchDuration = "match_duration"
        case createdAt = "creation_date"
        case archived

        /// Other names of the labels in dashboards and in the API.
        private static let otherNames: [String: Label] = [
            "link": .url, "short_link": .url, "short_url": .url, "link_url": .url, "quick_link": .url,
            "link_alias": .alias, "title": .title, "link_title": .title, "name": .title, "link_name": .title,
            "duration": .matchDuration, "created": .createdAt, "created_at": .createdAt,
            "date_created": .createdAt, "creation_time": .createdAt, "creation_timestamp": .createdAt,
            "is_archived": .archived,
        ]

        init?(named name: String) {
            let name = String(name.lowercased().replacing(" ", with: "_").drop { $0 == "$" || $0 == "~" })
            guard let label = Label(rawValue: name) ?? Self.otherNames[name] else { return nil }
            self = label
        }
    }

    private var labels: [Label: String] = [:]
    private var utm: [LinkField: String] = [:]
    /// The data for the app's first launch.
    private var members: [(name: String, value: JSONValue)] = []
    private var leftOut: [String] = []
    private var problems: [FieldProblem] = []

    /// Labels that become data for the app, because a link has no field for them.
    private static let dataNames = [
        "feature": "~feature", "stage": "~stage", "canonical_identifier": "$canonical_identifier",
    ]

    /// Reads all link data from a JSON object.
    mutating func setData(_ text: String) {
        guard let object = try? JSONValue(parsing: Array(text.utf8)).object else {
            problems.append(FieldProblem("data", "data must be a JSON object."))
            return
        }
        for member in object.members where !member.value.isNull {
            switch member.value {
            case .string(let text): set(member.name, text, isData: true)
            case .array(let values) where Label(named: member.name) == .tags:
                set(member.name, values.compactMap(\.string).joined(separator: ","), isData: true)
            case .bool(let flag): set(member.name, String(flag), member.value, isData: true)
            case .number(let number): set(member.name, number.text, member.value, isData: true)
            default: set(member.name, nil, member.value, isData: true)
            }
        }
    }

    mutating func set(_ name: String, _ text: String, isData: Bool) {
        set(name, text, .string(text), isData: isData)
    }

    /// Sets a label, a UTM field or a member of the data, unless an earlier column has set it.
    ///
    /// Other names are reported as left out, except `type`.
    private mutating func set(_ name: String, _ text: String?, _ value: JSONValue, isData: Bool) {
        let plain = String(name.lowercased().replacing(" ", with: "_").drop { $0 == "$" || $0 == "~" })
        if let label = Label(named: name), let text {
            labels[label] = labels[label] ?? text
        } else if let field = LinkField(rawValue: plain), plain.hasPrefix("utm_"), let text {
            utm[field] = utm[field] ?? text
        } else if let dataName = Self.dataNames[plain] {
            keep(dataName, value)
        } else if isData, let first = name.first, !"$~+".contains(first) {
            keep(name, value)
        } else if name.lowercased() != "type" {
            leftOut.append(name)
        }
    }

    private mutating func keep(_ name: String, _ value: JSONValue) {
        guard !members.contains(where: { $0.name == name }) else { return }
        members.append((name, value))
    }

    func write(to entry: inout LinkFile.Entry) {
        entry.problems += problems
        entry.leftOut += leftOut
        if let url = labels[.url] { entry.setShortLink(url, of: "url") }
        if let alias = labels[.alias] { entry.slug = alias }
        if entry.slug == nil, entry.problems.isEmpty {
            entry.problems = [FieldProblem("url", "The link has neither url nor alias, and so no slug.")]
        }
        entry.isArchived = labels[.archived]?.lowercased() == "true"
        if let text = labels[.createdAt] { entry.setCreatedAt(text, of: Label.createdAt.rawValue) }
        entry.fields = fields
    }

    private var fields: LinkFields {
        let page = labels[.fallbackURL]
        let texts: KeyValuePairs<LinkField, String?> = [
            .title: labels[.title], .destination: labels[.path].map(Self.target) ?? labels[.canonicalURL],
            .iosDestination: labels[.iosPath].map(Self.target),
            .androidDestination: labels[.androidPath].map(Self.target),
            .desktopURL: labels[.desktopURL] ?? page, .iosFallback: labels[.iosURL] ?? page,
            .androidFallback: labels[.androidURL] ?? page, .huaweiFallback: labels[.huaweiURL] ?? page,
            .campaignKey: labels[.campaign], .source: labels[.channel], .metadata: metadata,
            .previewTitle: labels[.previewTitle], .previewDescription: labels[.previewDescription],
            .previewImage: labels[.previewImage], .windowSeconds: labels[.matchDuration],
        ]
        var fields = LinkFields()
        for (field, text) in texts { fields.set(field, text) }
        for (field, text) in utm { fields.set(field, text) }
        fields[.tags] = LinkColumns.texts(labels[.tags] ?? "", of: .tags)
        return fields
    }

    private var metadata: String? {
        guard !members.isEmpty else { return nil }
        return JSONWriter.text { json in
            for (name, value) in members {
                json.name(name)
                json.value(value)
            }
        }
    }

    /// Returns a path of Branch as a target: `promo/item` means `/promo/item`.
    private static func target(_ path: String) -> String {
        path.hasPrefix("/") || path.contains("://") ? path : "/" + path
    }
}
