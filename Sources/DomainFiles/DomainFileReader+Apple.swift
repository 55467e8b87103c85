internal import Attribution
internal import JSON

/// Reads the structure of Apple's domain file, in its current form and in the form for iOS 9 to 12.
extension DomainFileReader {
    mutating func appleAssociation(_ value: JSONValue) -> AppleAssociation? {
        guard let object = object(value, at: "") else { return nil }
        let services = ["applinks", "webcredentials", "appclips", "activitycontinuation"]
        addUnknown(in: object, at: "", known: services)
        var file = AppleAssociation()
        if let links = object["applinks"] { readLinks(links, into: &file) }
        file.webCredentials = apps(of: "webcredentials", in: object)
        file.appClips = apps(of: "appclips", in: object)
        _ = apps(of: "activitycontinuation", in: object)
        return file
    }

    private mutating func apps(of name: String, in object: JSONObject) -> [String] {
        guard let service = self.object(object[name], at: name) else { return [] }
        addUnknown(in: service, at: name, known: ["apps"])
        if service["apps"] == nil { add(.noApps, at: name, name) }
        return texts(service["apps"], at: "\(name).apps") ?? []
    }

    private mutating func readLinks(_ value: JSONValue, into file: inout AppleAssociation) {
        guard let links = object(value, at: "applinks") else { return }
        let members = ["details", "defaults", "substitutionVariables", "apps"]
        addUnknown(in: links, at: "applinks", known: members)
        if let defaults = links["defaults"] { file.defaults = settings(defaults, at: "applinks.defaults") }
        if let variables = links["substitutionVariables"] { file.variables = self.variables(variables) }
        if let apps = array(links["apps"], at: "applinks.apps"), !apps.isEmpty {
            add(.legacyAppsNotEmpty, at: "applinks.apps")
        }
        switch links["details"] {
        case nil: add(.noDetails, at: "applinks")
        case .object(let object): readLegacyDetails(object, into: &file)
        case .some(let value):
            for (index, detail) in (array(value, at: "applinks.details") ?? []).enumerated() {
                if let detail = self.detail(detail, at: "applinks.details[\(index)]") {
                    file.details.append(detail)
                }
            }
        }
        if file.details.contains(where: { $0.paths != nil }), links["apps"] == nil {
            add(.legacyAppsMissing, at: "applinks")
        }
    }

    /// Reads the form of the first beta of iOS 9: an object whose member names are app ids.
    private mutating func readLegacyDetails(_ object: JSONObject, into file: inout AppleAssociation) {
        add(.legacyDetails, at: "applinks.details")
        for member in object.members {
            let place = "applinks.details.\(member.name)"
            guard let detail = self.object(member.value, at: place) else { continue }
            let paths = texts(detail["paths"], at: "\(place).paths")
            file.details.append(.init(appIDs: [member.name], components: nil, paths: paths, place: place))
        }
    }

    private mutating func detail(_ value: JSONValue, at place: String) -> AppleAssociation.Detail? {
        guard let object = object(value, at: place) else { return nil }
        addUnknown(in: object, at: place, known: ["appIDs", "appID", "components", "defaults", "paths"])
        var appIDs = texts(object["appIDs"], at: "\(place).appIDs") ?? []
        if let appID = text(object["appID"], at: "\(place).appID"), !appIDs.contains(appID) {
            appIDs.append(appID)
        }
        if appIDs.isEmpty { add(.noAppIDs, at: place) }
        return AppleAssociation.Detail(
            appIDs: appIDs,
            components: components(object["components"], at: "\(place).components"),
            paths: texts(object["paths"], at: "\(place).paths"),
            defaults: object["defaults"].map { settings($0, at: "\(place).defaults") } ?? MatchingSettings(),
            place: place
        )
    }

    private mutating func settings(_ value: JSONValue, at place: String) -> MatchingSettings {
        guard let object = object(value, at: place) else { return MatchingSettings() }
        addUnknown(in: object, at: place, known: ["caseSensitive", "percentEncoded"])
        return matchingSettings(of: object, at: place)
    }

    fileprivate mutating func matchingSettings(of object: JSONObject, at place: String) -> MatchingSettings {
        MatchingSettings(
            caseSensitive: flag(object["caseSensitive"], at: "\(place).caseSensitive"),
            percentEncoded: flag(object["percentEncoded"], at: "\(place).percentEncoded")
        )
    }

    private mutating func variables(_ value: JSONValue) -> [SubstitutionVariable] {
        let place = "applinks.substitutionVariables"
        guard let object = object(value, at: place) else { return [] }
        return object.members.map { member in
            let values = texts(member.value, at: "\(place).\(member.name)") ?? []
            return SubstitutionVariable(name: member.name, values: values)
        }
    }
}

/// Reads the rules, which both Apple's and Google's file can contain.
extension DomainFileReader {
    /// Reads a list of rules; nil if the value is missing or is no list.
    ///
    /// `comment` is the name of the member with a rule's comment. Rules in Google's file have no settings for case and
    /// escapes, and no pattern for a whole query.
    mutating func components(
        _ value: JSONValue?,
        at place: String,
        comment: String = "comment",
        isGoogle: Bool = false
    ) -> [AssociationComponent]? {
        guard let values = array(value, at: place) else { return nil }
        let settings = isGoogle ? [] : ["caseSensitive", "percentEncoded"]
        var components: [AssociationComponent] = []
        for (index, value) in values.enumerated() {
            let place = "\(place)[\(index)]"
            guard let object = object(value, at: place) else { continue }
            addUnknown(in: object, at: place, known: ["/", "?", "#", "exclude", comment] + settings)
            components.append(
                AssociationComponent(
                    path: text(object["/"], at: "\(place)[\"/\"]"),
                    query: query(object["?"], at: "\(place)[\"?\"]", isGoogle: isGoogle),
                    fragment: text(object["#"], at: "\(place)[\"#\"]"),
                    excludes: flag(object["exclude"], at: "\(place).exclude") ?? false,
                    comment: text(object[comment], at: "\(place).\(comment)"),
                    settings: isGoogle ? MatchingSettings() : matchingSettings(of: object, at: place),
                    place: place
                )
            )
        }
        return components
    }

    private mutating func query(
        _ value: JSONValue?,
        at place: String,
        isGoogle: Bool
    ) -> AssociationComponent.Query? {
        switch value {
        case nil: return nil
        case .string(let text) where !isGoogle: return .pattern(text)
        case .object(let object):
            let items = object.members.compactMap { item in
                text(item.value, at: "\(place).\(item.name)").map { QueryItem(name: item.name, value: $0) }
            }
            return .items(items)
        case .some(let value):
            let wanted = "\(isGoogle ? "" : "a string, or ")an object of names and patterns"
            add(.wrongType, at: place, value.kind, wanted)
            return nil
        }
    }
}
